// Contacts that are felt from a distance: an unchanged motion, the gradient of springs at rest, and an optimization that
// fails without them.
#include <doctest/doctest.h>

#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "adjoint/rollout/state.hpp"
#include "solvers/step/jacobian.hpp"
#include "tests/support/scene_text.hpp"

using namespace costate;

namespace {

// Two balls without joints between them, a distance apart, one on top of level ground.
Scene two_balls(double distance, const char* solver) {
    const char* const text = R"({"steps": 40, "time_step": 0.005, "ground": {"friction": 0.6},
        "models": [
            {"name": "low", "position": [0, 0, 0.09995], "model": {"bodies": [{"name": "ball", "joint": {"type": "free"}, "mass": 0.4,
                "inertia": [0.002, 0.002, 0.002, 0, 0, 0], "shapes": [{"type": "sphere", "radius": 0.1}]}]}},
            {"name": "high", "position": [0.35, 0.1, 0.5], "model": {"bodies": [{"name": "ball", "joint": {"type": "free"}, "mass": 0.3,
                "inertia": [0.001, 0.001, 0.001, 0, 0, 0], "shapes": [{"type": "sphere", "radius": 0.1}]}]}}],
        "initial": {"velocities": {"low/ball": {"linear": [0.5, 0.1, 0]}, "high/ball": {"linear": [-0.3, 0, 0.2]}}},
        "objective": [{"term": "position", "body": "high/ball", "target": [0, 0, 0.3]},
                      {"term": "velocity", "body": "low/ball", "target": [0, 0, 0], "at": "running"}]})";
    Json json = parse_json(text, "balls");
    json["solver"] = parse_json(solver, "solver");
    Scene scene = scene_of(json);
    scene.world.settings.felt_distance = distance;
    scene.world.settings.felt_stiffness = 30;
    return scene;
}

struct Pulled {
    double loss;
    Gradient gradient;
    VecX<double> last;
};
Pulled pull(const Scene& s) {
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    Pulled p;
    p.loss = rollout.forward(s.theta, s.x0, s.z0);
    p.last = rollout.last_state();
    rollout.backward(s.theta, s.z0, p.gradient);
    return p;
}

const char* const solvers[] = {R"({"type": "ncp"})", R"({"type": "lcp"})", R"({"type": "pgs"})",
                               R"({"type": "pgs", "gradient": "implicit"})",
                               R"({"forward_dynamics": "aba"})"};

// Springs between the balls, and between the high ball and the ground, as external forces of a step: without moments, since
// they act along lines through the centres.
struct RestingSprings {
    const Scene& scene;
    StepScratch<double> scratch{scene.world};
    Vec3<double> line;   // from the low to the high ball
    double gap, height;  // of the contacts at the start, m
    static constexpr double distance = 0.6, stiffness = 30, radii = 0.2;

    Vec3<double> centre(const VecX<double>& x, int ball) {
        observe(scene.world, scene.theta.data(), x.data(), scratch);
        return scratch.kinematics.world_position(scene.world.model, ball);
    }
    explicit RestingSprings(const Scene& s) : scene(s) {
        const Vec3<double> between = centre(s.x0, 1) - centre(s.x0, 0);
        gap = between.norm() - radii;
        line = between.normalized();
        height = centre(s.x0, 1).z() - 0.5 * radii;
    }
    VecX<double> step_from(const VecX<double>& x) {
        const Vec3<double> low = centre(x, 0), high = centre(x, 1);
        const auto force = [](double gap_then, double gap_now) {
            return -stiffness * (1 - gap_then / distance) * (gap_now - gap_then);
        };
        const Vec3<double> f = force(gap, (high - low).norm() - radii) * line;
        VecX<double> wrenches = VecX<double>::Zero(12), next(scene.world.nx());
        wrenches.head<3>() = -f;
        wrenches.segment<3>(6) = f + force(height, high.z() - 0.5 * radii) * Vec3<double>::UnitZ();
        step<double>(scene.world, {scene.theta.data(), x.data(), nullptr, wrenches.data()}, scratch,
                     next.data());
        return next;
    }
};

}  // namespace

TEST_CASE("distant contacts: the motion has its bits, and without distance so has the gradient") {
    for (const char* solver : solvers) {
        CAPTURE(solver);
        const Pulled plain = pull(two_balls(0, solver)), felt = pull(two_balls(0.6, solver)),
                     near = pull(two_balls(1e-9, solver));
        CHECK(felt.loss == plain.loss);
        CHECK(felt.last == plain.last);
        CHECK(near.gradient.initial_state == plain.gradient.initial_state);
        CHECK(near.gradient.parameters == plain.gradient.parameters);
        const double change = (felt.gradient.initial_state - plain.gradient.initial_state).norm();
        CHECK(change > 1e-3 * plain.gradient.initial_state.norm());
    }
}

TEST_CASE("distant contacts: the gradient of a step is that of central differences with springs at rest") {
    for (const char* solver : solvers) {
        CAPTURE(solver);
        const Scene s = two_balls(RestingSprings::distance, solver);
        const World& w = s.world;
        RestingSprings springs(s);
        const VecX<double> next = springs.step_from(s.x0),
                           next_bar = VecX<double>::LinSpaced(w.ndx(), -1, 1.3);
        VecX<double> x_bar = VecX<double>::Zero(w.ndx()), theta_bar = VecX<double>::Zero(w.np());
        StepScratch<double> scratch(w);
        VecX<double> plain(w.nx());
        step<double>(w, {s.theta.data(), s.x0.data(), nullptr}, scratch, plain.data());
        CHECK(plain == next);
        scratch.clear_bars();
        step_adj<double>(w, {s.theta.data(), s.x0.data(), nullptr}, scratch, next_bar.data(),
                         {theta_bar.data(), x_bar.data(), nullptr});
        for (int i = 0; i < w.ndx(); ++i) {
            CAPTURE(i);
            constexpr double e = 1e-6;
            VecX<double> d = VecX<double>::Zero(w.ndx()), x(w.nx()), change(w.ndx());
            double sum = 0;
            for (const double sign : {1.0, -1.0}) {
                d[i] = sign * e;
                retract_state(w, s.x0.data(), d.data(), x.data());
                const VecX<double> moved = springs.step_from(x);
                state_difference(w, next.data(), moved.data(), change.data());
                sum += sign * next_bar.dot(change);
            }
            CHECK(x_bar[i] == doctest::Approx(sum / (2 * e)).epsilon(1e-5).scale(0.01));
        }
        // Jacobians of steps are those of the motion
        const Scene without = two_balls(0, solver);
        StepJacobian felt(w), exact(without.world);
        step_jacobian(w, s.theta.data(), s.x0.data(), nullptr, scratch, felt);
        StepScratch<double> other(without.world);
        step<double>(without.world, {s.theta.data(), s.x0.data(), nullptr}, other, plain.data());
        step_jacobian(without.world, s.theta.data(), s.x0.data(), nullptr, other, exact);
        CHECK(felt.by_x == exact.by_x);
    }
}

TEST_CASE("distant contacts: distant_push finds a push where the gradient of the motion is zero") {
    const auto solve = [](bool felt) {
        Scene s = load_scene("distant_push");
        if (!felt) s.world.settings.felt_distance = 0;
        Simulation simulation(s.world, s.objective);
        Rollout<Simulation> rollout(simulation, s.plan, s.steps);
        const Variables variables(s.world, s.plan, {}, {}, {s.theta, s.x0, s.z0});
        return optimize(rollout, variables, s.optimize);
    };
    const OptimizeResult without = solve(false), with = solve(true);
    CHECK(without.gradient_norms.front() == 0);
    CHECK(without.final_loss == without.initial_loss);
    CHECK(with.gradient_norms.front() > 0);
    CHECK(with.final_loss < 0.05 * with.initial_loss);
}
