// How the solver of contacts left the steps of a rollout, for those who are to learn of it.
#pragma once

#include "apps/io/output.hpp"
#include "solvers/step/step.hpp"

namespace costate {

struct SolverRecord {
    double residual = 0;  // the largest, m/s
    int unconverged = 0;  // steps without a solution

    // Of the step whose intermediates are in the scratch.
    void add(const World& w, const StepScratch<double>& s) {
        const SolverOutcome outcome = solver_outcome(w, s);
        residual = std::max(residual, outcome.residual);
        unconverged += !outcome.converged;
    }
    // Whether to speak of it: an exact solver failed, or sweeps left an error of velocity that is seen.
    bool notable(const World& w) const {
        constexpr double seen = 1e-3;  // m/s
        return unconverged > 0 && (w.settings.solver != SolverType::pgs || residual > seen);
    }
    Report report() const { return {{"largest_residual", residual}, {"unconverged_steps", unconverged}}; }
    template <class Archive> void transfer(Archive& a) { a(residual), a(unconverged); }
};

}  // namespace costate
