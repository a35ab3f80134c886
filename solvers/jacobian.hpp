// The Jacobian of a step, in tangent coordinates: rows are those of (q+, v+), 2 nv; columns those of (q, v), 2 nv, of u and of
// theta. A row of v+ is one adjoint of the step; the rows of q+ follow by the chain rule from q+ = retract(q, h v+).
// (Le Lidec et al. 2024, appendices C and D, ask for the same matrix; here gaps, frames, biases and parameters are in it.)
#pragma once

#include "solvers/step.hpp"

namespace costate {

struct StepJacobian {
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Matrix by_x;      // (2 nv x 2 nv)
    Matrix by_u;      // (2 nv x nu)
    Matrix by_theta;  // (2 nv x np)
    explicit StepJacobian(const World& w) : by_x(w.ndx(), w.ndx()), by_u(w.ndx(), w.nu()), by_theta(w.ndx(), w.np()) {}
};

// After step(w, theta, x, u, s, ...). Overwrites the bars in the scratch.
void step_jacobian(const World& w, const double* theta, const double* x, const double* u, StepScratch<double>& s, StepJacobian& J);

// Of one step along a direction: x_next_dot (2 nv) from theta_dot (np), x_dot (2 nv) and u_dot (nu), by dual numbers; the scratch is one
// of dual numbers. The features that meet are decided by values.
void step_jvp(const World& w, const double* theta, const double* x, const double* u, const double* theta_dot, const double* x_dot,
              const double* u_dot, StepScratch<Dual<double>>& s, double* x_next_dot);

}  // namespace costate
