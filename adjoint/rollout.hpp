// Rollouts forwards and backwards in time, for any step with the interface of Simulation. This folder is the reverse of
// time; the adjoint of an operator stands beside the operator, in the folder of the operator.
//
// Forwards the states are stored that a schedule names (a checkpoint is a State: nothing else of a step survives it). Backwards
// each step is run again by the same compiled code, from its checkpoint or by steps from an earlier one, which rebuilds its
// intermediates, and then pulled back. Every schedule gives the same bits.
#pragma once

#include <cassert>
#include <cmath>
#include <cstring>

#include "adjoint/controls.hpp"
#include "adjoint/schedule.hpp"
#include "core/linalg.hpp"

namespace costate {

// States of a rollout, flat and preallocated.
class CheckpointStore {
public:
    CheckpointStore(int numbers_per_state, int slots)
        : nx_(static_cast<size_t>(numbers_per_state)), data_(nx_ * static_cast<size_t>(slots)) {}
    void store(int slot, const double* x) { std::memcpy(data_.data() + static_cast<size_t>(slot) * nx_, x, bytes_per_checkpoint()); }
    void restore(int slot, double* x) const { std::memcpy(x, data_.data() + static_cast<size_t>(slot) * nx_, bytes_per_checkpoint()); }
    size_t bytes_per_checkpoint() const { return nx_ * sizeof(double); }
    size_t bytes() const { return data_.size() * sizeof(double); }

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
    std::int64_t forward = 0, backward = 0;  // of the step; forward counts replays
};

template <class Step> class Rollout {
public:
    // Every state is stored, or what the schedule says; Step and plan must outlive the rollout.
    Rollout(Step& step, const ControlPlan& plan, int steps) : Rollout(step, plan, Schedule::every_step(steps)) {}
    Rollout(Step& step, const ControlPlan& plan, const Schedule& schedule)
        : step_(step), plan_(plan), schedule_(schedule), store_(step.nx(), schedule.slots()), u_(step.nu()), u_bar_(step.nu()),
          x_bar_(step.ndx()), x_next_bar_(step.ndx()), x_(step.nx()), before_(step.nx()), last_(step.nx()), reversed_(step.nx()) {}

    // The loss of a rollout; visit(t, x_t, u_t) is called after each step t, with its intermediates still in the step's scratch,
    // and visit(N, x_N, nullptr) at the end. Stops at the first state that is not finite, see divergence().
    template <class Visit> double forward(const VecX<double>& theta, const VecX<double>& x0, const VecX<double>& z, Visit&& visit) {
        assert(x0.size() == step_.nx() && z.size() == plan_.size() && theta.size() == step_.np());
        x_ = x0;
        divergence_ = {}, swept_ = false;
        schedule_.restart();
        double loss = 0;
        while (!schedule_.reverses_next()) {
            const Action a = schedule_.next();
            if (a.kind == Action::Kind::store) store_.store(a.slot, x_.data());
            for (int t = a.step; t < a.to; ++t) {
                loss += run(t, theta, z);
                for (int i = 0; i < step_.nx(); ++i)
                    if (!std::isfinite(x_[i])) return divergence_ = {t, i}, NAN;
                visit(t, before_.data(), u_.data());
            }
        }
        last_ = x_, swept_ = true;
        loss += step_.finish(steps(), theta.data(), last_.data());
        visit(steps(), last_.data(), nullptr);
        return loss;
    }
    double forward(const VecX<double>& theta, const VecX<double>& x0, const VecX<double>& z) {
        return forward(theta, x0, z, [](int, const double*, const double*) {});
    }

    // The gradient of the loss that the last `forward` returned, with the same theta and z. It may be asked for several times: after
    // the first, what the checkpoints no longer hold is run again from the start. visit(N, x_bar_N, nullptr) is called first, and
    // visit(t, x_bar_t, u_bar_t) after each step t pulled back, with its intermediates and their bars in the step's scratch:
    // x_bar_t is the gradient of the loss by the state at which step t begins, of what the steps from t on make of it.
    template <class Visit> void backward(const VecX<double>& theta, const VecX<double>& z, Gradient& g, Visit&& visit) {
        g.controls.setZero(plan_.size()), g.initial_state.setZero(step_.ndx()), g.parameters.setZero(step_.np());
        x_next_bar_.setZero();
        step_.finish_adj(steps(), theta.data(), last_.data(), g.parameters.data(), x_next_bar_.data());
        visit(steps(), x_next_bar_.data(), nullptr);
        if (!swept_) schedule_.again();
        swept_ = false, reversed_ = last_;
        while (!schedule_.done()) {
            const Action a = schedule_.next();
            switch (a.kind) {
                case Action::Kind::store: store_.store(a.slot, x_.data()); break;
                case Action::Kind::restore: store_.restore(a.slot, x_.data()); break;
                case Action::Kind::forward:
                    for (int t = a.step; t < a.to; ++t) run(t, theta, z);
                    break;
                case Action::Kind::reverse: reverse(a.step, theta, z, g, visit); break;
            }
        }
        g.initial_state = x_next_bar_;
    }
    void backward(const VecX<double>& theta, const VecX<double>& z, Gradient& g) {
        backward(theta, z, g, [](int, const double*, const double*) {});
    }

    // x_t of the last `forward`, t up to the step that made it diverge, by steps from the nearest checkpoint where it is not stored.
    VecX<double> state(int t, const VecX<double>& theta, const VecX<double>& z) {
        if (t == steps() && !divergence_) return last_;
        const Checkpoints::Place from = schedule_.nearest(t);
        VecX<double> x(step_.nx()), next(step_.nx()), u(step_.nu());
        store_.restore(from.slot, x.data());
        for (int k = from.step; k < t; ++k, x.swap(next)) {
            plan_.evaluate(z.data(), k, u.data());
            step_.run(k, theta.data(), x.data(), u.data(), next.data());
            ++evaluations_.forward;
        }
        return x;
    }
    const VecX<double>& last_state() const { return last_; }  // x_N

    int steps() const { return schedule_.steps(); }
    const Divergence& divergence() const { return divergence_; }
    const Evaluations& evaluations() const { return evaluations_; }
    const CheckpointStore& store() const { return store_; }
    const ControlPlan& plan() const { return plan_; }
    Step& step() { return step_; }

private:
    // x_t in x_ becomes before_, and x_ the state after step t. Returns the step's share of the loss.
    double run(int t, const VecX<double>& theta, const VecX<double>& z) {
        before_.swap(x_);
        plan_.evaluate(z.data(), t, u_.data());
        const double share = step_.run(t, theta.data(), before_.data(), u_.data(), x_.data());
        ++evaluations_.forward;
        ran_ = step_.runs();
        return share;
    }
    // Right after `run` of the same step. A step that somebody else ran in between, with its own intermediates, costs one more.
    template <class Visit> void reverse(int t, const VecX<double>& theta, const VecX<double>& z, Gradient& g, Visit&& visit) {
        if (step_.runs() != ran_) x_.swap(before_), run(t, theta, z);
        assert(divergence_ || std::memcmp(x_.data(), reversed_.data(), store_.bytes_per_checkpoint()) == 0);
        x_bar_.setZero(), u_bar_.setZero();
        step_.run_adj(t, theta.data(), before_.data(), u_.data(), x_next_bar_.data(), g.parameters.data(), x_bar_.data(), u_bar_.data());
        ++evaluations_.backward;
        plan_.evaluate_adj(t, u_bar_.data(), g.controls.data());
        visit(t, x_bar_.data(), u_bar_.data());
        x_next_bar_.swap(x_bar_), reversed_.swap(before_);
    }

    Step& step_;
    const ControlPlan& plan_;
    Schedule schedule_;
    CheckpointStore store_;
    VecX<double> u_, u_bar_, x_bar_, x_next_bar_;
    VecX<double> x_, before_;     // the state; where the last step began
    VecX<double> last_, reversed_;  // x_N; where the step began that was reversed last
    long ran_ = 0;                // step_.runs() after the last one of ours
    bool swept_ = false;          // `forward` came to its end, and no `backward` followed
    Divergence divergence_;
    Evaluations evaluations_;
};

}  // namespace costate
