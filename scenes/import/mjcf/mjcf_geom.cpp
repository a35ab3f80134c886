// Geoms of MJCF as shapes. MuJoCo takes the larger friction of a pair, costate the product, but by MuJoCo's law
// the larger one. The importer uses the square root, which agrees for pairs of equal geoms.
#include <algorithm>
#include <cmath>

#include "scenes/format/names.hpp"
#include "scenes/import/mjcf/mjcf_model.hpp"
#include "solvers/rows/soft_law.hpp"

namespace costate {
namespace {

constexpr std::initializer_list<const char*> geom_keys = {
    "name",      "class",        "type",       "contype",   "conaffinity", "condim",    "group",
    "priority",  "size",         "material",   "friction",  "mass",        "density",   "solmix",
    "solref",    "solimp",       "margin",     "gap",       "fromto",      "pos",       "quat",
    "axisangle", "xyaxes",       "zaxis",      "euler",     "mesh",        "hfield",    "rgba",
    "user",      "shellinertia", "fluidshape", "fluidcoef", "fitscale",    "surfacevel"};

// The number of sizes of a type, and the size along its axis, which "fromto" can give.
struct KnownGeom {
    const char* name;
    ShapeType type;
    size_t sizes;
    int along;
};
constexpr KnownGeom known_geoms[] = {{"plane", ShapeType::plane, 0, -1},
                                     {"hfield", ShapeType::terrain, 0, -1},
                                     {"sphere", ShapeType::sphere, 1, -1},
                                     {"capsule", ShapeType::capsule, 2, 1},
                                     {"ellipsoid", ShapeType::ellipsoid, 3, 2},
                                     {"cylinder", ShapeType::cylinder, 2, 1},
                                     {"box", ShapeType::box, 3, 2},
                                     {"mesh", ShapeType::mesh, 0, -1},
                                     {"sdf", ShapeType::mesh, 0, -1}};

Vec3<double> read_size(const MjcfAttributes& a, const KnownGeom& known, MjcfPose& pose) {
    const std::vector<double> numbers = a.numbers_or("size", {0, 0, 0});
    Vec3<double> size(numbers[0], numbers[1], numbers[2]);
    const auto given = a.find("size");
    if (const auto fromto = a.find("fromto"); fromto && known.along >= 0) {
        const std::vector<double> x = fromto->numbers(6);
        const Vec3<double> from(x[0], x[1], x[2]), to(x[3], x[4], x[5]);
        const double length = (to - from).norm();
        if (!(length > 1e-14)) fromto->fail("has no length", "give two points");
        pose = {0.5 * (from + to), turn_of_z(from - to)};
        if (known.along == 2) size[1] = size[0];  // a square or round cross-section
        size[known.along] = 0.5 * length;
    }
    for (size_t i = 0; i < known.sizes; ++i)
        if (!(size[static_cast<int>(i)] > 0)) {
            if (!given) a.element().fail(std::string("is a ") + known.name + " without \"size\"", "add it");
            given->fail("is incomplete for a " + std::string(known.name),
                        "write " + std::to_string(known.sizes) + " numbers above 0");
        }
    return size;
}

Json shape_of(ShapeType type, const Vec3<double>& size) {
    const ShapeKind& kind = shape_kind(type);
    Json shape{{"type", kind.name}};
    for (const SizeKey& key : kind.sizes)
        if (key.name != nullptr) shape[key.name] = key.count == 1 ? Json(size[key.first]) : to_json(size);
    return shape;
}

}  // namespace

double contact_margin(const MjcfContext& context, const MjcfAttributes& a) {
    const double margin = a.number_or("margin", 0);
    if (margin < 0)
        context.warnings.add(a.find("margin")->place(),
                             "a negative margin is not supported: contact begins where surfaces touch",
                             "use 0 or more");
    if (a.number_or("gap", 0) != 0)
        context.warnings.add(
            a.find("gap")->place(),
            "has no effect on forces, as in MuJoCo since 3.9; before, contacts began at margin - gap",
            "give this difference as the margin if the file is older");
    return std::max(0.0, margin);
}

namespace {

void read_contact(const MjcfContext& context, const MjcfAttributes& a, MjcfGeom& geom) {
    std::ranges::copy(a.numbers_or("friction", {geom.friction.begin(), geom.friction.end()}),
                      geom.friction.begin());
    if (std::ranges::min(geom.friction) < 0)
        a.find("friction")->fail("must not be negative", "use 0 or more");
    if (geom.friction[0] != 1) geom.shape["friction"] = std::sqrt(geom.friction[0]);
    if (const double margin = contact_margin(context, a); margin > 0) geom.shape["margin"] = margin;

    put_softness(context, a, "solref", "solimp", "", geom.shape);
    if (const double solmix = a.nonnegative_or("solmix", 1); solmix != 1) geom.shape["solmix"] = solmix;
    if (const auto priority = a.integer_or("priority", 0, -1000000, 1000000); priority != 0)
        geom.shape["priority"] = priority;
    const auto condim = a.find("condim");
    if (!condim) return;
    geom.condim = static_cast<int>(condim->integer(1, 6));
    if (geom.condim == 2 || geom.condim == 5) condim->fail("is not a number of rows", "use 1, 3, 4 or 6");
}

// "surfacevel", about the origin and in the axes of the geom, as the motion of the shape's surface about those of
// the shape. `shape`: its pose in the geom.
void put_surface_motion(const MjcfAttributes& a, const MjcfPose& shape, MjcfGeom& geom) {
    const std::vector<double> x = a.numbers_or("surfacevel", std::vector<double>(6));
    const Vec3<double> lin(x[0], x[1], x[2]), ang(x[3], x[4], x[5]);
    const Mat3<double> to_shape = rotation_matrix(shape.q).transpose();
    const auto put = [&](const char* key, const Vec3<double>& value) {
        if (!value.isZero(0)) geom.shape[key] = Json{value[0], value[1], value[2]};
    };
    put("surface_velocity", to_shape * (lin + ang.cross(shape.p)));
    put("surface_angular_velocity", to_shape * ang);
}

// Writes shape and pose of a mesh or a height field, which are assets.
void put_asset(const MjcfContext& context, const MjcfAttributes& a, ShapeType type, MjcfGeom& geom) {
    const char* key = type == ShapeType::mesh ? "mesh" : "hfield";
    const auto name = a.find(key);
    if (!name)
        a.element().fail(std::string("is a ") + key + " without its name",
                         std::string("add \"") + key + "\"");
    if (type == ShapeType::terrain) {
        const auto field = context.hfields.find(name->word());
        if (field == context.hfields.end())
            name->fail("is not a height field among the assets", "correct it or add the <hfield>");
        geom.shape = field->second;
        return;
    }
    geom.mesh = &find_mesh_asset(context, *name);
    const std::vector<Json> shapes = mesh_shapes(context, *geom.mesh, geom.visual());
    geom.shape = shapes.empty() ? Json() : shapes[0];
    for (size_t k = 1; k < shapes.size(); ++k)
        geom.hulls.emplace_back("", shapes[k]["vertices"]);
    geom.pose = geom.pose * mesh_pose(*geom.mesh);
}

}  // namespace

void put_friction(std::vector<MjcfBody>& bodies) {
    int largest = 3;
    for (const MjcfBody& body : bodies)
        for (const MjcfGeom& geom : body.geoms)
            largest = std::max(largest, geom.condim);
    for (MjcfBody& body : bodies)
        for (MjcfGeom& geom : body.geoms) {
            if (geom.visual() || geom.shape.is_null()) continue;
            if (geom.condim != 3 || largest > 3) geom.shape["condim"] = geom.condim;
            if (largest > 3) geom.shape["torsional_friction"] = geom.friction[1];
            if (largest > 4) geom.shape["rolling_friction"] = geom.friction[2];
        }
}

void put_softness(const MjcfContext& context, const MjcfAttributes& a, const char* solref, const char* solimp,
                  const std::string& prefix, Json& out) {
    const auto put = [&](const char* name, const auto& usual, const char* key, const auto& allowed) {
        const auto found = a.find(name);
        if (!found) return;
        std::vector<double> x = a.numbers_or(name, {usual.begin(), usual.end()});
        allowed(x);
        if (std::equal(x.begin(), x.end(), usual.begin())) return;
        out[prefix + key] = x;
        if (context.law == ContactLaw::mujoco) return;
        context.warnings.add(
            found->place(),
            "constraints are rigid here; solref and solimp are used by \"law\": \"mujoco\" alone",
            "set it in \"contact\" of the scene");
    };
    const Softness usual;
    put(solref, usual.solref, "solref", [&](std::vector<double>& x) {
        if ((x[0] > 0) != (x[1] > 0)) x.assign(usual.solref.begin(), usual.solref.end());  // as MuJoCo
    });
    put(solimp, usual.solimp, "solimp", [](std::vector<double>& x) {
        for (const size_t share : {0, 1, 3})
            x[share] = std::clamp(x[share], least_impedance, greatest_impedance);
        x[2] = std::max(x[2], 0.0);
        x[4] = std::max(x[4], 1.0);
    });
}

MjcfGeom read_mjcf_geom(const MjcfContext& context, const MjcfAttributes& a) {
    const XmlElement& e = a.element();
    a.warn_others(context.warnings, geom_keys, {"plugin"});
    if (const auto fluid = a.find("fluidshape");
        fluid && fluid->choice({"none", "ellipsoid"}) == 1 && context.flags.medium)
        context.warnings.add(fluid->place(),
                             "fluid forces on ellipsoids are not supported; the medium drags boxes",
                             "remove it to silence this");
    const auto named = a.find("type");
    const KnownGeom& known =
        known_geoms[named ? named->choice({"plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder",
                                           "box", "mesh", "sdf"})
                          : 2];
    MjcfGeom geom{.element = e,
                  .name = e.text_or("name", ""),
                  .pose = read_mjcf_pose(a, context.compiler),
                  .shape = Json::object()};
    constexpr std::int64_t least = -2147483648, most = 4294967295;
    geom.contype = a.integer_or("contype", 1, least, most) & 0xffffffff;
    geom.conaffinity = a.integer_or("conaffinity", 1, least, most) & 0xffffffff;
    geom.paired = context.paired.contains(geom.name);
    MjcfPose in_body = geom.pose;  // of the geom; that of its shape lies in it
    if (known.type == ShapeType::mesh || known.type == ShapeType::terrain) {
        put_asset(context, a, known.type, geom);
    } else if (const auto name = a.find("mesh")) {
        const MjcfMesh& mesh = find_mesh_asset(context, *name);
        const auto shell = a.find("shellinertia");
        const auto fit = fit_to_mesh(
            context, mesh, shell && shell->boolean() ? MeshInertia::shell : mesh.inertia, known.type);
        if (!fit) {
            e.warn(context.warnings, "is fitted to a mesh that is left out, and is ignored",
                   "give it its size");
            geom.shape = nullptr;
            return geom;
        }
        const Vec3<double> size = a.nonnegative_or("fitscale", 1) * fit->size;
        geom.pose = geom.pose * mesh_pose(mesh) * fit->pose;
        geom.solid = solid_of(known.type, size);
        geom.shape = shape_of(known.type, size);
    } else {
        const Vec3<double> size = read_size(a, known, geom.pose);
        in_body = geom.pose;
        geom.solid = solid_of(known.type, size);
        geom.shape = shape_of(known.type, size);
    }
    if (!geom.visual() && !geom.shape.is_null()) {
        read_contact(context, a, geom);
        put_surface_motion(a, inverse(in_body) * geom.pose, geom);
    }
    if (const auto rgba = a.find("rgba"))
        geom.rgba = rgba->colour();
    else if (const auto material = a.find("material");
             material && context.materials.contains(material->text()))
        geom.rgba = context.materials.at(material->text());
    const std::int64_t group = a.integer_or("group", 0, -1000000, 1000000);
    if (geom.mesh != nullptr && geom.mesh->left_out) geom.mesh = nullptr;
    geom.counts = (geom.mesh != nullptr || geom.solid.volume > 0) && group >= context.compiler.group_least &&
                  group <= context.compiler.group_most;
    geom.density = a.nonnegative_or("density", 1000);
    if (const auto shell = a.find("shellinertia"); shell && shell->boolean()) {
        geom.shell = geom.mesh != nullptr;
        if (!geom.shell)
            context.warnings.add(shell->place(),
                                 "shells of geoms other than meshes are not supported; the geom is solid",
                                 "give the body an <inertial>");
    }
    if (const auto mass = a.find("mass")) geom.mass = mass->nonnegative();
    return geom;
}

}  // namespace costate
