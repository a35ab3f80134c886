// The gradient by a push during a step against those by motors and central differences, and the visits of a
// reverse sweep.
#include <doctest/doctest.h>

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/sensitivity.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/scene.hpp"

namespace costate::test {

namespace {

struct Pushed {
    Scene scene;
    Simulation simulation;
    Rollout<Simulation> rollout;
    Gradient gradient;
    std::vector<std::vector<Vec3<double>>> impulses;  // by step and body
    std::vector<VecX<double>> x_bars, u_bars;         // by step

    explicit Pushed(const std::string& name, int steps)
        : scene(load_scene(name, steps)),
          simulation(scene.world, scene.objective),
          rollout(simulation, scene.plan, steps),
          impulses(static_cast<size_t>(steps)),
          x_bars(static_cast<size_t>(steps) + 1),
          u_bars(static_cast<size_t>(steps)) {
        rollout.forward(scene.theta, scene.x0, scene.z0);
        std::vector<Motion<double>> room;
        int expected = steps;
        rollout.backward(
            scene.theta, scene.z0, gradient, [&](int t, const double* x_bar, const double* u_bar) {
                REQUIRE(t == expected--);
                const auto n = static_cast<size_t>(t);
                x_bars[n] = Eigen::Map<const VecX<double>>(x_bar, simulation.ndx());
                if (t == steps) return;
                u_bars[n] = Eigen::Map<const VecX<double>>(u_bar, simulation.nu());
                impulse_gradients(scene.world, scene.theta.data(), simulation.scratch(), room, impulses[n]);
            });
        CHECK(expected == -1);
    }
};

}  // namespace

TEST_CASE("reverse sweep: the covectors passed to a visitor sum to the gradient") {
    Pushed p("throw", 60);
    CHECK(p.x_bars[0] == p.gradient.initial_state);
    VecX<double> z_bar = VecX<double>::Zero(p.scene.plan.size());
    for (int t = 60; t-- > 0;)
        p.scene.plan.evaluate_adj(t, p.u_bars[t].data(), z_bar.data());
    CHECK(z_bar == p.gradient.controls);
}

// A force f on a link at the arm r from its only joint, with axis a, has the torque a . (r x f). The gradient
// by a force is therefore a x r times the gradient by the torque, both per unit of the time integral.
TEST_CASE("gradient by a push: for one link it follows from the gradient by its motor") {
    Pushed p("pendulum_1", 200);
    const World& w = p.scene.world;
    const double h = p.scene.world.h(p.scene.theta);
    for (const size_t t : {size_t{0}, size_t{57}, size_t{199}}) {
        Kinematics<double> k(w.model);
        const VecX<double> x = p.rollout.state(static_cast<int>(t), p.scene.theta, p.scene.z0);
        kinematics(w.model, p.scene.theta.data(), x.data(), x.data() + w.nq(), k);
        const Vec3<double> r = rotate<double>(k.X[0], load3(p.scene.theta.data() + w.model.com.at(0)));
        const Vec3<double> expected =
            k.S[0].ang.cross(r) * (p.u_bars[t][0] / p.scene.theta[w.model.actuator.gear.at(0)] / h);
        CHECK((p.impulses[t][0] - expected).norm() <= 1e-12 * expected.norm());
    }
}

// A free body that is pushed changes its velocity by the impulse over its mass.
TEST_CASE("gradient by a push: of a free body against central differences") {
    Pushed p("bounce", 300);
    const World& w = p.scene.world;
    const double mass = p.scene.theta[w.model.mass.at(0)], impulse = 1e-6 * mass;
    for (int axis = 0; axis < 3; ++axis) {
        const auto loss = [&](double sign) {
            VecX<double> x0 = p.scene.x0;
            x0[w.nq() + axis] += sign * impulse / mass;
            return p.rollout.forward(p.scene.theta, x0, p.scene.z0);
        };
        const double difference = (loss(1) - loss(-1)) / (2 * impulse);
        CHECK(p.impulses[0][0][axis] == doctest::Approx(difference).epsilon(1e-6));
    }
}

}  // namespace costate::test
