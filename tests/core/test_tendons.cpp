// Fixed tendons: the dot-product test of actuators, springs and dampers on them, and their forces in a step.
#include <doctest/doctest.h>

#include "core/dynamics/actuation.hpp"
#include "solvers/step/jacobian.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/toy_models.hpp"
#include "tests/support/walk.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// A chain of three joints and one beside it, three tendons, which near q = 0 are short, long and slack, and an
// actuator of each law on one of them.
Model tendon_model(Rng& g) {
    ModelBuilder builder;
    const int parents[] = {-1, 0, 1, -1};
    for (int i = 0; i < 4; ++i)
        builder.add_body(random_body(g, i, parents[i], i == 2 ? JointType::prismatic : JointType::revolute));
    builder.add_tendon({"flexor", {{0, 1.0}, {1, -0.5}, {3, g.normal()}}, 20, 0.3, 0.2, 0.5});
    builder.add_tendon({"extensor", {{2, 2.0}, {1, g.normal()}}, 7, -0.4, 0.3, 0});
    builder.add_tendon({"slack", {{2, 1.0}, {3, g.normal()}}, 9, -100, 200, 0.7});
    for (const ActuatorType type : {ActuatorType::motor, ActuatorType::servo, ActuatorType::velocity,
                                    ActuatorType::general, ActuatorType::servo}) {
        ActuatorSpec a;
        a.name = "actuator" + std::to_string(static_cast<int>(type));
        a.type = type;
        a.body = 0;
        a.tendon = type == ActuatorType::servo ? 1 : 0;
        a.gear = g.uniform(0.5, 2);
        a.kp = 10;
        a.kd = 1;
        a.gain = 3;
        a.bias = {0.1, -2, g.normal()};
        if (type == ActuatorType::motor) a.force_upper = 0.1;  // saturated
        builder.add_actuator(a);
    }
    return builder.build();
}

struct TendonPass : StagePass {
    Model m;
    VecX<double> theta, theta_bar;
    std::vector<double> q, v, u, q_bar, v_bar, u_bar, tau, B, tau_bar, B_bar;
    std::vector<D> q_dual, v_dual, u_dual, tau_dual, B_dual;
    VecX<D> theta_dual;
    std::vector<Saturation<double>> saturations;
    // velocities have no effect on joint damping, and lengths none on velocity gains: all are in one direction
    TendonPass(Rng& g, Regime r) : m(tendon_model(g)), theta(m.layout.nominal()), theta_bar(theta) {
        theta_bar.setZero();
        theta_dual.resize(theta.size());
        for (int i = 0; i < m.nv; ++i) {
            q.push_back(g.around_zero(r));
            v.push_back(g.around_zero(r));
        }
        for (int i = 0; i < m.nu; ++i)
            u.push_back(1 + g.around_zero(r));
        q_bar.resize(q.size());
        v_bar.resize(v.size());
        u_bar.resize(u.size());
        q_dual.resize(q.size());
        v_dual.resize(v.size());
        u_dual.resize(u.size());
        tau.resize(q.size());
        B = tau_bar = B_bar = tau;
        tau_dual.resize(q.size());
        B_dual.resize(q.size());
        saturations.resize(u.size());
        in.add_along_direction(g, [&](Inputs& all) { all.add(q, q_dual, q_bar); });
        in.add_along_direction(g, [&](Inputs& all) { all.add(v, v_dual, v_bar); });
        in.add_along_direction(g, [&](Inputs& all) { all.add(u, u_dual, u_bar); });
        in.add_along_direction(g, [&](Inputs& all) {
            all.add(theta.data(), theta_dual.data(), theta_bar.data(), static_cast<int>(theta.size()));
        });
        out.add<double>(tau_dual, tau_bar);
        out.add<double>(B_dual, B_bar);
        actuation(m, theta.data(), q.data(), v.data(), u.data(), saturations.data(), tau.data(), B.data());
    }
    void run_duals() override {
        std::vector<Saturation<D>> unused(saturations.size());
        actuation(m, theta_dual.data(), q_dual.data(), v_dual.data(), u_dual.data(), unused.data(),
                  tau_dual.data(), B_dual.data());
    }
    void run_adjoint() override {
        actuation_adj(m, theta.data(), q.data(), v.data(), u.data(), saturations.data(), tau_bar.data(),
                      B_bar.data(), theta_bar.data(), q_bar.data(), v_bar.data(), u_bar.data());
    }
};

const char* const hand =
    R"(<default><geom contype='0' conaffinity='0'/><tendon stiffness='2' damping='.3'/></default><worldbody>
    <body name='a'><joint name='near' ref='10' range='-90 90' limited='true' axis='0 1 0'/><geom type='capsule' size='.02' mass='.1' fromto='0 0 0 .1 0 0'/>
      <body name='b' pos='.1 0 0'><joint name='far' axis='0 1 0'/><geom type='capsule' size='.02' mass='.1' fromto='0 0 0 .1 0 0'/></body></body>
  </worldbody><tendon><fixed name='pull' springlength='0.1 0.2'><joint joint='near' coef='1'/><joint joint='far' coef='-0.5'/></fixed>
  <spatial name='rope'><thread/></spatial></tendon>
  <actuator><position name='grip' tendon='pull' kp='5' kv='.1' ctrlrange='-1 1' ctrllimited='true'/><motor tendon='rope'/></actuator>)";

}  // namespace

TEST_CASE("adjoint: actuators, springs and dampers on tendons") { check_pass<TendonPass>(1e-12); }

TEST_CASE("MJCF: fixed tendons and their actuators; others are left out with a warning") {
    const MjcfText m = mjcf(hand);
    const Json& tendon = m.imported.model["tendons"][0];
    CHECK((tendon["name"] == "pull" && tendon["joints"].size() == 2));
    CHECK((tendon["joints"][1]["joint"] == "far" && tendon["joints"][1]["coefficient"] == -0.5));
    const double ref = 10 * std::acos(-1.0) / 180;
    CHECK(json_value(tendon["rest"]) == doctest::Approx(0.1 - ref));
    CHECK(json_value(tendon["slack"]) == doctest::Approx(0.1));
    CHECK(tendon["damping"] == 0.3);
    REQUIRE(m.imported.model["actuators"].size() == 1);
    CHECK(m.imported.model["actuators"][0]["tendon"] == "pull");
    CHECK(m.warnings.size() == 2);
    const Scene scene = m.scene();
    const Model& model = scene.world.model;
    REQUIRE((model.tendons.size() == 1 && model.nu == 1));
    // f = kp (u - l) - kv l' with l = q_near + ref - q_far/2, as in MuJoCo's coordinates; spring and damper.
    // l is 0.52, 0.17 and 0.02: above, within and below the lengths without force
    const std::vector<double> v{1, -2}, u{0.4};
    for (const double near : {0.2, -0.15, -0.3}) {
        const std::vector<double> q{near, -0.3};
        std::vector<double> tau(2), B(2);
        Saturation<double> s;
        actuation(model, scene.theta.data(), q.data(), v.data(), u.data(), &s, tau.data(), B.data());
        const double l = near + ref + 0.15, rate = 1 + 0.5 * 2,
                     spring = near > 0      ? 2 * (0.2 - l)
                              : near > -0.2 ? 0
                                            : 2 * (0.1 - l),
                     f = 5 * (0.4 - l) - 0.1 * rate + spring - 0.3 * rate;
        CHECK(tau[0] == doctest::Approx(f));
        CHECK(tau[1] == doctest::Approx(-0.5 * f));
    }
}

TEST_CASE("MJCF: a spring of a tendon with unordered lengths is refused; disabled springs are left out") {
    const auto with = [](const char* attributes, const char* before = "") {
        return mjcf(std::string(before) + one_body("", "<joint name='h'/>") + "<tendon>\n<fixed name='t' " +
                    attributes + "><joint joint='h' coef='2'/></fixed></tendon>");
    };
    CHECK(complaint([&] {
              with("stiffness='1' springlength='2 1'");
          }).find("m.xml:3: springlength=\"2 1\" of <fixed> has its lower") == 0);
    const Json free = with("stiffness='1' damping='3' springlength='-1 -1'").imported.model["tendons"][0];
    CHECK((!free.contains("rest") && !free.contains("slack") && free["damping"] == 3));
    const Json off = with("stiffness='1' damping='3'", "<option><flag passive='disable'/></option>")
                         .imported.model["tendons"][0];
    CHECK((!off.contains("stiffness") && !off.contains("damping")));
}

// The energy that a damper takes is its power over time: a wheel of inertia I on a damped tendon slows down as
// exp(-c^2 d t / I).
TEST_CASE("tendons: a damper slows a wheel exponentially, with an error of first order in the time step") {
    const auto error = [](double h) {
        const Scene scene =
            scene_from_json(parse_json(R"({"steps": )" + std::to_string(static_cast<int>(0.5 / h + 0.5)) +
                                           R"(, "time_step": )" + std::to_string(h) +
                                           R"(, "gravity": [0, 0, 0], "models": [{"name": "m", "model": {
            "bodies": [{"name": "wheel", "joint": {"type": "revolute", "axis": [0, 0, 1]}, "mass": 1,
                        "inertia": [0.1, 0.1, 0.2, 0, 0, 0]}],
            "tendons": [{"name": "belt", "joints": [{"joint": "wheel", "coefficient": 0.5}], "damping": 3}]}}],
            "initial": {"velocities": {"m/wheel": 2}}})",
                                       "wheel"),
                            "wheel.json");
        const VecX<double> x = walk(scene, scene.steps);
        return std::abs(x[1] - 2 * std::exp(-0.25 * 3 / 0.2 * 0.5));
    };
    const double coarse = error(2e-3), fine = error(1e-3);
    CHECK(coarse < 5e-3);
    CHECK(coarse / fine == doctest::Approx(2).epsilon(0.02));
}

TEST_CASE("tendons: the closed Jacobian of a step is that of the adjoints") {
    const Scene scene = mjcf(hand).scene();
    const World& w = scene.world;
    VecX<double> x = scene.x0, next = x, u = VecX<double>::Constant(1, 0.3);
    x << 0.2, -0.4, 1, -2;
    StepScratch<double> s(w);
    step(w, {scene.theta.data(), x.data(), u.data()}, s, next.data());
    StepJacobian closed(w), by_adjoints(w);
    step_jacobian(w, scene.theta.data(), x.data(), u.data(), s, closed);
    step_jacobian_by_adjoints(w, scene.theta.data(), x.data(), u.data(), s, by_adjoints);
    CHECK((closed.by_x - by_adjoints.by_x).cwiseAbs().maxCoeff() < 1e-13);
    CHECK((closed.by_u - by_adjoints.by_u).cwiseAbs().maxCoeff() < 1e-13);
}

TEST_CASE("MJCF: an actuator at a site is a thruster with its force and moment in the site's axes") {
    const MjcfText m = mjcf(
        "<worldbody><body name='drone' pos='0 0 1'><freejoint/><geom size='.1' mass='1'/><site name='rotor' "
        "pos='.1 0 0' "
        "quat='.7071067811865476 .7071067811865476 0 0'/><site name='c'/></body></worldbody><actuator>"
        "<motor site='rotor' gear='0 2 0 0 .1 0' ctrlrange='0 3' ctrllimited='true'/><general site='c' "
        "gear='0 0 0 0 0 4' "
        "gainprm='.5'/><position site='c'/></actuator>");
    const Json& actuators = m.imported.model["actuators"];
    REQUIRE(actuators.size() == 2);
    CHECK((actuators[0]["type"] == "thruster" && actuators[0]["body"] == "drone"));
    CHECK(json_value(actuators[0]["gear"]) == doctest::Approx(2));
    CHECK(json_equals(actuators[0]["axis"], {0, 0, 1}));
    CHECK(json_equals(actuators[0]["moment"], {0, 0, .05}));
    CHECK(json_equals(actuators[1]["moment"], {0, 0, 1}));
    CHECK((!actuators[1].contains("axis") && actuators[1]["gear"] == 2));
    CHECK(m.warnings.size() == 1);
    // the moment of the second alone turns the drone about z and pushes nothing
    const Scene scene = m.scene();
    const World& w = scene.world;
    VecX<double> next = scene.x0, u(2);
    u << 0, 1;
    StepScratch<double> s(w);
    step(w, {scene.theta.data(), scene.x0.data(), u.data()}, s, next.data());
    const double h = w.settings.time_step, I = 0.4 * 0.01;
    CHECK(next[w.nq() + 5] == doctest::Approx(h * 2 / I));
    CHECK((std::abs(next[w.nq()]) + std::abs(next[w.nq() + 1]) < 1e-14));
}
