// Files that users name: faults of their paths, and their contents.
#pragma once

#include <filesystem>
#include <string>

namespace costate {

// Throws SceneError unless the path is that of a file: it may be a folder, in a folder without permission, or
// not be there.
void expect_file(const std::filesystem::path& path);

// All bytes of a file. Throws SceneError, which advises the `remedy` if the file cannot be opened, and never returns
// a part of the file.
std::string read_file(const std::filesystem::path& file, const char* remedy = "check its permissions");

}  // namespace costate
