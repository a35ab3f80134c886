// The <sensor> section. Sensors of one section share their names with nothing else.
#include <algorithm>
#include <set>

#include "scenes/import/mjcf/mjcf_model.hpp"
#include "scenes/import/mjcf/mjcf_names.hpp"

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

ModelNames names_in(const Json& model) {
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
    }
    for (const Json& actuator : model.value("actuators", Json::array()))
        add("actuator", actuator);
    return names;
}

// Of a frame sensor: "site" or "body"; null if the kind of object is not supported. The frame of a body is
// that of its joints ("xbody"); "body" is the frame of its inertia.
const char* frame_key(const XmlElement& e) {
    if (e.has("reftype") || e.has("refname")) return nullptr;
    const std::string type = e.text_or("objtype", "");
    return type == "site" ? "site" : type == "xbody" ? "body" : nullptr;
}

// True for sensors that a site of the world can have: they measure the motion of its frame.
bool measures_motion(const std::string& kind) {
    return kind.starts_with("frame") || kind == "gyro" || kind == "velocimeter" || kind == "accelerometer";
}

// Adds a fixed body with the sites of the world, if a sensor is at one of them: the world has no sites in models.
void put_world_sites(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out) {
    const std::vector<MjcfSite>& sites = index.bodies[0].sites;
    const auto of_world = [&](const XmlElement& e) {
        const char* attribute = e.name().starts_with("frame") ? "objname" : "site";
        return measures_motion(e.name()) &&
               std::ranges::find(sites, e.text_or(attribute, ""), &MjcfSite::name) != sites.end();
    };
    bool any = false;
    for (const XmlElement& section : context.files.children(context.files.root(), "sensor"))
        any = any || std::ranges::any_of(context.files.children(section), of_world);
    if (!any) return;
    const ModelNames known = names_in(out.model);
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
    const ModelNames known = names_in(out.model);
    MjcfNames names("sensor");
    const std::vector<XmlElement> sections = context.files.children(context.files.root(), "sensor");
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section))
            names.add(e, e.text_or("name", ""));
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section)) {
            const std::string kind = e.name();
            const auto* row = std::ranges::find_if(
                sensor_names, [&](const SensorName& name) { return name.theirs == kind; });
            const bool supported = row != std::end(sensor_names);
            const char* key = supported ? (row->key ? row->key : frame_key(e)) : nullptr;
            if (key == nullptr) {
                e.note(context.warnings, "is a sensor that is not supported and is left out",
                       "use one of scenes/README.md, on a site or an \"xbody\"");
                continue;
            }
            const std::string on = e[row->attribute].text();
            const bool whole_world = std::string_view(key) == "body" && on == "world" && row->key;
            const auto of_kind = known.find(key);
            const bool at_world =
                key == std::string_view("site") && !measures_motion(kind) &&
                std::ranges::find(index.bodies[0].sites, on, &MjcfSite::name) != index.bodies[0].sites.end();
            if (!whole_world && (at_world || of_kind == known.end() || !of_kind->second.contains(on))) {
                e.note(context.warnings, "measures a part that is left out, and is left out",
                       "remove it to silence this");
                continue;
            }
            if (e.number_or("cutoff", 0) > 0)
                e.note(context.warnings, "has a cutoff, which is ignored", "remove it to silence this");
            Json sensor{{"name", e.has("name") ? e["name"].text() : names.take(on + "_" + row->ours)},
                        {"type", row->ours}};
            if (!whole_world) sensor[key] = on;
            if (kind == "touch")
                if (const Json zone = zone_of(index, on); !zone.is_null()) sensor["zone"] = zone;
            put_item(out, "sensors", e, sensor);
        }
}

}  // namespace costate
