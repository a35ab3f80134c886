// The inverse Hessian of L-BFGS against the dense formula of BFGS, and the method on problems with bounds.
#include "adjoint/optimize/lbfgs.hpp"

#include <doctest/doctest.h>

#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/format/json.hpp"
#include "scenes/scene.hpp"

using namespace costate;

namespace {

using Free = Eigen::Array<bool, Eigen::Dynamic, 1>;

// Differences of gradients of a quadratic function with a random positive Hessian.
struct QuadraticPairs {
    int n, count;
    Eigen::MatrixXd hessian, dy, dg;
    QuadraticPairs(int size, int pairs, unsigned seed) : n(size), count(pairs) {
        std::srand(seed);
        const Eigen::MatrixXd root = Eigen::MatrixXd::Random(n, n);
        hessian = root * root.transpose() + 0.1 * Eigen::MatrixXd::Identity(n, n);
        dy = Eigen::MatrixXd::Random(n, count);
        dg = hessian * dy;
    }
};

// BFGS, Nocedal & Wright 2006, equation 6.17, from the multiple of the identity that L-BFGS starts with (7.20).
Eigen::MatrixXd dense_inverse(const Eigen::MatrixXd& dy, const Eigen::MatrixXd& dg) {
    const Eigen::Index n = dy.rows(), last = dy.cols() - 1;
    const Eigen::MatrixXd I = Eigen::MatrixXd::Identity(n, n);
    Eigen::MatrixXd H = dy.col(last).dot(dg.col(last)) / dg.col(last).squaredNorm() * I;
    for (Eigen::Index k = 0; k <= last; ++k) {
        const double rho = 1 / dy.col(k).dot(dg.col(k));
        H = (I - rho * dy.col(k) * dg.col(k).transpose()) * H *
                (I - rho * dg.col(k) * dy.col(k).transpose()) +
            rho * dy.col(k) * dy.col(k).transpose();
    }
    return H;
}

// A cart on a rail that two thrusts push for a second, with limits of the controls.
Scene pushed_cart(double lower, double upper) {
    Json scene = parse_json(R"({
        "steps": 100, "time_step": 0.01,
        "models": [{"name": "cart", "model": {
            "bodies": [{"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]},
                        "mass": 1, "inertia": [0, 0, 0, 0, 0, 0]}],
            "actuators": [{"joint": "cart", "type": "motor"}]}}],
        "controls": [{"actuators": ["cart"], "optimize": {"knots": 5}, "initial": 0}],
        "objective": [{"term": "position", "body": "cart", "target": [0.3, 0, 0], "weight": 10},
                      {"term": "velocity", "body": "cart", "target": [0, 0, 0]}],
        "optimize": {"method": "lbfgs", "iterations": 200}})",
                            "cart");
    scene["models"][0]["model"]["actuators"][0]["control_limits"] = {lower, upper};
    return scene_from_json(scene, "cart.json");
}

OptimizeResult solve(const Scene& scene) {
    const RolloutInputs start{scene.theta, scene.x0, scene.z0};
    const Variables variables(scene.world, scene.plan, scene.parameters, scene.initial_state, start);
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    return optimize(rollout, variables, scene.optimize);
}

}  // namespace

TEST_CASE("L-BFGS: the product is that of the dense formula") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        const QuadraticPairs pairs(8, 5, seed);
        InverseHessian H(0.7);
        const VecX<double> g = VecX<double>::Random(8);
        CHECK((H.apply(g, Free::Constant(8, true)) - 0.7 * g).norm() < 1e-15);
        for (int k = 0; k < pairs.count; ++k)
            H.update(pairs.dy.col(k), pairs.dg.col(k));
        CHECK(!H.empty());
        const VecX<double> product = H.apply(g, Free::Constant(8, true));
        CHECK((product - dense_inverse(pairs.dy, pairs.dg) * g).norm() < 1e-12 * product.norm());
        // the newest pair is fulfilled (secant equation)
        CHECK((H.apply(pairs.dg.col(4), Free::Constant(8, true)) - pairs.dy.col(4)).norm() < 1e-12);
        H.clear();
        CHECK((H.apply(g, Free::Constant(8, true)) - 0.7 * g).norm() < 1e-15);
    }
}

TEST_CASE("L-BFGS: entries that are held stay out of the product") {
    const QuadraticPairs pairs(6, 4, 3);
    InverseHessian H(1), part(1);
    Free free = Free::Constant(6, true);
    free[1] = free[4] = false;
    const std::vector<int> kept{0, 2, 3, 5};
    for (int k = 0; k < pairs.count; ++k) {
        H.update(pairs.dy.col(k), pairs.dg.col(k));
        const VecX<double> dy = pairs.dy.col(k)(kept), dg = pairs.dg.col(k)(kept);
        if (dy.dot(dg) > 0) part.update(dy, dg);
    }
    const VecX<double> g = VecX<double>::Random(6), product = H.apply(g, free);
    CHECK(product[1] == 0);
    CHECK(product[4] == 0);
    CHECK((product(kept) - part.apply(g(kept), Free::Constant(4, true))).norm() < 1e-13);
    H.clear();
    H.update(pairs.dy.col(0), -pairs.dg.col(0));  // negative curvature
    CHECK(H.empty());
}

TEST_CASE("L-BFGS: a linear problem is solved, and held bounds are kept with the optimality conditions") {
    const OptimizeResult free = solve(pushed_cart(-1000, 1000));
    CHECK(free.final_loss < 1e-20);
    CHECK(free.gradient_evaluations < 40);

    // With little force the target is out of reach; the best controls are at their bounds where the gradient points
    // outwards, and elsewhere its entries vanish.
    Scene scene = pushed_cart(-0.6, 0.9);
    const OptimizeResult held = solve(scene);
    CHECK(held.y.minCoeff() >= -0.6);
    CHECK(held.y.maxCoeff() <= 0.9);
    const RolloutInputs start{scene.theta, scene.x0, scene.z0};
    const Variables variables(scene.world, scene.plan, scene.parameters, scene.initial_state, start);
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    const RolloutInputs in = variables.inputs(held.y);
    CHECK(rollout.forward(in.theta, in.x0, in.z) == held.final_loss);
    Gradient gradient;
    rollout.backward(in.theta, in.z, gradient);
    const VecX<double> g = variables.pull_back(held.y, gradient);
    int at_bound = 0;
    for (Eigen::Index k = 0; k < g.size(); ++k) {
        CAPTURE(k);
        const bool lower = held.y[k] == -0.6, upper = held.y[k] == 0.9;
        at_bound += lower || upper;
        if (lower) CHECK(g[k] >= 0);
        if (upper) CHECK(g[k] <= 0);
        if (!lower && !upper) CHECK(std::abs(g[k]) < 1e-6);
    }
    CHECK(at_bound >= 2);
    CHECK(held.final_loss > 1e-3);
}
