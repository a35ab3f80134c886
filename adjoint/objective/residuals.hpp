// The least-squares model of an objective at one state:
//
//   gradient = 2 J^T r + linear,   Hessian ~ 2 J^T J
//
// It is exact for quadratic terms, and the Gauss-Newton approximation for others: it neglects the curvature
// of residuals and replaces distances by their tangent quadratic from above. Heights, energies, impulses and
// squares with negative weight are modelled without curvature.
#pragma once

#include "adjoint/objective/objective.hpp"
#include "solvers/pushes.hpp"
#include "solvers/step/jacobian.hpp"

namespace costate {

struct Residuals {
    using Matrix = StepJacobian::Matrix;
    VecX<double> r;       // includes weights and, for running terms, the time step
    Matrix J;             // with respect to (x, u, theta), or (x, u): (rows x (ndx + nu + np)), or without np
    VecX<double> linear;  // the same columns
};

enum class Columns { state_and_control, and_parameters };

class TermResiduals {
public:
    TermResiduals(const World& w, const Objective& objective, Columns columns);

    // True if no term can be negative.
    bool is_sum_of_squares() const { return others_.empty(); }

    // Linearizes the running terms after `step` with the same (x, u), or the final terms after `observe`,
    // with u = nullptr. Overwrites the bars in the scratch.
    void linearise(bool running, int t, const double* theta, const double* x, const double* u,
                   StepScratch<double>& s, Residuals& out);

private:
    void add_gradient(const Term& term, int t, const double* theta, const double* x, const double* u,
                      StepScratch<double>& s, double* row);

    const World& world_;
    PushesOfSteps pushes_;
    const bool of_parameters_;
    VecX<double> unused_;  // (np) without columns of parameters, their covector
    Objective squares_, others_;
    std::vector<TermNorm> norms_;  // original norms of squares_, whose norms are replaced by `component`
};

}  // namespace costate
