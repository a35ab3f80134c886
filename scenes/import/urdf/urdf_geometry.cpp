// Geometry of links: collision shapes and visuals.
#include <Eigen/Geometry>

#include "scenes/import/gazebo.hpp"
#include "scenes/import/mesh/mesh_file.hpp"
#include "scenes/import/mesh/mesh_path.hpp"
#include "scenes/import/mesh/mesh_shape.hpp"
#include "scenes/import/urdf/urdf_parts.hpp"

namespace costate {
namespace {

// The child of <geometry> that defines it.
XmlElement geometry_of(const XmlElement& element, Warnings& warnings) {
    const XmlElement geometry = element.only("geometry");
    const std::vector<XmlElement> children = geometry.children();
    if (children.empty()) geometry.fail("is empty", "put a box, cylinder, sphere, capsule or mesh into it");
    for (size_t k = 1; k < children.size(); ++k)
        children[k].warn(warnings, "is a second geometry of one element and is ignored",
                         "put it into a <" + element.name() + "> of its own");
    return children[0];
}

// A box, or the sphere of a visual, of size 0
bool is_empty(const XmlElement& g) {
    if (g.name() == "box") return g["size"].vec3().isZero(0);
    return g.name() == "sphere" && g["radius"].number() == 0;
}

constexpr double point = 1e-6;  // m, radius of a sphere for a point

// Writes type and size of a sphere, box, cylinder or capsule; false for other geometry.
bool put_primitive(const XmlElement& g, Json& out) {
    if (g.name() == "box") {
        const Vec3<double> size = g["size"].vec3();
        if (!(size.minCoeff() > 0)) g["size"].fail("must be positive", "use three lengths above 0");
        out["type"] = "box";
        out["half_extents"] = to_json(0.5 * size);
        return true;
    }
    if (g.name() != "sphere" && g.name() != "cylinder" && g.name() != "capsule") return false;
    out["type"] = g.name();
    const bool is_point = g.name() == "sphere" && g["radius"].number() == 0;
    out["radius"] = is_point ? point : g["radius"].positive();
    if (g.name() != "sphere") out["half_length"] = 0.5 * g["length"].positive();
    return true;
}

Vec3<double> read_scale(const XmlElement& mesh) {
    const auto given = mesh.find("scale");
    const bool is_one = given && given->text().find_first_of(" ,\t\n") == std::string::npos;
    const Vec3<double> scale =
        is_one ? Vec3<double>::Constant(given->number()) : mesh.vec3_or("scale", {1, 1, 1});
    if (!(scale.cwiseAbs().minCoeff() > 0)) mesh["scale"].fail("must not be 0", "use three factors");
    return scale;
}

}  // namespace

MeshFolder read_mesh_folder(const XmlElement& robot, Warnings& warnings) {
    MeshFolder out;
    for (const XmlElement& mujoco : robot.children("mujoco")) {
        mujoco.warn_others(warnings, {}, {"compiler", "size"});
        for (const XmlElement& compiler : mujoco.children("compiler")) {
            compiler.warn_others(
                warnings,
                {"meshdir", "strippath", "discardvisual", "fusestatic", "balanceinertia", "convexhull",
                 "autolimits", "angle", "eulerseq", "coordinate", "texturedir"},
                {});
            out.name = compiler.text_or("meshdir", out.name);
            out.strips_path = compiler.text_or("strippath", "true") != "false";
        }
    }
    return out;
}

std::optional<std::filesystem::path> LinkReader::mesh(const XmlElement& element, const char* role) const {
    const XmlAttribute name = element["filename"];
    MeshPath found = find_mesh(name.word(), folder, options);
    if (found.file.empty() && !meshes.name.empty()) {
        const std::string text = name.word();
        const std::string stripped = meshes.strips_path ? text.substr(text.find_last_of("/\\") + 1) : text;
        if (const MeshPath other = find_mesh(meshes.name + "/" + stripped, folder, options);
            !other.file.empty())
            found = other;
    }
    if (!found.allowed) name.fail("leads out of the robot's folder", "name its folder with --search");
    if (!found.known_scheme)
        name.fail("is not a path", "use package://, file:// or a path from the robot's folder");
    if (!found.file.empty()) return found.file;
    const std::string what = std::string(role) + " mesh is ignored, because there is no file";
    if (role == std::string_view("visual"))
        warnings.note(name.place(), what, "name its folder with --search", name.word());
    else
        warnings.add(name.place(), what, "name its folder with --search", name.word());
    return {};
}

std::vector<Json> LinkReader::hulls(const XmlElement& element) const {
    const Vec3<double> scale = read_scale(element);
    const auto file = mesh(element, "collision");
    if (!file) return {};
    const XmlAttribute name = element["filename"];
    try {
        return mesh_shapes(*file, {name.word(), element.place(), name.place(), scale}, options, warnings);
    } catch (const MeshFileError& e) {
#ifdef COSTATE_HAVE_ASSIMP
        name.fail(std::string("cannot be read: ") + e.what(), e.remedy);
#else
        warnings.add(element.place(), e.what(), e.remedy);
        return {};
#endif
    }
}

std::vector<Json> LinkReader::shapes_of(const XmlElement& collision) const {
    // <sdf>, of Isaac Gym, asks for the mesh itself in place of its hull; a hull that differs has a warning of its own
    collision.warn_others(warnings, {"name", "group", "concave"},
                          {"origin", "geometry", "material", "verbose", "sdf", "drake:proximity_properties"});
    const XmlElement g = geometry_of(collision, warnings);
    Transform<double> X = read_origin(collision);
    std::vector<Json> all{Json::object()};
    Json& out = all[0];
    if (g.name() == "mesh") {
        all = hulls(g);
    } else if (g.name() == "plane") {
        const Vec3<double> normal = g.vec3_or("normal", Vec3<double>::UnitZ());
        if (!(normal.norm() > 1e-12)) g["normal"].fail("has no direction", "use 0 0 1");
        out["type"] = "plane";
        X.R = X.R * rotation_of_z_onto(normal.stableNormalized());
    } else if (g.name() == "box" && is_empty(g)) {
        g.warn(warnings, "has no extent and is ignored", "give it one, or remove it");
        return {};
    } else if (!put_primitive(g, out)) {
        g.warn(warnings, "is not a known geometry and is ignored",
               "use a box, cylinder, sphere, capsule or mesh");
        return {};
    }
    for (Json& each : all)
        put_pose(each, X);
    return all;
}

// The contact of a link by Bullet's <contact>, otherwise by <gazebo>, as keys of its shapes. A spring in the contact
// takes the place of restitution.
Json LinkReader::read_contact(const XmlElement& link) const {
    const auto set = gazebo.find(link["name"].text());
    Json out = set != gazebo.end() ? set->second.contact : Json::object();
    const std::optional<XmlElement> contact = link.child("contact");
    if (!contact) return out;
    contact->warn_others(
        warnings, {},
        {"lateral_friction", "restitution", "rolling_friction", "spinning_friction", "stiffness", "damping",
         "inertia_scaling", "friction_anchor", "contact_cfm", "contact_erp"});
    const auto stiffness = contact->child("stiffness");
    if (stiffness) (*stiffness)["value"].positive();
    for (const auto& [element, key] :
         {std::pair("lateral_friction", "friction"), std::pair("restitution", "restitution"),
          std::pair("spinning_friction", "torsional_friction"),
          std::pair("rolling_friction", "rolling_friction"), std::pair("stiffness", "stiffness"),
          std::pair("damping", "damping")})
        if (const auto given = contact->child(element)) {
            const double x = (*given)["value"].nonnegative();
            if (key != std::string_view("damping") || stiffness) out[key] = x;
        }
    if (!out.contains("stiffness")) return out;
    if (const auto restitution = contact->child("restitution"); restitution && out["restitution"] > 0)
        restitution->warn(warnings, "beside <stiffness> is ignored: the spring bounces",
                          "remove one of the two");
    out.erase("restitution");
    return out;
}

// Friction by Drake's properties, which go before those of the link. Drake's friction in a step is that of slip.
void LinkReader::put_properties(const XmlElement& collision, Json& shape) const {
    const auto properties = collision.child("drake:proximity_properties");
    if (!properties) return;
    if (const auto friction = properties->child("drake:mu_dynamic"))
        shape["friction"] = std::min((*friction)["value"].nonnegative(), gazebo_ground);
    for (const char* soft : {"drake:compliant_hydroelastic", "drake:point_contact_stiffness"})
        if (properties->child(soft) && !shape.contains("stiffness"))
            properties->note(warnings, "describes a soft contact, which is rigid here",
                             "give the shape a stiffness in a JSON model");
}

void LinkReader::put_shapes(const XmlElement& link, Json& body,
                            std::map<std::string, std::string>& places) const {
    const Json contact = read_contact(link);
    Json shapes = Json::array();
    for (const XmlElement& collision : link.children("collision")) {
        for (Json& s : shapes_of(collision)) {
            s.update(contact);
            put_properties(collision, s);
            if (!options.self_collision) s["self_collision"] = false;
            places["/shapes/" + std::to_string(shapes.size())] = collision.place();
            shapes.push_back(std::move(s));
        }
    }
    for (size_t k = 0; shapes.size() > 1 && k < shapes.size(); ++k)  // a single shape has its body's name
        shapes[k]["name"] = link["name"].text() + "." + std::to_string(k + 1);
    if (!shapes.empty()) body["shapes"] = std::move(shapes);
}

void LinkReader::put_colour(const XmlElement& visual, Json& out) const {
    const auto material = visual.child("material");
    if (!material) return;
    const std::string name = material->text_or("name", "");
    const auto own = material->child("color");
    const auto named = materials.find(name);
    if (own)
        out["rgba"] = (*own)["rgba"].colour();
    else if (named != materials.end())
        out["rgba"] = named->second;
    else
        material->note(warnings, "\"" + name + "\" has no colour", "give it a <color>");
}

void LinkReader::put_visuals(const XmlElement& link, Json& body) const {
    Json visuals = Json::array();
    for (const XmlElement& visual : link.children("visual")) {
        const XmlElement g = geometry_of(visual, warnings);
        Json out = Json::object();
        put_colour(visual, out);
        if (is_empty(g)) {
            g.note(warnings, "of size 0 is invisible and is ignored", "give it a size");
            continue;
        }
        if (g.name() == "mesh") {
            const Vec3<double> scale = read_scale(g);
            const auto file = mesh(g, "visual");
            if (!file) continue;
            out["type"] = "mesh";
            out["file"] = file->string();
            if (!scale.isOnes(0)) out["scale"] = to_json(scale);
        } else if (!put_primitive(g, out)) {
            g.note(warnings, "is not a known geometry and is ignored",
                   "use a box, cylinder, sphere, capsule or mesh");
            continue;
        }
        put_pose(out, read_origin(visual));
        visuals.push_back(std::move(out));
    }
    if (!visuals.empty()) body["visuals"] = std::move(visuals);
}

}  // namespace costate
