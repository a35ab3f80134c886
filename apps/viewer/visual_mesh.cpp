#include "apps/viewer/visual_mesh.hpp"

#include <map>

namespace costate {

namespace {

TriangleMesh clustered(const TriangleMesh& mesh, double cell) {
    TriangleMesh out;
    std::map<std::array<long, 3>, int> cells;
    std::vector<int> cluster;
    for (const Vec3<double>& v : mesh.vertices) {
        const std::array<long, 3> key{std::lround(v.x() / cell), std::lround(v.y() / cell),
                                      std::lround(v.z() / cell)};
        const auto [it, is_new] = cells.try_emplace(key, static_cast<int>(out.vertices.size()));
        if (is_new) out.vertices.push_back(v);
        cluster.push_back(it->second);
    }
    for (const auto& t : mesh.triangles) {
        const std::array<int, 3> u{cluster[t[0]], cluster[t[1]], cluster[t[2]]};
        if (u[0] != u[1] && u[1] != u[2] && u[2] != u[0]) out.triangles.push_back(u);
    }
    return out;
}

}  // namespace

TriangleMesh simplified(TriangleMesh mesh, size_t limit) {
    if (mesh.triangles.size() <= limit) return mesh;
    Vec3<double> lower = mesh.vertices[0], upper = lower;
    for (const Vec3<double>& v : mesh.vertices) {
        lower = lower.cwiseMin(v);
        upper = upper.cwiseMax(v);
    }
    for (double cells = 256;; cells *= 0.8) {
        TriangleMesh coarser = clustered(mesh, (upper - lower).maxCoeff() / cells);
        if (coarser.triangles.size() <= limit) return coarser;
    }
}

VisualMeshes read_visual_meshes(const std::vector<Visual>& visuals) {
    VisualMeshes out;
    std::map<std::filesystem::path, int> known;
    for (const Visual& v : visuals) {
        out.of_visual.push_back(-1);
        if (v.type != ShapeType::mesh) continue;
        const auto [it, is_new] = known.try_emplace(v.file, -1);
        if (is_new) try {
                out.meshes.push_back(simplified(read_mesh_file(v.file), max_visual_triangles));
                it->second = static_cast<int>(out.meshes.size()) - 1;
            } catch (const MeshFileError& e) {
                out.notes.push_back(std::string("Not shown: ") + e.what() + ".");
            }
        out.of_visual.back() = it->second;
    }
    return out;
}

}  // namespace costate
