// Meshes in files: the triangles of an OBJ, STL (ASCII or binary) or DAE, read by assimp.
#pragma once

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/math/linalg.hpp"

namespace costate {

struct TriangleMesh {
    // in the axes and the unit of the file; of DAE, which names its unit, in m
    std::vector<Vec3<double>> vertices;
    std::vector<std::array<int, 3>> triangles;  // corners, anticlockwise from outside
};

// What is wrong with a file, which it names, in one line.
struct MeshFileError : std::runtime_error {
    MeshFileError(const std::string& what, std::string what_to_do)
        : std::runtime_error(what),
          remedy(std::move(what_to_do)) {}
    std::string remedy;
};

inline constexpr size_t max_triangles = 1'000'000;

// All that the file shows, as one mesh: corners at one place are one vertex, polygons are cut into triangles,
// what has no area is left out. Opens no other file. Coordinates have the 24 bits of single precision. Throws
// MeshFileError.
TriangleMesh read_mesh_file(const std::filesystem::path& file);

}  // namespace costate
