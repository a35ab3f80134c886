// The problem for the methods of adjoint/optimize/optimize.cpp: the loss of a rollout, half its square, or
// its sum of squared residuals, as a function of the variables y. Counts evaluations and keeps the best
// point.
#pragma once

#include <chrono>

#include "adjoint/optimize/optimize.hpp"

namespace costate {

using Progress = std::function<void(const OptimizeResult&)>;

class Problem {
public:
    Problem(Rollout<Simulation>& rollout, const Variables& moving, const OptimizeSettings& how,
            const Progress& progress)
        : variables(moving),
          settings(how),
          rollout_(rollout),
          progress_(progress) {}

    // The loss, or half its square if the settings say so.
    double value(const VecX<double>& y);
    VecX<double> gradient(
        const VecX<double>& y);  // gradient of value; y must be that of the last call of `value`

    // Residuals at the y of the last call of `value`, and their Jacobian, which costs one reverse sweep per
    // residual.
    VecX<double> residuals(const Objective& components);
    Eigen::MatrixXd jacobian(const VecX<double>& y, const Objective& components);

    void note_gradient(double norm);  // records the norm of a gradient of the loss in the result

    const Objective& objective() const { return rollout_.step().objective(); }
    const World& world() const { return rollout_.step().world(); }
    const Rollout<Simulation>& rollout() const { return rollout_; }
    // counts an iteration
    void end_iteration();
    const char* reason_to_stop(const VecX<double>& gradient) const;  // nullptr: do not stop
    const char* budget_spent() const;                                // criteria without gradient
    // since the start
    double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

    const Variables& variables;
    const OptimizeSettings& settings;
    OptimizeResult result;

private:
    using Clock = std::chrono::steady_clock;
    double loss(const VecX<double>& y);
    void note_loss();

    const Clock::time_point begin_ = Clock::now();
    Rollout<Simulation>& rollout_;
    const Progress& progress_;
    double loss_ = 0;
    RolloutInputs inputs_;
    Gradient gradient_;
};

// The methods. Each sets result.stopped to the reason for stopping and appends to result.losses after every
// iteration.
void lbfgs(Problem& problem);
void gauss_newton(Problem& problem);
void shoot(Problem& problem);              // ilqr and multiple_shooting
void recede(Problem& problem);             // receding_horizon
void set_lbfgs(void (*method)(Problem&));  // another one for Method::lbfgs
void set_cmaes(void (*method)(Problem&));  // the method of Method::cmaes, which has a library of its own

}  // namespace costate
