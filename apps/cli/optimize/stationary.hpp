// Optimizations that cannot begin because the gradient is zero at the start.
#pragma once

#include "adjoint/optimize/optimize.hpp"
#include "scenes/scene.hpp"

namespace costate {

// Why the run made no progress from a loss above 0, with a remedy: every entry of its first gradient was zero.
// Empty otherwise. Repeats the rollout of the start.
std::string why_stationary(const Scene& s, const Variables& variables, Rollout<Simulation>& rollout,
                           const OptimizeResult& r);

}  // namespace costate
