// Loads a shipped scene from $COSTATE_SCENES by its name, takes a step, and holds the gradient of a rollout
// against a central difference.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <costate/adjoint/rollout/rollout.hpp>
#include <costate/adjoint/rollout/simulation.hpp>
#include <costate/scenes/scene.hpp>
#include <costate/solvers/step/step.hpp>

namespace {

bool check(bool right, const char* what) {
    if (!right) std::fprintf(stderr, "wrong: %s\n", what);
    return right;
}

}  // namespace

int main() {
    using namespace costate;
    const Scene scene = load_scene("bounce");
    bool right =
        check(scene.file.parent_path() == std::getenv("COSTATE_SCENES"), "where the scene was found");

    StepScratch<double> scratch(scene.world);
    VecX<double> next(scene.world.nx());
    step(scene.world, {scene.theta.data(), scene.x0.data(), scene.z0.data()}, scratch, next.data());
    right &= check(std::abs(next[scene.world.nq() + 2] + 9.81e-3) < 1e-15,
                   "the speed after a millisecond of free fall");

    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    rollout.forward(scene.theta, scene.x0, scene.z0);
    Gradient gradient;
    rollout.backward(scene.theta, scene.z0, gradient);
    const int restitution = scene.parameters[0].index;
    const VecX<double> d = 1e-5 * VecX<double>::Unit(scene.world.np(), restitution);
    const double above = rollout.forward(scene.theta + d, scene.x0, scene.z0);
    const double below = rollout.forward(scene.theta - d, scene.x0, scene.z0);
    right &= check(std::abs(gradient.parameters[restitution] - (above - below) / 2e-5) < 1e-8,
                   "the gradient by restitution");
    return right ? 0 : 1;
}
