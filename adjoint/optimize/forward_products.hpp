// Least squares of a whole rollout, by forward products: the tangents of all variables y go along with the
// rollout,
//
//   X_0 = dx_0/dy,   X_t+1 = A_t X_t + B_t du_t/dy + C_t dtheta/dy
//
// through the Jacobians A, B, C of its steps, and every residual r of a term
// (adjoint/objective/residuals.hpp) adds to the normal equations. The price of a rollout's Jacobian is then
// that of its steps' Jacobians, however many residuals there are.
#pragma once

#include "adjoint/objective/residuals.hpp"
#include "adjoint/optimize/optimize.hpp"

namespace costate {

struct NormalEquations {
    Eigen::MatrixXd H;  // J^T J (n x n)
    VecX<double> g;     // J^T r (n): half the gradient of the loss
};

class ForwardProducts {
public:
    // World, objective, plan and variables must outlive it. Throws std::invalid_argument where states hold
    // impulses for a warm start.
    ForwardProducts(const World& w, const Objective& objective, const ControlPlan& plan,
                    const Variables& variables, int steps);
    NormalEquations at(const VecX<double>& y);

private:
    void add(const Eigen::MatrixXd& X, const Eigen::MatrixXd& U, const Eigen::MatrixXd& Theta,
             NormalEquations& sum) const;

    const World& world_;
    const ControlPlan& plan_;
    const Variables& variables_;
    const int steps_;
    StepScratch<double> scratch_;
    StepJacobian jacobian_;
    StepJacobian::Matrix by_theta_;
    TermResiduals terms_;
    Residuals residuals_;
};

}  // namespace costate
