// Feedback laws of iLQR, and receding-horizon control of a plant.
#include "adjoint/optimize/feedback.hpp"

#include <doctest/doctest.h>

#include "adjoint/optimize/closed_loop.hpp"
#include "adjoint/optimize/control_table.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "scenes/format/json.hpp"
#include "scenes/scene.hpp"

using namespace costate;

namespace {

// A cart that a motor moves to its place: a linear system with quadratic costs.
const char* const linear_cart = R"({
    "steps": 40, "time_step": 0.05,
    "models": [{"name": "cart", "model": {
        "bodies": [{"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0], "damping": 0.1}, "mass": 2,
                    "inertia": [0, 0, 0, 0, 0, 0]}],
        "actuators": [{"joint": "cart", "type": "motor"}]}}],
    "controls": [{"actuators": ["*"], "optimize": "per_step", "initial": 0}],
    "objective": [{"term": "configuration", "target": 1, "at": "running"},
                  {"term": "joint_velocity", "weight": 3},
                  {"term": "effort", "weight": 0.01}],
    "optimize": {"method": "ilqr", "horizon": 20}})";

Scene linear_scene(double time_step = 0.05) {
    Json json = parse_json(linear_cart, "cart");
    json["time_step"] = time_step;
    return scene_from_json(json, "cart.json");
}

Variables start_variables(const Scene& s) {
    return {s.world, s.plan, s.parameters, s.initial_state, {s.theta, s.x0, s.z0}};
}

OptimizeResult optimum_of(const Scene& s) {
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    return optimize(rollout, start_variables(s), s.optimize);
}

Feedback law_at(const Scene& s, const OptimizeResult& r) {
    return feedback(s.world, s.objective, s.plan, start_variables(s), r.y, s.steps);
}

LoopRun loop_of(const Scene& s, const Scene& plant, int substeps, LoopSettings settings) {
    const Variables variables = start_variables(s);
    const ControlTable table(s.plan, variables, s.steps);
    settings.steps = s.steps;
    settings.horizon = s.optimize.horizon;
    return run_loop(s.world, s.objective, s.theta, table.settings, {plant.world, plant.theta, substeps}, s.x0,
                    table.controls(variables.start()), settings);
}

// A controller of the scene, which must outlive it.
RecedingHorizon controller_of(const Scene& s) {
    const Variables variables = start_variables(s);
    const ControlTable table(s.plan, variables, s.steps);
    return {s.world, s.objective, s.theta, table.settings, table.controls(variables.start())};
}

const VecX<double> beside = (VecX<double>(2) << 0.3, -0.7).finished();

}  // namespace

TEST_CASE("feedback: the cost to go and the gains of a linear system are exact") {
    const Scene scene = linear_scene();
    const OptimizeResult best = optimum_of(scene);
    const Feedback law = law_at(scene, best);
    REQUIRE((law.K.size() == 40 && law.V_x.size() == 41 && law.free == std::vector<int>{0}));
    const VecX<double> dx = beside;
    Scene moved = linear_scene();
    moved.x0 += dx;
    const OptimizeResult other = optimum_of(moved);
    const double change = law.V_x[0].dot(dx) + 0.5 * dx.dot(law.V_xx[0] * dx);
    CHECK(std::abs(change) > 0.01);
    CHECK(other.final_loss - best.final_loss == doctest::Approx(change).epsilon(1e-6));
    // the law alone, from the moved start, makes the controls that are optimal there
    const Feedback there = law_at(moved, other);
    for (int t = 0; t < 40; ++t) {
        const VecX<double> u = law.controls.col(t) + law.K[t] * (there.states.col(t) - law.states.col(t));
        CHECK(u[0] == doctest::Approx(there.controls(0, t)).epsilon(1e-5));
        CHECK(there.K[t].isApprox(law.K[t], 1e-6));
    }
}

TEST_CASE("feedback: at limits the gains are zero") {
    Scene scene = linear_scene();
    Json json = parse_json(linear_cart, "cart");
    json["models"][0]["model"]["actuators"][0]["control_limits"] = {-2, 2};
    scene = scene_from_json(json, "cart.json");
    const Feedback law = law_at(scene, optimum_of(scene));
    int held = 0;
    for (int t = 0; t < 40; ++t) {
        const bool at_limit = std::abs(law.controls(0, t)) == 2;
        held += at_limit;
        CHECK(law.K[t].isZero(0) == at_limit);
    }
    CHECK((held > 2 && held < 40));
}

TEST_CASE("closed loop: the planner's own model as plant, late or early, is the rollout") {
    const Scene scene = linear_scene();
    const LoopRun now = loop_of(scene, scene, 1, {});
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    const VecX<double> z = now.controls.row(0).transpose();
    CHECK(rollout.forward(scene.theta, scene.x0, z) == now.loss);
    CHECK(rollout.last_state() == now.states.col(scene.steps));
    CHECK(now.processor_seconds.size() == 40);
    CHECK(now.loss < 1.2 * optimum_of(scene).final_loss);

    LoopSettings late;
    late.delay = 7;
    CHECK(loop_of(scene, scene, 1, late).controls == now.controls);
}

TEST_CASE("closed loop: noise, pushes, other parameters and steps of the plant") {
    const Scene scene = linear_scene(), fine = linear_scene(0.01);
    const double exact = loop_of(scene, scene, 1, {}).loss;
    LoopSettings noisy;
    noisy.noise = 0.02;
    const LoopRun first = loop_of(scene, scene, 1, noisy);
    CHECK(first.controls == loop_of(scene, scene, 1, noisy).controls);
    CHECK(first.loss > exact);
    noisy.seed = 2;
    CHECK(loop_of(scene, scene, 1, noisy).controls != first.controls);

    const LoopRun finer = loop_of(scene, fine, 5, {});
    CHECK(finer.loss != exact);
    CHECK(finer.loss == doctest::Approx(exact).epsilon(0.05));

    Scene pushed = linear_scene();
    const Vec3<double> force(-10, 0, 0), zero = Vec3<double>::Zero();
    pushed.world.add_push({"kick", 0, {1, 1.2}, {force, force}, {zero, zero}});
    pushed.theta = pushed.world.model.layout.nominal();
    const LoopRun kicked = loop_of(scene, pushed, 1, {});
    CHECK(kicked.controls.leftCols(20) == loop_of(scene, scene, 1, {}).controls.leftCols(20));
    CHECK(kicked.states(1, 24) < kicked.states(1, 20) - 0.3);
    const LoopRun blind =
        run_plant(scene.world, scene.objective, scene.theta, {pushed.world, pushed.theta, 1}, scene.x0,
                  loop_of(scene, scene, 1, {}).controls);
    // it comes back, which the same controls do not
    CHECK(std::abs(kicked.states(0, 40) - 1) < 0.5 * std::abs(blind.states(0, 40) - 1));
    CHECK(kicked.loss < blind.loss);
}

TEST_CASE("controller: the gains of a plan make the controls of the plan from another state") {
    const Scene scene = linear_scene();
    RecedingHorizon control = controller_of(scene), other = controller_of(scene);
    CHECK(control.last().steps() == 0);
    const Plan plan = control.plan(scene.x0, 0, 30, {30});
    CHECK((plan.steps() == 30 && plan.states.cols() == 31 && plan.gains.size() == 30 && plan.iterations > 1));
    const double h = 0.05;
    for (const int k : {0, 1, 17}) {
        const VecX<double> x = plan.states.col(k) + beside;
        const Plan there = other.plan(x, k * h, 30 - k, {30});
        CHECK(control.control(x, k * h)[0] == doctest::Approx(there.controls(0, 0)).epsilon(1e-6));
    }
    // between two steps, the state of the plan is between theirs, and its control is held
    const VecX<double> middle = 0.5 * (plan.states.col(3) + plan.states.col(4));
    CHECK(control.control(middle, 3.5 * h)[0] == doctest::Approx(plan.controls(0, 3)).epsilon(1e-12));
    const VecX<double> end = plan.states.col(30);
    CHECK(control.control(end, 99) == plan.controls.col(29));
}

TEST_CASE("controller: a plan starts with the last one under its gains") {
    const Scene scene = linear_scene();
    RecedingHorizon control = controller_of(scene), other = controller_of(scene);
    const Plan first = control.plan(scene.x0, 0, 30, {30});
    const VecX<double> x = first.states.col(10) + beside;
    const PlanBudget none{0};
    const Plan kept = control.plan(x, 0.5, 20, none), best = other.plan(x, 0.5, 20, {30});
    CHECK(kept.iterations == 0);
    CHECK(kept.cost == doctest::Approx(best.cost).epsilon(1e-9));
    CHECK(controller_of(scene).plan(x, 0.5, 20, none).cost > 1.1 * best.cost);
    // without iterations there are gains, those of the best plan of this linear system
    for (int k = 0; k < 20; ++k)
        CHECK(kept.gains[k].isApprox(best.gains[k], 1e-6));
    // a time between two steps of the last plan, and one before it
    CHECK(control.plan(x, 0.525, 20).cost < 1.1 * best.cost);
    CHECK(control.plan(scene.x0, 0, 30, none).cost > first.cost);
}

TEST_CASE(
    "controller: where the state is not as planned, a plan starts with the first controls if they cost "
    "less") {
    Json json = parse_json(linear_cart, "cart");
    json["models"][0]["model"]["actuators"][0]["control_limits"] = {-2, 2};
    const Scene scene = scene_from_json(json, "cart.json");
    RecedingHorizon control = controller_of(scene);
    const Plan first = control.plan(scene.x0, 0, 20, {50});
    REQUIRE(first.controls(0, 1) == 2);                                // and at a limit, the gain is zero
    const VecX<double> beyond = (VecX<double>(2) << 4, 0).finished();  // where the plan would push on
    const Plan again = control.plan(beyond, 0.05, 20, {0});
    REQUIRE(again.cost > 1.1 * first.cost);
    CHECK(again.controls.isZero(0));
    CHECK(again.cost == controller_of(scene).plan(beyond, 0.05, 20, {0}).cost);
}

TEST_CASE("controller: limits, budgets, the time after the end, and what diverges") {
    Json json = parse_json(linear_cart, "cart");
    json["models"][0]["model"]["actuators"][0]["control_limits"] = {-2, 2};
    const Scene scene = scene_from_json(json, "cart.json");
    RecedingHorizon control = controller_of(scene);
    const Plan plan = control.plan(scene.x0, 0, 20, {50});
    CHECK(plan.controls.cwiseAbs().maxCoeff() == 2);
    const int k = 10;
    REQUIRE(std::abs(plan.controls(0, k)) < 2);  // at a limit, the gain would be zero
    const VecX<double> left = plan.states.col(k) - 5 * VecX<double>::Unit(2, 0);
    CHECK(control.control(left, 0.05 * k)[0] == 2);

    PlanBudget short_time{1000, 1e-9};
    CHECK(control.plan(scene.x0, 0, 20, short_time).iterations == 0);
    CHECK(control.last().seconds > 0);

    RecedingHorizon late = controller_of(scene);
    const double cost = late.plan(scene.x0, 1000, 20, {50}).cost;
    CHECK(cost == doctest::Approx(plan.cost).epsilon(1e-9));
    const VecX<double> far = VecX<double>::Constant(2, 1e200);
    CHECK_THROWS_WITH_AS(late.plan(far, 1001, 20), doctest::Contains("diverged in its 20 steps"),
                         DivergenceError);
    CHECK(late.last().time == 1000);
}

TEST_CASE("closed loop: gains act between plans") {
    const Scene scene = linear_scene();
    Scene pushed = linear_scene(0.005);
    const Vec3<double> force(-200, 0, 0), zero = Vec3<double>::Zero();
    pushed.world.add_push({"kick", 0, {1.005, 1.015}, {force, force}, {zero, zero}});
    pushed.theta = pushed.world.model.layout.nominal();
    LoopSettings held;
    held.feedback = false;
    const double with = loop_of(scene, pushed, 10, {}).loss, without = loop_of(scene, pushed, 10, held).loss;
    CHECK(with < without);
    LoopSettings often;
    often.plans = 5;
    const LoopRun five = loop_of(scene, pushed, 10, often);
    CHECK(five.processor_seconds.size() == 200);
    CHECK(five.loss < with);
    LoopSettings late;  // no measurement of the present, so no feedback
    late.delay = 1;
    held.delay = 1;
    CHECK(loop_of(scene, pushed, 10, late).loss == loop_of(scene, pushed, 10, held).loss);
}
