// Solver of a large island, with a factored A and any law of friction: sweeps of projected Gauss-Seidel until
// the states of the rows settle, then Newton's method on these states, exact for the box. If this gets stuck,
// Newton's method on smoothed equations. `ncp` begins as for a small island: cone.hpp.
//
// The work is bounded: no method starts after max_work_of_an_entry multiplications for each entry of J, and
// the smoothed equations require work for 25 factorisations. Time is therefore proportional to the size of
// the island. An unsolved island gets sweeps that can be pulled back (solvers/step/impulses.hpp).
#pragma once

#include "solvers/complementarity/active_set.hpp"

namespace costate {

enum class SolverStatus : unsigned char {
    guessed,   // the guess was right
    primal,    // found by Newton's method on the dofs
    pivoted,   // found by pivoting
    lemke,     // found by Lemke's method
    boxed,     // found by boxes rotated to the slip
    interior,  // found by an interior-point method
    smoothed,  // found by Newton's method on smoothed equations
    unsolved,  // no method succeeded: finite impulses of Gauss-Seidel, with their residual
};

// The work of about 60 factorisations for a heap of 250 spheres, of about 10 for 1000 spheres, and of 1500
// sweeps for either.
inline constexpr double max_work_of_an_entry = 6e4;
double work_limit(const FactoredOperator<double>& A);  // of an island, in multiplications

struct LargeScratch {
    double work = 0;                         // multiplications of the last call, in factorisations and sweeps
    std::vector<double> x, s, before, best;  // iterates
    ActiveSet<double> set;                   // of the last call; without states if it solved no equations
    // for the smoothed equations
    std::vector<double> scale, equations, step, start, trial;  // (rows)
    std::vector<int> rows;
    FactoredSolver smoothed;
};

// x (rows): in, a guess of the impulses; out, the solution or the best iterate.
SolverStatus solve_large(const MlcpView<double>& p, FrictionLaw law, LargeScratch& work, double* x);
// Its two parts, which add to `work.work`: Newton's method on the states, from the guess and from sweeps; and,
// from there, on smoothed equations.
SolverStatus solve_large_by_states(const MlcpView<double>& p, FrictionLaw law, LargeScratch& work, double* x);
SolverStatus solve_large_smoothed(const MlcpView<double>& p, FrictionLaw law, LargeScratch& work, double* x);

// Computes the active set at the x of solve_large, as settle_inplace does from `found`. It is empty if there is no
// solution.
void settle_large(const MlcpView<double>& p, FrictionLaw law, SolverStatus status,
                  const ActiveSet<double>* found, ActiveSet<double>& set, double* x);

// Newton's method on the states suggested by each iterate, in place. Steps are halved until the residual
// decreases. False, with the best iterate, if no step decreases it. w.set: out.
bool newton_inplace(const MlcpView<double>& p, FrictionLaw law, LargeScratch& work, double max_work,
                    double* x);

// Newton's method on smoothed equations with decreasing smoothing, then on the states. x: out. False if it
// gets stuck.
bool smoothed_newton(const MlcpView<double>& p, FrictionLaw law, LargeScratch& work, double max_work,
                     double* x);

// Runs at most `sweeps` sweeps with the law of a cone from x, in place, until the residual is at most
// `tolerance`. Returns the residual, m/s.
double cone_gauss_seidel_inplace(const MlcpView<double>& p, FrictionLaw law, int sweeps, double tolerance,
                                 std::vector<double>& work, double* x);

}  // namespace costate
