// The objects of a Wavefront OBJ file, each with its triangles. Bullet takes each as a convex part of a collision mesh.
#pragma once

#include <string>
#include <vector>

#include "scenes/import/mesh/mesh_file.hpp"

namespace costate {

// "o" and "g" begin an object. Objects have the vertices that their faces use; those without faces are left out. A file
// without any face is one object of points, without triangles. Polygons are split into triangles. Coordinates have
// single precision. name: of the file, for MeshFileError.
std::vector<TriangleMesh> parse_obj(const std::string& bytes, const std::string& name);

// Indices of the objects that bound one solid together, for each solid: objects that have an open edge in common,
// an edge of one triangle of each. Programs export the faces of a part, or its materials, as objects.
std::vector<std::vector<size_t>> solids_of_objects(const std::vector<TriangleMesh>& objects);

// True if all faces are triangles and no line goes on in the next: parse_obj then reads what assimp does.
bool is_plain_obj(const std::string& bytes);

}  // namespace costate
