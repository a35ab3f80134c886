// Optimizers that use Jacobians of steps: box QPs, least squares by forward products, iLQR and multiple
// shooting.
#include <doctest/doctest.h>

#include "adjoint/objective/signal_values.hpp"
#include "adjoint/optimize/box_qp.hpp"
#include "adjoint/optimize/forward_products.hpp"
#include "adjoint/optimize/ilqr.hpp"
#include "adjoint/optimize/inverse_dynamics.hpp"
#include "adjoint/optimize/optimize.hpp"
#include "adjoint/optimize/step_differences.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/probe.hpp"
#include "tests/support/scene_text.hpp"

using namespace costate;
using namespace costate::test;

namespace {

Scene scene_with(const char* text, const char* more) {
    Json json = parse_json(text, "scene");
    json.update(parse_json(more, "more"));
    return scene_from_json(json, "test.json");
}

// A cart of 1 kg on a rail with a motor of at most 10 N, for a second.
const char* const cart_text = R"({
    "steps": 50, "time_step": 0.02,
    "models": [{"name": "cart", "model": {
        "bodies": [{"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "mass": 1, "inertia": [0, 0, 0, 0, 0, 0]}],
        "actuators": [{"joint": "cart", "type": "motor", "control_limits": [-10, 10]}]}}],
    "controls": [{"actuators": ["*"], "optimize": "per_step", "initial": 0}]})";

OptimizeResult solve(Scene& scene, Method method) {
    scene.optimize.method = method;
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    const Variables variables(scene.world, scene.plan, scene.parameters, scene.initial_state,
                              {scene.theta, scene.x0, scene.z0});
    const OptimizeResult r = optimize(rollout, variables, scene.optimize);
    const RolloutInputs in = variables.inputs(r.y);
    CHECK(rollout.forward(in.theta, in.x0, in.z) == r.final_loss);
    CHECK(((r.y - variables.lower()).minCoeff() >= 0 && (variables.upper() - r.y).minCoeff() >= 0));
    return r;
}

TrajectorySettings settings_of(const Scene& scene, int segment) {
    TrajectorySettings s;
    for (int i = 0; i < scene.world.nu(); ++i)
        s.free.push_back(i);
    const auto n = static_cast<Eigen::Index>(scene.world.nu());
    s.lower.resize(n);
    s.upper.resize(n);
    s.segment = segment;
    for (Eigen::Index i = 0; i < n; ++i) {
        const ParameterInterval& limits = scene.world.model.actuators[i].control;
        s.lower[i] = scene.theta[limits.lower];
        s.upper[i] = scene.theta[limits.upper];
    }
    return s;
}

}  // namespace

TEST_CASE("shooting: a box QP ends where its optimality conditions hold") {
    Rng g(1);
    int held = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const int n = 1 + trial % 12;
        Eigen::MatrixXd R(n, n);
        for (double& x : R.reshaped())
            x = g.normal();
        const Eigen::MatrixXd H = R.transpose() * R + 0.01 * Eigen::MatrixXd::Identity(n, n);
        VecX<double> c(n), lower(n), upper(n), start(n);
        for (int i = 0; i < n; ++i) {
            c[i] = 3 * g.normal();
            lower[i] = -std::abs(g.normal());
            upper[i] = std::abs(g.normal());
            start[i] = 5 * g.normal();
        }
        const BoxQp qp = solve_box_qp(H, c, lower, upper, start);
        REQUIRE(qp.solved);
        const VecX<double> gradient = c + H * qp.x;
        for (int i = 0; i < n; ++i) {
            CHECK((qp.x[i] >= lower[i] && qp.x[i] <= upper[i]));
            const bool at_lower = qp.x[i] == lower[i], at_upper = qp.x[i] == upper[i];
            held += at_lower || at_upper;
            CHECK((at_lower || gradient[i] < 1e-8));
            CHECK((at_upper || gradient[i] > -1e-8));
        }
    }
    CHECK(held > 200);
    CHECK(!solve_box_qp(-Eigen::MatrixXd::Identity(2, 2), VecX<double>::Zero(2),
                        VecX<double>::Constant(2, -1), VecX<double>::Constant(2, 1), VecX<double>::Zero(2))
               .solved);
}

// An arm that swings into a ball: running and final residuals of all kinds, by controls, initial state and
// parameters.
TEST_CASE("shooting: normal equations have the gradient of the loss, and J^T J of its residuals") {
    Json json = base();
    json["steps"] = 60;
    json["initial"]["optimize"] =
        parse_json(R"({"velocities": ["ball", "arm/shoulder"], "joints": ["arm/elbow"]})", "start");
    json["initial"]["velocities"]["ball"]["linear"] = {1, 0, -4};
    json["parameters"] = parse_json(
        R"([{"path": "shapes/ground/friction", "optimize": true}, {"path": "bodies/ball/mass", "optimize": true}])",
        "parameters");
    json["controls"][0]["optimize"] = parse_json(R"({"knots": 4})", "knots");
    json["objective"] = parse_json(R"([
        {"term": "position", "body": "ball", "target": [1, 2, 3]}, {"term": "velocity", "body": "ball", "weight": 0.3, "at": "running"},
        {"term": "configuration", "weight": 2}, {"term": "joint_velocity", "weight": 0.1, "at": "running"}, {"term": "centre_of_mass"},
        {"term": "linear_momentum", "weight": 0.2}, {"term": "effort", "weight": 0.5}])",
                                   "objective");
    const Scene scene = scene_of(json);
    const Variables variables(scene.world, scene.plan, scene.parameters, scene.initial_state,
                              {scene.theta, scene.x0, scene.z0});
    REQUIRE(variables.size() == 4 + 2 + 8);
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    VecX<double> y = variables.start();
    y[0] += 0.3;
    y[7] += 0.1;
    const RolloutInputs in = variables.inputs(y);
    rollout.forward(in.theta, in.x0, in.z);
    Gradient gradient;
    rollout.backward(in.theta, in.z, gradient);
    const VecX<double> expected = variables.pull_back(y, gradient);

    ForwardProducts products(scene.world, scene.objective, scene.plan, variables, scene.steps);
    const NormalEquations normal = products.at(y);
    CHECK((2 * normal.g - expected).norm() < 1e-9 * expected.norm());

    // of one number r, J^T J = (J^T r) (J^T r)^T / r^2
    Term part = scene.objective[0];
    part.axes = Vec3<double>(0, 0, 1);
    const Objective one{part};
    const Simulation::ScopedObjective scoped(simulation, one);
    const double squared = rollout.forward(in.theta, in.x0, in.z);
    const NormalEquations of_one =
        ForwardProducts(scene.world, one, scene.plan, variables, scene.steps).at(y);
    REQUIRE(of_one.H.norm() > 0.01);
    CHECK((of_one.H - of_one.g * of_one.g.transpose() / squared).norm() < 1e-9 * of_one.H.norm());
}

TEST_CASE("shooting: the model of terms has the gradient of a loss that has no residuals too") {
    Json json = base();
    json["steps"] = 1;
    json["initial"]["joints"]["ball"] = parse_json(R"({"position": [1, 0, 0.299]})", "ball");
    json["initial"]["velocities"]["ball"]["linear"] = {1, 2, -3};
    json["objective"] = parse_json(R"([
        {"term": "position", "body": "ball", "target": [1, 2, 3], "norm": "distance", "weight": 3, "at": "running"}, {"term": "impulse", "weight": 0.7},
        {"term": "kinetic_energy", "at": "running"}, {"term": "height", "body": "arm/lower", "weight": -2, "at": "running"},
        {"term": "joint_velocity", "weight": -0.1, "at": "running"}])",
                                   "objective");
    const Scene scene = scene_of(json);
    Simulation simulation(scene.world, scene.objective);
    VecX<double> u = VecX<double>::Constant(scene.world.nu(), 0.3), next(scene.world.nx()),
                 row = VecX<double>::Zero(scene.world.ndx() + scene.world.nu() + scene.world.np());
    simulation.run(0, scene.theta.data(), scene.x0.data(), u.data(), next.data());
    const VecX<double> nothing = VecX<double>::Zero(scene.world.ndx());
    simulation.run_adj(0, scene.theta.data(), scene.x0.data(), u.data(), nothing.data(),
                       row.data() + scene.world.ndx() + scene.world.nu(), row.data(),
                       row.data() + scene.world.ndx());
    StepScratch<double> scratch(scene.world);
    step(scene.world, {scene.theta.data(), scene.x0.data(), u.data()}, scratch, next.data());
    REQUIRE(normal_impulse(scratch, -1) > 0.01);
    TermResiduals terms(scene.world, scene.objective, Columns::and_parameters);
    Residuals r;
    terms.linearise(true, 0, scene.theta.data(), scene.x0.data(), u.data(), scratch, r);
    CHECK((2 * r.J.transpose() * r.r + r.linear - row).norm() < 1e-10 * row.norm());

    TermResiduals without_parameters(scene.world, scene.objective, Columns::state_and_control);
    Residuals part;
    without_parameters.linearise(true, 0, scene.theta.data(), scene.x0.data(), u.data(), scratch, part);
    CHECK(part.r == r.r);
    CHECK(part.J == r.J.leftCols(part.J.cols()));
    CHECK(part.linear == r.linear.head(scene.world.ndx() + scene.world.nu()));
}

TEST_CASE(
    "shooting: iLQR and multiple shooting find the optimum of a quadratic problem, and stop at limits") {
    for (const Method method : {Method::ilqr, Method::multiple_shooting}) {
        CAPTURE(method);
        Scene scene = scene_with(cart_text, R"({"objective": [
            {"term": "position", "body": "cart", "target": [1, 0, 0], "weight": 10}, {"term": "joint_velocity", "weight": 1},
            {"term": "effort", "weight": 0.01, "at": "running"}], "optimize": {"segment": 7, "iterations": 100}})");
        const OptimizeResult r = solve(scene, method);
        // the optimum of a quadratic: its gradient vanishes
        Simulation simulation(scene.world, scene.objective);
        Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
        const Variables variables(scene.world, scene.plan, {}, {}, {scene.theta, scene.x0, scene.z0});
        rollout.forward(scene.theta, scene.x0, r.y);
        Gradient g;
        rollout.backward(scene.theta, r.y, g);
        CHECK(g.controls.norm() < 1e-7 * r.gradient_norms.front());
        CHECK(r.iterations < 30);

        Scene far = scene_with(
            cart_text,
            R"({"objective": [{"term": "position", "body": "cart", "target": [100, 0, 0]}], "optimize": {"segment": 7}})");
        CHECK((solve(far, method).y.array() == 10).all());
    }
    Scene wrong = scene_with(
        cart_text,
        R"({"controls": [{"actuators": ["*"], "optimize": "held"}], "objective": [{"term": "position", "body": "cart"}]})");
    CHECK(why_no_shooting(wrong.plan, {}, {}) == "it optimizes controls that are not \"per_step\"");
}

TEST_CASE("shooting: pushes act in iLQR, whose gradient is that of the rollout") {
    Json json = base();
    json["controls"][0]["optimize"] = "per_step";
    json["pushes"] = parse_json(
        R"([{"name": "kick", "body": "arm/lower", "times": [0, 1], "force": [30, 5, 20], "torque": [0, 2, 1]}])",
        "pushes");
    json["objective"] = parse_json(R"([
        {"term": "position", "body": "arm/lower", "target": [1, 2, 3]}, {"term": "impulse", "weight": 0.5},
        {"term": "velocity", "body": "ball", "weight": 0.3, "at": "running"}])",
                                   "objective");
    const Scene scene = scene_of(json);
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    const double loss = rollout.forward(scene.theta, scene.x0, scene.z0);
    Gradient gradient;
    rollout.backward(scene.theta, scene.z0, gradient);

    const auto& channels = scene.plan.channels();
    const auto optimized = std::ranges::find_if(channels, &ControlChannel::optimize);
    REQUIRE((optimized != channels.end() && optimized->per_step));
    TrajectorySettings settings;
    settings.free = {static_cast<int>(optimized - channels.begin())};
    settings.lower.setConstant(1, -unlimited);
    settings.upper.setConstant(1, unlimited);
    Eigen::MatrixXd U(scene.world.nu(), scene.steps);
    for (int t = 0; t < scene.steps; ++t)
        scene.plan.evaluate(scene.z0.data(), t, U.col(t).data());
    TrajectoryOptimizer optimizer(scene.world, scene.objective, scene.theta, settings);
    REQUIRE(optimizer.start(scene.x0, U));
    CHECK(optimizer.cost() == doctest::Approx(loss).epsilon(1e-12));
    const double norm = gradient.controls.segment(optimized->offset, optimized->size).norm();
    REQUIRE(norm > 0.1);
    CHECK(optimizer.gradient_norm() == doctest::Approx(norm).epsilon(1e-8));
}

TEST_CASE("shooting: central differences of a step approach its exact Jacobian") {
    const Scene scene = load_scene("quadruped_handstand");
    const World& w = scene.world;
    StepScratch<double> scratch(w);
    StepJacobian exact(w), differences(w);
    VecX<double> u(w.nu()), next(w.nx());
    scene.plan.evaluate(scene.z0.data(), 0, u.data());
    step(w, {scene.theta.data(), scene.x0.data(), u.data()}, scratch, next.data());
    step_jacobian(w, scene.theta.data(), scene.x0.data(), u.data(), scratch, exact);
    const auto apart = [&](double e) {
        step_jacobian_by_differences(w, scene.theta.data(), scene.x0.data(), u.data(), nullptr, e, scratch,
                                     differences);
        return (exact.by_x - differences.by_x).norm() / exact.by_x.norm() +
               (exact.by_u - differences.by_u).norm() / exact.by_u.norm();
    };
    CHECK(apart(1e-6) < 1e-6);
    CHECK(apart(1e-6) < apart(1e-4));
}

TEST_CASE("shooting: gaps between segments are closed, also for rotating bodies") {
    Json json = parse_json(R"({
        "steps": 40, "time_step": 0.02, "gravity": [0, 0, 0],
        "models": [{"name": "top", "model": {"bodies": [
            {"name": "top", "joint": {"type": "free"}, "mass": 1, "inertia": [0.1, 0.2, 0.3, 0, 0, 0]},
            {"name": "wheel", "parent": "top", "joint": {"name": "x", "type": "revolute", "axis": [1, 0, 0]}, "mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
            {"name": "disc", "parent": "top", "joint": {"name": "y", "type": "revolute", "axis": [0, 1, 0]}, "mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}],
          "actuators": [{"joint": "x", "type": "motor", "control_limits": [-3, 3]}, {"joint": "y", "type": "motor", "control_limits": [-3, 3]}]}}],
        "initial": {"velocities": {"top/top": {"angular": [0.2, 0.1, 1.5]}}},
        "controls": [{"actuators": ["*"], "optimize": "per_step", "initial": 0.1}],
        "objective": [{"term": "position", "body": "top/top", "point": [1, 0, 0], "target": [0, 0.8, 0.6], "weight": 10}, {"term": "effort", "weight": 0.001, "at": "running"}]})",
                           "top");
    const Scene scene = scene_of(json);
    Eigen::MatrixXd U = Eigen::MatrixXd::Constant(2, scene.steps, 0.1);
    TrajectoryOptimizer one(scene.world, scene.objective, scene.theta, settings_of(scene, 0)),
        many(scene.world, scene.objective, scene.theta, settings_of(scene, 8));
    REQUIRE((one.start(scene.x0, U) && many.start(scene.x0, U)));
    CHECK(one.cost() == many.cost());
    double opened = 0;
    for (int k = 0; k < 60; ++k) {
        one.iterate();
        many.iterate();
        CHECK(one.defect() == 0);
        opened = std::max(opened, many.defect());
    }
    CHECK(opened > 1e-4);
    CHECK(many.defect() < 1e-9);
    CHECK(one.cost() == doctest::Approx(many.cost()).epsilon(1e-6));
    CHECK((one.controls() - many.controls()).norm() < 1e-3);
}

TEST_CASE("shooting: a pole is swung up, by one plan and by a new one before every step") {
    Scene scene = load_scene("cartpole_swingup");
    scene.optimize.iterations = 40;
    const OptimizeResult r = solve(scene, Method::ilqr);
    CHECK(r.initial_loss > 40);
    CHECK(r.final_loss < 0.3);
    CHECK(solve(scene, Method::receding_horizon).final_loss < 0.3);
}

TEST_CASE("shooting: Gauss-Newton recovers the velocity with which a cube was thrown") {
    Scene scene = load_scene("cube_throw");
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    const Variables variables(scene.world, scene.plan, scene.parameters, scene.initial_state,
                              {scene.theta, scene.x0, scene.z0});
    const OptimizeResult r = optimize(rollout, variables, scene.optimize);
    VecX<double> truth(6);
    truth << 2, 0.5, 1, 0.3, -0.5, 3;  // m/s and rad/s: scripts/bench/make_recordings.py
    CHECK((variables.inputs(r.y).x0.tail(6) - truth).cwiseAbs().maxCoeff() < 1e-6);
    CHECK((scene.x0.tail(6) - truth).cwiseAbs().maxCoeff() > 1);
}

TEST_CASE("shooting: inverse dynamics through contact: what keeps robots at rest") {
    for (const char* name : {"quadruped_inverse_dynamics", "quadruped_inverse_dynamics_loaded",
                             "quadruped_handstand", "biped_pushup"}) {
        CAPTURE(name);
        Scene scene = load_scene(name);
        const OptimizeResult r = solve(scene, Method::gauss_newton);
        CHECK(r.initial_loss > 1e-2);
        CHECK(r.final_loss < 1e-5);
        CHECK(r.iterations <= 10);
    }
}

TEST_CASE(
    "shooting: inverse dynamics finds what stands still, and controls that bring a velocity near that") {
    const Scene scene = load_scene("quadruped_inverse_dynamics_loaded");
    const World& w = scene.world;
    Rng g(3);
    StepScratch<double> scratch(w);
    VecX<double> u(w.nu()), start(w.nu()), next(w.nx());
    scene.plan.evaluate(scene.z0.data(), 0, start.data());
    const VecX<double> stand =
        inverse_dynamics(w, scene.theta, scene.x0, VecX<double>::Zero(w.nv()), start).u;
    for (int trial = 0; trial < 5; ++trial) {
        for (Eigen::Index i = 0; i < u.size(); ++i)
            u[i] = stand[i] + 0.01 * g.normal();
        step(w, {scene.theta.data(), scene.x0.data(), u.data()}, scratch, next.data());
        const VecX<double> v = next.segment(w.nq(), w.nv());
        REQUIRE(v.norm() > 1e-3);
        const InverseDynamics found = inverse_dynamics(w, scene.theta, scene.x0, v, start, 1e-9);
        CHECK(found.residual <= 1e-9);
        CHECK(found.iterations <= 10);
        step(w, {scene.theta.data(), scene.x0.data(), found.u.data()}, scratch, next.data());
        CHECK((next.segment(w.nq(), w.nv()) - v).norm() == found.residual);
    }
    // no servo can lift the whole load: the result is the nearest possible
    const VecX<double> up = VecX<double>::Constant(w.nv(), 10);
    const InverseDynamics best = inverse_dynamics(w, scene.theta, scene.x0, up, start);
    step(w, {scene.theta.data(), scene.x0.data(), start.data()}, scratch, next.data());
    CHECK((best.u.allFinite() && best.residual > 1 &&
           best.residual < (next.segment(w.nq(), w.nv()) - up).norm()));
}

TEST_CASE("shooting: multiple shooting bats a ball to its place through contact") {
    Scene scene = load_scene("catapult");
    const OptimizeResult r = solve(scene, Method::multiple_shooting);
    CHECK(r.initial_loss > 1);
    CHECK(r.final_loss < 1e-12);
}
