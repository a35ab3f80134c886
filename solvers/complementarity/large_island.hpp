// The problem of a large island, whose A is factored, by any law of friction: sweeps of projected
// Gauss-Seidel until the states of the rows settle, then Newton's method on those, exact for the box. Rounds
// of ever more sweeps each end in an attempt of Newton's method.
//
// The work is bounded: 50 + 100 + ... + 1600 sweeps, and in each of the six rounds at most 30 steps of
// Newton's method, each a factorisation of the size of the island's dofs
// (solvers/complementarity/factored_solver.hpp). An attempt ends at the first step that does not help, so
// that most take one. What is not solved then ends with the best iterate and its residual.
#pragma once

#include "solvers/complementarity/active_set.hpp"

namespace costate {

enum class SolverStatus : unsigned char {
    guessed,   // the guess was right
    pivoted,   // found by changing sides
    lemke,     // found by Lemke's method
    boxed,     // found by boxes turned to the slip
    smoothed,  // found by Newton's method on smoothed equations
    unsolved,  // none of the above: the impulses of Gauss-Seidel, finite, with the residual they have
};

struct LargeScratch {
    std::vector<double> x, s, before, best;  // iterates
    ActiveSet<double> set;
};

// x (rows): in, a guess of the impulses; out, the solution or the best iterate.
SolverStatus solve_large(const MlcpView<double>& p, FrictionLaw law, LargeScratch& work, double* x);

// x after `sweeps` sweeps of projected Gauss-Seidel on the boxed problem, in place.
void gauss_seidel_inplace(const MlcpView<double>& p, int sweeps, double* x);

// At most `sweeps` sweeps by the law of a cone from x, in place, until the residual is `tolerance`; returns
// the residual, m/s.
double cone_gauss_seidel_inplace(const MlcpView<double>& p, FrictionLaw law, int sweeps, double tolerance,
                                 double* x);

}  // namespace costate
