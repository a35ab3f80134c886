// The time step, and "solver" and "contact" of a scene.
#pragma once

#include "scenes/format/json.hpp"
#include "scenes/import/import_options.hpp"
#include "solvers/world.hpp"

namespace costate {

Settings read_settings(const Node& scene, const ImportOptions& options);

}  // namespace costate
