// The problem of a large island, whose A is factored, by any law of friction: sweeps of projected
// Gauss-Seidel until the states of the rows settle, then Newton's method on those, exact for the box; where
// that gets stuck, Newton's method on smoothed equations.
//
// The work is bounded: after max_work_of_an_entry multiplications for each number of J nothing more is
// begun, and the smoothed equations not without room for 25 factorisations. So time grows with the island and
// no faster, and what is not solved then is left to sweeps that can be pulled back
// (solvers/step/impulses.hpp).
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

// Of a heap of 250 spheres this is about 60 factorisations, of one of 1000 about 10; of 1500 sweeps the work
// is the same.
inline constexpr double max_work_of_an_entry = 6e4;

struct LargeScratch {
    double work = 0;                         // multiplications of the last call, in factorisations and sweeps
    std::vector<double> x, s, before, best;  // iterates
    ActiveSet<double> set;
    // of the smoothed equations
    std::vector<double> scale, equations, step, start, trial;  // (rows)
    std::vector<int> rows;
    FactoredSolver smoothed;
};

// x (rows): in, a guess of the impulses; out, the solution or the best iterate.
SolverStatus solve_large(const MlcpView<double>& p, FrictionLaw law, LargeScratch& work, double* x);

// The active set at the x of solve_large, as settle_inplace leaves it. Where there is no solution, no row is
// in it.
void settle_large(const MlcpView<double>& p, FrictionLaw law, SolverStatus status, ActiveSet<double>& set,
                  double* x);

// Newton's method on the states that each iterate points to, in place, with a step that is halved until the
// residual falls. False, at the best iterate, where none does.
bool newton_inplace(const MlcpView<double>& p, FrictionLaw law, LargeScratch& work, double max_work,
                    double* x);

// Newton's method on smoothed equations while the smoothing is taken away, then that on the states. x: out;
// false if it gets stuck.
bool smoothed_newton(const MlcpView<double>& p, FrictionLaw law, LargeScratch& work, double max_work,
                     double* x);

// x after `sweeps` sweeps of projected Gauss-Seidel on the boxed problem, in place.
void gauss_seidel_inplace(const MlcpView<double>& p, int sweeps, double* x);

// At most `sweeps` sweeps by the law of a cone from x, in place, until the residual is `tolerance`; returns
// the residual, m/s.
double cone_gauss_seidel_inplace(const MlcpView<double>& p, FrictionLaw law, int sweeps, double tolerance,
                                 double* x);

}  // namespace costate
