#include "scenes/import/mesh/mesh_hull.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <tuple>

#include "scenes/import/mesh/convex_parts.hpp"

namespace costate {
namespace {

constexpr double shallow =
    0.01;  // of the extent; far above the error of flat faces in single precision, 1e-7 of the coordinates

double extent(const std::vector<Vec3<double>>& points) {
    Vec3<double> lower = points.at(0), upper = lower;
    for (const Vec3<double>& x : points) {
        lower = lower.cwiseMin(x);
        upper = upper.cwiseMax(x);
    }
    return (upper - lower).maxCoeff();
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
    Vec3<double> normal = Vec3<double>::Zero();
    for (const auto& [a, b, c] : mesh.triangles)
        normal += (mesh.vertices[b] - mesh.vertices[a]).cross(mesh.vertices[c] - mesh.vertices[a]);
    if (!(normal.norm() > 0)) throw std::invalid_argument("no area");
    const double thickness = thickness_of_flat * extent(mesh.vertices);
    std::vector<Vec3<double>> points = mesh.vertices;
    for (const Vec3<double>& v : mesh.vertices)
        points.push_back(v - thickness * normal.stableNormalized());
    return {convex_hull(points, most_vertices)->vertices, true, thickness};
}

// Throws std::invalid_argument if the mesh has no area.
MeshHull hull_of_part(const TriangleMesh& mesh, int most_vertices, double depth) {
    try {
        double left_out = 0;
        const std::shared_ptr<const Hull> hull = bounded_hull(mesh.vertices, most_vertices, left_out);
        return {hull->vertices, fills_hull(mesh, *hull, depth), 0, left_out};
    } catch (const std::invalid_argument&) {
        return thickened(mesh, most_vertices);
    }
}

// The hulls of the separate surfaces of a mesh if all of them are convex, so that the hulls are the mesh;
// otherwise none.
std::vector<MeshHull> hulls_of_surfaces(const TriangleMesh& mesh, int most_vertices, double depth) {
    const std::vector<TriangleMesh> surfaces = separate_surfaces(mesh);
    if (surfaces.size() < 2 || std::ssize(surfaces) > most_separate_surfaces) return {};
    std::vector<MeshHull> out;
    for (const TriangleMesh& surface : surfaces) {
        try {
            out.push_back(hull_of_part(surface, most_vertices, depth));
        } catch (const std::invalid_argument&) {
            return {};
        }
        if (!out.back().convex || out.back().thickness > 0) return {};
    }
    return out;
}

std::vector<MeshHull> hulls_of_file(const std::filesystem::path& file, const HullLimits& limits) {
    const TriangleMesh mesh = read_mesh_file(file);
    try {
        return hulls_of_mesh(mesh, limits);
    } catch (const std::invalid_argument&) {
        throw MeshFileError(file.string() + " spans no volume", "use a mesh of a body");
    }
}

struct Memory {
    int scopes = 0;
    std::map<std::tuple<std::filesystem::path, int, int, bool>, std::vector<MeshHull>> of_files;
    std::map<std::vector<double>, std::shared_ptr<const Hull>> of_points;
};
thread_local Memory memory;

}  // namespace

MeshHull hull_of_points(const std::vector<Vec3<double>>& points, int most_vertices) {
    MeshHull out;
    out.vertices = bounded_hull(points, most_vertices, out.left_out)->vertices;
    return out;
}

std::vector<MeshHull> hulls_of_mesh(const TriangleMesh& mesh, const HullLimits& limits) {
    const double depth = shallow * extent(mesh.vertices);
    MeshHull whole = hull_of_part(mesh, limits.vertices, depth);
    if (whole.convex) return {std::move(whole)};
    if (limits.surfaces)
        if (std::vector<MeshHull> hulls = hulls_of_surfaces(mesh, limits.vertices, depth); !hulls.empty())
            return hulls;
    if (limits.hulls == 1) return {std::move(whole)};
    std::vector<MeshHull> out;
    for (const TriangleMesh& part : convex_parts(mesh, limits.hulls, depth)) {
        try {
            out.push_back(hull_of_part(part, limits.vertices, depth));
        } catch (const std::invalid_argument&) {  // what a cut left of a face
        }
    }
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

std::string text_of_split(const std::vector<MeshHull>& hulls) {
    return "collides as " + std::to_string(hulls.size()) +
           " convex hulls, which reach beyond it by more than a hundredth of its extent";
}

HullsReadOnce::HullsReadOnce() { ++memory.scopes; }
HullsReadOnce::~HullsReadOnce() {
    if (--memory.scopes == 0) {
        memory.of_files.clear();
        memory.of_points.clear();
    }
}

std::vector<MeshHull> read_mesh_hulls(const std::filesystem::path& file, const HullLimits& limits) {
    if (memory.scopes == 0) return hulls_of_file(file, limits);
    std::vector<MeshHull>& hulls = memory.of_files[{file, limits.vertices, limits.hulls, limits.surfaces}];
    if (hulls.empty()) hulls = hulls_of_file(file, limits);
    return hulls;
}

std::vector<MeshHull> read_solid_hulls(const std::filesystem::path& file, const HullLimits& limits) {
    const std::vector<TriangleMesh> solids = read_mesh_solids(file);
    std::vector<MeshHull> out;
    if (solids.size() > 1)
        for (const TriangleMesh& solid : solids) {
            try {
                std::ranges::move(hulls_of_mesh(solid, limits), std::back_inserter(out));
            } catch (const std::invalid_argument&) {
            }
        }
    return out.empty() ? read_mesh_hulls(file, limits) : out;
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
