// The feedback law around a rollout with per-step controls, from one sweep of iLQR:
//
//   u = u_t + K_t (x - x_t)       with the difference in the tangent space of the state
//   V_t(x) ~ V_t + V_x^T (x - x_t) + 1/2 (x - x_t)^T V_xx (x - x_t)      cost from step t on under this law
//
// Controls at their limits have gains of zero.
#pragma once

#include "adjoint/optimize/optimize.hpp"

namespace costate {

struct Feedback {
    std::vector<int> free;              // the optimized controls
    Eigen::MatrixXd states, controls;   // (nx x (steps + 1)), (nu x steps)
    std::vector<Eigen::MatrixXd> K;     // of each step (free x ndx)
    std::vector<VecX<double>> V_x;      // of each state (ndx)
    std::vector<Eigen::MatrixXd> V_xx;  // of each state (ndx x ndx)
};

struct FeedbackError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The law at variables y, which must be per-step controls alone (why_no_shooting). Throws FeedbackError if
// the rollout diverges or the costs have no minimum along the controls.
Feedback feedback(const World& w, const Objective& objective, const ControlPlan& plan,
                  const Variables& variables, const VecX<double>& y, int steps);

}  // namespace costate
