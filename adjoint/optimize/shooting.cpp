// iLQR, multiple shooting and receding-horizon control for per-step controls of a rollout.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "adjoint/optimize/control_table.hpp"
#include "adjoint/optimize/problem.hpp"
#include "adjoint/optimize/receding_horizon.hpp"

namespace costate {

std::string why_no_shooting(const ControlPlan& plan, const ParameterMap& parameters,
                            const std::vector<int>& initial_state) {
    if (!parameters.empty()) return "it optimizes parameters";
    if (!initial_state.empty()) return "it optimizes the initial state";
    for (const ControlChannel& c : plan.channels())
        if (c.optimize && !c.per_step) return "it optimizes controls that are not \"per_step\"";
    return "";
}

namespace {

// The trajectory that an iteration improves. Multiple shooting ends without segments once it has converged.
struct Shot {
    const Problem& p;
    ControlTable& table;
    const RolloutInputs& inputs;
    VecX<double> y;
    bool segmented;
    int quiet = 0;  // iterations in a row without improvement
    std::optional<TrajectoryOptimizer> trajectory;

    void make_trajectory() {
        table.settings.segment = segmented ? p.settings.segment : 0;
        trajectory.emplace(p.world(), p.objective(), inputs.theta, table.settings);
    }
    void begin() {
        make_trajectory();
        trajectory->start(inputs.x0, table.controls(y));
        quiet = 0;
    }
    template <class Archive> void transfer(Archive& a) {
        a(y, segmented, quiet);
        if constexpr (std::is_same_v<Archive, ArchiveReader>) make_trajectory();
        trajectory->transfer(a);
    }
};

}  // namespace

void shoot(Problem& p) {
    constexpr double closed = 1e-8;  // defects count as closed if their sum is below this
    constexpr double still = 1e-9;   // improvements below this, relative to the cost, count as none
    constexpr int max_still = 3;     // iterations in a row without improvement
    const Rollout<Simulation>& rollout = p.rollout();
    ControlTable table(rollout.plan(), p.variables, rollout.steps());
    const RolloutInputs inputs = p.variables.inputs(p.variables.start());
    Shot shot{p, table, inputs, p.variables.start(), p.settings.method == Method::multiple_shooting, 0, {}};
    if (!p.resume(shot)) {
        p.value(shot.y);
        shot.begin();
    }

    const auto spent = [&] { return p.reason_to_stop(VecX<double>::Constant(1, unlimited)); };
    while (true) {
        TrajectoryOptimizer& trajectory = *shot.trajectory;
        while (shot.quiet < max_still && !spent()) {
            const double before = trajectory.cost();
            const int runs = trajectory.runs();
            const bool better = trajectory.iterate();
            ++p.result.gradient_evaluations;
            p.result.loss_evaluations += trajectory.runs() - runs;
            p.note_gradient(trajectory.gradient_norm());
            if (!better) break;
            shot.y = table.variables(trajectory.controls());
            p.value(shot.y);
            const bool same =
                trajectory.defect() < closed && before - trajectory.cost() < still * std::abs(before);
            shot.quiet = same ? shot.quiet + 1 : 0;
            if (trajectory.gradient_norm() <= p.settings.gradient_tolerance) shot.quiet = max_still;
            p.end_iteration(shot);
        }
        if (const char* why = spent()) return void(p.result.stopped = why);
        if (!shot.segmented) break;
        // Multiple shooting has converged; continue from its controls with a single segment, without defects.
        shot.segmented = false;
        shot.y = p.result.y;
        shot.begin();
    }
    p.result.stopped = shot.trajectory->gradient_norm() == 0 ? "gradient vanishes"
                       : shot.quiet > 0                      ? "converged"
                                                             : "no descent along the steps";
}

namespace {

// A closed loop before step t, in state x. The columns of U before t have been applied.
struct Loop {
    RecedingHorizon control;
    int t = 0;
    VecX<double> x;
    Eigen::MatrixXd U;              // (nu x steps)
    std::vector<double> seconds{};  // of planning, for each step

    template <class Archive> void transfer(Archive& a) {
        control.transfer(a);
        a(t, x, U, seconds);
    }
};

}  // namespace

// Runs the scene in closed loop and reports the control rate.
void recede(Problem& p) {
    const Rollout<Simulation>& rollout = p.rollout();
    const ControlTable table(rollout.plan(), p.variables, rollout.steps());
    const VecX<double> y = p.variables.start();
    const RolloutInputs inputs = p.variables.inputs(y);
    const Eigen::MatrixXd guess = table.controls(y);
    const double h = p.world().settings.time_step;
    Loop loop{RecedingHorizon(p.world(), p.objective(), inputs.theta, table.settings, guess), 0, inputs.x0,
              guess};
    if (!p.resume(loop)) p.value(y);
    PushesOfSteps pushes(p.world());
    StepScratch<double> scratch(p.world());
    VecX<double> next(p.world().nx());
    bool interrupted = false;
    while (loop.t < rollout.steps() && !interrupted) {
        const double before = p.seconds();
        const int t = loop.t++;
        loop.U.col(t) = loop.control.plan(loop.x, t * h, std::min(p.settings.horizon, rollout.steps() - t))
                            .controls.col(0);
        loop.seconds.push_back(p.seconds() - before);
        step(p.world(),
             {inputs.theta.data(), loop.x.data(), loop.U.col(t).data(), pushes.at(t, inputs.theta.data())},
             scratch, next.data());
        loop.x.swap(next);
        interrupted = p.save(loop);
    }
    p.result.gradient_evaluations += loop.t;
    p.value(table.variables(loop.U));
    if (interrupted) throw Interruption();
    p.end_iteration();
    std::vector<double>& seconds = loop.seconds;
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2),
                     seconds.end());
    char text[80];
    std::snprintf(text, sizeof text, "end of the rollout; median %.3g ms per control, %.3g Hz",
                  1e3 * seconds[seconds.size() / 2], 1 / seconds[seconds.size() / 2]);
    p.result.stopped = text;
}

}  // namespace costate
