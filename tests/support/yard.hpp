// A yard: bodies of all kinds that fall, slide, roll and collide on a ground, and different descriptions of
// the same yard.
#pragma once

#include <algorithm>

#include "core/math/rotation.hpp"
#include "tests/support/analytic.hpp"
#include "tests/support/sweeping.hpp"

namespace costate::test {

// A description of a yard: rotated by quarter turns about z, moved, with its bodies in another order, in
// other units.
struct View {
    int quarters = 0;
    Vec3<double> move = Vec3<double>::Zero();
    double mass = 1, length = 1, time = 1;
    bool permuted = false;
    bool oblique = true;  // with two balls whose contact normal is in no coordinate plane

    Mat3<double> R() const {
        const double c[4] = {1, 0, -1, 0}, s[4] = {0, 1, 0, -1};
        return (Mat3<double>() << c[quarters], -s[quarters], 0, s[quarters], c[quarters], 0, 0, 0, 1)
            .finished();
    }
    Vec3<double> point(const Vec3<double>& p) const { return length * (R() * p + move); }
    Quaternion<double> turned(const Quaternion<double>& q) const {
        return quaternion_product<double>({std::cos(quarters * pi / 4), {0, 0, std::sin(quarters * pi / 4)}},
                                          q);
    }
    double torque() const { return mass * length * length / (time * time); }
    double speed() const { return length / time; }
};

inline Settings settings_of(const View& view, int sweeps) {
    Settings s = sweeping();
    s.time_step = 1e-3 * view.time;
    s.sweeps = sweeps;
    s.compliance = 0.05 / view.mass;  // soft enough for unique impulses and converging sweeps
    s.slop *= view.length;
    s.margin *= view.length;
    s.recovery_speed *= view.speed();
    s.rest_speed *= view.speed();
    return s;
}

inline BodySpec body_of(const View& view, const std::string& name, JointType joint, double m,
                        const Vec3<double>& inertia, const Vec3<double>& com = {0.01, -0.02, 0.01}) {
    BodySpec b = solid(name, joint, m * view.mass, view.mass * view.length * view.length * inertia,
                       Vec3<double>::UnitY());
    b.mass.c = view.length * com;
    return b;
}

inline ShapeSpec shape_of(const View& view, const std::string& name, ShapeType type, const Vec3<double>& size,
                          const Vec3<double>& at = Vec3<double>::Zero(), double restitution = 0.2) {
    ShapeSpec s = shape(name, type, view.length * size, 0.8, restitution);
    s.position = view.length * at;
    return s;
}

struct Start {
    const char* name;
    Vec3<double> p, turn, v, omega;
};
inline const std::vector<Start> starts{
    {"tripod", {0, 0, 0.0501}, {0, 0, 0.3}, {1.1, 0.4, 0}, {0, 0, 2}},
    {"crate", {1, 0.5, 0.31}, {0.6, 0.5, 0.2}, {0.3, -0.8, -1}, {1, -2, 0.5}},
    {"log", {-1, 0.3, 0.16}, {0.4, 1.3, 0}, {-0.6, 0.4, -0.9}, {0.5, 1, -1}},
    {"striker", {0, -1, 0.1001}, {0, 0, 0}, {2, 0, 0}, {0, 3, 0}},
    {"target", {0.27, -1, 0.1401}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}},
    {"high", {2, -1, 0.33}, {0.1, 0.2, 0.3}, {0.2, -0.1, -1.5}, {0.4, 1, 2}},
    {"low", {2.06, -1.04, 0.1002}, {0.2, 0.1, 0}, {0, 0, 0}, {0, 0, 0}}};

// On the ground: a tripod that slides and rotates, a tumbling crate, a log, two balls that collide in the xz
// plane, an arm with a servo and a dragging tip; one ball falls obliquely on another.
inline void add_yard(AnalyticScene& scene, const View& view, const std::string& tag) {
    std::vector<int> order{0, 1, 2, 3, 4, 7, 5, 6};
    if (!view.oblique) order.resize(6);
    if (view.permuted) std::reverse(order.begin(), order.end());
    for (const int i : order) {
        const std::string name = i == 7 ? "arm" + tag : starts[i].name + tag;
        const auto free = [&](double m, const Vec3<double>& inertia) {
            scene.add(body_of(view, name, JointType::free, m, inertia));
        };
        // different for all colliding bodies; the larger one counts
        const auto round = [&](double r, double restitution) {
            scene.add(shape_of(view, name, ShapeType::sphere, {r, 0, 0}, Vec3<double>::Zero(), restitution),
                      name);
        };
        switch (i) {
            case 0:
                free(1.4, {0.05, 0.06, 0.08});
                for (int k = 0; k < 3; ++k)
                    scene.add(
                        shape_of(view, name + "_foot" + std::to_string(k), ShapeType::sphere, {0.05, 0, 0},
                                 0.3 * Vec3<double>(std::cos(2.1 * k), std::sin(2.1 * k), 0)),
                        name);
                break;
            case 1:
                free(0.9, {0.01, 0.02, 0.015});
                scene.add(shape_of(view, name, ShapeType::box, {0.1, 0.15, 0.2}), name);
                break;
            case 2:
                free(0.6, {0.01, 0.01, 0.002});
                scene.add(shape_of(view, name, ShapeType::capsule, {0.06, 0.2, 0}), name);
                break;
            case 4:
                scene.add(
                    body_of(view, name, JointType::free, 0.7, {0.006, 0.006, 0.006}, Vec3<double>::Zero()));
                round(0.14, 0.2);
                break;
            case 3:
                scene.add(
                    body_of(view, name, JointType::free, 0.5, {0.002, 0.002, 0.002}, Vec3<double>::Zero()));
                round(0.1, 0.4);
                break;
            case 7: {
                BodySpec upper = body_of(view, "arm" + tag, JointType::revolute, 0.8, {0.01, 0.01, 0.01},
                                         {0.01, 0, -0.15}),
                         lower = upper;
                upper.placement = view.point({-1, -1, 0.55});
                upper.R_PB = view.R();
                upper.damping = {0.1 * view.torque() * view.time};
                upper.stiffness = {0.5 * view.torque()};
                upper.armature = {0.01 * view.mass * view.length * view.length};
                upper.rest = {0.3};
                lower.name = "hand" + tag;
                lower.placement = view.length * Vec3<double>(0, 0, -0.3);
                lower.parent = scene.add(upper);
                ActuatorSpec servo;
                servo.name = "servo" + tag;
                servo.type = ActuatorType::servo;
                servo.body = scene.add(lower);
                servo.kp = 20 * view.torque();
                servo.kd = 0.3 * view.torque() * view.time;
                scene.add(servo);
                scene.add(shape_of(view, "tip" + tag, ShapeType::sphere, {0.05, 0, 0}, {0, 0, -0.28}),
                          lower.name);
                break;
            }
            default: free(0.5, {0.003, 0.003, 0.004}); round(0.1, i == 5 ? 0.4 : 0.2);
        }
    }
}

inline void start_yard(AnalyticCase& c, const View& view, const std::string& tag) {
    for (const Start& s : starts) {
        const std::string name = s.name + tag;
        if (c.world.model.body_index(name) < 0) continue;
        const Vec3<double> p = view.point(s.p), v = view.speed() * (view.R() * s.v);
        const Quaternion<double> q = view.turned(quaternion_exp<double>(s.turn));
        for (int k = 0; k < 3; ++k) {
            c.q(name, k) = p[k];
            c.q(name, 4 + k) = q.v[k];
            c.v(name, k) = v[k];
            c.v(name, 3 + k) = s.omega[k] / view.time;
        }
        c.q(name, 3) = q.w;
    }
    c.q("arm" + tag) = 0.5;
    c.q("hand" + tag) = -0.3;
    c.v("arm" + tag) = -4 / view.time;
    c.u.setConstant(-1.0);
}

inline AnalyticScene empty_yard(const View& view, int sweeps) {
    AnalyticScene scene(settings_of(view, sweeps),
                        Vec3<double>(0, 0, -g0 * view.length / (view.time * view.time)));
    ShapeSpec ground =
        shape_of(view, "ground", ShapeType::plane, Vec3<double>::Zero(), Vec3<double>::Zero(), 0.3);
    ground.position = view.point(Vec3<double>::Zero());
    scene.add(ground);
    return scene;
}

inline AnalyticCase yard(const View& view = {}, int sweeps = 50) {
    AnalyticScene scene = empty_yard(view, sweeps);
    add_yard(scene, view, "");
    AnalyticCase c = scene.build();
    start_yard(c, view, "");
    return c;
}

// Final positions and velocities of all bodies, and the impulses of the ground: a length squared.
inline Objective goal(const AnalyticCase& c, const View& view, const std::string& tag) {
    Objective terms;
    for (const Body& b : c.world.model.bodies) {
        if (b.name.size() < tag.size() || b.name.substr(b.name.size() - tag.size()) != tag) continue;
        Term t = point_term(c, TermKind::position, b.name, 0, view.length * Vec3<double>(0.05, 0.02, -0.03));
        t.norm = TermNorm::squared;
        t.axes.setOnes();
        t.target = view.point({1, 2, 0.5});
        terms.push_back(t);
        t.kind = TermKind::velocity;
        t.weight = 0.1 * view.time * view.time;
        t.target = view.speed() * (view.R() * Vec3<double>(1, 0, 1));
        terms.push_back(t);
    }
    Term impulse;
    impulse.kind = TermKind::impulse;
    impulse.running = true;
    impulse.weight = 0.3 * view.length * view.time / view.mass;
    impulse.shape = tag.empty() ? -1 : c.world.shapes.index("crate" + tag);
    terms.push_back(impulse);
    return terms;
}

}  // namespace costate::test
