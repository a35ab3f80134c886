// The least-squares model of an objective at one state:
//
//   gradient = 2 J^T r + linear,   Hessian ~ 2 J^T J
//
// It is exact for quadratic terms, and the Gauss-Newton approximation for others: it neglects the curvature
// of residuals and replaces distances by their tangent quadratic from above. Heights, energies, impulses and
// squares with negative weight are modelled without curvature.
#pragma once

#include "adjoint/objective/objective.hpp"
#include "solvers/step/jacobian.hpp"

namespace costate {

struct Residuals {
    using Matrix = StepJacobian::Matrix;
    VecX<double> r;       // includes weights and, for running terms, the time step
    Matrix J;             // with respect to (x, u, theta): (rows x (ndx + nu + np))
    VecX<double> linear;  // (ndx + nu + np)
};

class TermResiduals {
public:
    TermResiduals(const World& w, const Objective& objective);

    // Linearizes the running terms after `step` with the same (x, u), or the final terms after `observe`,
    // with u = nullptr. Overwrites the bars in the scratch.
    void linearise(bool running, int t, const double* theta, const double* x, const double* u,
                   StepScratch<double>& s, Residuals& out);

private:
    const World& world_;
    Objective squares_, others_;
    std::vector<TermNorm> norms_;  // original norms of squares_, whose norms are replaced by `component`
};

}  // namespace costate
