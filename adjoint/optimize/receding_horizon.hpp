// Receding-horizon control: before every step, one iteration of iLQR improves the previous plan from the
// current state, and its first control is applied.
#pragma once

#include "adjoint/optimize/ilqr.hpp"

namespace costate {

class RecedingHorizon {
public:
    RecedingHorizon(const World& w, const Objective& objective, const VecX<double>& theta,
                    const TrajectorySettings& settings)
        : optimizer_(w, objective, theta, settings) {}

    // The control (nu) at state x (nx), before step t of the objective. `guess` (nu x horizon) is used where
    // the previous plan does not reach, and for controls that are not optimized.
    VecX<double> plan(const VecX<double>& x, const Eigen::MatrixXd& guess, int t, int iterations = 1) {
        Eigen::MatrixXd U = guess;
        const Eigen::Index kept = std::min(plan_.cols() - 1, U.cols());
        for (const int i : optimizer_.free())
            if (kept > 0) U.row(i).head(kept) = plan_.row(i).segment(1, kept);
        if (!optimizer_.start(x, U, t)) optimizer_.start(x, guess, t);
        for (int k = 0; k < iterations && optimizer_.cost() < unlimited; ++k)
            if (!optimizer_.iterate()) break;
        plan_ = optimizer_.controls();
        return plan_.col(0);
    }
    const TrajectoryOptimizer& optimizer() const { return optimizer_; }
    template <class Archive> void transfer(Archive& a) {
        optimizer_.transfer(a);
        a(plan_);
    }

private:
    TrajectoryOptimizer optimizer_;
    Eigen::MatrixXd plan_;  // (nu x horizon)
};

}  // namespace costate
