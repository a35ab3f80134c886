// Hessian-vector products of rollouts: symmetry, and third order of Taylor's remainder, with and without
// contact.
#include <doctest/doctest.h>

#include "adjoint/check/hessian.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/scene.hpp"
#include "tests/support/probe.hpp"

using namespace costate;
using namespace costate::test;

namespace {

struct HessianCase {
    const char* scene;
    int steps;
    SolverType solver;
    double length;  // of directions
    // true: directions of all numbers. false: controls, friction and the first tree's velocity along x, so
    // that sliding and standing bodies stay in their state
    bool everything;
};

struct Loss {
    Scene scene;
    Simulation simulation;
    Rollout<Simulation> rollout;

    explicit Loss(const HessianCase& c)
        : scene(load_scene(c.scene, c.steps)),
          simulation(scene.world, scene.objective),
          rollout(simulation, scene.plan, scene.steps) {
        scene.world.settings.solver = c.solver;
    }
    // A random direction; for parameters relative to their size.
    Gradient direction(Rng& g, const HessianCase& c) const {
        Gradient d{VecX<double>(scene.z0.size()), VecX<double>::Zero(scene.world.ndx()),
                   VecX<double>::Zero(scene.world.np())};
        for (double& x : d.controls)
            x = c.length * g.normal();
        d.initial_state[scene.world.nv()] = c.length * g.normal();
        const int friction = scene.world.shapes.friction.offset,
                  end = friction + static_cast<int>(scene.world.shapes.shapes.size());
        for (int i = friction; i < end; ++i)
            d.parameters[i] = c.length * g.normal() * scene.theta[i];
        if (!c.everything) return d;
        for (double& x : d.initial_state)
            x = c.length * g.normal();
        for (Eigen::Index i = 0; i < d.parameters.size(); ++i)
            d.parameters[i] = c.length * g.normal() * scene.theta[i];
        return d;
    }
    static double pair(const Gradient& a, const Gradient& b) {
        return a.controls.dot(b.controls) + a.initial_state.dot(b.initial_state) +
               a.parameters.dot(b.parameters);
    }
    double at(const Gradient& d, double e) {
        VecX<double> x = scene.x0;
        const VecX<double> dq = e * d.initial_state.head(scene.world.nv());
        retract(scene.world.model, scene.x0.data(), dq.data(), x.data());
        x.tail(scene.world.nv()) += e * d.initial_state.tail(scene.world.nv());
        return rollout.forward(scene.theta + e * d.parameters, x, scene.z0 + e * d.controls);
    }
    Gradient times(const Gradient& d, Gradient* gradient = nullptr) {
        return hessian_vector_product(scene.world, scene.objective, scene.plan, scene.steps, scene.theta,
                                      scene.x0, scene.z0, d, gradient);
    }
};

}  // namespace

TEST_CASE("hessian: symmetric, with the gradient beside it, and of the third order") {
    const HessianCase cases[] = {{"double_pendulum", 200, SolverType::pgs, 0.05, true},
                                 {"throw", 60, SolverType::pgs, 0.02, true},
                                 {"box_slide", 100, SolverType::pgs, 0.1, false},
                                 {"box_slide", 100, SolverType::ncp, 0.1, false},
                                 {"quadruped_stand", 60, SolverType::pgs, 0.02, false},
                                 {"quadruped_stand", 60, SolverType::ncp, 0.02, false}};
    for (const HessianCase& c : cases) {
        CAPTURE(c.scene);
        CAPTURE(static_cast<int>(c.solver));
        Loss loss(c);
        Rng g(3);
        const Gradient d = loss.direction(g, c), e = loss.direction(g, c);
        Gradient gradient, reverse;
        const Gradient Hd = loss.times(d, &gradient), He = loss.times(e);
        CHECK(Loss::pair(Hd, e) == doctest::Approx(Loss::pair(He, d)).epsilon(1e-7));

        const double value = loss.at(d, 0);
        loss.rollout.backward(loss.scene.theta, loss.scene.z0, reverse);
        CHECK((gradient.controls - reverse.controls).norm() <= 1e-9 * (1e-12 + reverse.controls.norm()));
        CHECK((gradient.initial_state - reverse.initial_state).norm() <= 1e-9 * reverse.initial_state.norm());
        CHECK((gradient.parameters - reverse.parameters).norm() <= 1e-9 * reverse.parameters.norm());

        const double slope = Loss::pair(gradient, d), curvature = Loss::pair(Hd, d);
        const auto remainder = [&](double s) {
            return std::abs(loss.at(d, s) - value - s * slope - s * s / 2 * curvature);
        };
        double best = 0;  // order of four halvings in a row
        for (double s = 1; s > 1e-4; s /= 2)
            if (remainder(s / 16) > 1e-14 * std::abs(value))
                best = std::max(best, std::log2(remainder(s) / remainder(s / 16)) / 4);
        CHECK(best >= 2.95);
    }
}
