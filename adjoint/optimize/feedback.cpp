#include "adjoint/optimize/feedback.hpp"

#include "adjoint/optimize/control_table.hpp"

namespace costate {

Feedback feedback(const World& w, const Objective& objective, const ControlPlan& plan,
                  const Variables& variables, const VecX<double>& y, int steps) {
    const ControlTable table(plan, variables, steps);
    const RolloutInputs in = variables.inputs(y);
    TrajectoryOptimizer trajectory(w, objective, in.theta, table.settings);
    if (!trajectory.start(in.x0, table.controls(y)))
        throw FeedbackError("the rollout of the feedback law diverged");
    if (!trajectory.close_loop())
        throw FeedbackError("the costs have no minimum along the controls, so there is no feedback law");
    Feedback law{trajectory.free(), trajectory.states(), trajectory.controls(), {}, {}, {}};
    for (int t = 0; t <= steps; ++t) {
        if (t < steps) law.K.push_back(trajectory.gain(t));
        law.V_x.push_back(trajectory.cost_gradient(t));
        law.V_xx.push_back(trajectory.cost_hessian(t));
    }
    return law;
}

}  // namespace costate
