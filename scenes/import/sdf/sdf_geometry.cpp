// Geometry of links: collision shapes and visuals.
#include <algorithm>

#include "core/math/rotation.hpp"
#include "scenes/format/files.hpp"
#include "scenes/import/gazebo.hpp"
#include "scenes/import/mesh/mesh_file.hpp"
#include "scenes/import/mesh/mesh_path.hpp"
#include "scenes/import/mesh/mesh_shape.hpp"
#include "scenes/import/mesh/png_file.hpp"
#include "scenes/import/pose.hpp"
#include "scenes/import/sdf/sdf_parts.hpp"

namespace costate {
namespace {

constexpr double capture = 1e4;  // m/s: a shape that bounces only above does not bounce
constexpr size_t most_heights = 1'000'000;

}  // namespace

// Writes type and size of a box, sphere, cylinder, capsule or ellipsoid; false for other geometry.
bool SdfContext::put_primitive(const sdf::Geometry& geometry, Json& out) const {
    const sdf::ElementPtr at = geometry.Element();
    const auto round = [&](const char* type, double radius) {
        out["type"] = type;
        out["radius"] = positive(radius, at);
    };
    if (const auto* box = geometry.BoxShape()) {
        const auto size = box->Size();
        out["type"] = "box";
        out["half_extents"] =
            Json::array({positive(size.X(), at) / 2, positive(size.Y(), at) / 2, positive(size.Z(), at) / 2});
    } else if (const auto* sphere = geometry.SphereShape()) {
        round("sphere", sphere->Radius());
    } else if (const auto* cylinder = geometry.CylinderShape()) {
        round("cylinder", cylinder->Radius());
        out["half_length"] = positive(cylinder->Length(), at) / 2;
    } else if (const auto* capsule = geometry.CapsuleShape()) {
        round("capsule", capsule->Radius());
        out["half_length"] = positive(capsule->Length(), at) / 2;
    } else if (const auto* ellipsoid = geometry.EllipsoidShape()) {
        const auto radii = ellipsoid->Radii();
        out["type"] = "ellipsoid";
        out["semi_axes"] =
            Json::array({positive(radii.X(), at), positive(radii.Y(), at), positive(radii.Z(), at)});
    } else {
        return false;
    }
    return true;
}

// The file that a URI names; empty: there is none.
std::filesystem::path SdfContext::find_asset(const std::string& uri, sdf::ElementPtr at, const char* what,
                                             bool moves) const {
    const std::string text = std::string(what) + " is ignored, because there is no file";
    const auto leave_out = [&](const char* remedy) {
        moves ? warn(at, text, remedy, uri) : note(at, text, remedy, uri);
        return std::filesystem::path();
    };
    if (uri.starts_with("http://") || uri.starts_with("https://"))
        return leave_out("download it and name its path: no network is used");
    const MeshPath found = find_mesh(uri, file.folder, options);
    if (!found.allowed)
        fail(at, "\"" + uri + "\" leads out of the model's folder", "name its folder with --search");
    if (!found.known_scheme)
        fail(at, "\"" + uri + "\" is not a path", "use model://, file:// or a path from this folder");
    if (!found.file.empty()) return found.file;
    return leave_out("name its folder with --search");
}

std::vector<Json> SdfContext::hulls(const sdf::Mesh& mesh) const {
    const sdf::ElementPtr at = mesh.Element();
    const Vec3<double> scale = finite(mesh.Scale(), at);
    if (!(scale.cwiseAbs().minCoeff() > 0)) fail(at, "has a scale of 0", "use three factors");
    if (!mesh.Submesh().empty())
        warn(at, "a submesh is not supported; the whole mesh collides", "put it into a file of its own",
             mesh.Submesh());
    const std::filesystem::path path = find_asset(mesh.Uri(), at, "collision mesh", true);
    if (path.empty()) return {};
    const std::string place = file.place(at);
    try {
        return mesh_shapes(path, {mesh.Uri(), place, place, scale}, options, warnings);
    } catch (const MeshFileError& e) {
#ifdef COSTATE_HAVE_ASSIMP
        fail(at, "\"" + mesh.Uri() + "\" cannot be read: " + e.what(), e.remedy);
#else
        warn(at, e.what(), e.remedy);
        return {};
#endif
    }
}

// The terrain of a PNG file, whose white is the height of the size; null: it is left out.
Json SdfContext::height_field(const sdf::Heightmap& heightmap) const {
    const sdf::ElementPtr at = heightmap.Element();
    const Vec3<double> size = finite(heightmap.Size(), at);
    if (!(size.minCoeff() > 0)) fail(at, "has a size that is not positive", "use three lengths above 0");
    const std::filesystem::path path = find_asset(heightmap.Uri(), at, "height map", true);
    if (path.empty()) return nullptr;
    if (path.extension() != ".png" || !reads_png()) {
        warn(at, "a height map is left out, because it is not read from", "use a PNG file, and libpng",
             heightmap.Uri());
        return nullptr;
    }
    try {
        const GrayImage image = parse_png(read_file(path), heightmap.Uri(), most_heights);
        if (image.rows < 2 || image.columns < 2)
            fail(at, "has fewer than two rows or columns", "use a larger picture");
        Json heights = Json::array();
        for (int row = image.rows; row-- > 0;) {
            Json line = Json::array();
            for (int column = 0; column < image.columns; ++column)
                line.push_back(image.values[static_cast<size_t>(row * image.columns + column)] / 255.0 *
                               size.z());
            heights.push_back(std::move(line));
        }
        return {{"type", "height_field"},
                {"heights", std::move(heights)},
                {"cell", Json::array({size.x() / (image.columns - 1), size.y() / (image.rows - 1)})}};
    } catch (const MeshFileError& e) {
        fail(at, "\"" + heightmap.Uri() + "\" cannot be read: " + e.what(), e.remedy);
    }
}

std::vector<Json> SdfContext::shapes_of(const sdf::Collision& collision) const {
    const sdf::Geometry& geometry = *collision.Geom();
    Transform<double> X = sdf_pose(collision, file, warnings);
    if (!X.p.allFinite() || !X.R.allFinite())
        fail(collision.Element(), "has a pose that is not finite", "correct it");
    std::vector<Json> all{Json::object()};
    if (const auto* mesh = geometry.MeshShape()) {
        all = hulls(*mesh);
    } else if (const auto* plane = geometry.PlaneShape()) {
        all[0]["type"] = "plane";
        X.R = X.R * rotation_of_z_onto(finite(plane->Normal(), geometry.Element()).stableNormalized());
    } else if (const auto* heightmap = geometry.HeightmapShape()) {
        all[0] = height_field(*heightmap);
        if (all[0].is_null()) return {};
        X = compose(X, {Mat3<double>::Identity(), finite(heightmap->Position(), geometry.Element())});
    } else if (!put_primitive(geometry, all[0])) {
        const sdf::ElementPtr kind = geometry.Element() ? geometry.Element()->GetFirstElement() : nullptr;
        warn(collision.Element(), "a collision is left out, because its geometry is not supported:",
             "use a box, cylinder, sphere, capsule, ellipsoid, plane or mesh",
             kind ? kind->GetName() : "empty");
        return {};
    }
    for (Json& each : all)
        put_pose(each, X);
    return all;
}

// The contact of a collision as keys of its shapes. A spring in the contact takes the place of restitution.
Json SdfContext::read_contact(const sdf::Collision& collision, bool fixed) const {
    const sdf::ElementPtr surface = find(collision.Element(), {"surface"});
    Json out = Json::object();
    if (surface == nullptr) return out;
    const auto nonnegative = [&](std::initializer_list<const char*> path) {
        const auto x = number(surface, path);
        if (x && *x < 0) fail(find(surface, path), "must not be negative", "use 0 or more");
        return x;
    };
    const auto mu = nonnegative({"friction", "ode", "mu"}), mu2 = nonnegative({"friction", "ode", "mu2"}),
               other = nonnegative({"friction", "bullet", "friction"});
    // Gazebo takes the smaller coefficient of a pair and costate the product: 1 of what is fixed keeps that of
    // the other
    if (const auto friction = mu ? mu : other)
        out["friction"] = std::min(*friction, fixed ? 1.0 : gazebo_ground);
    if (mu && mu2 && *mu2 != *mu)
        warn(find(surface, {"friction", "ode", "mu2"}),
             "<mu2> differs from <mu>, which is used in all directions", "give both the same coefficient");
    for (const char* slip : {"slip1", "slip2"})
        if (const auto s = number(surface, {"friction", "ode", slip}); s && *s != 0)
            warn(find(surface, {"friction", "ode", slip}),
                 "a slip of friction is not supported and is ignored", "remove it to silence this");
    if (const auto twist = nonnegative({"friction", "torsional", "coefficient"});
        twist && is_true(surface, {"friction", "torsional", "use_patch_radius"}))
        if (const auto radius = nonnegative({"friction", "torsional", "patch_radius"}); radius && *radius > 0)
            out["torsional_friction"] = 2. / 3 * *twist * *radius;
    const auto kp = nonnegative({"contact", "ode", "kp"}), kd = nonnegative({"contact", "ode", "kd"});
    const bool soft = kp && *kp > 0 && *kp < gazebo_rigid;
    if (soft) {
        out["stiffness"] = *kp;
        out["damping"] = kd.value_or(1);
    }
    const double bounce = nonnegative({"bounce", "restitution_coefficient"}).value_or(0),
                 above = number(surface, {"bounce", "threshold"}).value_or(1e5);
    if (bounce > 0 && above < capture) {
        if (soft)
            warn(find(surface, {"bounce"}), "<bounce> beside <kp> is ignored: the spring bounces",
                 "remove one of the two");
        else
            out["restitution"] = std::min(bounce, 1.0);
    }
    if (const auto bits = number(surface, {"contact", "collide_bitmask"})) {
        if (*bits < 0 || *bits > 0xffffffff || *bits != std::floor(*bits))
            fail(find(surface, {"contact", "collide_bitmask"}), "is not a mask of 32 bits",
                 "use 0 to 4294967295");
        if (*bits != 0xffff) out["group"] = out["mask"] = static_cast<std::uint32_t>(*bits);
    }
    if (is_true(surface, {"contact", "collide_without_contact"})) out["group"] = out["mask"] = 0;
    return out;
}

void SdfContext::read_shapes(const sdf::Link& link, bool self_collision, bool fixed, SdfLink& out) const {
    for (uint64_t k = 0; k < link.CollisionCount(); ++k) {
        const sdf::Collision& collision = *link.CollisionByIndex(k);
        const Json contact = read_contact(collision, fixed);
        for (Json& shape : shapes_of(collision)) {
            shape.update(contact);
            const bool floor = fixed && shape["type"] == "plane";
            if (!self_collision && !floor) shape["self_collision"] = false;
            (floor ? out.plane_places : out.shape_places).push_back(file.place(collision.Element()));
            (floor ? out.planes : out.shapes).push_back(std::move(shape));
        }
    }
    for (Json* list : {&out.shapes, &out.planes})
        for (size_t k = 0; k < list->size(); ++k)  // a single shape has its body's name
            if (list->size() > 1 || list == &out.planes)
                (*list)[k]["name"] =
                    out.name + "." + std::to_string(k + 1 + (list == &out.planes ? out.shapes.size() : 0));
}

void SdfContext::read_visuals(const sdf::Link& link, SdfLink& out) const {
    for (uint64_t k = 0; k < link.VisualCount(); ++k) {
        const sdf::Visual& visual = *link.VisualByIndex(k);
        const sdf::Geometry& geometry = *visual.Geom();
        Json shown = Json::object();
        if (const auto* mesh = geometry.MeshShape()) {
            const Vec3<double> scale = finite(mesh->Scale(), mesh->Element());
            const std::filesystem::path path = find_asset(mesh->Uri(), mesh->Element(), "visual mesh", false);
            if (path.empty()) continue;
            shown["type"] = "mesh";
            shown["file"] = path.string();
            if (!scale.isOnes(0)) shown["scale"] = to_json(scale);
        } else if (!put_primitive(geometry, shown)) {
            continue;
        }
        const sdf::ElementPtr material = find(visual.Element(), {"material"});
        if (find(material, {"diffuse"}) != nullptr && visual.Material() != nullptr) {
            const auto colour = visual.Material()->Diffuse();
            const double seen = std::clamp(1 - static_cast<double>(visual.Transparency()), 0., 1.);
            const auto part = [&](float x) { return std::clamp(static_cast<double>(x), 0., 1.); };
            shown["rgba"] =
                Json::array({part(colour.R()), part(colour.G()), part(colour.B()), part(colour.A()) * seen});
        }
        put_pose(shown, sdf_pose(visual, file, warnings));
        out.visuals.push_back(std::move(shown));
    }
}

}  // namespace costate
