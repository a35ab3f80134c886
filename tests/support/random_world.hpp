// Random worlds: trees of bodies on joints of every type, actuators, equalities, limits, friction and shapes
// of every type, with numbers over several decades. A world is a function of its seed and its size. Every
// body, shape, row and actuator has its own stream, so a smaller size of the same seed leaves out the last
// ones and keeps the rest; this is how a failing case shrinks. Additions to this file draw from new streams
// and leave the worlds of old seeds unchanged.
#pragma once

#include <algorithm>
#include <set>

#include "tests/support/sample_shapes.hpp"
#include "tests/support/stream.hpp"
#include "tests/support/sweeping.hpp"
#include "tests/support/toy_worlds.hpp"

namespace costate::test {

// Upper limits. A body counts once for any number of joints, a shape of the world counts as a shape.
struct WorldSize {
    int bodies = 8, shapes = 24, equalities = 3, actuators = 6;
    bool operator==(const WorldSize&) const = default;
};

// Optional parts of worlds.
struct WorldExtras {
    bool springs = false;    // some shapes and joint limits are compliant
    bool thrusters = false;  // on bodies, in addition to other actuators
    bool tendons = false;    // spatial ones, with springs, dampers and actuators
};

namespace random_world {

// A stiffness and a damping.
inline void add_spring(Stream& g, double& stiffness, double& damping) {
    stiffness = g.magnitude(2, 4);
    damping = g.chance(0.2) ? 0 : g.magnitude(-1, 1.5);
}

// The joints of a body in series; some bodies have several.
inline std::vector<JointType> joints_of_body(Stream& g, bool root) {
    using J = JointType;
    switch (g.below(root ? 14 : 9)) {
        case 0: return {J::fixed};
        case 1: return {J::revolute};
        case 2: return {J::prismatic};
        case 3: return {J::helical};
        case 4: return {J::spherical};
        case 5: return {J::revolute, J::revolute};                 // universal
        case 6: return {J::prismatic, J::revolute};                // cylindrical, or a rotating sledge
        case 7: return {J::prismatic, J::prismatic, J::revolute};  // planar
        case 8: return {J::prismatic, J::spherical};
        default: return {J::free};
    }
}

// One number per dof, if the joint has dofs.
inline std::vector<double> per_dof(Stream& g, double probability, int nv, double lo, double hi) {
    std::vector<double> x;
    if (g.chance(probability))
        for (int k = 0; k < nv; ++k)
            x.push_back(g.magnitude(lo, hi));
    return x;
}

inline BodySpec random_link(Stream& g, JointType joint) {
    BodySpec s;
    s.joint = joint;
    s.axis = g.unit();
    s.pitch = g.uniform(-0.2, 0.2);
    const int nv = joint_nv(joint);
    s.damping = per_dof(g, 0.4, nv, -2, 0.5);
    s.armature = per_dof(g, 0.3, nv, -3, -1);
    s.dry_friction = per_dof(g, 0.2, nv, -2, 1);
    if (nv == 1 && g.chance(0.3)) {
        s.stiffness = {g.magnitude(-1, 2)};
        s.rest = {0.3 * g.normal()};
    }
    if (nv == 1 && g.chance(0.4)) {
        if (g.chance(0.7)) s.lower = -g.uniform(0, 0.3);
        if (s.lower == -unlimited || g.chance(0.7)) s.upper = g.uniform(0, 0.3);
    }
    if (joint == JointType::spherical) {
        if (g.chance(0.4)) s.upper = g.uniform(0.1, 2.5);
        s.stiffness = per_dof(g, 0.3, nv, -1, 2);
        if (!s.stiffness.empty()) s.rest = {0.3 * g.normal(), 0.3 * g.normal(), 0.3 * g.normal()};
    }
    return s;
}

// Body `index` with its joints; all joints but the last are on links without mass. handles: of the previous
// bodies.
inline int add_body(ModelBuilder& builder, std::uint64_t seed, int index, const std::vector<int>& handles,
                    const WorldExtras& extras) {
    Stream g(seed, "body", index), springs(seed, "limit springs", index);
    const int above = index == 0 || g.chance(0.45) ? -1 : g.below(index);
    int parent = above < 0 ? -1 : handles[above];
    const std::vector<JointType> joints = joints_of_body(g, above < 0);
    const double scale = g.magnitude(-0.7, 0.7);
    MassProperties<double> mass = random_mass(g);
    mass.m *= scale;
    mass.c *= 0.2;
    mass.I = scale * (0.2 * mass.I + 0.002 * Mat3<double>::Identity());
    const Vec3<double> at =
        above < 0 ? Vec3<double>(g.uniform(-0.5, 0.5), g.uniform(-0.5, 0.5), g.uniform(0.05, 0.5))
                  : Vec3<double>(0.2 * g.unit());
    Vec3<double> first_axis = Vec3<double>::UnitZ();
    for (size_t k = 0; k < joints.size(); ++k) {
        BodySpec s = random_link(g, joints[k]);
        s.name = "body" + std::to_string(index);
        if (k + 1 < joints.size()) {
            s.name += '.';
            s.name += std::to_string(k);
        }
        s.parent = parent;
        if (k == 0) {
            s.placement = at;
            s.R_PB = g.rotation();
            first_axis = s.axis;
        } else if (joints[k] == joints[k - 1] ||
                   joints.size() == 3) {  // a second direction of the same kind, or a plane's normal
            const Vec3<double> across = first_axis.unitOrthogonal();
            s.axis = k == 1 ? across : first_axis.cross(across);
        } else if (g.chance(0.5)) {
            s.axis = first_axis;
        }
        if (k + 1 == joints.size()) s.mass = mass;
        if (s.joint == JointType::free) {
            s.placement.setZero();
            s.R_PB.setIdentity();
        }
        if (extras.springs && springs.chance(0.5)) add_spring(springs, s.limit_stiffness, s.limit_damping);
        parent = builder.add_body(s);
    }
    return parent;
}

// The nearest body with dofs at or above body i, -1 if body i is fixed to the world.
inline int mover(const ModelBuilder& builder, int i) {
    while (i >= 0 && joint_nv(builder.bodies()[i].joint) == 0)
        i = builder.bodies()[i].parent;
    return i;
}

inline void add_thruster(ModelBuilder& builder, std::uint64_t seed, int index) {
    Stream g(seed, "thruster", index);
    ActuatorSpec a;
    a.name = "thruster" + std::to_string(index);
    a.type = ActuatorType::thruster;
    a.body = g.below(static_cast<int>(builder.bodies().size()));
    a.axis = g.unit();
    a.position = 0.1 * g.vec3();
    a.gear = g.magnitude(-0.5, 0.5);
    a.drag = 0.1 * g.normal();
    if (mover(builder, a.body) >= 0) builder.add_actuator(a);
}

inline void add_actuator(ModelBuilder& builder, std::uint64_t seed, int index) {
    Stream g(seed, "actuator", index);
    std::vector<int> drivable;
    for (size_t i = 0; i < builder.bodies().size(); ++i)
        if (joint_nv(builder.bodies()[i].joint) == 1) drivable.push_back(static_cast<int>(i));
    if (drivable.empty()) return;
    ActuatorSpec a;
    a.name = "actuator" + std::to_string(index);
    a.type =
        g.pick({ActuatorType::motor, ActuatorType::servo, ActuatorType::velocity, ActuatorType::general});
    a.body = drivable[g.below(static_cast<int>(drivable.size()))];
    a.gear = g.pick({-1.0, 1.0}) * g.magnitude(-0.5, 0.5);
    a.kp = g.magnitude(-1, 2);
    a.kd = g.chance(0.2) ? 0.0 : g.magnitude(-2, 1);
    a.gain = g.normal();
    a.bias = {g.normal(), g.normal(), g.uniform(-1, 0.2)};
    if (g.chance(0.4)) {
        a.control_lower = -g.uniform(0, 1);
        a.control_upper = g.uniform(0, 1);
    }
    if (g.chance(0.4)) {
        a.force_lower = -g.magnitude(-1, 1);
        a.force_upper = g.magnitude(-1, 1);
    }
    builder.add_actuator(a);
}

// A spatial tendon through new sites of bodies and points of the world, on one or two branches, and an actuator.
inline void add_spatial_tendon(ModelBuilder& builder, std::uint64_t seed, int index) {
    Stream g(seed, "spatial tendon", index);
    const int bodies = static_cast<int>(builder.bodies().size());
    TendonSpec t;
    t.name = "tendon" + std::to_string(index);
    const int branches = g.pick({1, 1, 2});
    int body = 0;
    for (int b = 0; b < branches; ++b) {
        TendonBranchSpec& branch = t.branches.emplace_back();
        if (b > 0 || g.chance(0.2)) branch.divisor = g.uniform(1, 3);
        const int points = 2 + g.below(3);
        for (int i = 0; i < points; ++i) {
            TendonPointSpec& point = branch.points.emplace_back();
            point.position = 0.3 * g.vec3();
            if ((b > 0 || i > 0) && g.chance(0.2)) continue;
            body = g.below(bodies);
            point.site = builder.add_site(
                {t.name + "_" + std::to_string(b) + std::to_string(i), body, 0.1 * g.vec3(), g.rotation()});
        }
    }
    t.stiffness = g.magnitude(-1, 2);
    t.damping = g.chance(0.3) ? 0.0 : g.magnitude(-2, 0);
    t.rest = g.uniform(0, 2);
    t.slack = g.chance(0.4) ? g.uniform(0, 1) : 0.0;
    ActuatorSpec a;
    a.name = t.name;
    a.body = body;
    a.tendon = builder.add_tendon(t);
    a.type =
        g.pick({ActuatorType::motor, ActuatorType::servo, ActuatorType::velocity, ActuatorType::general});
    a.gear = g.pick({-1.0, 1.0}) * g.magnitude(-0.5, 0.5);
    a.kp = g.magnitude(-1, 1);
    a.kd = g.magnitude(-2, 0);
    a.gain = g.normal();
    a.bias = {g.normal(), g.normal(), g.uniform(-0.5, 0)};
    if (g.chance(0.4)) {
        a.force_lower = -g.magnitude(-1, 1);
        a.force_upper = g.magnitude(-1, 1);
    }
    builder.add_actuator(a);
}

inline void add_equality(ModelBuilder& builder, std::uint64_t seed, int index) {
    Stream g(seed, "equality", index);
    const int bodies = static_cast<int>(builder.bodies().size());
    EqualitySpec e;
    e.name = "equality" + std::to_string(index);
    e.type = g.pick({EqualityType::connect, EqualityType::weld, EqualityType::coupling});
    e.body_a = g.below(bodies);
    e.body_b = g.below(bodies + 1) - 1;
    e.anchor_a = 0.1 * g.vec3();
    e.anchor_b = 0.1 * g.vec3();
    e.R_ba = g.rotation();
    e.coupling[0] = 0.1 * g.normal();
    e.coupling[1] = g.pick({-1.0, 1.0}) * g.uniform(0.3, 3);
    Stream bend(seed, "bend of a coupling", index);
    for (int k = 2; k < coupling_terms && bend.chance(0.5); ++k)
        e.coupling[k] = 0.3 * bend.normal();
    if (mover(builder, e.body_a) == mover(builder, e.body_b)) return;
    const auto one_dof = [&](int i) { return i >= 0 && joint_nv(builder.bodies()[i].joint) == 1; };
    if (e.type == EqualityType::coupling && !(one_dof(e.body_a) && one_dof(e.body_b))) return;
    builder.add_equality(e);
}

inline ShapeSpec random_shape(Stream& g, const std::string& name, int body) {
    ShapeSpec s;
    s.name = name;
    s.body = body;
    s.type = g.pick({ShapeType::sphere, ShapeType::capsule, ShapeType::box, ShapeType::box,
                     ShapeType::cylinder, ShapeType::ellipsoid, ShapeType::mesh});
    if (body >= 0 && g.chance(0.02)) s.type = ShapeType::plane;
    const double x = g.uniform(0.02, 0.12), y = g.uniform(0.02, 0.12), z = g.uniform(0.02, 0.12);
    s.size = {x, y, z};
    if (s.type == ShapeType::capsule && g.chance(0.1)) s.size.y() = 0;
    if (s.type == ShapeType::mesh) s.hull = random_mesh(g, 6 + g.below(8)).hull;
    s.R_BS = g.rotation();
    s.position = 0.05 * g.vec3();
    if (s.type == ShapeType::plane) s.position = -0.4 * s.R_BS.col(2);
    s.friction = g.chance(0.1) ? 0.0 : g.uniform(0.1, 1.5);
    s.restitution = g.chance(0.4) ? 0.0 : g.uniform(0, 0.9);
    s.margin = g.chance(0.15) ? g.uniform(0, 0.005) : 0.0;
    s.self_collision = g.chance(0.8);
    return s;
}

// A plane, a slab or a terrain, sometimes slightly tilted.
inline ShapeSpec random_ground(std::uint64_t seed) {
    Stream g(seed, "ground");
    ShapeSpec s = random_shape(g, "ground", -1);
    s.type = g.pick({ShapeType::plane, ShapeType::plane, ShapeType::box, ShapeType::terrain});
    s.R_BS = g.chance(0.5) ? Mat3<double>(Mat3<double>::Identity())
                           : rotation_matrix(quaternion_exp<double>(0.1 * g.vec3()));
    s.position = {0, 0, 0};
    s.size.setZero();
    s.hull = nullptr;
    if (s.type == ShapeType::box) {
        s.size = {2, 2, 0.2};
        s.position.z() = -0.2;
    }
    if (s.type == ShapeType::terrain) {
        s.size = {1.5, 1.5, 1};
        s.terrain = random_terrain(g, 4 + g.below(4), g.pick({0.0, 0.02, 0.2})).terrain;
    }
    return s;
}

inline std::vector<ShapeSpec> random_shapes(std::uint64_t seed, const WorldSize& size,
                                            const WorldExtras& extras, const Model& m, int bodies) {
    std::vector<ShapeSpec> shapes;
    const auto room = [&] { return static_cast<int>(shapes.size()) < size.shapes; };
    if (Stream(seed, "has ground").chance(0.85) && room()) shapes.push_back(random_ground(seed));
    for (int i = 0; i < bodies; ++i) {
        Stream g(seed, "shape", i);
        const int count = g.pick({0, 1, 1, 1, 1, 2, 3});
        std::string body = "body";
        body += std::to_string(i);
        for (int k = 0; k < count && room(); ++k)
            shapes.push_back(random_shape(g, body + "_" + std::to_string(k), m.body_index(body)));
    }
    Stream g(seed, "obstacle");
    const int obstacles = g.pick({0, 0, 1, 1, 2});
    for (int k = 0; k < obstacles && room(); ++k) {
        shapes.push_back(random_shape(g, "obstacle" + std::to_string(k), -1));
        shapes.back().position = {g.uniform(-0.5, 0.5), g.uniform(-0.5, 0.5), g.uniform(0, 0.3)};
    }
    Stream spin(seed, "torsional and rolling friction");
    const bool any_spin = spin.chance(0.3);
    for (ShapeSpec& s : shapes) {
        s.condim = any_spin ? spin.pick({1, 3, 4, 6, 6}) : 3;
        s.torsional_friction = spin.magnitude(-3, -1);
        s.rolling_friction = spin.chance(0.2) ? 0.0 : spin.magnitude(-4, -2);
    }
    Stream springs(seed, "springs");
    for (ShapeSpec& s : shapes)
        if (extras.springs && springs.chance(0.4)) add_spring(springs, s.stiffness, s.damping);
    return shapes;
}

// Sometimes a few pairs with parameters of their own.
inline std::vector<ContactPairSpec> random_pairs(std::uint64_t seed, const std::vector<ShapeSpec>& shapes) {
    Stream g(seed, "pairs");
    std::vector<ContactPairSpec> pairs;
    if (shapes.size() < 2 || !g.chance(0.25)) return pairs;
    std::set<std::pair<int, int>> seen;
    for (int n = 0; n < 4; ++n) {
        const int count = static_cast<int>(shapes.size()), a = g.below(count), b = g.below(count);
        if (a == b || !seen.insert(std::minmax({a, b})).second) continue;
        ContactPairSpec pair{"pair" + std::to_string(n), a, b};
        pair.condim = g.pick({1, 3, 3, 4, 6});
        pair.friction = g.uniform(0.1, 1.5);
        pair.margin = g.chance(0.5) ? g.uniform(0, 0.005) : 0.0;
        pair.torsional_friction = g.magnitude(-3, -1);
        pair.rolling_friction = g.magnitude(-4, -2);
        pairs.push_back(pair);
    }
    return pairs;
}

inline Settings random_settings(std::uint64_t seed) {
    Stream g(seed, "settings");
    Settings s = sweeping();
    s.time_step = g.magnitude(-3.5, -2);
    s.sweeps = g.pick({1, 3, 10, 50, 50, 50});
    s.tolerance = g.chance(0.1) ? 1e-9 : 0;
    s.forward_dynamics = g.pick({ForwardDynamics::automatic, ForwardDynamics::automatic, ForwardDynamics::aba,
                                 ForwardDynamics::crba});
    s.compliance = g.chance(0.7) ? s.compliance : g.magnitude(-6, -2);
    s.erp = g.chance(0.7) ? s.erp : g.uniform(0, 1);
    s.slop = g.chance(0.8) ? s.slop : 0;
    s.margin = g.chance(0.8) ? s.margin : g.magnitude(-4, -1);
    return s;
}

}  // namespace random_world

// At the neutral configuration and without controls; tests/support/random_state.hpp makes contacts.
inline ToyState make_random_world(std::uint64_t seed, const WorldSize& size, const WorldExtras& extras = {}) {
    using namespace random_world;
    Stream g(seed, "counts");
    const int bodies = std::min(1 + g.below(8), size.bodies),
              actuators = std::min(g.below(7), size.actuators);
    const int equalities = std::min(g.pick({0, 0, 0, 1, 1, 2, 3}), size.equalities);
    ModelBuilder builder;
    if (g.chance(0.2)) builder.set_gravity(5 * g.vec3());
    std::vector<int> handles;
    for (int i = 0; i < bodies; ++i)
        handles.push_back(add_body(builder, seed, i, handles, extras));
    for (int i = 0; i < actuators; ++i)
        add_actuator(builder, seed, i);
    for (int i = 0; extras.thrusters && i < actuators / 2; ++i)
        add_thruster(builder, seed, i);
    for (int i = 0; extras.tendons && i < 2; ++i)
        add_spatial_tendon(builder, seed, i);
    for (int i = 0; i < equalities; ++i)
        add_equality(builder, seed, i);
    Model m = builder.build();
    const std::vector<ShapeSpec> shapes = random_shapes(seed, size, extras, m, bodies);
    ShapeSet set = build_shapes(m, shapes, {}, random_pairs(seed, shapes));
    ToyState t{World(std::move(m), std::move(set), random_settings(seed)), {}, {}, {}};
    t.theta = t.world.model.layout.nominal();
    t.x.setZero(t.world.nx());
    t.u.setZero(t.world.nu());
    t.x.head(t.world.nq()) = t.world.model.neutral_configuration();
    return t;
}

}  // namespace costate::test
