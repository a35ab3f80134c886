// Convergence of the contact solver over a rollout.
#pragma once

#include "apps/io/output.hpp"
#include "solvers/step/step.hpp"

namespace costate {

struct SolverRecord {
    double residual = 0;  // the largest, m/s
    int unconverged = 0;  // steps without a solution

    // Adds the step whose intermediates are in the scratch.
    void add(const World& w, const StepScratch<double>& s) {
        const SolverOutcome outcome = solver_outcome(w, s);
        residual = std::max(residual, outcome.residual);
        unconverged += !outcome.converged;
    }
    // True if users should be told: an exact solver failed, or sweeps left a visible velocity error.
    bool notable(const World& w) const {
        constexpr double seen = 1e-3;  // m/s
        return unconverged > 0 && (!solver_kind(w.settings.solver).sweeps || residual > seen);
    }
    Report report() const { return {{"largest_residual", residual}, {"unconverged_steps", unconverged}}; }
    template <class Archive> void transfer(Archive& a) { a(residual, unconverged); }
};

}  // namespace costate
