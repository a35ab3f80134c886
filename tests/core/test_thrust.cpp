// Thrusters: the dot-product tests of their forces, and bodies that fly as Newton's law says.
#include "core/dynamics/thrust.hpp"

#include "tests/support/scene_text.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/toy_models.hpp"
#include "tests/support/walk.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Gears and controls -> the force of every thruster. All actuators of a toy model are made thrusters, on
// bodies that move.
struct ThrustForcePass : StagePass {
    Model m;
    VecX<double> theta, theta_bar, ctrl, ctrl_bar, x_bar;
    VecX<D> theta_dual, ctrl_dual, x_dual;
    std::vector<Saturation<double>> sides;
    ThrustForcePass(Rng& g, Regime r, bool pass_alone = true)
        : m(toy_model(g)),
          theta(m.layout.nominal()),
          theta_bar(theta.size()),
          ctrl(random_vector(m.nu, g, r)),
          ctrl_bar(m.nu),
          x_bar(m.nu),
          theta_dual(theta.cast<D>()),
          ctrl_dual(ctrl.cast<D>()),
          x_dual(m.nu),
          sides(static_cast<size_t>(m.nu)) {
        for (Actuator& a : m.actuators) {
            a.type = ActuatorType::thruster;
            a.on_joint = false;
            a.moment = g.vec3(Regime::random);
            a.axis = g.vec3(Regime::random).normalized();
            a.position = g.vec3(Regime::random);
        }
        in.add(theta.data() + m.actuator.gear.offset, theta_dual.data() + m.actuator.gear.offset,
               theta_bar.data() + m.actuator.gear.offset, m.nu);
        in.add(ctrl.data(), ctrl_dual.data(), ctrl_bar.data(), m.nu);
        if (pass_alone) out.add<double>(x_dual.data(), x_bar.data(), m.nu);
    }
    void run_duals() override {
        for (int n = 0; n < m.nu; ++n)
            x_dual[n] = thrust_force<D>(m, theta_dual.data(), {}, ctrl_dual.data(), n);
    }
    void run_adjoint() override {
        for (int n = 0; n < m.nu; ++n)
            thrust_force_adj(m, theta.data(), sides[n], ctrl.data(), n, x_bar[n], theta_bar.data(),
                             ctrl_bar.data());
    }
};

// The same with poses and axes of all bodies -> forces of dofs. Of poses and axes only those near a thruster
// matter.
struct ThrustPass : ThrustForcePass {
    Kinematics<double> k;
    Kinematics<D> k_dual;
    KinematicsBar<double> bar;
    VecX<D> tau_dual;
    VecX<double> tau_bar;
    ThrustPass(Rng& g, Regime r)
        : ThrustForcePass(g, r, false),
          k(m),
          k_dual(m),
          bar(m),
          tau_dual(m.nv),
          tau_bar(m.nv) {
        const VecX<double> q = random_configuration(m, g, r), v = random_vector(m.nv, g, r);
        kinematics(m, theta.data(), q.data(), v.data(), k);
        for (double& u : ctrl)
            u += 1;  // a force of 0 has no place or direction
        ctrl_dual = ctrl.cast<D>();
        in.add_along_direction(g, [&](Inputs& all) { all.add(k.X, k_dual.X, bar.X); });
        in.add_along_direction(g, [&](Inputs& all) { all.add(k.S, k_dual.S, bar.S); });
        out.add<double>(tau_dual.data(), tau_bar.data(), m.nv);
    }
    void clear_bars() override { bar.set_zero(); }
    void run_duals() override {
        const std::vector<Saturation<D>> unused(sides.size());
        tau_dual.setZero();
        thrust(m, theta_dual.data(), k_dual, unused.data(), ctrl_dual.data(), tau_dual.data());
    }
    void run_adjoint() override {
        thrust_adj(m, theta.data(), k, sides.data(), ctrl.data(), tau_bar.data(), bar, theta_bar.data(),
                   ctrl_bar.data());
    }
};

// A block of 2 kg on nothing, with thrusters.
Scene block(const std::string& thrusters, const char* joint = R"({"type": "free"})") {
    return scene_from_json(
        parse_json(R"({"steps": 100, "gravity": [0, 0, 0], "models": [{"name": "m", "model": {
        "bodies": [{"name": "block", "joint": )" +
                       std::string(joint) + R"(, "mass": 2, "inertia": [0.1, 0.2, 0.25, 0, 0, 0]},
                   {"name": "arm", "parent": "block", "joint": {"type": "fixed", "position": [0.5, 0, 0], "rpy_deg": [0, 90, 0]}}],
        "actuators": [)" +
                       thrusters + R"(]}}], "controls": [{"actuators": ["*"], "optimize": "held"}]})",
                   "block"),
        "block.json");
}

}  // namespace

TEST_CASE("adjoint: thrust_force") { check_pass<ThrustForcePass>(1e-12); }
TEST_CASE("adjoint: thrust") { check_pass<ThrustPass>(1e-12); }

TEST_CASE("thrust: a body is pushed along its own axis, and turned by an arm and by drag") {
    const double t = 0.1, h = 1e-3;  // s
    // v = F/m t
    Scene s = block(R"({"name": "jet", "type": "thruster", "body": "block", "axis": [0, 3, 4], "gear": 2})");
    s.z0[0] = 5;
    VecX<double> x = walk(s, 100);
    CHECK((x.segment<3>(7) - 10 / 2.0 * t * Vec3<double>(0, 0.6, 0.8)).norm() < 1e-12);
    CHECK(x.tail<3>().norm() < 1e-12);
    // turned by 90 degrees about x, body z points to -y
    s.x0.segment<4>(3) << std::sqrt(0.5), std::sqrt(0.5), 0, 0;
    x = walk(s, 100);
    CHECK((x.segment<3>(7) - 10 / 2.0 * t * Vec3<double>(0, -0.8, 0.6)).norm() < 1e-12);

    // about a fixed pivot w = (r F)/I t, with the mass centre there
    s = block(
        R"({"name": "tip", "type": "thruster", "body": "block", "axis": [0, 1, 0], "position": [0.4, 0.1, 0.3]})",
        R"({"type": "revolute", "axis": [0, 0, 1]})");
    s.z0[0] = 3;
    CHECK(walk(s, 100)[1] == doctest::Approx(0.4 * 3 / 0.25 * t).epsilon(1e-12));
    // on a body that is fixed to it
    s = block(R"({"name": "jet", "type": "thruster", "body": "arm", "axis": [0, 1, 0]})",
              R"({"type": "revolute", "axis": [0, 0, 1]})");
    s.z0[0] = 3;
    CHECK(walk(s, 100)[1] == doctest::Approx(0.5 * 3 / 0.25 * t).epsilon(1e-12));
    // drag alone: the moment is drag F about the axis
    s = block(
        R"({"name": "rotor", "type": "thruster", "body": "block", "drag": -0.02, "control_limits": [0, 4]})");
    s.z0[0] = 7;
    x = walk(s, 100);
    CHECK(x[9] == doctest::Approx(4 / 2.0 * t).epsilon(1e-12));
    CHECK(x[12] == doctest::Approx(-0.02 * 4 / 0.25 * t).epsilon(1e-12));
    CHECK(x[2] == doctest::Approx(4 / 2.0 * t * (t + h) / 2).epsilon(1e-12));
}

TEST_CASE("thrust: what a thruster cannot be is said in one line") {
    const auto refused = [](const char* actuator) {
        try {
            block(actuator);
            return std::string();
        } catch (const SceneError& e) {
            return std::string(e.what());
        }
    };
    CHECK(
        refused(R"({"type": "thruster", "joint": "block"})").find("actuators/0/joint: has no meaning here") !=
        std::string::npos);
    CHECK(refused(R"({"type": "thruster", "body": "nobody"})").find("nobody") != std::string::npos);
    CHECK(refused(R"({"type": "motor", "joint": "arm", "drag": 1})").find("drag") != std::string::npos);
    CHECK(refused(R"({"type": "thruster", "body": "block", "axis": [0, 0, 0]})").find("has no direction") !=
          std::string::npos);
    CHECK(refused(R"({"type": "thruster"})").find("body") != std::string::npos);
    CHECK(refused(R"({"type": "motor"})").find("joint") != std::string::npos);
}
