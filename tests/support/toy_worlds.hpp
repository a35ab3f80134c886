// Random worlds in contact for tests.
#pragma once

#include "solvers/step/step.hpp"
#include "tests/support/sweeping.hpp"
#include "tests/support/toy_models.hpp"

namespace costate::test {

struct ToyState {
    World world;
    VecX<double> theta, x, u;
};

inline ShapeSpec toy_shape(Rng& g, const std::string& name, ShapeType type, int body,
                           const Vec3<double>& size) {
    ShapeSpec s;
    s.name = name;
    s.type = type;
    s.body = body;
    s.size = size;
    if (body >= 0) {
        s.position = 0.02 * g.vec3(Regime::random);
        s.R_BS = rotation_matrix(Probe<Quaternion<double>>::random(g, Regime::random));
    }
    s.friction = g.uniform(0.3, 1);
    s.restitution = g.uniform(0, 0.8);
    return s;
}

// Sets all rotation vectors of theta to values other than zero.
inline void turn_all(ToyState& t, Rng& g) {
    const Model& m = t.world.model;
    const auto turn = [&](const ParameterSlice& slice, size_t count) {
        for (double& x : t.theta.segment(slice.offset, 3 * static_cast<Eigen::Index>(count)))
            x = 0.02 * g.normal();
    };
    turn(m.rotation, m.bodies.size());
    turn(m.axis_rotation, m.bodies.size());
    turn(m.weld_rotation, m.equalities.size());
    turn(t.world.shapes.rotation, t.world.shapes.shapes.size());
}

// Near MuJoCo's defaults, some in the direct format; its own random numbers.
inline Softness toy_softness(unsigned seed) {
    Rng g(seed + 1000);
    const bool direct = g.uniform(0, 1) < 0.3;
    Softness s;
    s.solref = direct ? std::array{-g.uniform(100, 1000), -g.uniform(5, 50)}
                      : std::array{g.uniform(0.005, 0.05), g.uniform(0.5, 2)};
    s.solimp = {g.uniform(0.5, 0.9), g.uniform(0.9, 0.99), g.uniform(0.02, 0.1), g.uniform(0.3, 0.7),
                g.uniform(1, 3)};
    return s;
}

// A sphere, a capsule and a box in the air, an arm of three links with round ends and joint limits, above a
// ground plane, and a fixed sphere. The capsule, the fixed sphere and one of the limits are compliant. In half
// of the worlds contacts of the sphere have torsional friction, and those of the box also rolling friction; in a
// fifth the surfaces of the ground, the box and the fixed sphere move. About half of the possible pairs are in
// contact; velocities are random.
inline ToyState toy_contact_state(unsigned seed, const Settings& settings = sweeping()) {
    Rng g(seed);
    using J = JointType;
    ModelBuilder builder;
    const std::vector<J> joints{J::free, J::free, J::free, J::revolute, J::prismatic, J::revolute};
    const std::vector<int> parents{-1, -1, -1, -1, 3, 4};
    for (size_t i = 0; i < joints.size(); ++i) {
        BodySpec s = random_body(g, static_cast<int>(i), parents[i], joints[i]);
        s.mass.c *= 0.1;
        s.mass.I += 0.02 * Mat3<double>::Identity();
        if (joints[i] == J::free) {
            s.placement.setZero();
            s.R_PB.setIdentity();
            s.damping.clear();
            s.stiffness.clear();
        }
        if (i == 3) s.placement = {0.1, 0.1, 0.4};
        if (i >= 4) s.placement = 0.15 * g.vec3(Regime::random).normalized();
        if (i >= 3) {
            s.lower = -0.05;
            s.upper = 0.06;
        }
        if (i == 4) {
            s.limit_stiffness = 1e3;
            s.limit_damping = 2;
        }
        s.limit_softness = toy_softness(seed + static_cast<unsigned>(i));
        builder.add_body(s);
    }
    for (const int i : {3, 4, 5}) {
        ActuatorSpec a;
        a.name = "actuator" + std::to_string(i);
        a.body = i;
        a.type = i == 4 ? ActuatorType::motor : ActuatorType::servo;
        a.gear = 1.5;
        a.kp = 20;
        a.kd = 1;
        (i == 4 ? a.control_lower : a.force_lower) = -2;
        (i == 4 ? a.control_upper : a.force_upper) = 2;
        builder.add_actuator(a);
    }
    builder.add_site({"tool", 4, {0.1, -0.2, 0.3}, Mat3<double>::Identity()});
    builder.set_soft(settings.law == ContactLaw::mujoco);
    Model m = builder.build();
    std::vector<ShapeSpec> shapes{
        toy_shape(g, "ground", ShapeType::plane, -1, Vec3<double>::Zero()),
        toy_shape(g, "sphere", ShapeType::sphere, m.body_index("body0"), {0.1, 0, 0}),
        toy_shape(g, "capsule", ShapeType::capsule, m.body_index("body1"), {0.05, 0.1, 0}),
        toy_shape(g, "box", ShapeType::box, m.body_index("body2"), {0.08, 0.1, 0.12}),
        toy_shape(g, "tip", ShapeType::sphere, m.body_index("body5"), {0.07, 0, 0}),
        toy_shape(g, "elbow", ShapeType::capsule, m.body_index("body3"), {0.05, 0.05, 0}),
        toy_shape(g, "post", ShapeType::sphere, -1, {0.1, 0, 0})};
    shapes.back().position = {0.2, 0, 0.05};
    if (seed / 2 % 2 == 0) {
        Rng own(seed + 2000);
        shapes[1].condim = 4;
        shapes[3].condim = 6;
        for (ShapeSpec& it : shapes) {
            it.torsional_friction = own.uniform(0.01, 0.1);
            it.rolling_friction = own.uniform(0.005, 0.05);
        }
    }
    if (seed % 5 == 2) {
        Rng own(seed + 3000);
        for (const size_t i : {0, 3, 6})
            shapes[i].surface_motion = {own.vec3(Regime::random), 0.5 * own.vec3(Regime::random)};
    }
    for (const size_t i : {2, 6}) {
        shapes[i].stiffness = 2e3;
        shapes[i].damping = 1.5 * static_cast<double>(i);
    }
    for (size_t i = 0; i < shapes.size(); ++i) {
        shapes[i].softness = toy_softness(seed + static_cast<unsigned>(i));
        shapes[i].priority = i == 4 ? 1 : 0;
        shapes[i].mixing_weight = 1 + static_cast<double>(i);
    }
    std::vector<ContactPairSpec> pairs;
    if (seed % 16 == 10) {  // the second overrides the exclusion of its bodies
        const Softness soft = toy_softness(seed + 7);
        pairs.push_back({"low", 1, 0, 4, 0.6, 0.02, 0.01, 0.004, soft});
        pairs.push_back({"side", 2, 3, 3, 0.4, 0.02, 0.01, 0.002, soft});
    }
    ShapeSet set = build_shapes(m, shapes, {{"body1", "body2"}, {"body2", "body3"}}, pairs);
    ToyState t{World(std::move(m), std::move(set), settings), {}, {}, {}};
    t.theta = t.world.model.layout.nominal();
    const Model& model = t.world.model;
    VecX<double> d(model.nv), q(model.nq), v(model.nv);
    for (double& x : d)
        x = 0.05 * g.normal();
    for (double& x : v)
        x = 0.5 * g.normal();
    const Vec3<double> centre[3] = {{0, 0, 0.09}, {0.12, 0.02, 0.12}, {-0.1, -0.1, 0.14}};
    for (int i = 0; i < 3; ++i) {
        const Body& b = model.bodies[model.body_index("body" + std::to_string(i))];
        for (int c = 0; c < 3; ++c) {
            d[b.v0 + c] = centre[i][c] + 0.02 * g.normal();
            d[b.v0 + 3 + c] = g.normal();
        }
        v[b.v0 + 2] -= 0.5;
    }
    retract(model, model.neutral_configuration().data(), d.data(), q.data());
    t.x.resize(model.nq + model.nv);
    t.x << q, v;
    t.u = random_vector(model.nu, g, Regime::random);
    if (seed % 2 == 0) turn_all(t, g);
    return t;
}

// Two arms and a free body with every kind of equality, two of them of tendons, dry friction that sticks and slips, and a spherical
// joint at the end of its range; no contacts.
inline ToyState toy_joint_row_state(unsigned seed, const Settings& settings = sweeping()) {
    Rng g(seed);
    using J = JointType;
    const std::vector<J> joints{J::revolute, J::spherical, J::revolute, J::free, J::prismatic, J::revolute};
    const std::vector<int> parents{-1, 0, 1, -1, -1, 4};
    ModelBuilder builder;
    for (size_t i = 0; i < joints.size(); ++i) {
        BodySpec s = random_body(g, static_cast<int>(i), parents[i], joints[i]);
        if (joints[i] == J::free) {
            s.placement.setZero();
            s.R_PB.setIdentity();
            s.damping.clear();
            s.stiffness.clear();
        }
        if (joints[i] == J::spherical) s.upper = 0.6;
        if (i == 0 || i == 2 || i == 5) s.dry_friction = {i == 0 ? 1e7 : g.uniform(0.01, 1)};
        s.dry_softness = s.limit_softness = toy_softness(seed + static_cast<unsigned>(i));
        builder.add_body(s);
    }
    const auto equality = [&](const char* name, EqualityType type, int a, int b) {
        EqualitySpec e;
        e.name = name;
        e.type = type;
        e.body_a = a;
        e.body_b = b;
        e.anchor_a = 0.2 * g.vec3(Regime::random);
        e.anchor_b = 0.2 * g.vec3(Regime::random);
        e.R_ba = rotation_matrix(quaternion_exp<double>(0.3 * g.vec3(Regime::random)));
        e.coupling = {0.1, g.uniform(0.5, 2), 0.3, -0.2, 0.1};
        e.softness = toy_softness(seed + static_cast<unsigned>(a));
        builder.add_equality(e);
    };
    equality("loop", EqualityType::connect, 2, 5);
    equality("hold", EqualityType::weld, 3, 2);
    equality("pin", EqualityType::connect, 3, -1);
    equality("gears", EqualityType::coupling, 0, 4);
    equality("crank", EqualityType::coupling, 5, 4);
    equality("stop", EqualityType::coupling, 4, -1);
    const auto tendon = [&](const char* name, std::vector<std::pair<int, double>> over) {
        TendonSpec spec;
        spec.name = name;
        spec.joints = std::move(over);
        spec.stiffness = 3;
        spec.rest = 1;
        spec.slack = 0.1;
        spec.damping = 0.2;
        return builder.add_tendon(spec);
    };
    EqualitySpec pulleys;
    pulleys.name = "pulleys";
    pulleys.type = EqualityType::coupling;
    pulleys.tendon_a = tendon("front", {{0, 0.7}, {5, -0.4}});
    pulleys.tendon_b = tendon("back", {{4, 1.2}, {2, 0.3}});
    pulleys.coupling = {0.1, 0.8, 0.3, -0.2, 0.1};
    pulleys.softness = toy_softness(seed + 20);
    builder.add_equality(pulleys);
    EqualitySpec taut;
    taut.name = "taut";
    taut.type = EqualityType::coupling;
    taut.tendon_a = tendon("low", {{2, 0.5}, {4, 0.9}});
    builder.add_equality(taut);
    builder.set_soft(settings.law == ContactLaw::mujoco);
    Model m = builder.build();
    ShapeSet none = build_shapes(m, {});
    ToyState t{World(std::move(m), std::move(none), settings), {}, {}, {}};
    const Model& model = t.world.model;
    t.theta = model.layout.nominal();
    VecX<double> d = 0.2 * random_vector(model.nv, g, Regime::random), q(model.nq);
    const Body& ball = model.bodies[model.body_index("body1")];
    d.segment(ball.v0, 3) = g.uniform(0.58, 0.62) * g.vec3(Regime::random).normalized();
    retract(model, model.neutral_configuration().data(), d.data(), q.data());
    t.x.resize(model.nq + model.nv);
    t.x << q, 0.5 * random_vector(model.nv, g, Regime::random);
    if (seed % 2 == 0) turn_all(t, g);
    return t;
}

inline VecX<D> lift_state(const Model& m, const VecX<double>& x, const double* d) {
    VecX<D> lifted(x.size());
    lifted << lift_configuration(m, x.head(m.nq), d), lift_vector(x.tail(x.size() - m.nq), d + m.nv);
    return lifted;
}

// Tangent of a dual state: of q, v and the activations.
inline VecX<double> state_tangent(const Model& m, const VecX<D>& x) {
    VecX<D> base(m.nq), dq(m.nv);
    for (int i = 0; i < m.nq; ++i)
        base[i] = D(x[i].v);
    difference(m, base.data(), x.data(), dq.data());
    VecX<double> d(2 * m.nv + static_cast<int>(m.activations.size()));
    for (int j = 0; j < m.nv; ++j)
        d[j] = dq[j].d;
    for (int j = m.nv; j < d.size(); ++j)
        d[j] = x[m.nq - m.nv + j].d;
    return d;
}

}  // namespace costate::test
