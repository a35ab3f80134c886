#include "scenes/import/urdf/urdf.hpp"

#include <algorithm>

#include "scenes/format/names.hpp"
#include "scenes/import/urdf/urdf_parts.hpp"
#include "scenes/import/urdf/urdf_tree.hpp"

namespace costate {
namespace {

// The <limit> of a revolute or prismatic joint, if it has a position range.
std::optional<XmlElement> range_of(const UrdfJoint& joint) {
    if (joint.type != UrdfType::revolute && joint.type != UrdfType::prismatic) return {};
    const auto limit = joint.element.child("limit");
    return limit && (limit->has("lower") || limit->has("upper")) ? limit : std::nullopt;
}

// True for a joint with the range [0, 0].
bool is_locked(const UrdfJoint& joint) {
    const auto limit = range_of(joint);
    return limit && limit->number_or("lower", 0) == 0 && limit->number_or("upper", 0) == 0;
}

// Writes "limits" of a revolute or prismatic joint.
void put_limits(const UrdfJoint& joint, Json& out, Warnings& warnings) {
    if (joint.type != UrdfType::revolute && joint.type != UrdfType::prismatic) return;
    const auto limit = range_of(joint);
    if (!limit) {
        joint.element.warn(warnings, "has no limits and moves without them",
                           "give it <limit lower=... upper=.../>");
        return;
    }
    const double lower = limit->number_or("lower", 0), upper = limit->number_or("upper", 0);
    if (is_locked(joint)) {
        limit->warn(warnings, "has an empty range, so the joint is locked",
                    "give it a range, or make the joint fixed");
        out["locked"] = true;
    } else if (!(lower < upper)) {
        limit->fail("has a lower end that is not below the upper end",
                    "swap them, or make the joint continuous");
    } else {
        out["limits"] = Json::array({lower, upper});
    }
}

// Writes damping and friction from <dynamics>, called <joint_properties> in older files.
void put_dynamics(const UrdfJoint& joint, Json& out) {
    for (const char* name : {"dynamics", "joint_properties"})
        if (const auto dynamics = joint.element.child(name)) {
            if (const double damping = dynamics->nonnegative_or("damping", 0); damping > 0)
                out["damping"] = damping;
            if (const double friction = dynamics->nonnegative_or("friction", 0); friction > 0)
                out["dry_friction"] = friction;
        }
}

void put_axis(const UrdfJoint& joint, Json& out) {
    const auto element = joint.element.child("axis");
    const Vec3<double> axis = element ? (*element)["xyz"].vec3() : Vec3<double>::UnitX();
    if (!(axis.norm() > 1e-12)) element->fail("has no direction", "use for example xyz=\"0 0 1\"");
    out["axis"] = to_json(axis.stableNormalized());
}

// A floating joint whose parent moves, as a chain: three prismatic joints and a spherical one.
Json floating_chain(const UrdfJoint& joint) {
    Json chain = Json::array();
    for (const auto& [end, axis] :
         {std::pair(".x", Vec3<double>::UnitX()), std::pair(".y", Vec3<double>::UnitY()),
          std::pair(".z", Vec3<double>::UnitZ())})
        chain.push_back({{"name", joint.name + end}, {"type", "prismatic"}, {"axis", to_json(axis)}});
    chain.push_back({{"name", joint.name}, {"type", "spherical"}});
    put_pose(chain[0], read_origin(joint.element));
    put_dynamics(joint, chain[3]);
    for (size_t k = 0; k < 3; ++k)
        put_dynamics(joint, chain[k]);
    return chain;
}

bool has_mass(const XmlElement& link) {
    const auto inertial = link.child("inertial");
    return inertial && inertial->only("mass")["value"].number() > 0;
}

// True if the root floats.
bool floats(const UrdfLink& root, const ImportOptions& options) {
    if (root.name == "world" && options.base == Base::floating)
        root.element.fail("is named \"world\" and cannot float", "rename it, or use a fixed base");
    if (options.base != Base::automatic) return options.base == Base::floating;
    return root.name != "world" && has_mass(root.element);
}

// The name of a link's body; "world" is reserved.
std::string body_name(const UrdfLink& link) { return link.name == "world" ? "world_link" : link.name; }

struct Importer {
    const UrdfTree tree;
    const bool floating;       // the root
    const bool root_is_world;  // the root is the world, not a body
    const LinkReader reader;
    Warnings& warnings;
    ImportedModel out;

    const UrdfLink& link(int index) const { return tree.links[index]; }
    const UrdfJoint& joint(int index) const { return tree.joints[index]; }

    // Appends to a list of the model and returns the JSON pointer of the new item.
    std::string add(const char* list, Json value, const XmlElement& element) {
        Json& items = out.model[list];
        const std::string pointer = std::string("/") + list + "/" + std::to_string(items.size());
        items.push_back(std::move(value));
        out.places[pointer] = element.place();
        return pointer;
    }

    // Writes "joint" or "joints" of the body that a joint carries.
    void put_joint(const UrdfJoint& j, Json& body) {
        static constexpr const char* types[] = {"revolute", "continuous", "prismatic",
                                                "fixed",    "free",       "planar"};
        if (j.type == UrdfType::floating && (floating || !tree.is_fixed(j.parent))) {
            body["joints"] = floating_chain(j);
            return;
        }
        Json object{{"name", j.name}, {"type", types[static_cast<size_t>(j.type)]}};
        Transform<double> X = read_origin(j.element);
        if (j.type == UrdfType::floating) {  // a free joint starts at the world: compose the fixed parents
            for (int before = j.parent; before != tree.root; before = joint(link(before).joint).parent)
                X = compose(read_origin(joint(link(before).joint).element), X);
            body.erase("parent");
        }
        put_pose(object, X);
        if (j.has_axis()) put_axis(j, object);
        if (j.type != UrdfType::fixed) {
            put_limits(j, object, warnings);
            put_dynamics(j, object);
        }
        body["joint"] = std::move(object);
    }

    // Writes the joint that carries a link; for the root, the joint to the world.
    void put_carrier(const UrdfLink& l, Json& body) {
        if (l.joint < 0) {
            const bool taken = tree.joint(l.name) != nullptr;  // an unnamed joint takes the body's name
            if (floating || taken)
                body["joint"] =
                    Json{{"name", l.name + (taken ? ".base" : "")}, {"type", floating ? "free" : "fixed"}};
            return;
        }
        const UrdfJoint& j = joint(l.joint);
        j.element.warn_others(
            warnings, {"name", "type"},
            {"parent", "child", "origin", "axis", "limit", "dynamics", "joint_properties", "mimic"});
        if (const auto limit = j.element.child("limit"))
            limit->warn_others(warnings, {"lower", "upper", "effort", "velocity"}, {});
        if (j.parent != tree.root || !root_is_world) body["parent"] = body_name(link(j.parent));
        put_joint(j, body);
    }

    void add_body(const UrdfLink& l) {
        l.element.warn_others(warnings, {"name"}, {"inertial", "visual", "collision", "contact"});
        Json body{{"name", body_name(l)}};
        std::map<std::string, std::string> places;
        if (l.joint >= 0) places["/joint"] = places["/joints"] = joint(l.joint).element.place();
        put_carrier(l, body);
        put_inertial(l.element, body, places, warnings);
        reader.put_shapes(l.element, body, places);
        reader.put_visuals(l.element, body);
        const std::string pointer = add("bodies", std::move(body), l.element);
        for (const auto& [place, where] : places)
            out.places[pointer + place] = where;
    }

    // If the root is the world, its children are separate trees, between which "self_collision" has no
    // effect; "exclude" keeps them from colliding.
    void keep_trees_apart() {
        std::vector<std::vector<std::string>> trees;
        for (const int index : tree.order) {
            if (index == tree.root) continue;
            if (joint(link(index).joint).parent == tree.root) trees.emplace_back();
            if (!link(index).element.children("collision").empty())
                trees.back().push_back(body_name(link(index)));
        }
        for (size_t i = 0; i < trees.size(); ++i)
            for (size_t j = i + 1; j < trees.size(); ++j)
                for (const std::string& a : trees[i])
                    for (const std::string& b : trees[j])
                        out.model["exclude"].push_back(Json::array({a, b}));
    }

    void add_mimic(const UrdfJoint& j, const XmlElement& mimic) {
        const XmlAttribute name = mimic["joint"];
        const UrdfJoint* other = tree.joint(name.text());
        if (other == nullptr)
            name.fail("is not a joint" + suggestion(name.text(), tree.joint_names()), "correct it");
        if (other == &j) name.fail("is the same joint", "name another joint");
        for (const UrdfJoint* coupled : {&j, other})
            if (!coupled->one_dof())
                mimic.fail("couples a joint of type " + coupled->element["type"].text(),
                           "couple joints with one axis");
        Json coupling{
            {"name", j.name + ".mimic"}, {"type", "coupling"}, {"joint_a", j.name}, {"joint_b", other->name}};
        coupling["ratio"] = mimic.number_or("multiplier", 1),
        coupling["offset"] = mimic.number_or("offset", 0);
        add("equalities", std::move(coupling), mimic);
    }

    void add_motor(const UrdfJoint& j) {
        const auto limit = j.element.child("limit");
        if (!limit || !j.one_dof() || is_locked(j)) return;
        const double effort = limit->nonnegative_or("effort", 0);
        if (effort == 0) return;
        Json motor{{"name", j.name},
                   {"joint", j.name},
                   {"type", "motor"},
                   {"control_limits", Json::array({-effort, effort})}};
        add("actuators", std::move(motor), j.element);
    }
};

// True if a root link is just a name for the world.
bool is_world(const UrdfLink& root) {
    const auto holds = [&](const char* what) { return root.element.children(what).size() > 0; };
    return root.name == "world" && !has_mass(root.element) && !holds("collision") && !holds("visual");
}

}  // namespace

ImportedModel import_urdf(const XmlDocument& document, const ImportOptions& options, Warnings& warnings) {
    const XmlElement robot = document.root();
    robot.warn_others(warnings, {"name", "version"}, {"link", "joint", "material"});
    const std::filesystem::path file = document.file();
    const UrdfTree tree(robot);
    const UrdfLink& root = tree.links[tree.root];
    const Materials materials = read_materials(robot);
    const bool floating = floats(root, options);
    Importer importer{tree,     floating, is_world(root), {file.parent_path(), options, materials, warnings},
                      warnings, {}};

    Json& model = importer.out.model;
    importer.out.places[""] = robot.place();
    const std::string name = robot.text_or("name", "");
    model["name"] = name.empty() ? file.stem().string() : name;
    const std::string stands =
        floating ? "floats, because it has mass" : "is fixed, because it is the world or has no mass";
    if (options.base == Base::automatic) model["description"] = "the root \"" + root.name + "\" " + stands;
    model["source"] = "URDF file " + file.filename().string();
    model["bodies"] = Json::array();
    for (const int index : tree.order)
        if (index != tree.root || !importer.root_is_world) importer.add_body(importer.link(index));
    if (importer.root_is_world && !options.self_collision) importer.keep_trees_apart();
    for (const int index : tree.order) {
        if (index == tree.root) continue;
        const UrdfJoint& joint = importer.joint(importer.link(index).joint);
        if (const auto mimic = joint.element.child("mimic"))
            importer.add_mimic(joint, *mimic);
        else
            importer.add_motor(joint);
    }
    return std::move(importer.out);
}

}  // namespace costate
