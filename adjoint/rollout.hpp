// Rollouts forwards and backwards in time, for any step with the interface of Simulation. This folder is the reverse of
// time; the adjoint of an operator stands beside the operator, in the folder of the operator.
//
// Forwards every state is stored (a checkpoint is a State: nothing else of a step survives it). Backwards each step is run
// again from its checkpoint by the same compiled code, which rebuilds its intermediates, and then pulled back.
#pragma once

#include <cassert>
#include <cmath>
#include <cstring>

#include "adjoint/controls.hpp"
#include "core/linalg.hpp"

namespace costate {

// States of a rollout, flat and preallocated.
class CheckpointStore {
public:
    CheckpointStore(int numbers_per_state, int states)
        : nx_(static_cast<size_t>(numbers_per_state)), data_(nx_ * static_cast<size_t>(states)) {}
    void store(int t, const double* x) { std::memcpy(data_.data() + static_cast<size_t>(t) * nx_, x, nx_ * sizeof(double)); }
    const double* restore(int t) const { return data_.data() + static_cast<size_t>(t) * nx_; }
    double* slot(int t) { return data_.data() + static_cast<size_t>(t) * nx_; }  // to be written in place
    size_t bytes_per_checkpoint() const { return nx_ * sizeof(double); }

private:
    size_t nx_;
    std::vector<double> data_;
};

struct Gradient {
    VecX<double> controls;       // by the plan's decision variables
    VecX<double> initial_state;  // covector (2 nv) of the initial state's tangent
    VecX<double> parameters;     // (np)
};

// The first number of a state that is not finite.
struct Divergence {
    int step = -1;   // that produced it; -1: none
    int entry = -1;  // in the state
    explicit operator bool() const { return step >= 0; }
};

struct Evaluations {
    long forward = 0, backward = 0;  // of the step; forward counts replays
};

template <class Step> class Rollout {
public:
    Rollout(Step& step, const ControlPlan& plan, int steps)
        : step_(step), plan_(plan), steps_(steps), store_(step.nx(), steps + 1), u_(step.nu()), u_bar_(step.nu()), x_bar_(step.ndx()), x_next_bar_(step.ndx()),
          replayed_(step.nx()) {}

    // The loss of a rollout; visit(t, x_t, u_t) is called after each step t, with its intermediates still in the step's scratch,
    // and visit(N, x_N, nullptr) at the end. Stops at the first state that is not finite, see divergence().
    template <class Visit> double forward(const VecX<double>& theta, const VecX<double>& x0, const VecX<double>& z, Visit&& visit) {
        assert(x0.size() == step_.nx() && z.size() == plan_.size() && theta.size() == step_.np());
        store_.store(0, x0.data());
        divergence_ = {};
        double loss = 0;
        for (int t = 0; t < steps_; ++t) {
            plan_.evaluate(z.data(), t, u_.data());
            double* next = store_.slot(t + 1);
            loss += step_.run(t, theta.data(), store_.restore(t), u_.data(), next);
            ++evaluations_.forward;
            for (int i = 0; i < step_.nx(); ++i)
                if (!std::isfinite(next[i])) return divergence_ = {t, i}, NAN;
            visit(t, store_.restore(t), u_.data());
        }
        loss += step_.finish(steps_, theta.data(), store_.restore(steps_));
        visit(steps_, store_.restore(steps_), nullptr);
        return loss;
    }
    double forward(const VecX<double>& theta, const VecX<double>& x0, const VecX<double>& z) {
        return forward(theta, x0, z, [](int, const double*, const double*) {});
    }

    // The gradient of the loss that the last `forward` returned, from its checkpoints. visit(N, x_bar_N, nullptr) is called first,
    // and visit(t, x_bar_t, u_bar_t) after each step t pulled back, with its intermediates and their bars in the step's scratch:
    // x_bar_t is the gradient of the loss by the state at which step t begins, of what the steps from t on make of it.
    template <class Visit> void backward(const VecX<double>& theta, const VecX<double>& z, Gradient& g, Visit&& visit) {
        g.controls.setZero(plan_.size()), g.initial_state.setZero(step_.ndx()), g.parameters.setZero(step_.np());
        x_next_bar_.setZero();
        step_.finish_adj(steps_, theta.data(), store_.restore(steps_), g.parameters.data(), x_next_bar_.data());
        visit(steps_, x_next_bar_.data(), nullptr);
        for (int t = steps_; t-- > 0;) {
            plan_.evaluate(z.data(), t, u_.data());
            step_.run(t, theta.data(), store_.restore(t), u_.data(), replayed_.data());
            ++evaluations_.forward;
            assert(std::memcmp(replayed_.data(), store_.restore(t + 1), store_.bytes_per_checkpoint()) == 0);
            x_bar_.setZero(), u_bar_.setZero();
            step_.run_adj(t, theta.data(), store_.restore(t), u_.data(), x_next_bar_.data(), g.parameters.data(), x_bar_.data(), u_bar_.data());
            ++evaluations_.backward;
            plan_.evaluate_adj(t, u_bar_.data(), g.controls.data());
            visit(t, x_bar_.data(), u_bar_.data());
            x_next_bar_.swap(x_bar_);
        }
        g.initial_state = x_next_bar_;
    }
    void backward(const VecX<double>& theta, const VecX<double>& z, Gradient& g) {
        backward(theta, z, g, [](int, const double*, const double*) {});
    }

    int steps() const { return steps_; }
    const Divergence& divergence() const { return divergence_; }
    const Evaluations& evaluations() const { return evaluations_; }
    const CheckpointStore& store() const { return store_; }
    const ControlPlan& plan() const { return plan_; }
    Step& step() { return step_; }

private:
    Step& step_;
    const ControlPlan& plan_;
    int steps_;
    CheckpointStore store_;
    VecX<double> u_, u_bar_, x_bar_, x_next_bar_, replayed_;
    Divergence divergence_;
    Evaluations evaluations_;
};

}  // namespace costate
