// The values that an optimization changes, by name, as result.json holds them.
#pragma once

#include "adjoint/optimize/optimize.hpp"
#include "apps/io/output.hpp"
#include "scenes/scene.hpp"

namespace costate {

// Indices in theta of the optimized parameters; log_cholesky has ten for a body.
std::vector<int> optimized_numbers(const Scene& s);
// Columns of a trajectory for the initial state (q, v).
std::vector<std::string> start_columns(const Scene& s);

Report parameter_values(const Scene& s, const RolloutInputs& best);
// By actuator: one number per step, or knots and their values.
Report control_values(const Scene& s, const RolloutInputs& best);
Report initial_values(const Scene& s, const RolloutInputs& best);

}  // namespace costate
