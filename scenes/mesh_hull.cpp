#include "scenes/mesh_hull.hpp"

#include <algorithm>

#include "collision/hull.hpp"
#include "scenes/mesh_file.hpp"

namespace costate {
namespace {

// Of the deepest vertex below the surface, among as many as are quick to look at.
double deepest(const std::vector<Vec3<double>>& vertices, const Hull& hull) {
    constexpr size_t most = 50'000'000;  // distances to faces
    const size_t stride = 1 + vertices.size() * hull.faces.size() / most;
    double depth = 0;
    for (size_t i = 0; i < vertices.size(); i += stride) {
        double below = 2 * hull.half.norm();
        for (const HullFace& face : hull.faces) below = std::min(below, face.normal.dot(face.origin - vertices[i]));
        depth = std::max(depth, below);
    }
    return depth;
}

}  // namespace

MeshHull read_mesh_hull(const std::filesystem::path& file) {
    const TriangleMesh mesh = read_mesh_file(file);
    try {
        const std::shared_ptr<const Hull> hull = convex_hull(mesh.vertices);
        return {hull->vertices, deepest(mesh.vertices, *hull), 2 * hull->half.maxCoeff()};
    } catch (const std::invalid_argument&) {
        throw MeshFileError(file.string() + " spans no volume", "use a mesh of a body");
    }
}

}  // namespace costate
