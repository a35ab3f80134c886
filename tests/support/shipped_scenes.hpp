// The folder of the scenes that the project ships.
#pragma once

#include "scenes/scene.hpp"

namespace costate::test {

inline std::filesystem::path shipped_folder() { return find_scene("throw").parent_path(); }

}  // namespace costate::test
