// The Jacobian of a step in tangent coordinates: rows are those of (q+, v+), 2 nv; columns those of (q, v),
// of u and of theta.
//
// With the equations that v+ and lambda obey (solvers/step/implicit.hpp), every column at once:
//
//   M dv+ = -dr + J^T dlambda,   (P A + K) dlambda = -P (ds - J M^-1 dr),   dq+ by the retraction
//
// dr from the closed-form derivatives of inverse dynamics and of J^T lambda, ds from those of the rows: gaps,
// frames and biases of contacts are in it (Le Lidec et al. 2024, appendices C and D). Where the gradient is
// swept, and for rows without closed forms here (equalities, limits of spherical joints) and thrusters, a row
// of v+ is one adjoint of the step; where the displacement is not h v+ (displacement_is_h_v), so is a row of
// q+.
//
// It is the derivative through the active set that the step ended in. The complementarity-aware gradient
// chooses its active set by the covector, and is no product with a matrix.
#pragma once

#include "core/dynamics/rnea_derivatives.hpp"
#include "solvers/step/step.hpp"

namespace costate {

struct StepJacobian {
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Matrix by_x;  // (2 nv x 2 nv)
    Matrix by_u;  // (2 nv x nu)

    explicit StepJacobian(const World& w);

    // Intermediates; nothing is allocated once a step with as many rows has been seen.
    RneaDerivativesScratch<double> dynamics;
    std::vector<double> L;               // factor of M + h B, where the step had none
    std::vector<Motion<double>> V_next;  // (bodies) at v+
    // (nv) of the frame that stays behind when a dof moves, at v and v+
    std::vector<Motion<double>> V_behind, V_next_behind;
    Matrix response;     // (nv x 2 nv + nu + rows) of v+ without impulses, then M^-1 J^T
    Matrix ds, dlambda;  // (rows x 2 nv + nu)
};

// After step(w, theta, x, u, s, ...). Overwrites the bars in the scratch. What a warm start keeps is held.
void step_jacobian(const World& w, const double* theta, const double* x, const double* u,
                   StepScratch<double>& s, StepJacobian& J);

// The same by adjoints alone, and with the columns of theta (2 nv x np) where the matrix is given.
void step_jacobian_by_adjoints(const World& w, const double* theta, const double* x, const double* u,
                               StepScratch<double>& s, StepJacobian& J,
                               StepJacobian::Matrix* by_theta = nullptr);

// Of whole states: by_x (ndx x ndx), by_u (ndx x nu), by_theta (ndx x np), by ndx adjoints: what a warm start
// keeps is in it.
void state_jacobian(const World& w, const double* theta, const double* x, const double* u,
                    StepScratch<double>& s, StepJacobian::Matrix& by_x, StepJacobian::Matrix& by_u,
                    StepJacobian::Matrix& by_theta);

// Of one step along a direction: x_next_dot (ndx) from theta_dot (np), x_dot (ndx) and u_dot (nu), by dual
// numbers; the scratch is one of dual numbers. The features that meet are decided by values.
void step_jvp(const World& w, const double* theta, const double* x, const double* u, const double* theta_dot,
              const double* x_dot, const double* u_dot, StepScratch<Dual<double>>& s, double* x_next_dot);

}  // namespace costate
