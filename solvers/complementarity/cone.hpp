// Solver of the problem with friction cones: the nonlinear problem of Signorini's and Coulomb's laws, or its
// convex relaxation (Le Lidec et al. 2024, section II; Carpentier et al. 2024). Newton's method on the states of
// the contacts starts from the states before the step, from the impulses of the last step or of a few sweeps, and
// from the iterates of an interior-point method. If all this fails, a first-order method runs until the states
// settle: projected Gauss-Seidel, contact by contact, or ADMM.
#pragma once

#include "solvers/complementarity/active_set.hpp"
#include "solvers/complementarity/free_rows.hpp"
#include "solvers/complementarity/interior_point.hpp"
#include "solvers/complementarity/lcp.hpp"
#include "solvers/complementarity/primal_newton.hpp"

namespace costate {

// Work of reflected_boxes.
struct ReflectedBoxes {
    std::vector<double> A, b, x, s;
    std::vector<double> u;  // (rows) of friction: the direction of the slip
    LcpScratch lcp;
    ActiveSet<double> set;
};

struct ConeScratch {
    double work = 0;                                              // of the last call, as LcpScratch::work
    std::vector<double> x, s, full, full_s, before, best, start;  // iterates and their velocities
    ActiveSet<double> set;
    std::vector<RowState> states, first_states;  // (rows) of the next step; of the first guess
    FreeRows free_rows;
    InteriorPoint interior;
    PrimalNewton primal_newton;
    ReflectedBoxes boxes;
    LargeScratch large;
    Eigen::MatrixXd shifted;  // ADMM: A + rho, factored in place
    Eigen::VectorXd primal, split, dual, rhs;
    FactoredSolver shifted_factor;  // ADMM: of A + rho, for a factored A
    std::vector<int> rows;
};

// x (rows): in, a guess of the impulses; out, the solution. law: cone or relaxed_cone. set: as for lcp.
template <class T>
SolverStatus cone(const MlcpView<T>& p, FrictionLaw law, ConeMethod method, ConeScratch& work,
                  ActiveSet<T>& set, T* x);

// Solves the boxed problem with friction rows along and across the slip of x, in place: a step towards a
// solution of the cone's law. by_pivots: gives up where pivots alone do not solve it.
bool reflected_boxes(const MlcpView<double>& p, ReflectedBoxes& work, double* x, bool by_pivots);

// For the few problems on which the other methods fail: Newton's method on the smoothed equation
// x = projection of x - s, with decreasing smoothing. Allocates. False if it gets stuck.
bool smoothing_newton(const MlcpView<double>& p, FrictionLaw law, double* x, double& work);
double cone_admm_inplace(const MlcpView<double>& p, FrictionLaw law, int iterations, double tolerance,
                         ConeScratch& work, double* x);

}  // namespace costate
