// The parts of a step's Jacobian that come from its rows: contacts, limits of joints and dry friction.
#pragma once

#include "solvers/step/jacobian.hpp"

namespace costate {

// The columns of every row by q and v, with velocities and impulses held constant, of the step and of its recovery:
// sets J.ds and J.recovery_ds, and adds to J.response and J.recovery_response.
void row_columns(const World& w, const double* theta, const double* x, const StepScratch<double>& s,
                 StepJacobian& J);

// Columns of (q, v, activations, u) at the front of a matrix of J.
using FrontColumns = Eigen::Map<StepJacobian::Matrix>;

// to (nv x columns) += M^-1 J^T dlambda, of the last columns of `response` and dlambda (rows x columns)
void add_impulse_columns(const FrontColumns& response, const StepJacobian::Matrix& dlambda, FrontColumns& to);

// by_recovery (nv x columns): in, the columns of w without impulses; out, those of w. The recovery is the problem of
// its rows with J (v+ + w) + bias + R lambda + c R kappa (solvers/step/recovery.hpp). response (nv x columns + rows):
// the columns of v+, then M^-1 J^T.
void recover_columns(StepScratch<double>& s, const FrontColumns& response, StepJacobian& J,
                     FrontColumns& by_recovery);

}  // namespace costate
