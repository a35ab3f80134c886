// The dot-product tests of the passes of spatial tendons, and of a step with sensors of their forces.
#include <doctest/doctest.h>

#include "core/dynamics/spatial_tendon.hpp"
#include "solvers/sensors/sensors.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/step_sensor_pass.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Five bodies in three trees, three spatial tendons over them, one of which has a pulley and a point of the world and
// one wraps around spheres and cylinders, a fixed tendon, and actuators of each law on them. The first actuator is saturated.
Model rope_model(Rng& g) {
    using J = JointType;
    ModelBuilder builder;
    const J joints[] = {J::revolute, J::revolute, J::spherical, J::free, J::prismatic};
    const int parents[] = {-1, 0, 1, -1, -1};
    std::vector<int> sites;
    for (int i = 0; i < 5; ++i) {
        BodySpec body = random_body(g, i, parents[i], joints[i]);
        if (joints[i] == J::free) {
            body.placement.setZero();
            body.R_PB.setIdentity();
        }
        builder.add_body(body);
        sites.push_back(builder.add_site(
            {"site" + std::to_string(i), i, 0.3 * g.vec3(Regime::random), Mat3<double>::Identity()}));
    }
    const TendonPointSpec hook{-1, {1, 2, 3}};
    builder.add_tendon({"rope",
                        {},
                        30,
                        0.1,
                        0.05,
                        0.4,
                        {{1, {hook, {sites[0]}, {sites[2]}}}, {2, {{sites[2]}, {sites[3]}, {sites[4]}}}}});
    builder.add_tendon({"cord", {}, 20, 50, 0, 0.3, {{1, {{sites[1]}, {sites[2]}}}}});
    builder.add_tendon({"belt", {{0, 0.7}, {4, -1.2}}, 10, 0.1, 0, 0.2});
    // there and back around the same object on opposite sides: one of the two ways wraps wherever it is
    const auto beside = [&](int body, double way) {
        const Vec3<double> at = Vec3<double>(0.05, 0.02, 0.01) + way * Vec3<double>(0.2, 0.1, 0);
        return TendonPlaceSpec{builder.add_site(
            {"side" + std::to_string(body) + std::to_string(way), body, at, Mat3<double>::Identity()})};
    };
    const auto object = [&](WrapShape shape, int body) {
        const int site = builder.add_site({"object" + std::to_string(body),
                                           body,
                                           {0.05, 0.02, 0.01},
                                           rotation_matrix(quaternion_exp<double>(g.vec3(Regime::random)))});
        return [=](double way) { return TendonWrapSpec{shape, {site}, {}, 0.03, beside(body, way)}; };
    };
    const auto ball = object(WrapShape::sphere, 3), drum = object(WrapShape::cylinder, 1);
    const TendonWrapSpec post{WrapShape::cylinder, {-1, {0.3, 0.1, 0}}, Mat3<double>::Identity(), 0.04, {}};
    builder.add_tendon({"loop",
                        {},
                        15,
                        0.1,
                        0,
                        0.2,
                        {{1,
                          {{{sites[0]}, {}},
                           {{sites[4]}, ball(1)},
                           {{sites[0]}, ball(-1)},
                           {{sites[2]}, drum(1)},
                           {{sites[0]}, drum(-1)},
                           {{sites[4]}, post}}}}});
    using A = ActuatorType;
    const std::pair<A, int> actuators[] = {{A::motor, 0}, {A::servo, 0}, {A::velocity, 1}, {A::general, 1},
                                           {A::servo, 2}, {A::servo, 3}, {A::servo, -1}};
    int count = 0;
    for (const auto& [type, tendon] : actuators) {
        ActuatorSpec a;
        a.name = "actuator" + std::to_string(count++);
        a.type = type;
        a.body = 0;
        a.tendon = tendon;
        a.gear = g.uniform(0.5, 2);
        a.kp = 10;
        a.kd = 1;
        a.gain = 3;
        a.bias = {0.1, -2, -0.5};
        if (type == A::motor) a.force_upper = 0.1;
        builder.add_actuator(a);
    }
    return builder.build();
}

// Ends, axis and radius -> tangent points and length of the arc on a sphere or a cylinder.
struct ArcPass : StagePass {
    WrapShape shape;
    double turn, r, r_bar = 0, length_bar = 0;
    D r_dual, length_dual;
    std::vector<Vec3<double>> in_points{3}, in_bars{3, Vec3<double>::Zero()}, out_bars{2};
    std::vector<Vec3<D>> in_duals{3}, out_duals{2};
    ArcPass(Rng& g, double turn_of_arc)
        : shape(g.uniform(0, 1) < 0.5 ? WrapShape::sphere : WrapShape::cylinder),
          turn(turn_of_arc),
          r(g.uniform(0.2, 0.6)) {}
    // After in_points is set: ends across the axis, which become a cylinder's along it, too.
    void connect(Rng& g) {
        if (shape == WrapShape::cylinder)
            for (const int i : {0, 1})
                in_points[i] += g.normal() * in_points[2];
        in.add_along_direction(g, [&](Inputs& all) {
            for (size_t i = 0; i < (shape == WrapShape::cylinder ? 3 : 2); ++i)
                all.add(in_points[i].data(), in_duals[i].data(), in_bars[i].data(), 3);
            all.add(r, r_dual, r_bar);
        });
        for (size_t i = 0; i < 2; ++i)
            out.add<double>(out_duals[i].data(), out_bars[i].data(), 3);
        out.add<double>(&length_dual, &length_bar, 1);
        if (shape == WrapShape::sphere) in_duals[2] = in_points[2].cast<D>();
    }
    void run_duals() override {
        const WrapArc<D> arc = wrap_arc(shape, in_duals[0], in_duals[1], in_duals[2], r_dual, turn);
        out_duals[0] = arc.t0;
        out_duals[1] = arc.t1;
        length_dual = arc.length;
    }
    void run_adjoint() override {
        wrap_arc_adj(shape, in_points[0], in_points[1], in_points[2], r, turn,
                     {out_bars[0], out_bars[1], length_bar}, in_bars[0], in_bars[1], in_bars[2], r_bar);
    }
};

// Around: the ends are outside of the circle across the axis.
struct WrapPass : ArcPass {
    WrapPass(Rng& g, Regime) : ArcPass(g, g.uniform(0, 1) < 0.5 ? 1 : -1) {
        in_points[2] = g.vec3(Regime::random).normalized();
        for (const int i : {0, 1})
            in_points[i] = g.uniform(0.7, 2) * in_points[2].cross(g.vec3(Regime::random)).normalized();
        connect(g);
    }
};

// Through a ring that the line between the ends misses.
struct RingPass : ArcPass {
    RingPass(Rng& g, Regime) : ArcPass(g, through_ring) {
        const Vec3<double> n = g.vec3(Regime::random).normalized(), x = n.unitOrthogonal(), y = n.cross(x);
        const double A = g.uniform(0.7, 2), B = g.uniform(0.7, 2),
                     angle = g.uniform(-0.9, 0.9) * (std::acos(r / A) + std::acos(r / B));
        in_points = {A * x, B * (std::cos(angle) * x + std::sin(angle) * y), n};
        connect(g);
    }
};

// Poses, axes and parameters -> lengths and moment arms.
struct PathPass : StagePass {
    Model m;
    VecX<double> theta, theta_bar;
    VecX<D> theta_dual;
    Kinematics<double> k;
    Kinematics<D> k_dual;
    KinematicsBar<double> bar;
    TendonPaths<double> paths, paths_bar;
    TendonPaths<D> paths_dual;
    VecX<double> q, v;
    PathPass(Rng& g, Regime r, bool places = true)
        : m(rope_model(g)),
          theta(m.layout.nominal()),
          theta_bar(VecX<double>::Zero(theta.size())),
          theta_dual(theta.cast<D>()),
          k(m),
          k_dual(m),
          bar(m),
          paths(m),
          paths_bar(m),
          paths_dual(m),
          q(random_configuration(m, g, r)),
          v(random_vector(m.nv, g, r)) {
        kinematics(m, theta.data(), q.data(), v.data(), k);
        for (size_t i = 0; i < k.origin.size(); ++i)
            k_dual.origin[i] = k.origin[i].cast<D>();
        place_tendons(m, theta.data(), k, paths);
        in.add_along_direction(g, [&](Inputs& all) {
            all.add(theta.data(), theta_dual.data(), theta_bar.data(), static_cast<int>(theta.size()));
        });
        if (!places) return;
        in.add_along_direction(g, [&](Inputs& all) { all.add(k.X, k_dual.X, bar.X); });
        in.add_along_direction(g, [&](Inputs& all) { all.add(k.S, k_dual.S, bar.S); });
        out.add<double>(paths_dual.length, paths_bar.length);
        out.add<double>(paths_dual.arm, paths_bar.arm);
    }
    void clear_bars() override { bar.set_zero(); }
    void run_duals() override { place_tendons(m, theta_dual.data(), k_dual, paths_dual); }
    void run_adjoint() override { place_tendons_adj(m, theta.data(), k, paths_bar, bar, theta_bar.data()); }
};

// Lengths, arms, velocities, controls and parameters -> forces of dofs.
struct PullPathsPass : PathPass {
    VecX<double> ctrl, ctrl_bar, v_bar, tau, tau_bar;
    VecX<D> v_dual, ctrl_dual, tau_dual;
    std::vector<Saturation<double>> sides;
    PullPathsPass(Rng& g, Regime r)
        : PathPass(g, r, false),
          ctrl(VecX<double>::Constant(m.nu, 3)),
          ctrl_bar(m.nu),
          v_bar(m.nv),
          tau(VecX<double>::Zero(m.nv)),
          tau_bar(m.nv),
          v_dual(m.nv),
          ctrl_dual(m.nu),
          tau_dual(m.nv),
          sides(static_cast<size_t>(m.nu)) {
        pull_paths(m, theta.data(), paths, v.data(), ctrl.data(), sides.data(), tau.data());
        CHECK((sides[0].force.above && sides[1].force.within() && !sides[2].implicit));
        in.add_along_direction(g, [&](Inputs& all) { all.add(v.data(), v_dual.data(), v_bar.data(), m.nv); });
        in.add_along_direction(
            g, [&](Inputs& all) { all.add(ctrl.data(), ctrl_dual.data(), ctrl_bar.data(), m.nu); });
        in.add_along_direction(
            g, [&](Inputs& all) { all.add(paths.length, paths_dual.length, paths_bar.length); });
        in.add(paths.arm, paths_dual.arm, paths_bar.arm);
        out.add<double>(tau_dual.data(), tau_bar.data(), m.nv);
    }
    void run_duals() override {
        std::vector<Saturation<D>> unused(sides.size());
        tau_dual.setZero();
        pull_paths(m, theta_dual.data(), paths_dual, v_dual.data(), ctrl_dual.data(), unused.data(),
                   tau_dual.data());
    }
    void run_adjoint() override {
        pull_paths_adj(m, theta.data(), paths, v.data(), ctrl.data(), sides.data(), tau_bar.data(), paths_bar,
                       theta_bar.data(), v_bar.data(), ctrl_bar.data());
    }
};

// Poses, axes, q, v and parameters -> length and rate of what every actuator drives.
struct DrivePass : PathPass {
    std::vector<double> v_all, q_bar, v_bar, y_bar;
    std::vector<D> q_dual, v_dual, y;
    DrivePass(Rng& g, Regime r)
        : PathPass(g, r, false),
          v_all(v.begin(), v.end()),
          q_bar(m.nv),
          v_bar(m.nv),
          y_bar(2 * m.nu),
          q_dual(m.nq),
          v_dual(m.nv),
          y(2 * m.nu) {
        // of the joints with an axis, whose coordinates are numbers
        in.add_along_direction(g, [&](Inputs& all) {
            for (const Body& b : m.bodies)
                if (b.nv == 1) all.add(q.data() + b.q0, q_dual.data() + b.q0, q_bar.data() + b.v0, 1);
        });
        in.add_along_direction(g, [&](Inputs& all) { all.add(v_all, v_dual, v_bar); });
        in.add_along_direction(g, [&](Inputs& all) { all.add(k.X, k_dual.X, bar.X); });
        in.add_along_direction(g, [&](Inputs& all) { all.add(k.S, k_dual.S, bar.S); });
        out.add<double>(y, y_bar);
    }
    void run_duals() override {
        for (int n = 0; n < m.nu; ++n) {
            y[2 * n] = drive_length(m, theta_dual.data(), k_dual, m.actuators[n], q_dual.data());
            y[2 * n + 1] = drive_rate(m, theta_dual.data(), k_dual, m.actuators[n], v_dual.data());
        }
    }
    void run_adjoint() override {
        for (int n = 0; n < m.nu; ++n) {
            drive_length_adj(m, theta.data(), k, m.actuators[n], q.data(), y_bar[2 * n], bar,
                             theta_bar.data(), q_bar.data());
            drive_rate_adj(m, theta.data(), k, m.actuators[n], v_all.data(), y_bar[2 * n + 1], bar,
                           theta_bar.data(), v_bar.data());
        }
    }
};

// A step of the world of ropes, with sensors of joints, actuators and wrenches.
struct PathSensorPass : StepSensorPass {
    static ToyState world(Rng& g, Regime r) {
        ToyState t = state_without_shapes(rope_model(g), g, r);
        const Model& model = t.world.model;
        t.u = VecX<double>::Constant(model.nu, 3);
        for (const int body : {0, 1, 4})
            add_sensor(t.world, SensorKind::joint_effort, body);
        add_wrench_sensors(t.world, 5);
        for (int n = 0; n < model.nu; ++n)
            for (const SensorKind kind :
                 {SensorKind::actuator_position, SensorKind::actuator_velocity, SensorKind::actuator_force})
                add_sensor(t.world, kind, model.actuators[n].body, n);
        return t;
    }
    // the control of the saturated motor has no effect
    PathSensorPass(Rng& g, Regime r) : StepSensorPass(world(g, r), g, 1) {}
};

}  // namespace

TEST_CASE("adjoint: the way around a sphere or a cylinder") { check_pass<WrapPass>(1e-11); }
TEST_CASE("adjoint: the point where a tendon touches a ring") { check_pass<RingPass>(1e-11); }
TEST_CASE("adjoint: lengths and moment arms of spatial tendons") { check_pass<PathPass>(1e-11); }
TEST_CASE("adjoint: forces along spatial tendons") { check_pass<PullPathsPass>(1e-12); }
TEST_CASE("adjoint: lengths and rates of what actuators drive") { check_pass<DrivePass>(1e-12); }
TEST_CASE("adjoint: a step with spatial tendons and sensors of their forces") {
    check_pass<PathSensorPass>(1e-11);
}
