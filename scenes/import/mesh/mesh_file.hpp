// Mesh files: the triangles of an OBJ, STL (ASCII or binary) or DAE file, or of an MSH file, the binary format of
// MuJoCo (XML reference, asset/mesh). assimp reads STL, DAE and OBJ files with polygons, each in a process of its own;
// OBJ files of triangles, of which robots may have hundreds, are read here.
#pragma once

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/math/linalg.hpp"

namespace costate {

struct TriangleMesh {
    // in the axes and the unit of the file; in m for DAE, which states its unit
    std::vector<Vec3<double>> vertices;
    std::vector<std::array<int, 3>> triangles;  // corners, anticlockwise seen from outside
};

// A fault of a mesh file in one line that names the file.
struct MeshFileError : std::runtime_error {
    MeshFileError(const std::string& what, std::string what_to_do)
        : std::runtime_error(what),
          remedy(std::move(what_to_do)) {}
    std::string remedy;
};

inline constexpr size_t max_triangles = 1'000'000;

// All surfaces of the file as one mesh. Corners at the same position are merged, polygons are triangulated,
// and triangles without area are dropped. Opens no other file. Coordinates have single precision (24 bits).
// An OBJ file of points alone has those of their hull. Throws MeshFileError.
TriangleMesh read_mesh_file(const std::filesystem::path& file);
// One mesh for each solid of an OBJ file (its objects, or those that bound one together: solids_of_objects) that has
// an area, one of all surfaces of any other.
std::vector<TriangleMesh> read_mesh_solids(const std::filesystem::path& file);

}  // namespace costate
