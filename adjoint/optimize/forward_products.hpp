// Least squares of a whole rollout by forward products: propagates the tangents of all variables y,
//
//   X_0 = dx_0/dy,   X_t+1 = A_t X_t + B_t du_t/dy + C_t dtheta/dy
//
// with the Jacobians A, B, C of the steps, and adds every residual r (adjoint/objective/residuals.hpp) to the
// normal equations. The cost is that of the steps' Jacobians, whatever the number of residuals.
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
    // World, objective, plan and variables must outlive this object. Throws std::invalid_argument if states
    // hold impulses of a warm start.
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
