// Effects of equalities, dry friction and limits of spherical joints on a motion.
#include <doctest/doctest.h>

#include "solvers/step/step.hpp"
#include "tests/support/sweeping.hpp"

using namespace costate;

namespace {

BodySpec rod(const char* name, int parent, JointType joint, const Vec3<double>& placement) {
    BodySpec s;
    s.name = name;
    s.parent = parent;
    s.joint = joint;
    s.axis = Vec3<double>::UnitY();
    s.placement = placement;
    s.mass = {1, {0.25, 0, 0}, Vec3<double>(1e-3, 0.02, 0.02).asDiagonal()};
    return s;
}

World build(const ModelBuilder& builder, int sweeps = 200) {
    Settings settings = test::sweeping();
    settings.sweeps = sweeps;
    Model m = builder.build();
    ShapeSet none = build_shapes(m, {});
    return World(std::move(m), std::move(none), settings);
}

// A world that steps from rest or from given velocities.
struct RowTrial {
    World w;
    VecX<double> theta, x, u;
    StepScratch<double> s;
    explicit RowTrial(World world)
        : w(std::move(world)),
          theta(w.model.layout.nominal()),
          x(VecX<double>::Zero(w.nx())),
          u(VecX<double>::Zero(w.nu())),
          s(w) {
        x.head(w.nq()) = w.model.neutral_configuration();
    }
    void run(int steps) {
        VecX<double> next(w.nx());
        for (int k = 0; k < steps; ++k, x.swap(next))
            step(w, {theta.data(), x.data(), u.data()}, s, next.data());
        REQUIRE(x.allFinite());
    }
    double error() const {
        double worst = 0;
        for (const double e : s.rows.error)
            worst = std::max(worst, std::abs(e));
        return worst;
    }
};

}  // namespace

TEST_CASE("joint rows: a four-bar linkage closed by a connect stays closed while it swings") {
    ModelBuilder builder;
    const int crank = builder.add_body(rod("crank", -1, JointType::revolute, {0, 0, 0}));
    const int coupler = builder.add_body(rod("coupler", crank, JointType::revolute, {0.5, 0, 0}));
    const int rocker = builder.add_body(rod("rocker", -1, JointType::revolute, {0.5, 0, 0}));
    EqualitySpec loop;
    loop.name = "loop";
    loop.body_a = coupler;
    loop.body_b = rocker;
    loop.anchor_a = {0.5, 0, 0};
    loop.anchor_b = {0.5, 0, 0};
    builder.add_equality(loop);
    RowTrial motion(build(builder));
    motion.run(1);
    CHECK(motion.error() < 1e-12);
    double swung = 0;
    for (int k = 0; k < 20; ++k) {
        motion.run(100);
        CHECK(motion.error() < 2e-3);
        swung = std::max(swung, std::abs(motion.x[0]));
    }
    CHECK(swung > 0.5);
}

TEST_CASE("joint rows: a weld carries a body, and a body welded to the world stays") {
    ModelBuilder builder;
    const int arm = builder.add_body(rod("arm", -1, JointType::revolute, {0, 0, 0}));
    const int load = builder.add_body(rod("load", -1, JointType::free, {0, 0, 0}));
    const int lamp = builder.add_body(rod("lamp", -1, JointType::free, {0, 0, 0}));
    EqualitySpec weld;
    weld.type = EqualityType::weld;
    weld.name = "grip";
    weld.body_a = load;
    weld.body_b = arm;
    weld.anchor_b = {0.5, 0, 0};
    builder.add_equality(weld);
    weld.name = "ceiling";
    weld.body_a = lamp;
    weld.body_b = -1;
    weld.anchor_b = {0, 3, 2};
    builder.add_equality(weld);
    RowTrial motion(build(builder));
    const Model& m = motion.w.model;
    motion.x.segment(m.bodies[1].q0, 3) << 0.5, 0, 0;
    motion.x.segment(m.bodies[2].q0, 3) << 0, 3, 2;
    const double before = motion.x[0];
    motion.run(600);
    CHECK(std::abs(motion.x[0] - before) > 0.5);
    CHECK(motion.error() < 2e-3);
    CHECK((motion.x.segment(m.bodies[2].q0, 3) - Vec3<double>(0, 3, 2)).norm() < 1e-3);
    CHECK(std::abs(motion.x[m.bodies[2].q0 + 3]) > 1 - 1e-6);
}

TEST_CASE("joint rows: a coupling makes one joint follow another") {
    ModelBuilder builder;
    const int a = builder.add_body(rod("a", -1, JointType::revolute, {0, 0, 0})),
              b = builder.add_body(rod("b", -1, JointType::revolute, {0, 1, 0}));
    EqualitySpec gears;
    gears.type = EqualityType::coupling;
    gears.name = "gears";
    gears.body_a = a;
    gears.body_b = b;
    gears.coupling = {0, -2};
    builder.add_equality(gears);
    RowTrial motion(build(builder));
    motion.x[motion.w.nq()] = 2;
    motion.x[motion.w.nq() + 1] = -1;
    motion.run(500);
    CHECK(std::abs(motion.x[0] + 2 * motion.x[1]) < 1e-4);
    CHECK(std::abs(motion.x[1]) > 0.1);
}

TEST_CASE("joint rows: a coupling of one joint holds it at its offset") {
    ModelBuilder builder;
    EqualitySpec hold;
    hold.type = EqualityType::coupling;
    hold.name = "hold";
    hold.coupling[0] = 0.4;
    hold.body_a = builder.add_body(rod("a", -1, JointType::revolute, {0, 0, 0}));
    builder.add_equality(hold);
    RowTrial motion(build(builder));
    motion.x[motion.w.nq()] = 2;
    motion.run(500);
    CHECK(std::abs(motion.x[0] - 0.4) < 1e-4);
}

TEST_CASE(
    "joint rows: dry friction stops a slider after v m/f seconds and then holds it against less than f") {
    ModelBuilder builder;
    BodySpec slider = rod("slider", -1, JointType::prismatic, {0, 0, 0});
    slider.axis = Vec3<double>::UnitX();
    slider.dry_friction = {2};
    ActuatorSpec push;
    push.name = "push";
    push.body = builder.add_body(slider);
    builder.add_actuator(push);
    RowTrial motion(build(builder));
    const auto v = [&]() -> double& { return motion.x[motion.w.nq()]; };
    v() = 0.5;
    motion.run(200);  // v m/f = 0.25 s
    CHECK(v() == doctest::Approx(0.1).epsilon(1e-6));
    motion.run(100);
    CHECK(std::abs(v()) < 1e-8);
    motion.u[0] = 1.9;
    motion.run(100);
    CHECK(std::abs(v()) < 1e-5);  // creep by the row's compliance
    motion.u[0] = 3;
    motion.run(100);
    CHECK(v() == doctest::Approx(0.1).epsilon(1e-3));  // (3 - 2) N on 1 kg for 0.1 s
}

TEST_CASE("joint rows: a pendulum on a spherical joint swings up to its maximal angle and not beyond") {
    ModelBuilder builder;
    BodySpec pendulum = rod("pendulum", -1, JointType::spherical, {0, 0, 0});
    pendulum.upper = 0.5;
    builder.add_body(pendulum);
    RowTrial motion(build(builder));
    double least = 1;
    for (int k = 0; k < 1000; ++k) {
        motion.run(1);
        least = std::min(least, ball_gap(motion.w.model.limits[0], motion.theta.data(), motion.x.data()));
    }
    CHECK(least < 1e-3);
    CHECK(least > -5e-3);
    CHECK(ball_gap(motion.w.model.limits[0], motion.theta.data(), motion.x.data()) ==
          doctest::Approx(0).epsilon(1e-3));
}
