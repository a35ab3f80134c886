// What the kinds of `costate bench` share: of one rollout, of a batch of environments, of the Jacobian of a
// step.
#pragma once

#include <algorithm>

#include "apps/cli/command.hpp"

namespace costate {

// One number a repetition; microseconds.
struct Times {
    std::vector<double> us;
    double minimum() const { return *std::min_element(us.begin(), us.end()); }
    double median() const {
        std::vector<double> sorted = us;
        std::sort(sorted.begin(), sorted.end());
        return 0.5 * (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]);
    }
};

// Of a batch of so many environments, stepped on one thread and on `threads`, beside a loop of steps.
int bench_batch(const Arguments& a, int n_env, int threads, int repeat);

// Of the Jacobian of a step, beside differences.
int bench_jacobian(const Arguments& a, int repeat);

}  // namespace costate
