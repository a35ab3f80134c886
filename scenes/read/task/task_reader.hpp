// The task of a scene: controls, parameters to set or optimize, objective and optimizer.
#pragma once

#include "adjoint/objective/constraint.hpp"
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

// One channel per actuator. Actuators that "controls" does not name are held: at their value in `start` (nu)
// if there is one, otherwise motors at 0 and servos at the start of their joint.
ControlInput read_controls(const Node& scene, const World& world, const VecX<double>& x0,
                           const std::vector<std::optional<double>>& start, int steps);

// The numbers of theta that a path selects: all of an entry, or "<entry>[k]".
struct Selection {
    const ParameterLayout::Entry* entry;
    int offset, width;
};
// Skips entries without effect; fails if the pattern matches only such entries.
std::vector<Selection> select_parameters(const Node& path, const ParameterLayout& layout);

// Sets the values that "parameters" gives and returns the parameters to optimize.
ParameterMap read_parameters(const Node& scene, const World& world, VecX<double>& theta);

// The numbers of theta that a list of entries with "path" and "value" gives other values than `theta` has, with these.
// None may be one of the variables.
std::vector<std::pair<int, double>> read_values(const Node& entries, const World& world, VecX<double> theta,
                                                const ParameterMap& variables);

// Recordings are relative to `folder`.
Objective read_objective(const Node& scene, const World& world, const VecX<double>& x0,
                         const std::filesystem::path& folder, int steps);
Constraints read_constraints(const Node& scene, const World& world, const VecX<double>& x0,
                             const std::filesystem::path& folder, int steps);

OptimizeSettings read_optimize(const Node& scene, const World& world, const VecX<double>& theta,
                               const ParameterMap& variables);

}  // namespace costate
