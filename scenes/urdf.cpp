#include "scenes/urdf.hpp"

#include <algorithm>

#include "scenes/names.hpp"
#include "scenes/urdf_parts.hpp"
#include "scenes/urdf_tree.hpp"

namespace costate {
namespace {

// What goes into the model, and from where.
struct Emission {
    const UrdfTree& tree;
    ImportedModel& out;

    std::string add(const char* list, Json value, const XmlElement& element) {
        Json& items = out.model[list];
        const std::string pointer = std::string("/") + list + "/" + std::to_string(items.size());
        items.push_back(std::move(value));
        out.places[pointer] = element.place();
        return pointer;
    }
};

// The <limit> of a revolute or prismatic joint, if it limits where the joint may go.
std::optional<XmlElement> range_of(const UrdfJoint& joint) {
    if (joint.type != UrdfType::revolute && joint.type != UrdfType::prismatic) return {};
    const auto limit = joint.element.child("limit");
    return limit && (limit->has("lower") || limit->has("upper")) ? limit : std::nullopt;
}

// A joint between 0 and 0.
bool is_locked(const UrdfJoint& joint) {
    const auto limit = range_of(joint);
    return limit && limit->number_or("lower", 0) == 0 && limit->number_or("upper", 0) == 0;
}

// "limits" of a revolute or prismatic joint.
void put_limits(const UrdfJoint& joint, Json& out, Warnings& warnings) {
    if (joint.type != UrdfType::revolute && joint.type != UrdfType::prismatic) return;
    const auto limit = range_of(joint);
    if (!limit) {
        joint.element.warn(warnings, "has no limits, so that it moves without", "give it <limit lower=... upper=.../>");
        return;
    }
    const double lower = limit->number_or("lower", 0), upper = limit->number_or("upper", 0);
    if (is_locked(joint)) {
        limit->warn(warnings, "leaves the joint nowhere to go; it is locked", "give it a range, or make the joint fixed");
        out["locked"] = true;
    } else if (!(lower < upper)) {
        limit->fail("has a lower end that is not below the upper one", "swap them, or make the joint continuous");
    } else {
        out["limits"] = Json::array({lower, upper});
    }
}

// <dynamics>, which older files call <joint_properties>.
void put_dynamics(const UrdfJoint& joint, Json& out) {
    for (const char* name : {"dynamics", "joint_properties"})
        if (const auto dynamics = joint.element.child(name)) {
            if (const double damping = dynamics->nonnegative_or("damping", 0); damping > 0) out["damping"] = damping;
            if (const double friction = dynamics->nonnegative_or("friction", 0); friction > 0) out["dry_friction"] = friction;
        }
}

void put_axis(const UrdfJoint& joint, Json& out) {
    const auto element = joint.element.child("axis");
    const Vec3<double> axis = element ? (*element)["xyz"].vec3() : Vec3<double>::UnitX();
    if (!(axis.norm() > 1e-12)) element->fail("has no direction", "use for example xyz=\"0 0 1\"");
    out["axis"] = to_json(axis.normalized());
}

// A floating joint whose parent moves: six joints in a row that can do the same.
Json floating_chain(const UrdfJoint& joint) {
    Json chain = Json::array();
    for (const auto& [end, axis] :
         {std::pair(".x", Vec3<double>::UnitX()), std::pair(".y", Vec3<double>::UnitY()), std::pair(".z", Vec3<double>::UnitZ())})
        chain.push_back({{"name", joint.name + end}, {"type", "prismatic"}, {"axis", to_json(axis)}});
    chain.push_back({{"name", joint.name}, {"type", "spherical"}});
    put_pose(chain[0], read_origin(joint.element));
    put_dynamics(joint, chain[3]);
    for (size_t k = 0; k < 3; ++k) put_dynamics(joint, chain[k]);
    return chain;
}

// "joint" or "joints" of the body that a joint carries. `floats`: the root does.
void put_joint(const UrdfJoint& joint, const UrdfTree& tree, bool floats, Json& body, Warnings& warnings) {
    static constexpr const char* types[] = {"revolute", "continuous", "prismatic", "fixed", "free", "planar"};
    if (joint.type == UrdfType::floating && (floats || !tree.is_fixed(joint.parent))) {
        body["joints"] = floating_chain(joint);
        return;
    }
    Json out{{"name", joint.name}, {"type", types[static_cast<size_t>(joint.type)]}};
    Transform<double> X = read_origin(joint.element);
    if (joint.type == UrdfType::floating) {  // it starts at the world, from where its parent stands for good
        for (int link = joint.parent; link != tree.root;) {
            const UrdfJoint& before = tree.joints[static_cast<size_t>(tree.links[static_cast<size_t>(link)].joint)];
            X = compose(read_origin(before.element), X);
            link = before.parent;
        }
        body.erase("parent");
    }
    put_pose(out, X);
    if (joint.has_axis()) put_axis(joint, out);
    if (joint.type != UrdfType::fixed) put_limits(joint, out, warnings), put_dynamics(joint, out);
    body["joint"] = std::move(out);
}

// The motor of a joint, or its coupling to the joint that it mimics.
void add_drive(const UrdfJoint& joint, Emission& e) {
    if (const auto mimic = joint.element.child("mimic")) {
        const XmlAttribute name = (*mimic)["joint"];
        const UrdfJoint* other = e.tree.joint(name.text());
        if (other == nullptr) name.fail("names no joint" + suggestion(name.text(), e.tree.joint_names()), "correct it");
        if (other == &joint) name.fail("is the joint itself", "name another joint");
        for (const UrdfJoint* j : {&joint, other})
            if (!j->one_dof()) mimic->fail("couples a joint that is " + j->element["type"].text(), "couple joints of one axis");
        Json coupling{{"name", joint.name + ".mimic"}, {"type", "coupling"}, {"joint_a", joint.name}, {"joint_b", other->name}};
        coupling["ratio"] = mimic->number_or("multiplier", 1), coupling["offset"] = mimic->number_or("offset", 0);
        e.add("equalities", std::move(coupling), *mimic);
        return;
    }
    const auto limit = joint.element.child("limit");
    if (!limit || !joint.one_dof() || is_locked(joint)) return;
    const double effort = limit->nonnegative_or("effort", 0);
    if (effort == 0) return;
    e.add("actuators",
          {{"name", joint.name}, {"joint", joint.name}, {"type", "motor"}, {"control_limits", Json::array({-effort, effort})}},
          joint.element);
}

bool has_mass(const XmlElement& link) {
    const auto inertial = link.child("inertial");
    return inertial && inertial->only("mass")["value"].number() > 0;
}

// How the root stands in the world: whether it floats.
bool floats(const UrdfLink& root, const ImportOptions& options) {
    if (root.name == "world" && options.base == Base::floating)
        root.element.fail("is named \"world\" and cannot float", "rename it, or use a fixed base");
    if (options.base != Base::automatic) return options.base == Base::floating;
    return root.name != "world" && has_mass(root.element);
}

}  // namespace

ImportedModel import_urdf(const XmlDocument& document, const ImportOptions& options, Warnings& warnings) {
    const XmlElement robot = document.root();
    robot.warn_others(warnings, {"name", "version"}, {"link", "joint", "material"});
    const std::filesystem::path file = document.file();
    const UrdfTree tree(robot);
    const Materials materials = read_materials(robot);
    const LinkReader reader{file.parent_path(), options, materials, warnings};

    ImportedModel out;
    out.places[""] = robot.place();
    const std::string name = robot.text_or("name", "");
    out.model["name"] = name.empty() ? file.stem().string() : name;
    const bool floating = floats(tree.links[static_cast<size_t>(tree.root)], options);
    if (options.base == Base::automatic)
        out.model["description"] =
            "the root \"" + tree.links[static_cast<size_t>(tree.root)].name +
            (floating ? "\" floats, because it has mass" : "\" is fixed, because it is the world or has no mass");
    out.model["source"] = "URDF file " + file.filename().string();
    out.model["bodies"] = Json::array();
    Emission e{tree, out};
    bool root_is_world = false;
    for (const int index : tree.order) {
        const UrdfLink& link = tree.links[static_cast<size_t>(index)];
        link.element.warn_others(warnings, {"name"}, {"inertial", "visual", "collision", "contact"});
        Json body{{"name", link.name == "world" ? "world_link" : link.name}};
        std::map<std::string, std::string> places;
        if (link.joint >= 0) {
            const UrdfJoint& joint = tree.joints[static_cast<size_t>(link.joint)];
            joint.element.warn_others(warnings, {"name", "type"},
                                      {"parent", "child", "origin", "axis", "limit", "dynamics", "joint_properties", "mimic"});
            const std::string& parent = tree.links[static_cast<size_t>(joint.parent)].name;
            if (joint.parent != tree.root || !root_is_world) body["parent"] = parent == "world" ? "world_link" : parent;
            if (const auto limit = joint.element.child("limit"))
                limit->warn_others(warnings, {"lower", "upper", "effort", "velocity"}, {});
            put_joint(joint, tree, floating, body, warnings);
            places["/joint"] = places["/joints"] = joint.element.place();
        } else if (const bool taken = tree.joint(link.name) != nullptr; floating || taken) {  // else fixed under its own name
            body["joint"] = Json{{"name", link.name + (taken ? ".base" : "")}, {"type", floating ? "free" : "fixed"}};
        }
        put_inertial(link.element, body, places, warnings);
        reader.put_shapes(link.element, body, places);
        reader.put_visuals(link.element, body);
        if (index == tree.root && link.name == "world" && body.size() == 1) {
            root_is_world = true;
            continue;
        }
        const std::string pointer = e.add("bodies", std::move(body), link.element);
        for (const auto& [place, where] : places) out.places[pointer + place] = where;
    }
    for (const int index : tree.order)
        if (const int joint = tree.links[static_cast<size_t>(index)].joint; joint >= 0)
            add_drive(tree.joints[static_cast<size_t>(joint)], e);
    return out;
}

}  // namespace costate
