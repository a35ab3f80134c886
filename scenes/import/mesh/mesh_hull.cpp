#include "scenes/import/mesh/mesh_hull.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "scenes/import/mesh/mesh_file.hpp"

namespace costate {
namespace {

constexpr double shallow =
    0.01;  // of the extent; far above the error of flat faces in single precision, 1e-7 of the coordinates
constexpr size_t looked_at = 20'000;  // triangles to test

// Tests whether a point is deeper than `depth` below the surface of a hull.
class Depth {
public:
    Depth(const Hull& hull, double depth) : hull_(hull), depth_(depth) {}

    // Walks from the nearest face of the previous point to neighbours that are nearer to this one. Tests all
    // faces if the walk ends at a face that is too far.
    bool deeper(const Vec3<double>& x) {
        for (int from = -1; from != near_;) {
            if (below(near_, x) <= depth_) return false;
            from = near_;
            const HullFace& face = hull_.faces[from];
            for (int k = face.first; k < face.first + face.count; ++k) {
                const HullEdge& edge = hull_.edges[hull_.sides[k].edge];
                const int beyond = edge.left == from ? edge.right : edge.left;
                if (beyond >= 0 && below(beyond, x) < below(near_, x)) near_ = beyond;
            }
        }
        return std::ranges::all_of(
            hull_.faces, [&](const HullFace& face) { return face.normal.dot(face.origin - x) > depth_; });
    }

private:
    double below(int f, const Vec3<double>& x) const {
        const HullFace& face = hull_.faces[f];
        return face.normal.dot(face.origin - x);
    }
    const Hull& hull_;
    double depth_;
    int near_ = 0;
};

// Tests corners, edge midpoints and centres of a sample of triangles. Testing only corners would not suffice:
// those of an extruded L are all on the surface of its hull.
bool is_convex(const TriangleMesh& mesh, const Hull& hull) {
    Depth depth(hull, shallow * 2 * hull.half.maxCoeff());
    const size_t stride = 1 + mesh.triangles.size() / looked_at;
    for (size_t i = 0; i < mesh.triangles.size(); i += stride) {
        Mat3<double> corners;
        for (int k = 0; k < 3; ++k)
            corners.col(k) = mesh.vertices[mesh.triangles[i][k]];
        if (depth.deeper(corners.rowwise().mean())) return false;
        for (int k = 0; k < 3; ++k)
            if (depth.deeper(corners.col(k)) ||
                depth.deeper(0.5 * (corners.col(k) + corners.col((k + 1) % 3))))
                return false;
    }
    return true;
}

std::shared_ptr<const Hull> bounded_hull(const std::vector<Vec3<double>>& points, int most_vertices,
                                         double& left_out) {
    std::shared_ptr<const Hull> hull = convex_hull(points, most_vertices);
    if (std::ssize(hull->vertices) <= max_hull_vertices) return hull;
    return convex_hull(points, coarse_hull_vertices, &left_out);
}

constexpr double thickness_of_flat = 0.01;  // of the extent

// A flat mesh with the vertices of a second layer behind it, against the normal of its triangles.
MeshHull thickened(const TriangleMesh& mesh, int most_vertices) {
    Vec3<double> normal = Vec3<double>::Zero(), lower = mesh.vertices.at(0), upper = lower;
    for (const auto& [a, b, c] : mesh.triangles)
        normal += (mesh.vertices[b] - mesh.vertices[a]).cross(mesh.vertices[c] - mesh.vertices[a]);
    for (const Vec3<double>& v : mesh.vertices) {
        lower = lower.cwiseMin(v);
        upper = upper.cwiseMax(v);
    }
    if (!(normal.norm() > 0)) throw std::invalid_argument("no area");
    const double thickness = thickness_of_flat * (upper - lower).maxCoeff();
    std::vector<Vec3<double>> points = mesh.vertices;
    for (const Vec3<double>& v : mesh.vertices)
        points.push_back(v - thickness * normal.stableNormalized());
    return {convex_hull(points, most_vertices)->vertices, true, thickness};
}

// Throws std::invalid_argument if the mesh has no area.
MeshHull hull_of_mesh(const TriangleMesh& mesh, int most_vertices) {
    try {
        double left_out = 0;
        const std::shared_ptr<const Hull> hull = bounded_hull(mesh.vertices, most_vertices, left_out);
        return {hull->vertices, is_convex(mesh, *hull), 0, left_out};
    } catch (const std::invalid_argument&) {
        return thickened(mesh, most_vertices);
    }
}

MeshHull hull_of_file(const std::filesystem::path& file, int most_vertices) {
    const TriangleMesh mesh = read_mesh_file(file);
    try {
        return hull_of_mesh(mesh, most_vertices);
    } catch (const std::invalid_argument&) {
        throw MeshFileError(file.string() + " spans no volume", "use a mesh of a body");
    }
}

struct Memory {
    int scopes = 0;
    std::map<std::pair<std::filesystem::path, int>, MeshHull> of_files;
    std::map<std::vector<double>, std::shared_ptr<const Hull>> of_points;
};
thread_local Memory memory;

}  // namespace

MeshHull hull_of_points(const std::vector<Vec3<double>>& points, int most_vertices) {
    MeshHull out;
    out.vertices = bounded_hull(points, most_vertices, out.left_out)->vertices;
    return out;
}

std::string text_of_coarse(const MeshHull& hull, double scale) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "the hull of a mesh has more than %d vertices; its %td outermost are used, beyond which it "
                  "reaches by up to %.2g mm",
                  max_hull_vertices, std::ssize(hull.vertices), 1e3 * scale * hull.left_out);
    return text;
}

HullsReadOnce::HullsReadOnce() { ++memory.scopes; }
HullsReadOnce::~HullsReadOnce() {
    if (--memory.scopes == 0) {
        memory.of_files.clear();
        memory.of_points.clear();
    }
}

MeshHull read_mesh_hull(const std::filesystem::path& file, int most_vertices) {
    if (memory.scopes == 0) return hull_of_file(file, most_vertices);
    const auto it = memory.of_files.find({file, most_vertices});
    if (it != memory.of_files.end()) return it->second;
    return memory.of_files[{file, most_vertices}] = hull_of_file(file, most_vertices);
}

std::vector<MeshHull> read_mesh_hulls(const std::filesystem::path& file, int most_vertices) {
    const std::vector<TriangleMesh> objects = read_mesh_objects(file);
    std::vector<MeshHull> out;
    if (objects.size() > 1)
        for (const TriangleMesh& object : objects) {
            try {
                out.push_back(hull_of_mesh(object, most_vertices));
            } catch (const std::invalid_argument&) {
            }
        }
    if (out.empty()) out.push_back(read_mesh_hull(file, most_vertices));
    return out;
}

std::shared_ptr<const Hull> shared_hull(const std::vector<Vec3<double>>& points) {
    if (memory.scopes == 0) return convex_hull(points);
    std::vector<double> key;
    for (const Vec3<double>& x : points)
        key.insert(key.end(), x.begin(), x.end());
    std::shared_ptr<const Hull>& hull = memory.of_points[key];
    if (!hull) hull = convex_hull(points);
    return hull;
}

}  // namespace costate
