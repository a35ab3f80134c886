// Assets of MJCF that bodies refer to: colours, meshes, height fields.
#include <algorithm>
#include <cmath>

#include "scenes/import/mjcf/mjcf_model.hpp"

namespace costate {
namespace {

constexpr std::int64_t max_asset_numbers = 1'000'000;

// Triangles as three vertex indices each.
std::vector<std::array<int, 3>> read_faces(const XmlAttribute& a, size_t vertices) {
    const std::vector<double> x = a.numbers(0, 3 * max_asset_numbers);
    if (x.size() % 3 != 0) a.fail("has a triangle without three corners", "write three numbers per triangle");
    std::vector<std::array<int, 3>> triangles(x.size() / 3);
    for (size_t i = 0; i < x.size(); ++i) {
        if (!(x[i] >= 0) || !(x[i] < static_cast<double>(vertices)) || x[i] != std::floor(x[i]))
            a.fail("has an invalid vertex index", "use whole numbers from 0, below the number of vertices");
        triangles[i / 3][i % 3] = static_cast<int>(x[i]);
    }
    return triangles;
}

void read_mesh_asset(MjcfContext& context, const XmlElement& e) {
    const MjcfAttributes a = context.defaults.attributes(e);
    a.warn_others(
        context.warnings,
        {"name", "class", "file", "content_type", "scale", "vertex", "face", "normal", "texcoord",
         "smoothnormal", "refpos", "refquat", "maxhullvert", "inertia", "material", "builtin", "params"},
        {"plugin"});
    MjcfMesh mesh{.element = e};
    const auto file = a.find("file");
    constexpr MeshInertia kinds[] = {MeshInertia::legacy, MeshInertia::convex, MeshInertia::exact,
                                     MeshInertia::shell};
    if (const auto inertia = a.find("inertia"))
        mesh.inertia = kinds[inertia->choice({"legacy", "convex", "exact", "shell"})];
    else if (context.compiler.exactmeshinertia)
        mesh.inertia = MeshInertia::exact;
    mesh.scale = a.vec3_or("scale", Vec3<double>::Ones());
    if (!(mesh.scale.cwiseAbs().minCoeff() > 0)) a.find("scale")->fail("must not be 0", "use three factors");
    mesh.refpos = a.vec3_or("refpos", Vec3<double>::Zero());
    if (const auto turn = a.find("refquat")) {
        const std::vector<double> q = turn->numbers(4);
        const double norm = Eigen::Vector4d(q[0], q[1], q[2], q[3]).stableNorm();
        if (!(norm > 1e-14)) turn->fail("has no direction", "write 1 0 0 0 for the identity");
        mesh.refquat = {q[0] / norm, Vec3<double>(q[1], q[2], q[3]) / norm};
    }
    // -1 means no limit in MuJoCo
    if (const auto most = a.find("maxhullvert")) {
        const std::int64_t n = most->integer(-1, max_asset_numbers);
        if (n >= 0 && n < 4) most->fail("is too few for a body", "use 4 or more, or -1 for no limit");
        if (n >= 4) mesh.most_vertices = static_cast<int>(n);
    }
    if (const auto vertices = a.find("vertex")) {
        const std::vector<double> x = vertices->numbers(12, 3 * max_asset_numbers);
        if (x.size() % 3 != 0)
            vertices->fail("has a point without three coordinates", "write three numbers per point");
        for (size_t i = 0; i < x.size(); i += 3)
            mesh.vertices.emplace_back(x[i], x[i + 1], x[i + 2]);
    } else if (!file) {
        mesh.left_out = true;
        e.warn(context.warnings,
               e.has("builtin")
                   ? "with \"builtin\" is not supported; its geoms have no shape and no mass"
                   : "without file and vertices is not supported; its geoms have no shape and no mass",
               "give it a \"file\" or \"vertex\"");
    }
    if (const auto faces = a.find("face"); faces && !mesh.vertices.empty())
        mesh.triangles = read_faces(*faces, mesh.vertices.size());
    const std::string name = mesh_name(e);
    if (name.empty()) e.fail("has no name", "add it");
    if (!context.meshes.emplace(name, mesh).second)
        e.fail("is the second mesh named \"" + name + "\"", "rename one of the two");
}

}  // namespace

std::string mesh_name(const XmlElement& mesh) {
    if (mesh.has("name")) return mesh["name"].word();
    return mesh.has("file") ? std::filesystem::path(mesh["file"].word()).stem().string() : "";
}

void read_assets(MjcfContext& context) {
    for (const XmlElement& section : context.files.children(context.files.root(), "asset"))
        for (const XmlElement& e : context.files.children(section)) {
            if (e.name() == "mesh")
                read_mesh_asset(context, e);
            else if (e.name() == "hfield")
                read_height_field(context, e);
            else if (e.name() == "material") {
                const auto rgba = context.defaults.attributes(e).find("rgba");
                context.materials[e["name"].word()] = rgba ? Json(rgba->colour()) : Json(nullptr);
            } else if (e.name() == "model") {
                const XmlAttribute file = e["file"];
                // without a name it has that of the other model
                const std::string name =
                    e.has("name") ? e["name"].word()
                                  : read_xml(context.files.find(file), &context.warnings)
                                        .root()
                                        .text_or("model", std::filesystem::path(file.word()).stem().string());
                context.models.emplace(name, file);
            } else if (e.name() != "texture") {
                e.warn(context.warnings, "in <asset> is not supported and is ignored",
                       "remove it to silence this");
            }
        }
}

}  // namespace costate
