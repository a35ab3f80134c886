// Meshes of MJCF: hulls to collide with, files to look at, and what they weigh as solids.
#include <algorithm>

#include "collision/hull.hpp"
#include "scenes/mesh_file.hpp"
#include "scenes/mesh_hull.hpp"
#include "scenes/mesh_path.hpp"
#include "scenes/mjcf_model.hpp"

namespace costate {
namespace {

// The triangles of a convex hull: each face is a fan.
TriangleMesh triangles_of(const Hull& hull) {
    TriangleMesh mesh{hull.vertices, {}};
    for (const HullFace& face : hull.faces) {
        const HullSide* sides = hull.sides.data() + face.first;
        for (int k = 1; k + 1 < face.count; ++k) mesh.triangles.push_back({sides[0].tail, sides[k].tail, sides[k].head});
    }
    return mesh;
}

// Calls read() and places what it complains about.
template <class Read> auto placed(const XmlElement& where, Read&& read) {
    try {
        return read();
    } catch (const MeshFileError& e) {
        where.fail(std::string("cannot be read: ") + e.what(), e.remedy);
    } catch (const std::invalid_argument&) {
        where.fail("spans no volume", "give points that are not in one plane");
    }
}

std::filesystem::path file_of(const MjcfContext& context, const MjcfMesh& mesh) {
    const XmlAttribute name = mesh.element["file"];
    const MeshPath found =
        find_mesh((context.compiler.meshdir / name.word()).generic_string(), context.files.folder(), context.search);
    if (!found.allowed) name.fail("leads out of the model's folder", "name the folder it may lie in with --search");
    if (!found.known_scheme) name.fail("is no path", "name a file in the model's folder");
    return found.file;
}

}  // namespace

const MjcfMesh& find_mesh_asset(const MjcfContext& context, const XmlAttribute& name) {
    const auto it = context.meshes.find(name.word());
    if (it == context.meshes.end()) name.fail("names no mesh among the assets", "correct it or add the <mesh>");
    return it->second;
}

// R^T and the scale do not change places unless the scale is the same along all axes.
MjcfPose mesh_pose(const MjcfMesh& mesh) {
    const bool turned = !mesh.refquat.v.isZero(0);
    const Vec3<double>& s = mesh.scale;
    if (turned && (s[0] != s[1] || s[1] != s[2]))
        mesh.element.fail("has a refquat and a scale that differs between axes", "use one scale");
    const Quaternion<double> back{mesh.refquat.w, -mesh.refquat.v};
    return {-(rotation_matrix(back) * s.cwiseProduct(mesh.refpos)), back};
}

Json mesh_shape(const MjcfContext& context, const MjcfMesh& mesh, bool visual) {
    const bool inline_mesh = !mesh.vertices.empty();
    const std::filesystem::path file = inline_mesh ? "" : file_of(context, mesh);
    if (!inline_mesh && file.empty()) {
        context.warnings.add(mesh.element["file"].place(),
                             "there is no file for mesh \"" + mesh.element["file"].word() + "\", which is left out",
                             "name the folder it is in with --search");
        return {};
    }
    Json out{{"type", "mesh"}};
    if (visual && inline_mesh) return {};  // viewers read files
    if (visual) {
        out["file"] = file.string();
        if (!mesh.scale.isOnes(0)) out["scale"] = to_json(mesh.scale);
        return out;
    }
    std::vector<Vec3<double>> vertices;
    if (inline_mesh) {
        vertices = placed(mesh.element, [&] { return convex_hull(mesh.vertices)->vertices; });
    } else {
        const MeshHull hull = placed(mesh.element, [&] { return read_mesh_hull(file); });
        if (!hull.convex())
            context.warnings.add(mesh.element.place(),
                                 "mesh \"" + mesh.element["file"].word() + "\" is not convex; its convex hull is used",
                                 "MuJoCo does the same; split it into convex parts for more");
        vertices = hull.vertices;
    }
    // A mirrored mesh is mirrored here: scales of shapes are positive.
    for (const Vec3<double>& v : vertices)
        out["vertices"].push_back(to_json(Vec3<double>(v.cwiseProduct(mesh.scale.cwiseSign()))));
    if (!mesh.scale.cwiseAbs().isOnes(0)) out["scale"] = to_json(Vec3<double>(mesh.scale.cwiseAbs()));
    return out;
}

// Integrals over the tetrahedra between the origin and each triangle abc, with d = det[a b c] and s = a + b + c: volume d/6,
// first moment d/24 s, and of x x^T d/120 (a a^T + b b^T + c c^T + s s^T).
MassProperties<double> mesh_solid(const MjcfContext& context, const MjcfMesh& mesh) {
    const TriangleMesh t = placed(mesh.element, [&] {
        if (!mesh.vertices.empty()) return triangles_of(*convex_hull(mesh.vertices));
        const std::filesystem::path file = file_of(context, mesh);
        if (file.empty())
            mesh.element["file"].fail("is not there, but bodies need its mass", "name the folder it is in with --search");
        return read_mesh_file(file);
    });
    double volume = 0;
    Vec3<double> first = Vec3<double>::Zero();
    Mat3<double> second = Mat3<double>::Zero();
    for (const std::array<int, 3>& corners : t.triangles) {
        Mat3<double> abc;
        for (int k = 0; k < 3; ++k)
            abc.col(k) = t.vertices[static_cast<size_t>(corners[static_cast<size_t>(k)])].cwiseProduct(mesh.scale);
        const double d = abc.determinant();
        const Vec3<double> s = abc.rowwise().sum();
        volume += d / 6, first += d / 24 * s, second += d / 120 * (abc * abc.transpose() + s * s.transpose());
    }
    if (volume < 0) volume = -volume, first = -first, second = -second;  // mirrored
    if (!(volume > 0)) mesh.element.fail("encloses no volume", "close its surface");
    const Vec3<double> c = first / volume;
    second -= volume * c * c.transpose();
    return {volume, c, second.trace() * Mat3<double>::Identity() - second};
}

}  // namespace costate
