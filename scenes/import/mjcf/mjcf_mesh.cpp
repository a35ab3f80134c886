// Meshes of MJCF: hulls for collision, files for visuals, and mass properties.
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>

#include "collision/shapes/hull.hpp"
#include "scenes/format/inertia.hpp"
#include "scenes/import/mesh/mesh_hull.hpp"
#include "scenes/import/mjcf/mjcf_model.hpp"

namespace costate {
namespace {

constexpr double shortest_capsule = 1e-6;  // of its radius; a capsule has a length

// Calls read() and adds the place to its errors.
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
    return find_asset(context, mesh.element["file"]);
}

}  // namespace

std::filesystem::path find_asset(const MjcfContext& context, const XmlAttribute& name) {
    const MeshPath found = context.files.look_up((context.compiler.meshdir / name.word()).generic_string());
    if (!found.allowed) name.fail("leads out of the model's folder", "name its folder with --search");
    if (!found.known_scheme) name.fail("is not a path", "name a file in the model's folder");
    return found.file;
}

const MjcfMesh& find_mesh_asset(const MjcfContext& context, const XmlAttribute& name) {
    const auto it = context.meshes.find(name.word());
    if (it == context.meshes.end())
        name.fail("is not a mesh among the assets", "correct it or add the <mesh>");
    return it->second;
}

// The pose of a mesh in its geom. R^T and the scale commute only if the scale is uniform.
MjcfPose mesh_pose(const MjcfMesh& mesh) {
    const bool turned = !mesh.refquat.v.isZero(0);
    const Vec3<double>& s = mesh.scale;
    if (turned && (s[0] != s[1] || s[1] != s[2]))
        mesh.element.fail("has a refquat and a scale that differs between axes", "use one scale");
    const Quaternion<double> back{mesh.refquat.w, -mesh.refquat.v};
    return {-(rotation_matrix(back) * s.cwiseProduct(mesh.refpos)), back};
}

std::vector<Json> mesh_shapes(const MjcfContext& context, const MjcfMesh& mesh, bool visual) {
    if (mesh.left_out) return {};
    const bool inline_mesh = !mesh.vertices.empty();
    const std::filesystem::path file = inline_mesh ? "" : file_of(context, mesh);
    if (!inline_mesh && file.empty()) {
        const auto warn = visual ? &Warnings::note : &Warnings::add;
        (context.warnings.*warn)(
            mesh.element["file"].place(),
            "there is no file for mesh \"" + mesh.element["file"].word() + "\", which is ignored",
            "name its folder with --search", "");
        return {};
    }
    Json out{{"type", "mesh"}};
    if (visual && inline_mesh) return {};  // visuals must be files
    if (visual) {
        out["file"] = file.string();
        if (!mesh.scale.isOnes(0)) out["scale"] = to_json(mesh.scale);
        return {out};
    }
    const HullLimits limits{std::min(context.hull_limits.vertices, mesh.most_vertices),
                            context.hull_limits.hulls};
    const std::vector<MeshHull> hulls = placed(mesh.element, [&]() -> std::vector<MeshHull> {
        if (!inline_mesh) return read_mesh_hulls(file, limits);
        if (!mesh.triangles.empty() && limits.hulls > 1)
            return hulls_of_mesh({mesh.vertices, mesh.triangles}, limits);
        return {{.vertices = convex_hull(mesh.vertices, limits.vertices)->vertices}};
    });
    const std::string name = inline_mesh ? mesh_name(mesh.element) : mesh.element["file"].word();
    if (!std::ranges::all_of(hulls, &MeshHull::convex)) {
        if (limits.hulls > 1)
            context.warnings.note(mesh.element.place(), "mesh \"" + name + "\" " + text_of_split(hulls),
                                  "allow more with --decompose");
        else
            context.warnings.note(mesh.element.place(),
                                  "mesh \"" + name + "\" collides as its convex hull, as in MuJoCo",
                                  "split it with --decompose if the hull is too coarse");
    }
    std::vector<Json> shapes;
    for (const MeshHull& hull : hulls) {
        if (hull.thickness > 0)
            context.warnings.add(mesh.element.place(),
                                 "a flat mesh is given a thickness of a hundredth of its extent:",
                                 "use a mesh with a volume", name);
        if (hull.left_out > 0)
            context.warnings.add(
                mesh.element.place(), text_of_coarse(hull, mesh.scale.cwiseAbs().maxCoeff()) + ":",
                "use a mesh with fewer vertices, or choose their number with --hull-vertices", name);
        // The scale of a shape is positive, so mirroring goes into the vertices.
        Json& shape = shapes.emplace_back(out);
        for (const Vec3<double>& v : hull.vertices)
            shape["vertices"].push_back(to_json(Vec3<double>(v.cwiseProduct(mesh.scale.cwiseSign()))));
        if (!mesh.scale.cwiseAbs().isOnes(0)) shape["scale"] = to_json(Vec3<double>(mesh.scale.cwiseAbs()));
    }
    return shapes;
}

// The triangles of a mesh, scaled; a mirroring scale reverses their orientation.
TriangleMesh triangles_of(const MjcfContext& context, const MjcfMesh& asset) {
    TriangleMesh mesh{asset.vertices, asset.triangles};
    if (asset.vertices.empty()) {
        const std::filesystem::path file = file_of(context, asset);
        if (file.empty())
            asset.element["file"].fail("is missing, but a body needs its mass",
                                       "name its folder with --search");
        mesh = placed(asset.element, [&] { return read_mesh_file(file); });
    } else if (mesh.triangles.empty()) {
        mesh = placed(asset.element, [&] { return hull_surface(asset.vertices); });
    }
    for (Vec3<double>& v : mesh.vertices)
        v = v.cwiseProduct(asset.scale);
    if (asset.scale.prod() < 0)
        for (std::array<int, 3>& corners : mesh.triangles)
            std::swap(corners[1], corners[2]);
    return mesh;
}

MassProperties<double> mesh_solid(const MjcfContext& context, const MjcfMesh& asset, MeshInertia kind) {
    const TriangleMesh mesh = triangles_of(context, asset);
    const auto solid = [&](MeshInertia as) {
        return placed(asset.element, [&] { return mesh_mass(mesh, as); });
    };
    MassProperties<double> mass = solid(kind);
    if (kind == MeshInertia::exact && mass.m < 0) {  // inside out
        mass.m = -mass.m;
        mass.I = -mass.I;
    }
    if (kind == MeshInertia::exact && (!(mass.m > 0) || !unphysical(mass.I).empty())) {
        context.warnings.add(
            asset.element.place(),
            "inertia=\"exact\" gives an unphysical inertia and is read as \"legacy\", because a mesh is not "
            "closed:",
            "close it, or write inertia=\"convex\" or \"shell\"", mesh_name(asset.element));
        mass = solid(MeshInertia::legacy);
    } else if ((kind == MeshInertia::exact || kind == MeshInertia::legacy) && !is_closed(mesh)) {
        context.warnings.note(
            asset.element.place(), "the mass of a body is MuJoCo's estimate, because a mesh is not closed:",
            "close it, write inertia=\"convex\" or \"shell\", or give the body an <inertial>",
            mesh_name(asset.element));
    }
    if (!(mass.m > 0))
        asset.element.fail("encloses no volume", "close its surface, or write inertia=\"shell\"");
    return mass;
}

// As MuJoCo's compiler (XML reference, geom/mesh): by the box of even density with the inertia of the mesh, or by the
// bounds of the mesh along the same axes.
std::optional<MjcfFit> fit_to_mesh(const MjcfContext& context, const MjcfMesh& mesh, MeshInertia kind,
                                   ShapeType type) {
    if (mesh.left_out || (mesh.vertices.empty() && file_of(context, mesh).empty())) return {};
    const MassProperties<double> solid = mesh_solid(context, mesh, kind);
    const Eigen::SelfAdjointEigenSolver<Mat3<double>> principal(solid.I);
    Mat3<double> R = principal.eigenvectors().rowwise().reverse();
    if (R.determinant() < 0) R.col(0) = -R.col(0);
    const Eigen::Quaterniond turn(R);
    Vec3<double> centre = solid.c;
    Vec3<double> half = half_extents_of_inertia(solid.m, principal.eigenvalues().reverse());
    if (context.compiler.fitaabb) {
        const std::vector<Vec3<double>> vertices = triangles_of(context, mesh).vertices;
        Vec3<double> lower = R.transpose() * vertices[0], upper = lower;
        for (const Vec3<double>& v : vertices) {
            lower = lower.cwiseMin(R.transpose() * v);
            upper = upper.cwiseMax(R.transpose() * v);
        }
        half = 0.5 * (upper - lower);
        centre = R * (0.5 * (lower + upper));
    }
    const double across = context.compiler.fitaabb ? std::max(half[0], half[1]) : 0.5 * (half[0] + half[1]);
    MjcfFit fit{half, {centre, {turn.w(), turn.vec()}}};
    if (type == ShapeType::sphere)
        fit.size[0] = context.compiler.fitaabb ? half.maxCoeff() : half.mean();
    else if (type == ShapeType::cylinder)
        fit.size.head<2>() << across, half[2];
    else if (type == ShapeType::capsule)
        fit.size.head<2>() << across,
            std::max(shortest_capsule * across, half[2] - (context.compiler.fitaabb ? across : 0.5 * across));
    return fit;
}

}  // namespace costate
