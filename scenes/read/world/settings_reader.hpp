// The time step, and "solver" and "contact" of a scene.
#pragma once

#include "scenes/format/json.hpp"
#include "scenes/import/import_options.hpp"
#include "solvers/world.hpp"

namespace costate {

Settings read_settings(const Node& scene, const ImportOptions& options);

// Warnings of what "solver", "contact" and "ground" say that these settings have no use for, with the remedy.
std::vector<std::string> settings_without_effect(const Node& scene, const Settings& s);

}  // namespace costate
