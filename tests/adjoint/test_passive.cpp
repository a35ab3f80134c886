// A model without actuators: its steps have no controls, and are steps all the same.
#include <algorithm>

#include "adjoint/optimize/forward_products.hpp"
#include "adjoint/optimize/term_losses.hpp"
#include "solvers/step/observation.hpp"
#include "tests/support/optimized_scene.hpp"
#include "tests/support/scene_text.hpp"

using namespace costate;

namespace {

// A ball that hits the ground and slides, with its mass and its friction to optimize.
const char* const ball_text = R"({"steps": 40, "time_step": 0.005, "ground": {"friction": 0.3},
    "models": [{"name": "ball", "position": [0, 0, 0.21], "model": {
        "bodies": [{"name": "ball", "joint": {"type": "free"}, "mass": 0.5, "inertia": [0.01, 0.01, 0.01, 0, 0, 0],
                    "shapes": [{"type": "sphere", "radius": 0.2}]}],
        "sensors": [{"name": "push", "type": "contact_force", "body": "ball"}]}}],
    "initial": {"velocities": {"ball": {"linear": [1, 0, -0.5]}}},
    "parameters": [{"path": "shapes/ground/friction", "optimize": true},
                   {"path": "bodies/ball/mass", "optimize": true, "lower": 0.1}],
    "objective": [{"term": "sensor", "sensor": "ball/push", "at": "running", "weight": 0.1},
                  {"term": "velocity", "body": "ball", "at": "running"},
                  {"term": "position", "body": "ball", "target": [0.3, 0, 0.2]}],
    "optimize": {"method": "lbfgs", "iterations": 1}})";

Scene sliding_ball(const char* constraints = "[]") {
    Json json = parse_json(ball_text, "ball");
    json["constraints"] = parse_json(constraints, "constraints");
    return scene_of(json);
}

}  // namespace

TEST_CASE("passive: the losses of the terms sum up to the loss") {
    const Scene s = sliding_ball();
    REQUIRE(s.world.nu() == 0);
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    const RolloutInputs in{s.theta, s.x0, s.z0};
    double sum = 0;
    for (const auto& [name, loss] : term_losses(rollout, in)) {
        CAPTURE(name);
        CHECK(loss > 0);
        sum += loss;
    }
    CHECK(sum == doctest::Approx(rollout.forward(in.theta, in.x0, in.z)).epsilon(1e-12));
    const TermShares shares = term_shares(rollout, in, 10);
    CHECK((shares.noted() == std::vector<int>{0, 10, 20, 30, 40}));
}

TEST_CASE("passive: constraints of steps, and over a part of the time, count at their steps") {
    OptimizedScene run(sliding_ball(R"([{"term": "impulse", "max": 0.01},
        {"term": "velocity", "body": "ball", "length": true, "max": 0.2, "until": 0.1}])"));
    double hardest = 0, fastest = 0;
    const RolloutInputs in = run.variables.inputs(run.variables.start());
    run.rollout.forward(in.theta, in.x0, in.z, [&](int t, const double* x, const double*) {
        const StepScratch<double>& step = run.simulation.scratch();
        if (t < run.scene.steps && !step.contacts.points.empty())
            hardest = std::max(hardest, contact_normal_impulse(step, 0));
        if (t < 20)
            fastest = std::max(fastest, Eigen::Map<const Vec3<double>>(x + run.scene.world.nq()).norm());
    });
    REQUIRE((hardest > 0.1 && fastest > 1));
    run.scene.optimize.iterations = 0;
    const OptimizeResult r = run.optimize();
    REQUIRE(r.violations.size() == 2);
    CHECK(r.violations[0].largest == doctest::Approx(hardest - 0.01));
    CHECK(r.violations[1].largest == doctest::Approx(fastest - 0.2));
}

TEST_CASE("passive: normal equations have the gradient of the loss") {
    const Scene s = sliding_ball();
    OptimizedScene run(s);
    const VecX<double> y = run.variables.start();
    const RolloutInputs in = run.variables.inputs(y);
    run.rollout.forward(in.theta, in.x0, in.z);
    Gradient gradient;
    run.rollout.backward(in.theta, in.z, gradient);
    const VecX<double> expected = run.variables.pull_back(y, gradient);
    REQUIRE(expected.cwiseAbs().minCoeff() > 1e-3);
    const NormalEquations normal =
        ForwardProducts(s.world, s.objective, s.plan, run.variables, s.steps).at(y);
    CHECK((2 * normal.g - expected).norm() < 1e-9 * expected.norm());
}
