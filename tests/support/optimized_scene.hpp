// A scene with its rollout and its variables, to optimize.
#pragma once

#include "adjoint/optimize/augmented_lagrangian.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "scenes/scene.hpp"

namespace costate {

struct OptimizedScene {
    Scene scene;
    Simulation simulation{scene.world, scene.objective};
    Rollout<Simulation> rollout{simulation, scene.plan, scene.steps};
    RolloutInputs start{scene.theta, scene.x0, scene.z0};
    Variables variables{scene.world, scene.plan, scene.parameters, scene.initial_state, start};
    explicit OptimizedScene(Scene s) : scene(std::move(s)) {}
    OptimizedScene(const OptimizedScene&) = delete;
    OptimizedScene& operator=(const OptimizedScene&) = delete;

    OptimizeResult optimize(const Pauses& pauses = {}) {
        return costate::optimize(rollout, variables, scene.constraints, scene.optimize, pauses);
    }
    double loss(const VecX<double>& y) {
        const RolloutInputs in = variables.inputs(y);
        return rollout.forward(in.theta, in.x0, in.z);
    }
};

}  // namespace costate
