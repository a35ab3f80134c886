// Options of importers, and of reading in general.
#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

#include "solvers/settings.hpp"

namespace costate {

// How the root of a robot is attached to the world; automatic: as the file says.
enum class Base { automatic, fixed, floating };

struct ImportOptions {
    Base base = Base::automatic;
    // folders to search for models, meshes and packages, subfolders included
    std::vector<std::filesystem::path> search = {};
    bool self_collision = false;                          // collisions between the links of a URDF
    int hull_vertices = std::numeric_limits<int>::max();  // most vertices of the hull of a mesh
    int decompose = 1;                                    // most hulls of a mesh that is not convex
    bool strict = false;                                  // warnings of what may change the motion are errors
    std::optional<ContactLaw> law = {};                   // instead of the scene's
    bool from_file = false;  // what is read is a file, not a text in memory: it may name files elsewhere
};

}  // namespace costate
