// Faults of paths that users give.
#pragma once

#include <filesystem>

namespace costate {

// Throws SceneError unless the path is that of a file: it may be a folder, in a folder without permission, or
// not be there.
void expect_file(const std::filesystem::path& path);

}  // namespace costate
