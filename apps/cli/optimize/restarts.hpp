// Several runs of an optimization, of which the best counts: on threads, and on ranks if there are several. Runs of cmaes
// have seeds in a row; those of other methods start around the start of the scene, the first one at it.
#pragma once

#include "adjoint/optimize/optimize.hpp"
#include "apps/cli/command.hpp"
#include "apps/io/output.hpp"

namespace costate {

inline constexpr Option restarts_option{
    "restarts", "N",
    "optimize N times, from random starts or with seeds of cmaes in a row, and "
    "take the best (threads and ranks share them)"};

// How many, 1 without the option. Throws UsageError where there cannot be several runs.
int chosen_restarts(const Arguments& a, const Scene& s);

class Restarts {
public:
    Restarts(const Scene& s, const Variables& variables, int restarts, int threads)
        : scene_(s),
          variables_(variables),
          restarts_(restarts),
          threads_(threads) {}

    // The run with the lowest loss, of those that keep the constraints if there is one; of equals the first. The same bits
    // for any threads and ranks.
    // progress(iterations of all runs of this process, of so many, best loss so far) is called by any of its threads,
    // one at a time. Throws DivergenceError if the first rollout diverges.
    OptimizeResult run(const std::function<void(int iterations, int of, double best)>& progress);
    void add_to(Report& report) const;  // restarts, best_run, best_seed, restart_losses (null: diverged)

private:
    const Scene& scene_;
    const Variables& variables_;
    const int restarts_, threads_;
    int best_ = 0;
    std::vector<double> losses_;
};

}  // namespace costate
