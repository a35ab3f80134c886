// Several runs of an optimization, of which the best counts (multistart): on threads, and on ranks if there are
// several. Runs of cmaes have seeds in a row; those of other methods begin at even random distances, of
// standard deviation `sigma` of the settings in units of a variable's range, or 1 if it has none, from the
// start of the variables, and the first one there.
#pragma once

#include "adjoint/batch/ranks.hpp"
#include "adjoint/optimize/augmented_lagrangian.hpp"

namespace costate {

// What the runs share. All members must outlive them.
struct RestartProblem {
    const World& world;
    const Objective& objective;
    const Constraints& constraints;
    const ControlPlan& plan;
    const Variables& variables;
    const Schedule& schedule;  // of the rollout of each run
};

struct RestartSettings {
    int restarts = 1, threads = 1;
    Ranks* ranks = nullptr;  // null: this process
};

// Called by the calling thread between iterations of its runs, and every 20 ms while it waits for the other
// threads. Either may be empty, and may throw, which ends all runs.
struct RestartPauses {
    std::function<void(int iterations, int of, double best)> progress;  // of the runs of this process
    std::function<bool()> interrupted;                                  // true ends the runs where they are
};

struct Restarted {
    OptimizeResult best;  // its initial loss is that of the start of the variables
    int index = 0;        // of the best run
    std::vector<double>
        losses;  // (restarts) at the end of each run; infinite if it diverged or did not begin
};

// The run with the lowest loss, of those that keep the constraints if there is one; of equals the first. The
// same bits for any threads and ranks. Throws DivergenceError if the first rollout of the first run diverges.
Restarted optimize_from_starts(const RestartProblem& problem, const OptimizeSettings& settings,
                               const RestartSettings& restarts, const RestartPauses& pauses = {});

}  // namespace costate
