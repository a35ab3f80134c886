// The medium: the dot-product tests of its forces, MuJoCo's forces, and bodies that end with the wind's velocity.
#include "core/dynamics/medium.hpp"

#include "tests/support/mjcf_text.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/step_sensor_pass.hpp"
#include "tests/support/toy_models.hpp"
#include "tests/support/walk.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Bodies on several joints, one of them fixed to its parent, with random boxes.
Model medium_model(Rng& g) {
    using J = JointType;
    const J joints[] = {J::free, J::revolute, J::fixed, J::prismatic, J::spherical};
    const int parents[] = {-1, 0, 1, 1, -1};
    ModelBuilder builder;
    for (int i = 0; i < 5; ++i) {
        BodySpec spec = random_body(g, i, parents[i], joints[i]);
        spec.drag_box = {g.uniform(0.2, 0.9), g.uniform(0.2, 0.9), g.uniform(0.2, 0.9)};
        spec.drag_axes = rotation_matrix(Probe<Quaternion<double>>::random(g, Regime::random));
        builder.add_body(spec);
    }
    builder.set_medium({g.uniform(0.5, 2), g.uniform(0.5, 2), g.vec3(Regime::random)});
    return builder.build();
}

// Parameters, poses, axes and velocities of all bodies -> forces of dofs.
struct MediumPass : StagePass {
    Model m;
    VecX<double> theta, theta_bar, tau_bar;
    VecX<D> theta_dual, tau_dual;
    Kinematics<double> k;
    Kinematics<D> k_dual;
    KinematicsBar<double> bar;
    MediumPass(Rng& g, Regime r)
        : m(medium_model(g)),
          theta(m.layout.nominal()),
          theta_bar(VecX<double>::Zero(theta.size())),
          tau_bar(m.nv),
          theta_dual(theta.cast<D>()),
          tau_dual(m.nv),
          k(m),
          k_dual(m),
          bar(m) {
        REQUIRE(m.drag_boxes.size() == m.bodies.size());
        const VecX<double> q = random_configuration(m, g, r), v = random_vector(m.nv, g, r);
        kinematics(m, theta.data(), q.data(), v.data(), k);
        const auto add = [&](const ParameterSlice& slice, int count) {
            for (int i = slice.offset; i < slice.offset + count; ++i)
                in.add(theta.data() + i, theta_dual.data() + i, theta_bar.data() + i, 1);
        };
        const int boxes = static_cast<int>(m.drag_boxes.size());
        add(m.density, 1);
        add(m.viscosity, 1);
        add(m.wind, 3);
        add(m.drag_box, 3 * boxes);
        add(m.com, 3 * boxes);
        in.add_along_direction(g, [&](Inputs& all) { all.add(k.X, k_dual.X, bar.X); });
        in.add_along_direction(g, [&](Inputs& all) { all.add(k.S, k_dual.S, bar.S); });
        in.add(k.V, k_dual.V, bar.V);
        out.add<double>(tau_dual.data(), tau_bar.data(), m.nv);
    }
    void clear_bars() override { bar.set_zero(); }
    void run_duals() override {
        tau_dual.setZero();
        medium_forces(m, theta_dual.data(), k_dual, tau_dual.data());
    }
    void run_adjoint() override {
        medium_forces_adj(m, theta.data(), k, tau_bar.data(), bar, theta_bar.data());
    }
};

// A step with sensors of the forces between bodies.
struct MediumStepPass : StepSensorPass {
    static ToyState world(Rng& g, Regime r) {
        ToyState t = state_without_shapes(medium_model(g), g, r);
        add_wrench_sensors(t.world, 5);
        return t;
    }
    MediumStepPass(Rng& g, Regime r) : StepSensorPass(world(g, r), g) {}
};

// A block of 2 kg in free fall through a medium.
Scene block_in_medium(const std::string& medium, const std::string& body = "") {
    return scene_from_json(
        parse_json(
            R"({"steps": 1000, "time_step": 0.01, "gravity": [0, 0, -10], "medium": )" + medium +
                R"(, "models": [{"name": "m", "model": {"bodies": [{"name": "block", "joint": {"type": "free"},
            "mass": 2, "inertia": [0.1, 0.04, 0.1, 0, 0, 0])" +
                body + "}]}}]}",
            "block"),
        "block.json");
}

}  // namespace

TEST_CASE("adjoint: medium_wrench, medium_forces") { check_pass<MediumPass>(1e-12); }
TEST_CASE("adjoint: a step in a medium, with sensors") { check_pass<MediumStepPass>(1e-11); }

TEST_CASE("medium: the forces on a swimmer are MuJoCo's") {
    // qfrc_passive of MuJoCo 2.2.2 at this state
    const double q[] = {0.2,
                        -0.1,
                        0.9,
                        0.80044036333307078,
                        0.30016513624990149,
                        -0.40022018166653539,
                        0.33018164987489168,
                        0.7,
                        0.59988003598800421,
                        -0.49990002999000355,
                        0.39992002399200288,
                        0.47990402879040339};
    const double v[] = {0.5, -0.4, 0.7, 1.1, -0.9, 0.6, 2.3, 1.5, -0.7, 0.9};
    const double expected[] = {0.31092553788238936,   0.46214004183962676,  -0.82090115050257084,
                               -0.19647792394475472,  0.18742691783731522,  -0.067943603761723162,
                               -0.015395526351156994, -0.29420271009400228, 0.21088911484169848,
                               -0.088502530000251073};
    const MjcfText file = mjcf(R"(<option density="1.3" viscosity="0.4" wind="0.3 -0.5 0.2" gravity="0 0 0"/>
<worldbody>
 <body name="trunk" pos="0.1 0.2 1"><freejoint/>
  <geom type="capsule" fromto="-0.2 0.1 0 0.3 0.2 0.1" size="0.08"/>
  <body name="fin" pos="0.3 0 0.1" euler="20 30 40"><joint type="hinge" axis="0.2 1 0.1" pos="0.02 0 0.05"/>
   <geom type="box" size="0.2 0.03 0.1" pos="0.2 0 0.05" euler="5 10 15"/><geom size="0.06" pos="0.1 0.1 0"/>
   <body name="tip" pos="0.4 0 0"><geom type="ellipsoid" size="0.05 0.1 0.02" euler="0 30 0"/></body>
  </body>
 </body>
 <body name="given" pos="0 3 1"><joint type="ball"/>
  <inertial pos="0.1 0.2 0.3" quat="0.9 0.1 0.3 -0.2" mass="2" diaginertia="0.03 0.04 0.05"/></body>
</worldbody>)");
    CHECK(file.warnings.empty());
    const Scene scene = file.scene();
    const Model& m = scene.world.model;
    REQUIRE((m.nq == 12 && m.nv == 10));
    Kinematics<double> k(m);
    kinematics(m, scene.theta.data(), q, v, k);
    VecX<double> tau = VecX<double>::Zero(m.nv);
    medium_forces(m, scene.theta.data(), k, tau.data());
    for (int j = 0; j < m.nv; ++j)
        CHECK(std::abs(tau[j] - expected[j]) < 1e-8);
    // a file without passive forces has none
    CHECK(!mjcf("<option density='1'><flag passive='disable'/></option>" + one_body(""))
               .imported.scene.contains("medium"));
    CHECK(mjcf("<option density='1' viscosity='0'/>" + one_body("")).imported.scene["medium"] ==
          Json{{"density", 1.0}, {"viscosity", 0.0}});
}

TEST_CASE("medium: a block falls at its terminal velocity, and drifts with the wind") {
    // I = m (a^2 + b^2)/3 with half extents a_x^2 = a_z^2 = 0.03, a_y^2 = 0.12 m^2; it falls along z
    Scene s = block_in_medium(R"({"density": 1000})");
    const auto* box = s.world.model.layout.find("bodies/m/block/drag_box");
    REQUIRE(box != nullptr);
    CHECK(s.theta.segment<3>(box->offset).squaredNorm() == doctest::Approx(0.18).epsilon(1e-12));
    CHECK(s.theta.segment<3>(box->offset).maxCoeff() == doctest::Approx(std::sqrt(0.12)).epsilon(1e-12));
    const VecX<double> x = walk(s, 300);
    const double area = 4 * std::sqrt(0.03 * 0.12);
    CHECK(x[9] == doctest::Approx(-std::sqrt(2 * 2 * 10 / (1000 * area))).epsilon(1e-6));
    // viscous alone, with wind: f = 3 pi mu d (wind - u)
    s = block_in_medium(R"({"viscosity": 2, "wind": [3, 0, 0]})",
                        R"(, "drag_box": {"half_extents": [0.1, 0.2, 0.3], "rpy_deg": [10, 20, 30]})");
    const VecX<double> y = walk(s, 1000);
    CHECK(y[7] == doctest::Approx(3).epsilon(1e-6));
    CHECK(y[9] == doctest::Approx(-2 * 10 / (3 * 3.14159265358979323846 * 2 * 0.4)).epsilon(1e-6));
}

TEST_CASE("medium: what is wrong in it is said in one line") {
    CHECK_THROWS_WITH(block_in_medium(R"({"density": -1})"), doctest::Contains("medium/density"));
    CHECK_THROWS_WITH(block_in_medium(R"({"viscosty": 1})"), doctest::Contains("viscosity"));
    CHECK_THROWS_WITH(block_in_medium("{}", R"(, "drag_box": {"half_extents": [1, -1, 1]})"),
                      doctest::Contains("drag_box/half_extents"));
    const Scene none =
        scene_from_json(parse_json(R"({"steps": 1, "models": [{"name": "m", "model": {"bodies": [
        {"name": "b", "joint": {"type": "free"}, "mass": 1, "inertia": [1, 1, 1, 0, 0, 0]}]}}]})",
                                   "none"),
                        "none.json");
    CHECK(none.world.model.layout.find("world/density") == nullptr);
}
