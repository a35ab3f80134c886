// `costate optimize --restarts`: several runs of an optimization, on threads and ranks.
#pragma once

#include "adjoint/optimize/restarts.hpp"
#include "apps/cli/command.hpp"
#include "apps/io/output.hpp"

namespace costate {

inline constexpr Option restarts_option{
    "restarts", "N",
    "optimize N times, from random starts or with seeds of cmaes in a row, and "
    "take the best (threads and ranks share them)"};

// How many, 1 without the option. Throws UsageError where there cannot be several runs.
int chosen_restarts(const Arguments& a, const Scene& s);

// Shows how far the runs are, and ends them at the first control-C. Throws DivergenceError if the first rollout
// diverges.
Restarted run_restarts(const Scene& scene, const Variables& variables, int restarts, int threads);

// Adds restarts, best_run, best_seed and restart_losses (null: diverged).
void add_restarts(const Scene& scene, const Restarted& found, Report& report);

}  // namespace costate
