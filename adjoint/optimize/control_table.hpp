// Converts between the variables y of per-step controls and the controls of every step.
#pragma once

#include "adjoint/optimize/ilqr.hpp"
#include "adjoint/optimize/optimize.hpp"

namespace costate {

class ControlTable {
public:
    ControlTable(const ControlPlan& plan, const Variables& variables, int steps)
        : plan_(plan),
          variables_(variables),
          steps_(steps) {
        for (size_t n = 0; n < plan.channels().size(); ++n)
            if (plan.channels()[n].optimize) settings.free.push_back(static_cast<int>(n));
        const auto moving = static_cast<Eigen::Index>(settings.free.size());
        settings.lower.resize(moving);
        settings.upper.resize(moving);
        for (Eigen::Index i = 0; i < moving; ++i) {
            settings.lower[i] = variables.lower()[i * steps];
            settings.upper[i] = variables.upper()[i * steps];
        }
    }
    Eigen::MatrixXd controls(const VecX<double>& y) const {  // (nu x steps)
        const VecX<double> z = variables_.inputs(y).z;
        Eigen::MatrixXd U(plan_.nu(), steps_);
        for (int t = 0; t < steps_; ++t)
            plan_.evaluate(z.data(), t, U.col(t).data());
        return U;
    }
    VecX<double> variables(const Eigen::MatrixXd& U) const {
        VecX<double> y(variables_.size());
        for (Eigen::Index i = 0; i < settings.lower.size(); ++i)
            y.segment(i * steps_, steps_) = U.row(settings.free[i]).transpose();
        return y;
    }

    TrajectorySettings settings;

private:
    const ControlPlan& plan_;
    const Variables& variables_;
    const int steps_;
};

}  // namespace costate
