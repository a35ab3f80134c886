// The convex hulls that meshes are collided with.
#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <vector>

#include "collision/shapes/hull.hpp"

namespace costate {

struct MeshHull {
    std::vector<Vec3<double>> vertices;  // of the hull, in the axes and the unit of the file
    bool convex = true;                  // whether the mesh is its own hull, to a hundredth of its extent
};

// The hull of a mesh with at most so many vertices, its outermost ones. Throws MeshFileError
// (scenes/import/mesh/mesh_file.hpp) on what is no mesh or has no volume.
MeshHull read_mesh_hull(const std::filesystem::path& file,
                        int most_vertices = std::numeric_limits<int>::max());

// convex_hull for points that may be read again.
std::shared_ptr<const Hull> shared_hull(const std::vector<Vec3<double>>& points);

// While one of these lives, what is read on its thread is read once: a file whose mesh many bodies have, and
// points of which one hull was made already. Loading a model reads it several times.
class HullsReadOnce {
public:
    HullsReadOnce();
    ~HullsReadOnce();
    HullsReadOnce(const HullsReadOnce&) = delete;
    HullsReadOnce& operator=(const HullsReadOnce&) = delete;
};

}  // namespace costate
