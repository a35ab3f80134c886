// The Jacobian of a step in tangent coordinates. Rows: q+, v+ and the activations (own_ndx). Columns: q, v and the
// activations, u and theta.
//
// All columns at once, from the equations that v+ and lambda satisfy (solvers/step/implicit.hpp):
//
//   M dv+ = -dr + J^T dlambda
//   (P A + K) dlambda = -P (ds - J M^-1 dr)
//   dq+ by the retraction
//
// and dw, dkappa of the recovery by the same equations with velocities v+ + w and impulses kappa
// (solvers/step/recovery.hpp).
//
// dr has the closed-form derivatives of inverse dynamics and of J^T lambda. ds has those of the rows, including
// gaps, frames and biases of contacts (Le Lidec et al. 2024, appendices C and D). If the gradient is swept, for
// impacts that are located or have the elastic gradient, and for thrusters, spatial tendons, slopes of gains and rows
// without closed forms here (equalities, limits of spherical joints), each row of v+ is computed by one adjoint of the
// step. So is each row of q+ if the displacement is not h v+ (displacement_is_h_v). Activations have closed forms: dr by
// an activation is that by a control that the force law reads.
//
// The derivative is that through the active set of the solution. The complementarity-aware gradient depends
// on its covector nonlinearly, so no matrix gives it.
#pragma once

#include "core/dynamics/rnea_derivatives.hpp"
#include "solvers/step/tangent_step.hpp"

namespace costate {

struct StepJacobian {
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Matrix by_x;  // (own_ndx x own_ndx)
    Matrix by_u;  // (own_ndx x nu)

    explicit StepJacobian(const World& w);

    // Intermediates. Allocates only if a step has more rows than all before.
    RneaDerivativesScratch<double> dynamics;
    std::vector<double> L;          // factor of M + h B, if the step computed none
    VecX<double> unused_theta_bar;  // (np) if there are activations: what their adjoints add is not wanted
    struct Velocities {
        std::vector<double> v;               // (nv)
        std::vector<Motion<double>> V;       // (bodies)
        std::vector<Motion<double>> behind;  // (nv) of the frame that a dof does not move
        explicit Velocities(const Model& m) : v(m.nv), V(m.bodies.size()), behind(m.nv) {}
    };
    Velocities now, next, displaced;  // at v, v+ and v+ + w
    Matrix response;     // (nv x own_ndx + nu + rows) derivatives of v+ without impulses, then M^-1 J^T
    Matrix ds, dlambda;  // (rows x own_ndx + nu)
    std::vector<Weighted<double>> parts;
    // The same of the recovery: w without impulses (nv x own_ndx + nu), then (rows x own_ndx + nu).
    Matrix recovery_response, recovery_ds, dkappa;
};

// Call after step(w, {theta, x, u}, s, ...), with the same external wrenches. Overwrites the covectors in the
// scratch. The data of a warm start are held constant. chosen: columns of (q, v, activations, u) in increasing order, null for
// all. In closed form only these are solved for, and the others are without meaning; adjoints give all.
void step_jacobian(const World& w, const double* theta, const double* x, const double* u,
                   StepScratch<double>& s, StepJacobian& J, const double* wrenches = nullptr,
                   const std::vector<int>* chosen = nullptr);

// The same by adjoints only. by_theta: if not null, also the columns of theta (own_ndx x np).
void step_jacobian_by_adjoints(const World& w, const double* theta, const double* x, const double* u,
                               StepScratch<double>& s, StepJacobian& J,
                               StepJacobian::Matrix* by_theta = nullptr, const double* wrenches = nullptr);

// The Jacobian of whole states, including the data of a warm start: by_x (ndx x ndx), by_u (ndx x nu),
// by_theta (ndx x np), by ndx adjoints.
void state_jacobian(const World& w, const double* theta, const double* x, const double* u,
                    StepScratch<double>& s, StepJacobian::Matrix& by_x, StepJacobian::Matrix& by_u,
                    StepJacobian::Matrix& by_theta);

// The derivative of one step along a direction, by dual numbers: x_next_dot (ndx) from theta_dot (np), x_dot
// (ndx) and u_dot (nu). Detection reads only values, no derivatives.
void step_jvp(const World& w, const double* theta, const double* x, const double* u, const double* theta_dot,
              const double* x_dot, const double* u_dot, TangentStep& tangent_step, double* x_next_dot);

}  // namespace costate
