// Gravity compensation, and actuators whose gain varies.
#include "core/dynamics/compensation.hpp"

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/read/model/model_reader.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/step_sensor_pass.hpp"
#include "tests/support/toy_models.hpp"

using namespace costate;
using namespace costate::test;

namespace {

Model compensated_model(Rng& g) {
    const std::vector<JointType> joints{JointType::free, JointType::revolute, JointType::spherical,
                                        JointType::revolute, JointType::prismatic};
    const std::vector<int> parents{-1, 0, 1, -1, 3};
    ModelBuilder builder;
    for (int i = 0; i < 5; ++i) {
        BodySpec spec = random_body(g, i, parents[static_cast<size_t>(i)], joints[static_cast<size_t>(i)]);
        if (spec.joint == JointType::spherical) spec.stiffness.clear();
        spec.gravity_compensation = i == 1 ? 0 : g.uniform(0.5, 2);
        builder.add_body(spec);
    }
    builder.set_gravity(g.vec3(Regime::random));
    return builder.build();
}

// Parameters, poses and axes of all bodies -> forces of dofs.
struct CompensationPass : StagePass {
    Model m;
    VecX<double> theta, theta_bar, tau_bar;
    VecX<D> theta_dual, tau_dual;
    Kinematics<double> k;
    Kinematics<D> k_dual;
    KinematicsBar<double> bar;
    CompensationPass(Rng& g, Regime r)
        : m(compensated_model(g)),
          theta(m.layout.nominal()),
          theta_bar(VecX<double>::Zero(theta.size())),
          tau_bar(m.nv),
          theta_dual(theta.cast<D>()),
          tau_dual(m.nv),
          k(m),
          k_dual(m),
          bar(m) {
        REQUIRE(m.compensated.size() == m.bodies.size() - 1);
        const VecX<double> q = random_configuration(m, g, r), v = random_vector(m.nv, g, r);
        kinematics(m, theta.data(), q.data(), v.data(), k);
        const auto add = [&](int first, int count) {
            for (int i = first; i < first + count; ++i)
                in.add(theta.data() + i, theta_dual.data() + i, theta_bar.data() + i, 1);
        };
        add(m.compensation.offset, static_cast<int>(m.compensated.size()));
        add(m.gravity.at(0), 3);
        for (const int body : m.compensated) {
            add(m.mass.at(body), 1);
            add(m.com.at(body), 3);
        }
        in.add_along_direction(g, [&](Inputs& all) { all.add(k.X, k_dual.X, bar.X); });
        in.add_along_direction(g, [&](Inputs& all) { all.add(k.S, k_dual.S, bar.S); });
        out.add<double>(tau_dual.data(), tau_bar.data(), m.nv);
    }
    void clear_bars() override { bar.set_zero(); }
    void run_duals() override {
        tau_dual.setZero();
        compensate_gravity(m, theta_dual.data(), k_dual, tau_dual.data());
    }
    void run_adjoint() override {
        compensate_gravity_adj(m, theta.data(), k, tau_bar.data(), bar, theta_bar.data());
    }
};

// A step with sensors of the forces between bodies.
struct CompensationStepPass : StepSensorPass {
    static ToyState world(Rng& g, Regime r) {
        ToyState t = state_without_shapes(compensated_model(g), g, r);
        add_wrench_sensors(t.world, 5);
        return t;
    }
    CompensationStepPass(Rng& g, Regime r) : StepSensorPass(world(g, r), g) {}
};

// The state after some steps under constant controls
VecX<double> end_of_file(const std::string& inside, int steps, const std::vector<double>& controls = {},
                         const Json& velocities = {}) {
    Json json = mjcf(inside).scene_json();
    json["steps"] = steps;
    if (!velocities.is_null()) json["initial"]["velocities"] = velocities;
    Scene scene = scene_from_json(json, "m.json");
    for (size_t n = 0; n < controls.size(); ++n)
        scene.z0[static_cast<int>(n)] = controls[n];
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    VecX<double> last;
    rollout.forward(scene.theta, scene.x0, scene.z0, [&](int, const double* x, const double*) {
        last = Eigen::Map<const VecX<double>>(x, scene.world.nx());
    });
    return last;
}

}  // namespace

TEST_CASE("adjoint: compensation_wrench, compensate_gravity") { check_pass<CompensationPass>(1e-12); }
TEST_CASE("adjoint: a step with carried weight, with sensors") { check_pass<CompensationStepPass>(1e-11); }

TEST_CASE("MJCF gravcomp: a body falls with the weight that is left") {
    // An arm of three bodies that all carry the same share accelerates with the rest of what it would
    const auto arm = [](const std::string& share, const std::string& option = "") {
        const std::string gravcomp = " gravcomp='" + share + "'";
        return "<option gravity='1 2 -9' timestep='.001'>" + option + "</option><worldbody><body name='a'" +
               gravcomp + R"(><joint axis="0 1 0"/>
            <geom type="capsule" fromto="0 0 0 .3 0 0" size=".04" mass="1.5"/><body name="b" pos=".3 0 0")" +
               gravcomp + R"(><joint type="slide" axis="1 0 .2"/><geom size=".05" mass=".7" pos=".02 .03 0"/>
            <body name="c" pos=".1 .1 0")" +
               gravcomp + R"(><joint type="ball"/><geom type="box" size=".05 .02 .07" mass=".4" pos=".1 0 0"/>
            </body></body></body></worldbody>)";
    };
    const VecX<double> free = end_of_file(arm("0"), 1).tail(5);
    REQUIRE(free.norm() > 1e-3);
    for (const double share : {0.5, 1.0, 1.3}) {
        const VecX<double> held = end_of_file(arm(std::to_string(share)), 1).tail(5);
        CHECK((held - (1 - share) * free).norm() < 1e-13);
    }
    CHECK(end_of_file(arm("1.3", "<flag gravity='disable'/>"), 1).tail(5).norm() == 0);
    const MjcfText m = mjcf(arm(".5"));
    CHECK(m.warnings.empty());
    const Scene scene = m.scene();
    CHECK(scene.world.model.layout.find("bodies/m/b/gravity_compensation") != nullptr);
}

TEST_CASE("MJCF: dampers, and general actuators with an affine gain") {
    const std::string slide = R"(<option gravity="0 0 0" timestep=".01"/><worldbody><body>
        <joint name="j" type="slide" ref=".3"/><geom size=".1" mass="2"/></body></worldbody><actuator>)";
    const auto end = [&](const std::string& actuator, double control, double speed) {
        return end_of_file(slide + actuator + "</actuator>", 1, {control}, Json{{"m/j", speed}})[1];
    };
    const std::string damper = "<damper joint='j' kv='3' gear='2' ctrlrange='0 5'/>";
    CHECK(mjcf(slide + damper + "</actuator>").warnings.empty());
    for (const double control : {0.0, 0.5, 4.0})  // implicit: v+ = v / (1 + h kv u gear^2 / m)
        CHECK(end(damper, control, 1.5) ==
              doctest::Approx(1.5 / (1 + .01 * 3 * control * 4 / 2)).epsilon(1e-13));
    CHECK(end(damper, 9, 1.5) == end(damper, 5, 1.5));
    // MuJoCo's length is gear times (q + ref)
    const std::string general =
        "<general joint='j' gear='2' gaintype='affine' gainprm='1 -.5 .25' "
        "biastype='affine' biasprm='.1 .2'/>";
    const double l = 2 * .3, u = .7, v = 1.5, force = 2 * ((1 - .5 * l + .25 * 2 * v) * u + .1 + .2 * l);
    CHECK(end(general, u, v) == doctest::Approx(v + .01 * force / 2).epsilon(1e-13));
}

TEST_CASE("gain_slopes: of general actuators alone") {
    const auto model = [](const std::string& actuator) {
        return complaint([&] {
            read_model(Node(parse_json(R"({"bodies": [{"name": "b", "joint": {"type": "prismatic"}, "mass": 1,
                "inertia": [1, 1, 1, 0, 0, 0]}], "actuators": [{"joint": "b", )" +
                                           actuator + "}]}",
                                       "m"),
                            "m"));
        });
    };
    CHECK(model(R"("type": "general", "gain": 1, "bias": [0, 0, 0], "gain_slopes": [1, 2])") ==
          "no complaint");
    CHECK(model(R"("type": "general", "gain": 1, "bias": [0, 0, 0], "gain_slopes": [1])") != "no complaint");
    CHECK(model(R"("type": "motor", "gain_slopes": [1, 2])").find("gain_slopes") != std::string::npos);
}
