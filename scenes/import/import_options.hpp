// How robot descriptions in other formats are read.
#pragma once

#include <filesystem>
#include <limits>
#include <vector>

namespace costate {

// What stands in the world: the root of a robot, or where its format has no word about it.
enum class Base { automatic, fixed, floating };

struct ImportOptions {
    Base base = Base::automatic;
    // folders that meshes may lie in or below, and in which packages are sought
    std::vector<std::filesystem::path> search = {};
    bool self_collision = false;                          // whether links of one URDF touch each other
    int hull_vertices = std::numeric_limits<int>::max();  // at most, that the hull of a mesh keeps
    bool strict = false;  // what has no counterpart is an error, not a warning
};

}  // namespace costate
