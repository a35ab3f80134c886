// What is done with the world of a scene: controls, parameters to change or identify, the objective, the
// optimizer.
#pragma once

#include "adjoint/objective/term.hpp"
#include "adjoint/optimize/optimize_settings.hpp"
#include "adjoint/optimize/parameter_map.hpp"
#include "adjoint/rollout/controls.hpp"
#include "scenes/format/json.hpp"
#include "solvers/world.hpp"

namespace costate {

struct ControlInput {
    ControlPlan plan;
    VecX<double> z0;  // (plan.size())
};

// One channel an actuator. What "controls" does not mention is held: at its value of `start` (nu), if any,
// else a motor at 0 and a servo where its joint starts.
ControlInput read_controls(const Node& scene, const World& world, const VecX<double>& x0,
                           const std::vector<std::optional<double>>& start, int steps);

// Sets the values that "parameters" gives and returns those that may move.
ParameterMap read_parameters(const Node& scene, const World& world, VecX<double>& theta);

// Files of terms are sought below `folder`.
Objective read_objective(const Node& scene, const World& world, const VecX<double>& x0,
                         const std::filesystem::path& folder, int steps);

OptimizeSettings read_optimize(const Node& scene);

}  // namespace costate
