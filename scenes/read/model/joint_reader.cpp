#include "scenes/read/model/joint_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <tuple>

#include "scenes/format/names.hpp"

namespace costate {
namespace {

// One link of a joint: a joint type of the core and its axis.
struct Link {
    JointType type = JointType::fixed;
    Vec3<double> axis = Vec3<double>::UnitZ();
};
using Links = std::vector<Link>;

// A joint type of the format: one of the core, or a chain of them.
struct JointFormat {
    const char* name;
    std::vector<const char*> keys;  // those of type_keys that it has
    JointType type = JointType::fixed;
    // of a chain: the links <joint>.1, <joint>.2, ... of a joint with this "axis", or z
    Links (*chain)(const Node& joint, const Vec3<double>& axis) = nullptr;
};

// The keys that only some types have.
constexpr const char* type_keys[] = {"axis",  "limits", "stiffness", "rest",
                                     "axis2", "axes",   "pitch",     "greatest_angle"};

// A direction that must not be parallel to the one before.
Vec3<double> read_next_axis(const Node& node, const Vec3<double>& before, const char* name) {
    const Vec3<double> axis = read_direction(node);
    if (axis.cross(before).norm() < 1e-6)
        node.fail(std::string("is parallel to ") + name, "use another direction");
    return axis;
}

Links universal_links(const Node& joint, const Vec3<double>& axis) {
    return {{JointType::revolute, axis},
            {JointType::revolute, read_next_axis(joint["axis2"], axis, "\"axis\"")}};
}

Links cylindrical_links(const Node&, const Vec3<double>& axis) {
    return {{JointType::prismatic, axis}, {JointType::revolute, axis}};
}

// First direction: axis2 made normal to the axis; second: axis x first.
Links planar_links(const Node& joint, const Vec3<double>& axis) {
    const auto given = joint.find("axis2");
    const Vec3<double> otherwise = std::abs(axis.x()) < 0.9 ? Vec3<double>::UnitX() : Vec3<double>::UnitY();
    const Vec3<double> along = given ? read_next_axis(*given, axis, "\"axis\"") : otherwise;
    const Vec3<double> first = (along - along.dot(axis) * axis).normalized();
    return {{JointType::prismatic, first},
            {JointType::prismatic, axis.cross(first)},
            {JointType::revolute, axis}};
}

// At coordinate 0 the axes must not be in one plane: about its normal the joint could not turn.
Links gimbal_links(const Node& joint, const Vec3<double>&) {
    Mat3<double> axes;
    const Node given = joint["axes"];
    const std::vector<Node> directions = given.items(3);
    for (int k = 0; k < 3; ++k)
        axes.col(k) = read_direction(directions[k]);
    if (std::abs(axes.determinant()) < 1e-6)
        given.fail("are in one plane (gimbal lock)", "use directions that span the space");
    return {{JointType::revolute, axes.col(0)},
            {JointType::revolute, axes.col(1)},
            {JointType::revolute, axes.col(2)}};
}

std::vector<const char*> keys_of(const JointKind& kind) {
    std::vector<const char*> keys;
    if (kind.has_axis) keys = {"axis", "limits", "stiffness", "rest"};
    if (kind.has_pitch) keys.push_back("pitch");
    if (kind.numbers == 0 && kind.rotations == 1) keys = {"greatest_angle", "stiffness", "rest"};
    return keys;
}

const std::vector<JointFormat>& joint_formats() {
    static const std::vector<JointFormat> table = [] {
        std::vector<JointFormat> out;
        for (const JointKind& kind : joint_kinds)
            out.push_back({kind.name, keys_of(kind), kind.type});
        const auto chain = [&](const char* name, std::vector<const char*> keys, auto links) {
            out.push_back({name, std::move(keys), JointType::fixed, links});
        };
        out.push_back({"continuous", {"axis", "stiffness", "rest"}, JointType::revolute});
        chain("universal", {"axis", "axis2", "limits", "stiffness", "rest"}, universal_links);
        chain("gimbal", {"axes", "limits", "stiffness", "rest"}, gimbal_links);
        chain("cylindrical", {"axis", "limits", "stiffness", "rest"}, cylindrical_links);
        chain("planar", {"axis", "axis2", "limits", "stiffness", "rest"}, planar_links);
        return out;
    }();
    return table;
}

// One number for all dofs, or one number per dof.
std::vector<double> read_per_dof(const Node& joint, const char* key, int nv, bool nonnegative) {
    const std::optional<Node> node = joint.find(key);
    if (!node) return {};
    if (nv == 0) node->fail("a fixed joint has no dofs", "remove it");
    std::vector<Node> items = node->is_array() ? node->items(nv) : std::vector<Node>(nv, *node);
    std::vector<double> out;
    for (const Node& item : items)
        out.push_back(nonnegative ? item.nonnegative() : item.number());
    return out;
}

// One range for all links, or one per link; null for a link without limits.
void read_limits(const Node& node, std::vector<BodySpec>& links) {
    const std::vector<Node> items = node.items();
    const bool each = !items.empty() && !items[0].is_number();
    if (each) node.items(static_cast<int>(links.size()));
    for (size_t k = 0; k < links.size(); ++k)
        if (!each || !items[k].value().is_null())
            std::tie(links[k].lower, links[k].upper) = read_range(each ? items[k] : node);
}

// Refuses the keys that a joint type does not use.
void forbid_others(const Node& node, const JointFormat& format) {
    for (const char* key : type_keys)
        if (std::ranges::find(format.keys, std::string_view(key)) == format.keys.end())
            node.forbid({key}, std::string("the joint is ") + format.name);
}

// The joint of a node as links; their bodies are named by the caller. One link has the name of the joint,
// several have numbered names.
std::vector<BodySpec> read_joint(const Node& node, const std::string& otherwise, bool at_world) {
    node.expect_keys("joint");
    std::vector<std::string> types;
    for (const JointFormat& format : joint_formats())
        types.emplace_back(format.name);
    const JointFormat& format = joint_formats()[node["type"].choice(types)];
    const auto own = node.find("name");
    const std::string name = own ? read_name(*own) : otherwise;
    forbid_others(node, format);
    const auto direction = node.find("axis");
    const Vec3<double> axis = direction ? read_direction(*direction) : Vec3<double>::UnitZ();

    std::vector<BodySpec> links;
    for (const Link& link : format.chain ? format.chain(node, axis) : Links{{format.type, axis}}) {
        if (link.type == JointType::free && !at_world)
            node["type"].fail("the parent of a free joint is the world",
                              "leave out \"parent\", or use another type");
        BodySpec spec;
        spec.joint = link.type;
        spec.axis = link.axis;
        spec.joint_name = format.chain ? name + "." + std::to_string(links.size() + 1) : name;
        links.push_back(spec);
    }
    const Transform<double> X = read_pose(node);
    links[0].placement = X.p;
    links[0].R_PB = X.R;
    if (joint_kind(links[0].joint).has_pitch) links[0].pitch = node["pitch"].number();
    if (const auto limits = node.find("limits")) read_limits(*limits, links);
    if (const auto angle = node.find("greatest_angle")) {
        links[0].upper = angle->positive();
        if (!(links[0].upper < std::numbers::pi))
            angle->fail("must be below pi", "leave it out for a joint without limit");
    }
    const auto [limit_stiffness, limit_damping] = read_spring(node, "limit_stiffness", "limit_damping");
    if (limit_stiffness < unlimited && !node.has("limits") && !node.has("greatest_angle"))
        node["limit_stiffness"].fail("the joint has no limits", "add them, or remove it");
    for (BodySpec& link : links) {
        link.limit_stiffness = limit_stiffness;
        link.limit_damping = limit_damping;
        link.limit_softness = read_softness(node, "limit_solref", "limit_solimp");
        link.dry_softness = read_softness(node, "friction_solref", "friction_solimp");
    }
    struct PerDof {
        const char* key;
        std::vector<double> BodySpec::*values;
        bool nonnegative;
    };
    for (const PerDof& p : {PerDof{"damping", &BodySpec::damping, true},
                            {"armature", &BodySpec::armature, true},
                            {"stiffness", &BodySpec::stiffness, true},
                            {"rest", &BodySpec::rest, false},
                            {"dry_friction", &BodySpec::dry_friction, true}}) {
        const int nv = format.chain ? static_cast<int>(links.size()) : joint_nv(links[0].joint);
        const std::vector<double> values = read_per_dof(node, p.key, nv, p.nonnegative);
        if (format.chain && !values.empty())
            for (size_t k = 0; k < links.size(); ++k)
                links[k].*p.values = {values[k]};
        else
            links[0].*p.values = values;
    }
    if (const auto locked = node.find("locked"); locked && locked->boolean()) {
        BodySpec weld;  // one fixed joint, because at coordinate 0 all links coincide with the first
        weld.joint_name = name;
        weld.placement = X.p;
        weld.R_PB = X.R;
        return {weld};
    }
    return links;
}

}  // namespace

void read_joint_position(const Node& value, const JointKind& kind, double* q) {
    if (kind.nv() == 1) {
        q[0] = value.number();
        return;
    }
    value.expect_keys("pose");
    if (kind.numbers == 0) value.forbid({"position"}, std::string("the joint is ") + kind.name);
    if (const auto position = value.find("position")) std::ranges::copy(position->vec3(), q);
    if (!value.has("quaternion") && !value.has("rpy_deg")) return;
    const Quaternion<double> turn = read_orientation(value);
    std::ranges::copy(std::array{turn.w, turn.v.x(), turn.v.y(), turn.v.z()}, q + kind.numbers);
}

void read_joint_velocity(const Node& value, const JointKind& kind, double* v) {
    if (kind.nv() == 1) {
        v[0] = value.number();
        return;
    }
    value.expect_keys("twist");
    if (kind.numbers == 0) value.forbid({"linear"}, std::string("the joint is ") + kind.name);
    if (const auto linear = value.find("linear")) std::ranges::copy(linear->vec3(), v);
    if (const auto angular = value.find("angular")) std::ranges::copy(angular->vec3(), v + kind.numbers);
}

std::vector<BodySpec> read_joints(const Node& body, const std::string& body_name, bool at_world) {
    std::vector<BodySpec> links;
    const auto joint = body.find("joint"), joints = body.find("joints");
    if (joint && joints) joints->fail("the joints are given twice", "keep \"joint\" or \"joints\"");
    if (joint) links = read_joint(*joint, body_name, at_world);
    if (joints) {
        const std::vector<Node> nodes = joints->items();
        if (nodes.empty()) joints->fail("is empty", "name a joint, or leave it out for a fixed body");
        for (size_t k = 0; k < nodes.size(); ++k) {
            const std::vector<BodySpec> more =
                read_joint(nodes[k], body_name + "." + std::to_string(k + 1), at_world);
            if (nodes.size() > 1 && more[0].joint == JointType::free)
                nodes[k]["type"].fail("a free joint cannot be combined with other joints",
                                      "use it as the only \"joint\"");
            links.insert(links.end(), more.begin(), more.end());
        }
    }
    if (links.empty()) {
        links.emplace_back();
        links[0].joint_name = body_name;
    }
    for (size_t k = 0; k < links.size(); ++k)
        links[k].name = k + 1 < links.size() ? body_name + "." + std::to_string(k + 1) : body_name;
    return links;
}

int moving_body(const std::vector<BodySpec>& bodies, int body) {
    while (body >= 0 && bodies[body].joint == JointType::fixed)
        body = bodies[body].parent;
    return body;
}

Vec3<double> read_direction(const Node& node) {
    const Vec3<double> axis = node.vec3();
    if (!(axis.norm() > 1e-12)) node.fail("has no direction: its length is 0", "use for example [0, 0, 1]");
    return axis.stableNormalized();
}

std::pair<double, double> read_range(const Node& node) {
    const std::vector<double> x = node.numbers(2);
    if (!(x[0] < x[1])) node.fail("the lower end is not below the upper one", "write [lower, upper]");
    return {x[0], x[1]};
}

std::pair<double, double> read_spring(const Node& node, const char* stiffness, const char* damping) {
    const std::optional<Node> k = node.find(stiffness), d = node.find(damping);
    if (d && !k)
        d->fail(std::string("has no effect without \"") + stiffness + "\"", "give both, or remove it");
    return {k ? k->positive() : unlimited, d ? d->nonnegative() : 0};
}

Softness read_softness(const Node& node, const char* solref, const char* solimp) {
    Softness s;
    if (const auto reference = node.find(solref)) {
        const std::vector<double> x = reference->numbers(2);
        if (!(x[0] > 0 && x[1] > 0) && !(x[0] <= 0 && x[1] <= 0))
            reference->fail("mixes the two formats of MuJoCo",
                            "write a time constant and a damping ratio above 0, or two numbers not above 0");
        std::ranges::copy(x, s.solref.begin());
    }
    if (const auto impedance = node.find(solimp)) {
        const std::vector<double> x = impedance->numbers(5);
        if (!(std::min({x[0], x[1], x[2], x[3]}) >= 0 && x[0] <= 1 && x[1] <= 1 && x[3] <= 1 && x[4] >= 1))
            impedance->fail("is not a solimp of MuJoCo",
                            "write two impedances from 0 to 1, a width, a midpoint from 0 to 1 and a power "
                            "of at least 1");
        std::ranges::copy(x, s.solimp.begin());
    }
    return s;
}

}  // namespace costate
