// The time step, and "solver" and "contact" of a scene.
#pragma once

#include "scenes/format/json.hpp"
#include "scenes/import/import_options.hpp"
#include "solvers/world.hpp"

namespace costate {

Settings read_settings(const Node& scene, const ImportOptions& options);

// What "contact" and "ground" of the scene say that this law has no use for, and the remedy; empty: nothing.
std::string keys_without_effect(const Node& scene, ContactLaw law);

}  // namespace costate
