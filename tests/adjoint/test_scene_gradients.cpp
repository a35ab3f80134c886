// Results of optimizers with gradients: tasks of included scenes, and small problems with a known solution.
#include <doctest/doctest.h>

#include <algorithm>

#include "adjoint/check/gradcheck.hpp"
#include "adjoint/external/cmaes.hpp"
#include "adjoint/external/nlopt_lbfgs.hpp"
#include "adjoint/objective/objective.hpp"
#include "scenes/format/json.hpp"
#include "tests/support/optimized_scene.hpp"

using namespace costate;

namespace {

// A cart of 1 kg on a rail, pushed by a motor from rest for a second, with some keys of the scene added.
Scene cart(const char* more) {
    Json scene = parse_json(R"({
        "steps": 100, "time_step": 0.01,
        "models": [{"name": "cart", "model": {
            "bodies": [{"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]},
                        "mass": 1, "inertia": [0, 0, 0, 0, 0, 0]}],
            "actuators": [{"joint": "cart", "type": "motor"}]}}]})",
                            "cart");
    scene.update(parse_json(more, "more"));
    return scene_from_json(scene, "cart.json");
}

constexpr double push_to = 0.5 * 1.01;  // m, displacement of the cart by 1 N: h^2 F/m n (n + 1)/2

struct MethodCase {
    const char* name;
    Method method;
    double learning_rate;
};
const MethodCase methods[] = {{"gradient_descent", Method::gradient_descent, 1},
                              {"momentum", Method::momentum, 0.3},
                              {"adam", Method::adam, 0.05},
                              {"lbfgs", Method::lbfgs, 1},
                              {"gauss_newton", Method::gauss_newton, 1},
                              {"cmaes", Method::cmaes, 1}};

// Runs a scene of few steps with every available method.
template <class Check> void by_every_method(const char* more, Check&& check) {
    use_cmaes();
    for (const MethodCase& m : methods) {
        if (m.method == Method::cmaes && !have_cmaes()) continue;
        CAPTURE(m.name);
        OptimizedScene run(cart(more));
        run.scene.optimize.method = m.method;
        run.scene.optimize.learning_rate = m.learning_rate;
        run.scene.optimize.iterations = 1000;
        run.scene.optimize.max_loss_evaluations = 10000;
        const OptimizeResult r = run.optimize();
        CHECK(r.losses.size() == static_cast<size_t>(r.iterations) + 1);
        CHECK(r.losses.back() == r.final_loss);
        CHECK(std::is_sorted(r.losses.rbegin(), r.losses.rend()));
        CHECK(run.loss(r.y) == r.final_loss);
        check(r, run.variables.inputs(r.y));
    }
}

}  // namespace

TEST_CASE("scene gradients: the arm learns to throw") {
    OptimizedScene run(load_scene("throw"));
    CHECK(run.scene.z0.head(run.variables.size()).isZero(0));  // the torques
    const OptimizeResult r = run.optimize();
    CHECK(r.initial_loss > 1);
    CHECK(r.final_loss <= 0.05 * r.initial_loss);
    CHECK(r.gradient_evaluations <= 20);
    CHECK(r.loss_evaluations <= 60);
}

TEST_CASE("scene gradients: Gauss-Newton names an unsuitable term") {
    Term term;
    term.name = "lift";
    term.kind = TermKind::height;
    CHECK_THROWS_WITH_AS(check_least_squares({term}), "the term \"lift\" is not a sum of squares",
                         std::invalid_argument);
    term.kind = TermKind::position;
    term.norm = TermNorm::distance;
    CHECK(residual_components({term}).size() == 3);
    CHECK_THROWS_AS(check_least_squares({term, term}), std::invalid_argument);
    term.norm = TermNorm::squared;
    term.weight = 4;
    term.axes.y() = 0;
    const Objective components = residual_components({term, term});
    CHECK(components.size() == 4);
    CHECK(components[0].weight == 2);
    term.weight = -1;
    CHECK_THROWS_AS(check_least_squares({term}), std::invalid_argument);
}

TEST_CASE("scene gradients: friction is found from the distance in which a box stops") {
    OptimizedScene run(load_scene("box_slide"));
    const OptimizeResult r = run.optimize();
    CHECK(run.start.theta[run.scene.parameters[0].index] == 0.6);
    CHECK(run.variables.inputs(r.y).theta[run.scene.parameters[0].index] ==
          doctest::Approx(0.3).epsilon(0.01));
}

TEST_CASE("scene gradients: friction is found from where a car with locked wheels is after a second") {
    OptimizedScene run(load_scene("racecar_friction"));
    const OptimizeResult r = run.optimize();
    CHECK(run.start.theta[run.scene.parameters[0].index] == 0.002);
    CHECK(r.iterations <= 10);
    // x = v t - mu g h^2 n (n + 1)/2
    CHECK(run.variables.inputs(r.y).theta[run.scene.parameters[0].index] ==
          doctest::Approx(0.2 / (4.9 * 1.001)).epsilon(1e-4));
}

// At rest on rigid ground, the drone's height has no derivative by its thrust. The complementarity-aware
// gradient has one.
TEST_CASE("scene gradients: a drone takes off by the complementarity-aware gradient, and stays without it") {
    OptimizedScene aware(load_scene("drone_takeoff")), plain(load_scene("drone_takeoff"));
    plain.scene.world.settings.complementarity_aware = false;
    const OptimizeResult stays = plain.optimize();
    CHECK(stays.final_loss == stays.initial_loss);
    CHECK(stays.stopped == "gradient vanishes");
    const OptimizeResult r = aware.optimize();
    CHECK(r.initial_loss > 24);
    CHECK(r.final_loss < 1e-4);
}

TEST_CASE("scene gradients: a club learns to hit a ball three metres") {
    OptimizedScene run(load_scene("golf"));
    CHECK(run.scene.z0.head(run.variables.size()).isZero(0));
    const OptimizeResult r = run.optimize();
    CHECK(r.initial_loss > 1);
    CHECK(r.final_loss < 0.05);
    CHECK(r.iterations <= 50);
}

TEST_CASE("scene gradients: seven links come upright with 10 N m a joint, by NLopt") {
    if (!use_nlopt()) return;
    OptimizedScene run(load_scene("pendulum_7"));
    run.scene.optimize.iterations = run.scene.optimize.max_loss_evaluations = 400;
    const OptimizeResult r = run.optimize();
    CHECK(r.initial_loss > 20);
    CHECK(r.final_loss < 1e-3);
    CHECK(r.y.cwiseAbs().maxCoeff() <= 1);
}

TEST_CASE("scene gradients: every optimizer brings a cart to a place and to rest there, a convex problem") {
    by_every_method(R"({"controls": [{"actuators": ["cart"], "optimize": {"knots": 2}}],
                        "objective": [{"term": "position", "body": "cart", "target": [0.3, 0, 0]},
                                      {"term": "velocity", "body": "cart"}]})",
                    [](const OptimizeResult& r, const RolloutInputs& best) {
                        CHECK(r.initial_loss == doctest::Approx(0.09));
                        CHECK(r.final_loss < 1e-9);
                        // x = a/3 + b/6, v = (a + b)/2 as h goes to 0
                        CHECK(best.z[0] == doctest::Approx(1.8).epsilon(0.03));
                        CHECK(best.z[1] == doctest::Approx(-1.8).epsilon(0.03));
                    });
}

TEST_CASE(
    "scene gradients: every optimizer stops at a bound, and a parameter on a log scale stays positive") {
    const auto scene = [](double factor, const char* parameter) {
        return R"({"controls": [{"actuators": ["cart"], "initial": 1}],
                   "objective": [{"term": "position", "body": "cart", "target": [)" +
               std::to_string(factor * push_to) + R"(, 0, 0]}], "parameters": [)" + parameter + "]}";
    };
    const int gear = cart("{}").world.model.actuator.gear.at(0), mass = cart("{}").world.model.mass.at(0);
    const char* between = R"({"path": "actuators/cart/gear", "optimize": true, "lower": 0.5, "upper": 2})";
    for (const double wanted : {3.0, -1.0, 1.5})
        by_every_method(scene(wanted, between).c_str(),
                        [&](const OptimizeResult&, const RolloutInputs& best) {
                            if (wanted == 1.5)
                                CHECK(best.theta[gear] == doctest::Approx(wanted).epsilon(1e-4));
                            else
                                CHECK(best.theta[gear] == std::clamp(wanted, 0.5, 2.0));
                        });
    // Twice the distance takes half the mass.
    const char* log = R"({"path": "bodies/cart/mass", "optimize": true, "scale": "log"})";
    by_every_method(scene(2, log).c_str(), [&](const OptimizeResult&, const RolloutInputs& best) {
        CHECK(best.theta[mass] == doctest::Approx(0.5).epsilon(1e-4));
    });
    OptimizedScene run(cart(scene(2, log).c_str()));
    CHECK(run.variables.inputs(VecX<double>::Constant(1, -50)).theta[mass] > 0);
}

TEST_CASE(
    "scene gradients: variables of the start, with a body's orientation, and on a log scale against central "
    "differences") {
    Scene scene = load_scene("bounce", 200);  // in free flight
    scene.x0.segment<4>(3) << 0.5, 0.5, -0.5, 0.5;
    scene.x0.tail<3>() << 1, -2, 3;
    scene.objective[0].point = {0.2, -0.1, 0.3};
    scene.objective[0].target = {0.5, 0.4, 0.3};
    scene.objective[0].axes = {1, 1, 1};
    for (int i = 0; i < 12; ++i)
        if (i != 4) scene.initial_state.push_back(i);  // one stays
    scene.parameters = {{scene.world.time_step.at(0), 1e-4, 1e-2, ParameterScale::log}};
    OptimizedScene run(std::move(scene));
    REQUIRE(run.variables.size() == 12);
    CHECK(run.variables.lower()[0] == doctest::Approx(std::log(1e-4)));
    CHECK(run.variables.start()[0] == doctest::Approx(std::log(1e-3)));
    VecX<double> y = run.variables.start();
    // away from the start, where retract is nonlinear
    for (int i = 1; i < 12; ++i)
        y[i] = 0.1 * i * (i % 2 == 0 ? 1 : -1);
    run.loss(y);
    Gradient g;
    const RolloutInputs in = run.variables.inputs(y);
    CHECK(in.x0.segment<4>(3).norm() == doctest::Approx(1).epsilon(1e-14));
    run.rollout.backward(in.theta, in.z, g);
    const VecX<double> gradient = run.variables.pull_back(y, g);
    for (int i = 0; i < y.size(); ++i) {
        CAPTURE(i);
        const VecX<double> d = 1e-5 * VecX<double>::Unit(y.size(), i);
        CHECK(gradient[i] == doctest::Approx((run.loss(y + d) - run.loss(y - d)) / 2e-5).epsilon(1e-7));
    }
}

TEST_CASE("scene gradients: a checkpoint of the quadruped is its state") {
    const OptimizedScene run(load_scene("quadruped_stand", 10));
    CHECK(run.rollout.store().bytes_per_checkpoint() == 37 * sizeof(double));
    CHECK(run.rollout.store().bytes_per_checkpoint() <= 320);
}
