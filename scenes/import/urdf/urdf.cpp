#include "scenes/import/urdf/urdf.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <set>

#include "scenes/format/inertia.hpp"
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

// The coordinate of a joint whose range is one number.
std::optional<double> only_coordinate(const UrdfJoint& joint) {
    const auto limit = range_of(joint);
    if (!limit) return {};
    const double lower = limit->number_or("lower", 0), upper = limit->number_or("upper", 0);
    return lower == upper ? std::optional(lower) : std::nullopt;
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
    if (lower > upper)
        limit->warn(warnings, "has a lower end above the upper end, so the joint moves without limits",
                    "swap them, or make the joint continuous");
    else
        out["limits"] = Json::array({lower, upper});
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

Vec3<double> axis_of(const UrdfJoint& joint) {
    const auto element = joint.element.child("axis");
    const Vec3<double> axis = element ? (*element)["xyz"].vec3() : Vec3<double>::UnitX();
    if (!(axis.norm() > 1e-12)) element->fail("has no direction", "use for example xyz=\"0 0 1\"");
    return axis.stableNormalized();
}

// The pose of the link that a joint with one dof carries, at a coordinate of the joint.
Transform<double> pose_at(const UrdfJoint& joint, double q) {
    Transform<double> motion = Transform<double>::identity();
    if (joint.type == UrdfType::prismatic)
        motion.p = q * axis_of(joint);
    else
        motion.R = rotation_matrix(quaternion_exp<double>(q * axis_of(joint)));
    return compose(read_origin(joint.element), motion);
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

bool has_mass(const XmlElement& link) { return mass_or_density(link) > 0; }

// True if the root floats.
bool floats(const UrdfLink& root, const ImportOptions& options) {
    if (root.name == "world" && options.base == Base::floating)
        root.element.fail("is named \"world\" and cannot float", "rename it, or use a fixed base");
    if (options.base != Base::automatic) return options.base == Base::floating;
    return root.name != "world" && has_mass(root.element);
}

// The name of a link's body; "world" is reserved.
std::string body_name(const UrdfLink& link) { return link.name == "world" ? "world_link" : link.name; }

// Warns of elements that a parent may have once and has several times; the first one counts.
void warn_of_repeated(const XmlElement& parent, Warnings& warnings) {
    std::set<std::string> seen;
    for (const XmlElement& child : parent.children()) {
        const std::string name = child.name();
        if (name == "visual" || name == "collision") {
            warn_of_repeated(child, warnings);
            continue;
        }
        if (!seen.insert(name).second)
            child.warn(warnings, "is given a second time; the first one counts", "keep one of them");
    }
}

// Mass of each link and of all that it carries; above 0 if one of them has mass.
std::vector<double> carried_masses(const UrdfTree& tree) {
    std::vector<double> carried(tree.links.size());
    for (size_t k = tree.order.size(); k-- > 0;) {
        const int index = tree.order[k];
        const UrdfLink& link = tree.links[index];
        carried[index] += mass_or_density(link.element);
        if (link.joint >= 0) carried[tree.joints[link.joint].parent] += carried[index];
    }
    return carried;
}

// True for a floating robot that looks like an arm, which is usually mounted: a single chain of joints leaves the
// root, and is at least three long.
bool looks_mounted(const UrdfTree& tree) {
    constexpr int least = 3;
    int index = tree.root;
    for (int moving = 0; moving < least;) {
        const std::vector<int>& children = tree.links[index].children;
        if (children.size() != 1) return false;
        const UrdfJoint& joint = tree.joints[children[0]];
        moving += joint.type != UrdfType::fixed;
        index = joint.child;
    }
    return true;
}

struct Importer {
    const UrdfTree tree;
    const std::vector<double> carried;  // carried_masses
    const bool floating;                // the root
    const bool root_is_world;           // the root is the world, not a body
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

    // The coordinate at which a joint with one dof is locked: because its range is one number, because it
    // moves no mass, or because it mimics a locked joint.
    std::optional<double> locked_at(const UrdfJoint& j, int depth = 0) const {
        if (j.type == UrdfType::fixed && depth > 0) return 0;
        if (!j.one_dof()) return {};
        if (const auto q = only_coordinate(j)) return q;
        const auto mimic = j.element.child("mimic");
        const UrdfJoint* leader = mimic && depth < 100 ? tree.joint(mimic->text_or("joint", "")) : nullptr;
        if (leader != nullptr && leader != &j)
            if (const auto q = locked_at(*leader, depth + 1))
                return mimic->number_or("multiplier", 1) * *q + mimic->number_or("offset", 0);
        if (moves_mass(j)) return {};
        const auto limit = range_of(j);
        const double lower = limit ? limit->number_or("lower", 0) : 0,
                     upper = limit ? limit->number_or("upper", 0) : 0;
        return lower < upper ? std::clamp(0.0, lower, upper) : 0;
    }
    bool moves_mass(const UrdfJoint& j) const { return carried[j.child] > 0; }

    // True if a joint that is not held is on the way from the world to a link.
    bool moves(const UrdfLink& end) const {
        const UrdfLink* l = &end;
        while (l->joint >= 0) {
            const UrdfJoint& j = joint(l->joint);
            if (j.type != UrdfType::fixed && !locked_at(j) && moves_mass(j)) return true;
            l = &link(j.parent);
        }
        return floating;
    }

    void warn_of_lost_inertia(const UrdfLink& l) {
        const auto inertial = l.element.child("inertial");
        const auto inertia = inertial ? inertial->child("inertia") : std::nullopt;
        if (!inertia || has_mass(l.element)) return;
        const bool zero = std::ranges::all_of(std::array{"ixx", "iyy", "izz", "ixy", "ixz", "iyz"},
                                              [&](auto key) { return inertia->number_or(key, 0) == 0; });
        if (!zero && moves(l))
            inertia->warn(warnings, "belongs to a link without mass and is ignored",
                          "give the link mass, or remove the inertia");
    }

    void warn_of_lock(const UrdfJoint& j) {
        if (only_coordinate(j))
            range_of(j)->note(warnings, "has an empty range, so the joint is locked",
                              "give it a range, or make the joint fixed");
        else if (!moves_mass(j))
            warnings.add(j.element.place(),
                         "joint \"" + j.name + "\" moves only links without mass and is locked",
                         "give the links mass, or make the joint fixed");
        else
            j.element.warn(warnings, "mimics a locked joint and is locked, too", "make it fixed");
    }

    // Writes "joint" or "joints" of the body that a joint carries.
    void put_joint(const UrdfJoint& j, Json& body) {
        static constexpr const char* types[] = {"revolute", "continuous", "prismatic", "fixed",
                                                "free",     "planar",     "spherical"};
        const std::optional<double> held = locked_at(j);
        if (held || (j.type != UrdfType::fixed && !moves_mass(j))) {
            warn_of_lock(j);
            body["joint"] = Json{{"name", j.name}, {"type", "fixed"}};
            put_pose(body["joint"], held ? pose_at(j, *held) : read_origin(j.element));
            return;
        }
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
        if (j.has_axis()) object["axis"] = to_json(axis_of(j));
        if (j.type == UrdfType::spherical)
            if (const auto limit = j.element.child("limit");
                limit && (limit->has("lower") || limit->has("upper")))
                limit->warn(warnings, "of a spherical joint is not supported and is ignored", "remove it");
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
        if (j.is_in_file())
            j.element.warn_others(warnings, {"name", "type", "dont_collapse"},
                                  {"parent", "child", "origin", "axis", "limit", "dynamics",
                                   "joint_properties", "mimic", "safety_controller", "calibration"});
        if (const auto limit = j.element.child("limit"))
            limit->warn_others(warnings,
                               {"lower", "upper", "effort", "velocity", "current", "command_effort",
                                "gear_velocity", "drake:acceleration", "drake:jerk"},
                               {});
        if (j.parent != tree.root || !root_is_world) body["parent"] = body_name(link(j.parent));
        put_joint(j, body);
    }

    // How many joints with one axis carry a link one after another, without mass between them.
    int axes_in_a_row(const UrdfLink& l) const {
        int axes = 0;
        for (const UrdfLink* at = &l; at->joint >= 0 && (at == &l || !has_mass(at->element));) {
            axes += joint(at->joint).one_dof();
            at = &link(joint(at->joint).parent);
        }
        return axes;
    }

    // A joint that turns a single point mass about itself moves no inertia, and three joints in a row whose axes
    // meet do not move it three ways. The point mass then becomes a ball.
    void give_inertia(const UrdfLink& l, Json& body) {
        if (!body.contains("inertia") || body["inertia"] != Json::array({0., 0., 0., 0., 0., 0.})) return;
        const double mass = body["mass"].get<double>();
        if (carried[static_cast<size_t>(&l - tree.links.data())] > mass) return;
        const UrdfType type =
            l.joint < 0 ? floating ? UrdfType::floating : UrdfType::fixed : joint(l.joint).type;
        if (type == UrdfType::fixed || type == UrdfType::prismatic) return;
        Vec3<double> arm = Vec3<double>::Zero();
        if (body.contains("com"))
            for (int k = 0; k < 3; ++k)
                arm[k] = body["com"][k].get<double>();
        const bool one_axis = l.joint >= 0 && joint(l.joint).has_axis();
        if (one_axis && axes_in_a_row(l) < 3 && axis_of(joint(l.joint)).cross(arm).norm() > 1e-9) return;
        const double I = solid_ball(mass)(0, 0);
        body["inertia"] = Json::array({I, I, I, 0., 0., 0.});
        warnings.add(l.element.place(),
                     "link \"" + l.name + "\" turns but has no inertia; that of a ball of water is used",
                     "write its inertia");
    }

    void add_body(const UrdfLink& l) {
        // With names of other formats and tools, which readers of URDF pass over
        l.element.warn_others(
            warnings, {"name", "type"},
            {"inertial", "visual", "collision", "contact", "concave", "self_filter", "collision_checking",
             "self_collision_checking", "gravity", "kinematic", "surface"});
        Json body{{"name", body_name(l)}};
        std::map<std::string, std::string> places;
        if (l.joint >= 0) places["/joint"] = places["/joints"] = joint(l.joint).element.place();
        put_carrier(l, body);
        reader.put_shapes(l.element, body, places);
        put_inertial(l.element, body, places, warnings);
        warn_of_lost_inertia(l);
        give_inertia(l, body);
        if (const auto set = reader.gazebo.find(l.name);
            set != reader.gazebo.end() && set->second.weightless && body.contains("mass"))
            body["gravity_compensation"] = 1;
        reader.put_visuals(l.element, body);
        const std::string pointer = add("bodies", std::move(body), l.element);
        for (const auto& [place, where] : places)
            out.places[pointer + place] = where;
    }

    // If the root is the world, its children are separate trees, between which "self_collision" has no
    // effect; "exclude" keeps them from colliding. Links without a joint are no part of a robot.
    void keep_trees_apart() {
        std::vector<std::vector<std::string>> trees;
        bool of_robot = true;
        for (const int index : tree.order) {
            if (index == tree.root) continue;
            if (const UrdfJoint& j = joint(link(index).joint); j.parent == tree.root) {
                trees.emplace_back();
                of_robot = j.is_in_file();
            }
            if (of_robot && !link(index).element.children("collision").empty())
                trees.back().push_back(body_name(link(index)));
        }
        for (size_t i = 0; i < trees.size(); ++i)
            for (size_t j = i + 1; j < trees.size(); ++j)
                for (const std::string& a : trees[i])
                    for (const std::string& b : trees[j])
                        out.model["exclude"].push_back(Json::array({a, b}));
    }

    // Keeps links from colliding that may by the options, but not by the file.
    void keep_pairs_apart(const XmlElement& robot) {
        std::vector<bool> held;
        for (const UrdfJoint& j : tree.joints)
            held.push_back(j.type == UrdfType::fixed || locked_at(j));
        const auto body = [&](int index) {
            return index == tree.root && root_is_world ? "world" : body_name(link(index));
        };
        for (const auto& [a, b] : pairs_apart(robot, tree, floating, held, warnings))
            out.model["exclude"].push_back(Json::array({body(a), body(b)}));
    }

    void add_mimic(const UrdfJoint& j, const XmlElement& mimic) {
        const XmlAttribute name = mimic["joint"];
        const UrdfJoint* other = tree.joint(name.text());
        if (other == nullptr)
            return warnings.add(name.place(),
                                "joint \"" + j.name + "\" mimics \"" + name.text() +
                                    "\", which is not a joint" + suggestion(name.text(), tree.joint_names()) +
                                    ", and moves by itself",
                                "correct the name");
        if (other == &j) name.fail("is the same joint", "name another joint");
        if (j.type == UrdfType::fixed || locked_at(j)) return;
        for (const UrdfJoint* coupled : {&j, other})
            if (!coupled->one_dof())
                mimic.fail("couples a joint of type " + coupled->element["type"].text(),
                           "couple joints with one axis");
        Json coupling{
            {"name", j.name + ".mimic"}, {"type", "coupling"}, {"joint_a", j.name}, {"joint_b", other->name}};
        coupling["ratio"] = mimic.number_or("multiplier", 1);
        coupling["offset"] = mimic.number_or("offset", 0);
        add("equalities", std::move(coupling), mimic);
    }

    void add_motor(const UrdfJoint& j) {
        const auto limit = j.element.child("limit");
        if (!limit || !j.one_dof() || locked_at(j)) return;
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
    robot.warn_others(warnings, {"name", "version"},
                      {"link", "joint", "frame", "material", "transmission", "gazebo", "ros2_control",
                       "sensor", "mujoco", "drake:collision_filter_group"});
    const std::filesystem::path file = document.file();
    const UrdfTree tree(robot, warnings);
    const UrdfLink& root = tree.links[tree.root];
    const Materials materials = read_materials(robot);
    const GazeboSettings gazebo = read_gazebo(robot, options, warnings);
    const MeshFolder meshes = read_mesh_folder(robot, warnings);
    for (const XmlElement& part : robot.children())
        if (part.name() == "link" || part.name() == "joint") warn_of_repeated(part, warnings);
    const bool floating = floats(root, options);
    Importer importer{tree,
                      carried_masses(tree),
                      floating,
                      is_world(root),
                      {file.parent_path(), meshes, options, materials, gazebo, warnings},
                      warnings,
                      {}};

    Json& model = importer.out.model;
    importer.out.places[""] = robot.place();
    const std::string name = robot.text_or("name", "");
    model["name"] = name.empty() ? file.stem().string() : name;
    const std::string stands =
        floating ? "floats, because it has mass" : "is fixed, because it is the world or has no mass";
    if (options.base == Base::automatic) model["description"] = "the root \"" + root.name + "\" " + stands;
    if (options.base == Base::automatic && floating && looks_mounted(tree))
        warnings.note(root.element.place(), "the root \"" + root.name + "\" floats, because it has mass",
                      "--base fixed mounts it");
    model["source"] = "URDF file " + file.filename().string();
    model["bodies"] = Json::array();
    for (const int index : tree.order)
        if (index != tree.root || !importer.root_is_world) importer.add_body(importer.link(index));
    if (options.self_collision)
        importer.keep_pairs_apart(robot);
    else if (importer.root_is_world)
        importer.keep_trees_apart();
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
