// What an objective makes of one state, as least squares see it:
//
//   gradient = 2 J^T r + linear,   Hessian ~ 2 J^T J
//
// which is exact for terms that are quadratic and Gauss-Newton's approximation for others: squares without
// the curvature of their residuals, distances as the quadratic that touches them from above; heights,
// energies, impulses and squares of negative weight are without curvature.
#pragma once

#include "adjoint/objective/objective.hpp"
#include "solvers/step/jacobian.hpp"

namespace costate {

struct Residuals {
    using Matrix = StepJacobian::Matrix;
    VecX<double> r;       // weights and, of running terms, the time step are in it
    Matrix J;             // by (x, u, theta): (rows x (ndx + nu + np))
    VecX<double> linear;  // (ndx + nu + np)
};

class TermResiduals {
public:
    TermResiduals(const World& w, const Objective& objective);

    // Of the running terms after `step` of the same (x, u), or of the final terms after `observe`, with u
    // nullptr. Overwrites the bars in the scratch.
    void linearise(bool running, int t, const double* theta, const double* x, const double* u,
                   StepScratch<double>& s, Residuals& out);

private:
    const World& world_;
    Objective squares_, others_;
    std::vector<TermNorm> norms_;  // of squares_, whose own is that of a component
};

}  // namespace costate
