#include "scenes/import/mesh/mesh_hull.hpp"

#include <algorithm>

#include "collision/shapes/hull.hpp"
#include "scenes/import/mesh/mesh_file.hpp"

namespace costate {
namespace {

double below_surface(const Vec3<double>& x, const Hull& hull) {
    double below = 2 * hull.half.norm();
    for (const HullFace& face : hull.faces)
        below = std::min(below, face.normal.dot(face.origin - x));
    return below;
}

// Of the deepest corner, or middle of a triangle or of a side, among as many as are quick to look at. Corners
// alone would not do: those of an extruded L are all on the surface of its hull.
double deepest(const TriangleMesh& mesh, const Hull& hull) {
    constexpr size_t most = 50'000'000;  // distances to faces
    const size_t stride = 1 + 7 * mesh.triangles.size() * hull.faces.size() / most;
    double depth = 0;
    for (size_t i = 0; i < mesh.triangles.size(); i += stride) {
        Mat3<double> corners;
        for (int k = 0; k < 3; ++k)
            corners.col(k) = mesh.vertices[mesh.triangles[i][k]];
        depth = std::max(depth, below_surface(corners.rowwise().mean(), hull));
        for (int k = 0; k < 3; ++k) {
            depth = std::max(depth, below_surface(corners.col(k), hull));
            depth = std::max(depth, below_surface(0.5 * (corners.col(k) + corners.col((k + 1) % 3)), hull));
        }
    }
    return depth;
}

}  // namespace

MeshHull read_mesh_hull(const std::filesystem::path& file) {
    const TriangleMesh mesh = read_mesh_file(file);
    try {
        const std::shared_ptr<const Hull> hull = convex_hull(mesh.vertices);
        return {hull->vertices, deepest(mesh, *hull), 2 * hull->half.maxCoeff()};
    } catch (const std::invalid_argument&) {
        throw MeshFileError(file.string() + " spans no volume", "use a mesh of a body");
    }
}

}  // namespace costate
