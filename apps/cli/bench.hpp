// Shared parts of the benchmarks of `costate bench`: a rollout, a batch of environments, the Jacobian of a
// step, the stages of a step.
#pragma once

#include <algorithm>

#include "apps/cli/command.hpp"

namespace costate {

// One time per repetition, in microseconds.
struct Times {
    std::vector<double> us;
    double minimum() const { return *std::min_element(us.begin(), us.end()); }
    double median() const {
        std::vector<double> sorted = us;
        std::sort(sorted.begin(), sorted.end());
        return 0.5 * (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]);
    }
};

// Times a batch of n_env environments, on one thread and on `threads`, and a loop of steps.
int bench_batch(const Arguments& a, int n_env, int threads, int repeat);

// Times the Jacobian of a step and difference quotients.
int bench_jacobian(const Arguments& a, int repeat);

// Times the stages of a step.
int bench_stages(const Arguments& a, int repeat);

}  // namespace costate
