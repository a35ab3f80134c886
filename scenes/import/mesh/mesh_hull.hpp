// Convex hulls of meshes, for collision.
#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "collision/shapes/hull.hpp"

namespace costate {

struct MeshHull {
    std::vector<Vec3<double>> vertices;  // of the hull, in the axes and the unit of the file
    bool convex = true;                  // the mesh equals its hull to within a hundredth of its extent
    double thickness = 0;                // given to a flat mesh, in the unit of the file
    double left_out = 0;  // of a coarse hull: farthest distance of the mesh beyond it, in this unit
};

// A hull with more vertices than max_hull_vertices is replaced by a coarse one of the outermost
// coarse_hull_vertices.
inline constexpr int max_hull_vertices = 100'000, coarse_hull_vertices = 10'000;
MeshHull hull_of_points(const std::vector<Vec3<double>>& points,
                        int most_vertices = std::numeric_limits<int>::max());
// What a warning says about a coarse hull, whose vertices are scaled.
std::string text_of_coarse(const MeshHull& hull, double scale);

// The hull of a mesh, limited to its outermost `most_vertices` vertices. A flat mesh is given a thickness of a
// hundredth of its extent, behind its surface. Throws MeshFileError (scenes/import/mesh/mesh_file.hpp) if the
// file is not a mesh or has no area.
MeshHull read_mesh_hull(const std::filesystem::path& file,
                        int most_vertices = std::numeric_limits<int>::max());

// A hull for each object of an OBJ file (scenes/import/mesh/obj_file.hpp), one for any other. Objects without area are
// left out.
std::vector<MeshHull> read_mesh_hulls(const std::filesystem::path& file,
                                      int most_vertices = std::numeric_limits<int>::max());

// convex_hull with a cache (HullsReadOnce).
std::shared_ptr<const Hull> shared_hull(const std::vector<Vec3<double>>& points);

// While an object of this class lives, its thread reads each mesh file once and computes each hull once.
// Bodies share meshes, and loading a model reads it several times.
class HullsReadOnce {
public:
    HullsReadOnce();
    ~HullsReadOnce();
    HullsReadOnce(const HullsReadOnce&) = delete;
    HullsReadOnce& operator=(const HullsReadOnce&) = delete;
};

}  // namespace costate
