// Files of robots in other formats.
#pragma once

#include "scenes/import/import_options.hpp"
#include "scenes/import/imported_model.hpp"

namespace costate {

// Whether the loader takes a file for a robot description: by its extension .urdf, .mjcf or .xml.
bool is_robot_file(const std::filesystem::path& file);

// Reads a robot description by the name of its first element: <robot> is URDF, <mujoco> is MJCF. Throws
// SceneError.
ImportedModel import_model(const std::filesystem::path& file, const ImportOptions& options = {});

}  // namespace costate
