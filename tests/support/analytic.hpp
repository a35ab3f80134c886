// Worlds with a known answer: construction, rollout with constant controls, and a number of the last state
// with its gradient.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/sweeping.hpp"

namespace costate::test {

inline constexpr double g0 = 9.81;  // m/s^2
inline constexpr double pi = 3.14159265358979323846;

using MatX = Eigen::MatrixXd;

// A world, its parameters, its initial state, and constant controls.
struct AnalyticCase {
    World world;
    VecX<double> theta, x, u;

    const Body& body(std::string_view name) const {
        const int i = world.model.body_index(name);
        REQUIRE(i >= 0);
        return world.model.bodies[i];
    }
    int index(std::string_view path, int k = 0) const {
        const ParameterLayout::Entry* e = world.model.layout.find(path);
        REQUIRE(e != nullptr);
        return e->offset + k;
    }
    double& q(std::string_view name, int k = 0) { return x[body(name).q0 + k]; }
    double& v(std::string_view name, int k = 0) { return x[world.nq() + body(name).v0 + k]; }
    double& parameter(std::string_view path, int k = 0) { return theta[index(path, k)]; }
    double time_step() const { return world.h(theta); }
};

// Contact as in the formulas: rigid, no slop, every approach bounces.
inline Settings rigid(double h, int sweeps = 50, double compliance = 0) {
    Settings s = sweeping();
    s.gyroscopic = Gyroscopic::explicit_bias;  // its recurrences have a closed form
    s.time_step = h;
    s.sweeps = sweeps;
    s.compliance = compliance;
    s.slop = 0;
    return s;
}

inline BodySpec solid(const std::string& name, JointType joint, double mass, const Vec3<double>& inertia,
                      const Vec3<double>& axis = Vec3<double>::UnitZ()) {
    BodySpec b;
    b.name = name;
    b.joint = joint;
    b.axis = axis;
    b.mass = {mass, Vec3<double>::Zero(), inertia.asDiagonal()};
    return b;
}

// A homogeneous ball.
inline BodySpec ball(const std::string& name, double mass, double radius) {
    return solid(name, JointType::free, mass, Vec3<double>::Constant(0.4 * mass * radius * radius));
}

inline ShapeSpec shape(const std::string& name, ShapeType type, const Vec3<double>& size, double friction = 1,
                       double restitution = 0) {
    ShapeSpec s;
    s.name = name;
    s.type = type;
    s.size = size;
    s.friction = friction;
    s.restitution = restitution;
    return s;
}

// Bodies, shapes and motors in the order in which they are added. Children name their parent in
// BodySpec::parent.
class AnalyticScene {
public:
    explicit AnalyticScene(const Settings& settings, const Vec3<double>& gravity = {0, 0, -g0})
        : settings_(settings) {
        builder_.set_gravity(gravity);
        builder_.set_soft(settings.law == ContactLaw::mujoco);
    }
    int add(const BodySpec& b) { return builder_.add_body(b); }
    void add(const ActuatorSpec& a) { builder_.add_actuator(a); }
    void motor(int body) {
        ActuatorSpec a;
        a.name = "motor" + std::to_string(motors_++);
        a.body = body;
        builder_.add_actuator(a);
    }
    // Adds a shape to a body by name, or to the world: "".
    void add(const ShapeSpec& s, const std::string& body = "") {
        shapes_.push_back(s);
        carriers_.push_back(body);
    }
    void add_ball(const std::string& name, double mass, double radius, double friction = 1,
                  double restitution = 0) {
        add(ball(name, mass, radius));
        add(shape(name, ShapeType::sphere, {radius, 0, 0}, friction, restitution), name);
    }
    void add_ground(double friction = 1, double restitution = 0) {
        add(shape("ground", ShapeType::plane, Vec3<double>::Zero(), friction, restitution));
    }

    AnalyticCase build() const {
        Model m = builder_.build();
        std::vector<ShapeSpec> shapes = shapes_;
        for (size_t i = 0; i < shapes.size(); ++i)
            shapes[i].body = m.body_index(carriers_[i]);
        ShapeSet set = build_shapes(m, shapes);
        AnalyticCase c{World(std::move(m), std::move(set), settings_), {}, {}, {}};
        c.theta = c.world.model.layout.nominal();
        c.x = VecX<double>::Zero(c.world.nx());
        c.x.head(c.world.nq()) = c.world.model.neutral_configuration();
        c.u = VecX<double>::Zero(c.world.nu());
        return c;
    }

private:
    Settings settings_;
    ModelBuilder builder_;
    std::vector<ShapeSpec> shapes_;
    std::vector<std::string> carriers_;
    int motors_ = 0;
};

// One knot per control: a constant.
inline ControlPlan held_controls(const AnalyticCase& c, int steps) {
    ControlChannel held;
    held.times = {0};
    return ControlPlan(std::vector<ControlChannel>(c.world.nu(), held), steps, c.time_step());
}

// A number and its gradient.
struct Sensitivity {
    const AnalyticCase* of;
    double value;
    VecX<double> last;  // the last state
    Gradient g;
    double to(std::string_view path, int k = 0) const { return g.parameters[of->index(path, k)]; }
    double to_q(std::string_view body, int k = 0) const { return g.initial_state[of->body(body).v0 + k]; }
    double to_v(std::string_view body, int k = 0) const {
        return g.initial_state[of->world.nv() + of->body(body).v0 + k];
    }
    double to_u(int k = 0) const { return g.controls[k]; }
};

// The loss of a rollout. The case must outlive the result.
inline Sensitivity loss(const AnalyticCase& c, int steps, const Objective& objective) {
    const ControlPlan plan = held_controls(c, steps);
    Simulation simulation(c.world, objective);
    Rollout<Simulation> rollout(simulation, plan, steps);
    Sensitivity s{&c, rollout.forward(c.theta, c.x, c.u), {}, {}};
    s.last = rollout.last_state();
    rollout.backward(c.theta, c.u, s.g);
    return s;
}

// offset of a target beyond all coordinates, so that a distance is a coordinate plus this offset
inline constexpr double afar = 64;

inline Term point_term(const AnalyticCase& c, TermKind kind, std::string_view body, int axis,
                       const Vec3<double>& point = Vec3<double>::Zero()) {
    Term t;
    t.kind = kind;
    t.norm = TermNorm::distance;
    t.body = c.world.model.body_index(body);
    t.point = point;
    t.axes = Vec3<double>::Unit(axis);
    t.target = Vec3<double>::Constant(-afar);
    return t;
}

// One coordinate of a point of a body in the last state, m; or of its velocity, m/s.
inline Sensitivity position(const AnalyticCase& c, int steps, std::string_view body, int axis,
                            const Vec3<double>& point = Vec3<double>::Zero()) {
    Sensitivity s = loss(c, steps, {point_term(c, TermKind::position, body, axis, point)});
    s.value -= afar;
    return s;
}
inline Sensitivity velocity(const AnalyticCase& c, int steps, std::string_view body, int axis,
                            const Vec3<double>& point = Vec3<double>::Zero()) {
    Sensitivity s = loss(c, steps, {point_term(c, TermKind::velocity, body, axis, point)});
    s.value -= afar;
    return s;
}
// Entry k of the last q of a joint with as many entries in q as in v; and of its last v, which must not be 0.
inline Sensitivity coordinate(const AnalyticCase& c, int steps, std::string_view body, int k = 0) {
    Term t;
    t.kind = TermKind::configuration;
    t.norm = TermNorm::distance;
    t.dofs = {c.body(body).v0 + k};
    t.q_target = c.world.model.neutral_configuration();
    t.q_target[c.body(body).q0 + k] -= afar;
    Sensitivity s = loss(c, steps, {t});
    s.value -= afar;
    return s;
}
inline Sensitivity rate(const AnalyticCase& c, int steps, std::string_view body, int k = 0) {
    Term t;
    t.kind = TermKind::joint_velocity;
    t.norm = TermNorm::distance;
    t.dofs = {c.body(body).v0 + k};
    Sensitivity s = loss(c, steps, {t});
    REQUIRE(s.value > 0);
    if (s.last[c.world.nq() + t.dofs[0]] > 0) return s;
    s.value = -s.value;
    for (VecX<double>* x : {&s.g.controls, &s.g.initial_state, &s.g.parameters})
        *x = -*x;
    return s;
}

// Every state of a rollout, including the first.
inline std::vector<VecX<double>> states(const AnalyticCase& c, int steps) {
    const ControlPlan plan = held_controls(c, steps);
    const Objective none;
    Simulation simulation(c.world, none);
    Rollout<Simulation> rollout(simulation, plan, steps);
    std::vector<VecX<double>> all;
    rollout.forward(c.theta, c.x, c.u, [&](int, const double* x, const double*) {
        all.push_back(Eigen::Map<const VecX<double>>(x, c.world.nx()));
    });
    REQUIRE(!rollout.divergence());
    return all;
}

// One step from x, and its Jacobian: rows by the covectors of (q+, v+), columns by (q, v), by theta and by u.
struct MotionJacobian {
    VecX<double> next;
    MatX x, theta, u;
};
inline MotionJacobian step_jacobian(const AnalyticCase& c, const VecX<double>& x) {
    const World& w = c.world;
    StepScratch<double> s(w);
    MotionJacobian J{VecX<double>(w.nx()), MatX::Zero(w.ndx(), w.ndx()), MatX::Zero(w.ndx(), w.np()),
                     MatX::Zero(w.ndx(), w.nu())};
    for (int row = 0; row < w.ndx(); ++row) {
        const VecX<double> seed = VecX<double>::Unit(w.ndx(), row);
        VecX<double> x_bar = VecX<double>::Zero(w.ndx()), theta_bar = VecX<double>::Zero(w.np()),
                     u_bar = VecX<double>::Zero(w.nu());
        step(w, {c.theta.data(), x.data(), c.u.data()}, s, J.next.data());
        s.clear_bars();
        step_adj(w, {c.theta.data(), x.data(), c.u.data()}, s, seed.data(),
                 {theta_bar.data(), x_bar.data(), u_bar.data()});
        J.x.row(row) = x_bar.transpose();
        J.theta.row(row) = theta_bar.transpose();
        J.u.row(row) = u_bar.transpose();
    }
    return J;
}

// |x - expected| relative to the expected value, or absolute if the expected value is zero.
inline double error(double x, double expected) {
    return std::abs(x - expected) / (expected == 0 ? 1.0 : std::abs(expected));
}

// True if errors at h, h/2 and h/4 decrease like h.
inline bool first_order(const std::array<double, 3>& e, double tolerance = 0.1) {
    return std::abs(std::log2(e[0] / e[1]) - 1) <= tolerance &&
           std::abs(std::log2(e[1] / e[2]) - 1) <= tolerance;
}

}  // namespace costate::test
