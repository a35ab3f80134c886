// The folder of the included scenes.
#pragma once

#include "scenes/scene.hpp"

namespace costate::test {

inline std::filesystem::path shipped_folder() { return find_scene("throw").parent_path(); }

}  // namespace costate::test
