// "batch" of a scene: environments whose mean loss counts.
#pragma once

#include "adjoint/expectation/randomization.hpp"
#include "scenes/read/task/task_reader.hpp"

namespace costate {

// Without "batch", 0 environments. `optimized` are the parameters to optimize.
Randomization read_batch(const Node& scene, const World& world, const VecX<double>& theta,
                         const ParameterMap& optimized);

}  // namespace costate
