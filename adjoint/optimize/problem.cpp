#include "adjoint/optimize/problem.hpp"

namespace costate {

double Problem::loss(const VecX<double>& y) {
    inputs_ = variables.inputs(y);
    const double value = of_.value(inputs_);
    if (value == unlimited && result.loss_evaluations == 0) of_.complain();
    note(y, value);
    return value;
}

void Problem::note(const VecX<double>& y, double loss) {
    if (++result.loss_evaluations == 1) {
        result.initial_loss = result.final_loss = loss;
        result.y = y;
        note_loss();
    }
    if (loss < result.final_loss) {
        result.final_loss = loss;
        result.y = y;
    }
}

void Problem::note_loss() {
    result.losses.push_back(result.final_loss);
    result.loss_seconds.push_back(seconds());
    if (pauses_.progress) pauses_.progress(result);
}

double Problem::value(const VecX<double>& y) {
    loss_ = loss(y);
    return value_of(loss_);
}

std::vector<double> Problem::values(const std::vector<VecX<double>>& ys) {
    std::vector<RolloutInputs> inputs;
    for (const VecX<double>& y : ys)
        inputs.push_back(variables.inputs(y));
    std::vector<double> values = of_.values(inputs);
    for (size_t k = 0; k < ys.size(); ++k) {
        note(ys[k], values[k]);
        values[k] = value_of(values[k]);
    }
    return values;
}

VecX<double> Problem::gradient(const VecX<double>& y) {
    ++result.gradient_evaluations;
    of_.gradient(inputs_, gradient_);
    const VecX<double> g = variables.pull_back(y, gradient_);
    note_gradient(g.norm());
    return (settings.square ? loss_ : 1.0) * g;
}

// Each component is an objective with one term, which temporarily replaces the simulation's objective.
VecX<double> Problem::residuals(const Objective& components) {
    VecX<double> r(static_cast<Eigen::Index>(components.size()));
    for (size_t k = 0; k < components.size(); ++k) {
        const Objective component{components[k]};
        const Simulation::ScopedObjective scoped(rollout_->step(), component);
        r[static_cast<Eigen::Index>(k)] =
            rollout_->step().finish(rollout_->steps(), inputs_.theta.data(), rollout_->last_state().data());
    }
    return r;
}

Eigen::MatrixXd Problem::jacobian(const VecX<double>& y, const Objective& components) {
    Eigen::MatrixXd J(static_cast<Eigen::Index>(components.size()), variables.size());
    for (size_t k = 0; k < components.size(); ++k) {
        const Objective component{components[k]};
        const Simulation::ScopedObjective scoped(rollout_->step(), component);
        ++result.gradient_evaluations;
        rollout_->backward(inputs_.theta, inputs_.z, gradient_);
        J.row(static_cast<Eigen::Index>(k)) = variables.pull_back(y, gradient_).transpose();
    }
    return J;
}

void Problem::note_gradient(double norm) {
    result.gradient_norms.push_back(norm);
    result.gradient_iterations.push_back(result.iterations);
}

void Problem::count_iteration() {
    ++result.iterations;
    note_loss();
}

void Problem::end_iteration() {
    count_iteration();
    if (interrupted()) throw Interruption();
}

void Problem::revisit(const VecX<double>& y) {
    inputs_ = variables.inputs(y);
    loss_ = of_.value(inputs_);
}

// The loss of the best variables shows changes of files that the scene names, too.
void Problem::check_resumed() {
    if (result.y.size() != variables.size())
        throw ResumeError("it has " + std::to_string(result.y.size()) + " variables, but the scene " +
                          std::to_string(variables.size()));
    revisit(result.y);
    if (loss_ != result.final_loss)
        throw ResumeError("the loss of its variables was another one, so a file of the scene has changed");
    before_ = result.seconds;
}

const char* Problem::budget_spent() const {
    if (result.final_loss <= settings.target_loss) return "target loss reached";
    if (result.iterations >= settings.iterations) return "iterations used";
    if (result.loss_evaluations >= settings.max_loss_evaluations) return "loss evaluations used";
    return nullptr;
}

const char* Problem::reason_to_stop(const VecX<double>& gradient) const {
    if (gradient.size() == 0 || gradient.cwiseAbs().maxCoeff() <= settings.gradient_tolerance)
        return "gradient vanishes";
    if (const char* why = budget_spent()) return why;
    return result.gradient_evaluations >= settings.max_gradient_evaluations ? "gradient evaluations used"
                                                                            : nullptr;
}

}  // namespace costate
