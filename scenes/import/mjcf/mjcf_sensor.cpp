// The <sensor> section. Sensors of one section share their names with nothing else.
#include <algorithm>
#include <cstring>
#include <set>
#include <span>

#include "scenes/import/mjcf/mjcf_model.hpp"
#include "scenes/import/mjcf/mjcf_names.hpp"
#include "solvers/sensor.hpp"

namespace costate {
namespace {

// A kind of MuJoCo's, ours, and the attribute of the thing that it is attached to.
struct SensorName {
    const char *theirs, *ours, *attribute, *key;
};
constexpr SensorName sensor_names[] = {
    {"accelerometer", "accelerometer", "site", "site"},
    {"velocimeter", "velocimeter", "site", "site"},
    {"gyro", "gyro", "site", "site"},
    {"force", "force", "site", "site"},
    {"torque", "torque", "site", "site"},
    {"touch", "touch", "site", "site"},
    {"jointpos", "joint_position", "joint", "joint"},
    {"jointvel", "joint_velocity", "joint", "joint"},
    {"ballquat", "joint_position", "joint", "joint"},
    {"ballangvel", "joint_velocity", "joint", "joint"},
    {"jointactuatorfrc", "joint_effort", "joint", "joint"},
    {"jointlimitfrc", "joint_limit_force", "joint", "joint"},
    {"tendonpos", "tendon_length", "tendon", "tendon"},
    {"tendonvel", "tendon_velocity", "tendon", "tendon"},
    {"tendonlimitfrc", "tendon_limit_force", "tendon", "tendon"},
    {"actuatorpos", "actuator_position", "actuator", "actuator"},
    {"actuatorvel", "actuator_velocity", "actuator", "actuator"},
    {"actuatorfrc", "actuator_force", "actuator", "actuator"},
    {"framepos", "frame_position", "objname", nullptr},
    {"framequat", "frame_quaternion", "objname", nullptr},
    {"framexaxis", "frame_x_axis", "objname", nullptr},
    {"frameyaxis", "frame_y_axis", "objname", nullptr},
    {"framezaxis", "frame_z_axis", "objname", nullptr},
    {"framelinvel", "frame_linear_velocity", "objname", nullptr},
    {"frameangvel", "frame_angular_velocity", "objname", nullptr},
    {"framelinacc", "frame_linear_acceleration", "objname", nullptr},
    {"frameangacc", "frame_angular_acceleration", "objname", nullptr},
    {"subtreecom", "centre_of_mass", "body", "body"},
    {"subtreelinvel", "centre_of_mass_velocity", "body", "body"},
    {"subtreeangmom", "angular_momentum", "body", "body"},
};

// The names of the things in the model that a sensor may be attached to, by the key of a scene.
using ModelNames = std::map<std::string, std::set<std::string>>;

ModelNames names_in(const ImportedModel& out) {
    const Json& model = out.model;
    ModelNames names;
    const auto add = [&](const char* key, const Json& item) {
        if (item.contains("name")) names[key].insert(item["name"].get<std::string>());
    };
    for (const Json& body : model["bodies"]) {
        add("body", body);
        if (body.contains("joint")) add("joint", body["joint"]);
        for (const Json& joint : body.value("joints", Json::array()))
            add("joint", joint);
        for (const Json& site : body.value("sites", Json::array()))
            add("site", site);
        for (const Json& shape : body.value("shapes", Json::array()))
            add("shape", shape);
    }
    for (const Json& shape : out.scene.value("shapes", Json::array()))
        names["shape"].insert(of_world + shape["name"].get<std::string>());
    for (const Json& tendon : model.value("tendons", Json::array()))
        add("tendon", tendon);
    for (const Json& actuator : model.value("actuators", Json::array())) {
        add("actuator", actuator);
        if (actuator.contains("joint") || actuator.contains("tendon")) add("drive", actuator);
    }
    return names;
}

// What a sensor is attached to in the model: the key of a scene, and a name.
struct Attachment {
    std::string key, name;
};

// The frame that two attributes name. That of a body is the frame of its joints ("xbody"); "body" is the frame of its
// inertia, where a site is put, as at a geom. Nothing if it is not supported: the axes of a mesh's solid and of an
// inertia that is not diagonal are those of an algorithm.
std::optional<Attachment> frame_named(const MjcfContext& context, const XmlElement& e, const char* type,
                                      const char* name, bool reads_axes, const MjcfIndex& index,
                                      ModelNames& known, ImportedModel& out) {
    const std::string kind = e.text_or(type, ""), on = e[name].text();
    if (kind == "site") return Attachment{"site", on};
    if (kind == "xbody") return Attachment{"body", on};
    const auto at = [&](const MjcfBody& body, const char* suffix, const MjcfPose& pose) {
        const std::string site = put_site(out, index, body, on + suffix, pose);
        known["site"].insert(site);
        return Attachment{"site", site};
    };
    for (const MjcfBody& body : std::span(index.bodies).subspan(1)) {
        // versions of MuJoCo differ in whether geoms without mass count
        const bool given = context.compiler.inertiafromgeom != InertiaFromGeom::always &&
                           body.mass_element.name() == "inertial",
                   settled = given || body.geoms.size() == 1;
        if (kind == "body" && body.name == on && ((body.principal && settled) || !reads_axes))
            return at(body, "_inertia",
                      {body.mass.c, body.principal.value_or(Quaternion<double>::identity())});
        const auto geom = std::ranges::find(body.geoms, on, &MjcfGeom::name);
        if (kind == "geom" && geom != body.geoms.end() && geom->mesh == nullptr)
            return at(body, "_frame", geom->pose);
    }
    return std::nullopt;
}

struct SensorParts {
    std::string type;                  // in models
    Attachment on;                     // the first of a pair
    std::optional<Attachment> second;  // the frame in which another is measured, or the other of a pair
    bool pair = false;
};

// <contact data="found"> with one slot, and <distance>, of two geoms or bodies; versions of MuJoCo before 3 have
// neither. Nothing if it is another.
std::optional<SensorParts> pair_of(const XmlElement& e, const MjcfIndex& index) {
    const bool contact = e.name() == "contact";
    if (contact ? e.text_or("data", "found") != "found" || e.number_or("num", 1) != 1
                : e.number_or("cutoff", 0) <= 0)
        return std::nullopt;
    const auto one = [&](const char* geom, const char* body) -> std::optional<Attachment> {
        if (e.has(body)) return Attachment{"body", e[body].text()};
        if (!e.has(geom)) return std::nullopt;
        const std::string name = e[geom].text();
        for (const MjcfBody& on : index.bodies) {
            const auto found = std::ranges::find(on.geoms, name, &MjcfGeom::name);
            if (found == on.geoms.end()) continue;
            if (!found->hulls.empty()) return std::nullopt;
            return Attachment{"shape", (&on == &index.bodies[0] ? of_world : "") + name};
        }
        return Attachment{"shape", name};
    };
    const auto first = one("geom1", "body1"), second = one("geom2", "body2");
    if (!first || !second || first->key != second->key) return std::nullopt;
    return SensorParts{contact ? "contact_count" : "distance", *first, second, true};
}

// Nothing if the sensor is not supported.
std::optional<SensorParts> parts_of(const MjcfContext& context, const XmlElement& e, const MjcfIndex& index,
                                    ModelNames& known, ImportedModel& out) {
    const std::string kind = e.name();
    if (kind == "contact" || kind == "distance") return pair_of(e, index);
    const auto* row =
        std::ranges::find_if(sensor_names, [&](const SensorName& name) { return name.theirs == kind; });
    if (row == std::end(sensor_names)) return std::nullopt;
    if (row->key != nullptr) return SensorParts{row->ours, {row->key, e[row->attribute].text()}, {}};
    const bool reads_axes = kind == "framequat" || kind.ends_with("axis");
    const auto on = frame_named(context, e, "objtype", "objname", reads_axes, index, known, out);
    if (!on) return std::nullopt;
    if (!e.has("refname")) return SensorParts{row->ours, *on, {}};
    if (kind.ends_with("acc")) return std::nullopt;
    const auto reference = frame_named(context, e, "reftype", "refname", true, index, known, out);
    if (!reference) return std::nullopt;
    return SensorParts{"relative" + std::string(row->ours).substr(std::strlen("frame")), *on, reference};
}

// True if MuJoCo clamps the numbers of the kind: those of unit quaternions and axes it does not.
bool is_cut_off(const std::string& theirs, const std::string& ours) {
    const auto* kind = std::ranges::find(sensor_traits, ours, &SensorTraits::name);
    return theirs != "ballquat" && *kind->unit != 0;
}

// True for sensors that a site of the world can have: they measure the motion of its frame.
bool measures_motion(const std::string& kind) {
    return kind.starts_with("frame") || kind == "gyro" || kind == "velocimeter" || kind == "accelerometer";
}

// Adds a fixed body with the sites of the world, if a sensor is at one of them: the world has no sites in models.
void put_world_sites(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out) {
    const std::vector<MjcfSite>& sites = index.bodies[0].sites;
    const auto of_world = [&](const XmlElement& e) {
        const auto names_one = [&](const char* attribute) {
            return std::ranges::find(sites, e.text_or(attribute, ""), &MjcfSite::name) != sites.end();
        };
        return measures_motion(e.name()) &&
               (e.name().starts_with("frame") ? names_one("objname") || names_one("refname")
                                              : names_one("site"));
    };
    bool any = false;
    for (const XmlElement& section : context.files.children(context.files.root(), "sensor"))
        any = any || std::ranges::any_of(context.files.children(section), of_world);
    if (!any) return;
    const ModelNames known = names_in(out);
    std::string name = "world_sites";
    const auto taken = [&](const char* kind) {
        return known.contains(kind) && known.at(kind).contains(name);
    };
    while (taken("body") || taken("joint"))
        name += "_";
    Json body{{"name", name}};
    for (const MjcfSite& site : sites) {
        Json frame{{"name", site.name}};
        put_pose(frame, site.pose);
        body["sites"].push_back(std::move(frame));
    }
    out.model["bodies"].push_back(std::move(body));
}

// The zone of a site, by which `touch` counts contacts.
Json zone_of(const MjcfIndex& index, const std::string& site) {
    for (const MjcfBody& body : index.bodies)
        for (const MjcfSite& s : body.sites)
            if (s.name == site) return s.zone;
    return nullptr;
}

}  // namespace

void read_sensors(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out) {
    put_world_sites(context, index, out);
    ModelNames known = names_in(out);
    MjcfNames names("sensor");
    const std::vector<XmlElement> sections = context.files.children(context.files.root(), "sensor");
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section))
            names.add(e, e.text_or("name", ""));
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section)) {
            const std::optional<SensorParts> parts = parts_of(context, e, index, known, out);
            if (!parts) {
                e.note(context.warnings, "is a sensor that is not supported and is left out",
                       "use one of scenes/README.md");
                continue;
            }
            const Attachment& on = parts->on;
            const std::optional<Attachment>& second = parts->second;
            const bool pair = parts->pair;
            if (e.name() == "actuatorpos" || e.name() == "actuatorvel")
                if (known["actuator"].contains(on.name) && !known["drive"].contains(on.name)) {
                    e.note(context.warnings, "measures an actuator that drives no joint, and is left out",
                           "remove it to silence this");
                    continue;
                }
            const bool whole_world =
                on.key == "body" && on.name == "world" && !pair && !measures_motion(e.name());
            const auto is_there = [&](const Attachment& part) {
                if (pair && part.key == "body" && part.name == "world") return true;
                const bool of_world = part.key == "site" &&
                                      std::ranges::find(index.bodies[0].sites, part.name, &MjcfSite::name) !=
                                          index.bodies[0].sites.end();
                return known[part.key].contains(part.name) && (!of_world || measures_motion(e.name()));
            };
            if (!whole_world && (!is_there(on) || (second && !is_there(*second)))) {
                e.note(context.warnings, "measures a part that is left out, and is left out",
                       "remove it to silence this");
                continue;
            }
            const std::string wall =
                on.name.starts_with(of_world) ? on.name.substr(std::strlen(of_world)) : on.name;
            Json sensor{{"name", e.has("name") ? e["name"].text() : names.take(wall + "_" + parts->type)},
                        {"type", parts->type}};
            if (pair)
                sensor[on.key == "body" ? "bodies" : "shapes"] = {on.name, second->name};
            else if (!whole_world)
                sensor[on.key] = on.name;
            if (second && !pair) sensor["reference_" + second->key] = second->name;
            if (const double cutoff = e.number_or("cutoff", 0);
                cutoff > 0 && is_cut_off(e.name(), parts->type))
                sensor["cutoff"] = cutoff;
            if (parts->type == "touch")
                if (const Json zone = zone_of(index, on.name); !zone.is_null()) sensor["zone"] = zone;
            put_item(out, "sensors", e, sensor);
        }
}

}  // namespace costate
