// Convex hulls of meshes, for collision.
#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "collision/shapes/hull.hpp"
#include "scenes/import/mesh/mesh_file.hpp"

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
// What a note says of a mesh that its hulls do not follow closely.
std::string text_of_split(const std::vector<MeshHull>& hulls);

// Most separate surfaces of a mesh that have hulls of their own.
inline constexpr int most_separate_surfaces = 32;

struct HullLimits {
    int vertices = std::numeric_limits<int>::max();  // most vertices of a hull: its outermost
    int hulls = 1;                                   // most hulls of a mesh that is not convex
    bool surfaces = false;  // a mesh of separate convex surfaces has the hull of each
};

// The hull of a mesh, or several if it is not convex and the limits allow them. `convex` of each is relative to the
// extent of the mesh. A flat mesh is given a thickness of a hundredth of its extent, behind its surface. Throws
// std::invalid_argument if the mesh has no area.
std::vector<MeshHull> hulls_of_mesh(const TriangleMesh& mesh, const HullLimits& limits = {});
// The same of a file. Throws MeshFileError (scenes/import/mesh/mesh_file.hpp) if it is not a mesh or has no area.
std::vector<MeshHull> read_mesh_hulls(const std::filesystem::path& file, const HullLimits& limits = {});
// The same of each solid of an OBJ file (scenes/import/mesh/obj_file.hpp). Solids without area are left out.
std::vector<MeshHull> read_solid_hulls(const std::filesystem::path& file, const HullLimits& limits = {});

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
