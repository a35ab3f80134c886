// Robot descriptions in other formats.
#pragma once

#include <array>
#include <string_view>

#include "scenes/import/import_options.hpp"
#include "scenes/import/imported_model.hpp"

namespace costate {

// Of URDF, of MJCF, and of SDFormat
inline constexpr std::array<std::string_view, 5> robot_extensions{".urdf", ".mjcf", ".xml", ".sdf", ".world"};

// True if a file has one of these extensions. The root element then decides between the formats.
bool is_robot_file(const std::filesystem::path& file);

// Reads a robot description in the format given by its root element: <robot> is URDF, <mujoco> is MJCF,
// <sdf> is SDFormat.
// Throws SceneError.
ImportedModel import_model(const std::filesystem::path& file, const ImportOptions& options = {});

// The same from a text in memory. `file` is its name in messages; relative paths start in its folder. `root`
// is the name that the root element must have, or null.
ImportedModel parse_model(const std::string& text, const std::filesystem::path& file,
                          const ImportOptions& options, const char* root);

}  // namespace costate
