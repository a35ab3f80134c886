// iLQR, multiple shooting and receding-horizon control for per-step controls of a rollout.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "adjoint/optimize/problem.hpp"
#include "adjoint/optimize/receding_horizon.hpp"

namespace costate {

namespace {

// Converts between the variables y of a plan and the controls of every step.
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
        for (Eigen::Index i = 0; i < moving; ++i)
            settings.lower[i] = variables.lower()[i * steps],
            settings.upper[i] = variables.upper()[i * steps];
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

}  // namespace

std::string why_no_shooting(const ControlPlan& plan, const ParameterMap& parameters,
                            const std::vector<int>& initial_state) {
    if (!parameters.empty()) return "it optimizes parameters";
    if (!initial_state.empty()) return "it optimizes the initial state";
    for (const ControlChannel& c : plan.channels())
        if (c.optimize && !c.per_step) return "it optimizes controls that are not \"per_step\"";
    return "";
}

void shoot(Problem& p) {
    constexpr double closed = 1e-8;  // defects count as closed if their sum is below this
    constexpr double still = 1e-9;   // improvements below this, relative to the cost, count as none
    constexpr int max_still = 3;     // iterations in a row without improvement
    const Rollout<Simulation>& rollout = p.rollout();
    const World& world = p.world();
    VecX<double> y = p.variables.start();
    ControlTable table(rollout.plan(), p.variables, rollout.steps());
    p.value(y);
    const RolloutInputs inputs = p.variables.inputs(y);

    const auto spent = [&] { return p.reason_to_stop(VecX<double>::Constant(1, unlimited)); };
    bool segmented = p.settings.method == Method::multiple_shooting;
    table.settings.segment = segmented ? p.settings.segment : 0;
    while (true) {
        TrajectoryOptimizer trajectory(world, p.objective(), inputs.theta, table.settings);
        trajectory.start(inputs.x0, table.controls(y));
        int quiet = 0;
        for (double before = trajectory.cost(); quiet < max_still && !spent(); before = trajectory.cost()) {
            const int runs = trajectory.runs();
            const bool better = trajectory.iterate();
            ++p.result.gradient_evaluations;
            p.result.loss_evaluations += trajectory.runs() - runs;
            p.note_gradient(trajectory.gradient_norm());
            if (!better) break;
            y = table.variables(trajectory.controls());
            p.value(y);
            p.end_iteration();
            if (trajectory.gradient_norm() <= p.settings.gradient_tolerance) break;
            quiet = trajectory.defect() < closed && before - trajectory.cost() < still * std::abs(before)
                        ? quiet + 1
                        : 0;
        }
        if (const char* why = spent()) return void(p.result.stopped = why);
        if (!segmented) break;
        // Multiple shooting has converged; continue from its controls with a single segment, without defects.
        segmented = false;
        table.settings.segment = 0;
        y = p.result.y;
    }
    p.result.stopped = "no descent along the steps";
}

// Runs the scene in closed loop and reports the control rate.
void recede(Problem& p) {
    const Rollout<Simulation>& rollout = p.rollout();
    const ControlTable table(rollout.plan(), p.variables, rollout.steps());
    const VecX<double> y = p.variables.start();
    p.value(y);
    const RolloutInputs inputs = p.variables.inputs(y);
    Eigen::MatrixXd U = table.controls(y);
    RecedingHorizon control(p.world(), p.objective(), inputs.theta, table.settings);
    PushesOfSteps pushes(p.world());
    StepScratch<double> scratch(p.world());
    VecX<double> x = inputs.x0, next(p.world().nx());
    std::vector<double> seconds;
    for (int t = 0; t < rollout.steps(); ++t, x.swap(next)) {
        const double before = p.seconds();
        U.col(t) = control.plan(x, U.middleCols(t, std::min(p.settings.horizon, rollout.steps() - t)), t);
        seconds.push_back(p.seconds() - before);
        step(p.world(), inputs.theta.data(), x.data(), U.col(t).data(), scratch, next.data(),
             pushes.at(t, inputs.theta.data()));
    }
    p.result.gradient_evaluations += rollout.steps();
    p.value(table.variables(U));
    p.end_iteration();
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2),
                     seconds.end());
    char text[80];
    std::snprintf(text, sizeof text, "end of the rollout; median %.3g ms per control, %.3g Hz",
                  1e3 * seconds[seconds.size() / 2], 1 / seconds[seconds.size() / 2]);
    p.result.stopped = text;
}

}  // namespace costate
