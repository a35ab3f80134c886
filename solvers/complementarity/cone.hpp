// The problem with friction cones, the nonlinear one of Signorini's and Coulomb's laws or its convex
// relaxation (Le Lidec et al. 2024, section II; Carpentier et al. 2024): a first-order method until the
// states of the contacts settle, then Newton's method on those. First-order methods are projected
// Gauss-Seidel, contact by contact, and ADMM.
#pragma once

#include "solvers/complementarity/active_set.hpp"
#include "solvers/complementarity/lcp.hpp"

namespace costate {

// Work of rotated_boxes.
struct RotatedBoxes {
    std::vector<double> A, b, x, s, cosine, sine;
    LcpScratch lcp;
    ActiveSet<double> set;
};

struct ConeScratch {
    double work = 0;                         // factorisations of the last call, as LcpScratch::work
    std::vector<double> x, s, before, best;  // iterates
    ActiveSet<double> set;
    RotatedBoxes boxes;
    LargeScratch large;
    Eigen::MatrixXd shifted;  // of ADMM: A + rho, factored in place
    Eigen::VectorXd primal, split, dual, rhs;
    FactoredSolver shifted_factor;  // of A + rho, where A is factored
    std::vector<int> rows;
};

// x (rows): in, a guess of the impulses; out, the solution. law: cone or relaxed_cone. set: as for lcp.
template <class T>
SolverStatus cone(const MlcpView<T>& p, FrictionLaw law, ConeMethod method, ConeScratch& work,
                  ActiveSet<T>& set, T* x);

// Solves the boxed problem with its rows along the slip of x, in place: a step towards a solution of the
// cone's law.
bool rotated_boxes(const MlcpView<double>& p, RotatedBoxes& work, double* x);

// For the few problems on which those fail: Newton's method on the equation x = projection of x - s,
// smoothed, while the smoothing is taken away. Allocates. False if it gets stuck.
bool smoothing_newton(const MlcpView<double>& p, FrictionLaw law, double* x, double& work);
double cone_admm_inplace(const MlcpView<double>& p, FrictionLaw law, int iterations, double tolerance,
                         ConeScratch& work, double* x);

}  // namespace costate
