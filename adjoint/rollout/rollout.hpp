// Rollouts forward and backward in time, for any step with the interface of Simulation. This folder reverses
// time; the adjoint of an operator is next to the operator.
//
// The forward pass stores the states that a schedule selects; a checkpoint is a state and nothing else. The
// backward pass replays each step with the same compiled code, from its checkpoint or an earlier one, to
// recompute its intermediates, and then pulls it back. The results have the same bits for every schedule, and
// for a rollout that is saved between steps and resumed by another process.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "adjoint/checkpoints/checkpoint_store.hpp"
#include "adjoint/rollout/controls.hpp"
#include "adjoint/rollout/divergence.hpp"

namespace costate {

struct Gradient {
    VecX<double> controls;       // of the plan's decision variables
    VecX<double> initial_state;  // covector (ndx) of the initial state's tangent
    VecX<double> parameters;     // (np)
    template <class Archive> void transfer(Archive& a) { a(controls, initial_state, parameters); }
};

struct Evaluations {
    std::int64_t forward = 0, backward = 0;  // numbers of steps; forward includes replays
};

// Limits of the adjoint between steps. Without limits the gradient is exact.
struct AdjointLimits {
    // an adjoint with a larger norm is scaled to this norm
    double clip = std::numeric_limits<double>::infinity();
    // the adjoint is set to 0 every `horizon` steps, counted from the end; 0: never
    int horizon = 0;
};

template <class Step> class Rollout {
public:
    // Stores every state, or the states of a schedule. Step and plan must outlive the rollout.
    Rollout(Step& step, const ControlPlan& plan, int steps)
        : Rollout(step, plan, Schedule::every_step(steps)) {}
    Rollout(Step& step, const ControlPlan& plan, const Schedule& schedule, const DiskSettings& disk = {})
        : Rollout(std::vector<Step*>{&step}, plan, schedule, disk) {}
    // Equal step objects, as many as the schedule keeps intermediates of.
    Rollout(const std::vector<Step*>& steps, const ControlPlan& plan, const Schedule& schedule,
            const DiskSettings& disk = {})
        : plan_(plan),
          schedule_(schedule),
          store_(steps[0]->nx(), schedule, disk),
          u_(std::max(steps[0]->nu(), 1)),
          u_bar_(u_),
          x_bar_(steps[0]->ndx()),
          x_next_bar_(x_bar_),
          x_(steps[0]->nx()),
          last_(x_),
          reversed_(x_),
          current_(steps[0]) {
        assert(static_cast<int>(steps.size()) == schedule.kept());
        for (Step* s : steps)
            kept_.push_back({s, x_, 0});
    }

    // Runs a rollout and returns its loss. Calls visit(t, x_t, u_t) after each step t, with its intermediates
    // in the step's scratch, and visit(N, x_N, nullptr) at the end; u_t is not null without actuators either.
    // Stops at the first state that is not finite; see divergence().
    template <class Visit>
    double forward(const VecX<double>& theta, const VecX<double>& x0, const VecX<double>& z, Visit&& visit) {
        return forward_until(
            theta, x0, z, [](int, const double*) { return false; }, visit);
    }
    double forward(const VecX<double>& theta, const VecX<double>& x0, const VecX<double>& z) {
        return forward(theta, x0, z, [](int, const double*, const double*) {});
    }
    // With an online schedule: N is the first t >= 1 for which stop(t, x_t) is true.
    template <class Stop, class Visit>
    double forward_until(const VecX<double>& theta, const VecX<double>& x0, const VecX<double>& z,
                         Stop&& stop, Visit&& visit) {
        assert(x0.size() == nx() && z.size() == plan_.size() && theta.size() == current_->np());
        x_ = x0;
        divergence_ = {};
        phase_ = Phase::forward;
        schedule_.restart();
        next_ = to_ = 0;
        loss_ = 0;
        return sweep(theta, z, stop, visit);
    }

    // Computes the gradient of the loss of the last `forward`, with the same theta and z. May be called
    // several times; after the first call, states that the checkpoints no longer hold are recomputed from the
    // start. Calls visit(N, x_bar_N, nullptr) first, and visit(t, x_bar_t, u_bar_t) after pulling back step
    // t, with its intermediates and their bars in the step's scratch. x_bar_t is the gradient of the loss of
    // the steps from t on, with respect to the state before step t, after the AdjointLimits.
    template <class Visit>
    void backward(const VecX<double>& theta, const VecX<double>& z, Gradient& g, Visit&& visit) {
        g.controls.setZero(plan_.size());
        g.initial_state.setZero(x_bar_.size());
        g.parameters.setZero(current_->np());
        x_next_bar_.setZero();
        current_->finish_adj(steps(), theta.data(), last_.data(), g.parameters.data(), x_next_bar_.data());
        if (phase_ != Phase::swept) schedule_.again();
        phase_ = Phase::backward;
        reversed_ = last_;
        adjoint_divergence_ = {};
        note_divergence(steps(), x_next_bar_);
        visit(steps(), x_next_bar_.data(), nullptr);
        pull_back(theta, z, g, visit);
    }
    void backward(const VecX<double>& theta, const VecX<double>& z, Gradient& g) {
        backward(theta, z, g, [](int, const double*, const double*) {});
    }

    // Serializes a rollout, also during a visit, so that a rollout of the same kind can continue it.
    template <class Archive> void transfer(Archive& a) {
        const int steps_before = steps();
        schedule_.transfer(a);
        store_.transfer(a);
        for (VecX<double>* v : {&x_, &last_, &reversed_, &x_next_bar_})
            a.of_known_size(*v);
        a(phase_);
        a(next_);
        a(to_);
        a(loss_);
        a(divergence_);
        a(evaluations_);
        a(adjoint_divergence_.step);
        a(adjoint_divergence_.entry);
        a(adjoint_divergence_.row);
        for (Kept& k : kept_) {
            a.of_known_size(k.before);
            // intermediates are not serialized
            if constexpr (std::is_same_v<Archive, ArchiveReader>) k.ran = -1;
        }
        if constexpr (std::is_same_v<Archive, ArchiveReader>) {
            const bool known = phase_ >= Phase::none && phase_ <= Phase::backward;
            if (!known || !schedule_.is_within(steps_before) || next_ < 0 || next_ > to_ || to_ > steps())
                throw std::runtime_error("its step does not belong to this rollout");
        }
    }
    bool in_forward() const { return phase_ == Phase::forward; }    // in progress
    bool in_backward() const { return phase_ == Phase::backward; }  // begun, possibly finished
    template <class Visit>
    double resume_forward(const VecX<double>& theta, const VecX<double>& z, Visit&& visit) {
        return sweep(
            theta, z, [](int, const double*) { return false; }, visit);
    }
    template <class Visit>
    void resume_backward(const VecX<double>& theta, const VecX<double>& z, Gradient& g, Visit&& visit) {
        pull_back(theta, z, g, visit);
    }

    // x_t of the last `forward`, for t up to the step that diverged; recomputed from the nearest checkpoint
    // if it is not stored.
    VecX<double> state(int t, const VecX<double>& theta, const VecX<double>& z) {
        if (t == steps() && !divergence_) return last_;
        const Schedule::Place from = schedule_.nearest(t);
        VecX<double> x(nx()), next(nx()), u(u_.size());
        store_.restore(from.tier, from.slot, x.data());
        for (int k = from.step; k < t; ++k, x.swap(next)) {
            plan_.evaluate(z.data(), k, u.data());
            current_->run(k, theta.data(), x.data(), u.data(), next.data());
            ++evaluations_.forward;
        }
        return x;
    }
    const VecX<double>& last_state() const { return last_; }  // x_N

    AdjointLimits limits;

    int steps() const { return schedule_.steps(); }
    double loss() const { return loss_; }  // of the last `forward`
    const Divergence& divergence() const { return divergence_; }
    // of the last `backward`
    const AdjointDivergence& adjoint_divergence() const { return adjoint_divergence_; }
    const Evaluations& evaluations() const { return evaluations_; }
    const CheckpointStore& store() const { return store_; }
    const Schedule& schedule() const { return schedule_; }
    const ControlPlan& plan() const { return plan_; }
    Step& step() { return *current_; }  // the step object that ran last

private:
    enum class Phase { none, forward, swept, backward };
    struct Kept {
        Step* step;
        VecX<double> before;  // state before the step
        long ran;             // step->runs() after the step
    };
    int nx() const { return static_cast<int>(x_.size()); }
    Kept& kept(int t) { return kept_[static_cast<size_t>(t) % kept_.size()]; }

    // The first sweep, from step next_ of the forward run to to_.
    template <class Stop, class Visit>
    double sweep(const VecX<double>& theta, const VecX<double>& z, Stop&& stop, Visit&& visit) {
        for (;;) {
            while (next_ < to_) {
                const int t = next_++;
                loss_ += run(t, theta, z);
                for (int i = 0; i < nx(); ++i)
                    if (!std::isfinite(x_[i])) return phase_ = Phase::none, divergence_ = {t, i}, NAN;
                visit(t, kept(t).before.data(), u_.data());
                if (schedule_.is_online() && stop(next_, x_.data())) schedule_.finish();
            }
            if (schedule_.reverses_next()) break;
            const Action a = schedule_.next();
            if (a.kind == Action::Kind::store)
                store_.store(a.tier, a.slot, x_.data());
            else {
                next_ = a.step;
                to_ = a.to;
            }
        }
        last_ = x_;
        phase_ = Phase::swept;
        loss_ += current_->finish(steps(), theta.data(), last_.data());
        visit(steps(), last_.data(), nullptr);
        return loss_;
    }

    template <class Visit>
    void pull_back(const VecX<double>& theta, const VecX<double>& z, Gradient& g, Visit&& visit) {
        while (!schedule_.done()) {
            const Action a = schedule_.next();
            switch (a.kind) {
                case Action::Kind::store: store_.store(a.tier, a.slot, x_.data()); break;
                case Action::Kind::restore: store_.restore(a.tier, a.slot, x_.data()); break;
                case Action::Kind::forward:
                    for (int t = a.step; t < a.to; ++t)
                        run(t, theta, z);
                    break;
                case Action::Kind::reverse: reverse(a.step, theta, z, g, visit); break;
            }
        }
        g.initial_state = x_next_bar_;
    }

    // Runs step t from x_ (x_t), records x_t as the state before the step, and sets x_ to the state after it.
    // Returns the step's share of the loss.
    double run(int t, const VecX<double>& theta, const VecX<double>& z) {
        Kept& k = kept(t);
        k.before.swap(x_);
        plan_.evaluate(z.data(), t, u_.data());
        const double share = k.step->run(t, theta.data(), k.before.data(), u_.data(), x_.data());
        ++evaluations_.forward;
        k.ran = k.step->runs();
        current_ = k.step;
        return share;
    }
    // Requires `run` of the same step. If another run of the step object has overwritten the intermediates,
    // the step is run again.
    template <class Visit>
    void reverse(int t, const VecX<double>& theta, const VecX<double>& z, Gradient& g, Visit&& visit) {
        Kept& k = kept(t);
        if (k.step->runs() != k.ran) {
            x_.swap(k.before);
            run(t, theta, z);
        } else if (kept_.size() > 1)
            plan_.evaluate(z.data(), t, u_.data());
        assert(divergence_ || kept_.size() > 1 || x_.size() == 0 ||
               std::memcmp(x_.data(), reversed_.data(), store_.bytes_per_checkpoint()) == 0);
        current_ = k.step;
        x_bar_.setZero();
        u_bar_.setZero();
        k.step->run_adj(t, theta.data(), k.before.data(), u_.data(), x_next_bar_.data(), g.parameters.data(),
                        x_bar_.data(), u_bar_.data());
        ++evaluations_.backward;
        plan_.evaluate_adj(t, u_bar_.data(), g.controls.data());
        limit(t);
        x_next_bar_.swap(x_bar_);
        reversed_ = k.before;
        visit(t, x_next_bar_.data(), u_bar_.data());
    }
    // Applies the limits to x_bar_, the adjoint of x_t, before step t - 1 is pulled back.
    void limit(int t) {
        note_divergence(t, x_bar_);
        if (t == 0) return;
        if (limits.horizon > 0 && (steps() - t) % limits.horizon == 0) x_bar_.setZero();
        if (std::isinf(limits.clip)) return;
        if (const double norm = x_bar_.norm(); norm > limits.clip) x_bar_ *= limits.clip / norm;
    }
    void note_divergence(int t, const VecX<double>& bar) {
        for (int i = 0; i < bar.size() && !adjoint_divergence_; ++i) {
            if (std::isfinite(bar[i])) continue;
            adjoint_divergence_ = {{t, i}, ""};
            if constexpr (requires { current_->first_bad_row(); })
                if (t < steps()) adjoint_divergence_.row = current_->first_bad_row();
        }
    }

    const ControlPlan& plan_;
    Schedule schedule_;
    CheckpointStore store_;
    VecX<double> u_, u_bar_;  // not empty, so that their pointers are never null
    VecX<double> x_bar_, x_next_bar_;
    VecX<double> x_;                // the state
    VecX<double> last_, reversed_;  // x_N; the state before the last reversed step
    std::vector<Kept> kept_;        // step t at index t % size
    Step* current_;
    Phase phase_ = Phase::none;
    int next_ = 0, to_ = 0;  // range of the forward run in progress in the first sweep
    double loss_ = 0;
    Divergence divergence_;
    AdjointDivergence adjoint_divergence_;
    Evaluations evaluations_;
};

// Compiled in simulation.cpp.
class Simulation;
extern template class Rollout<Simulation>;

}  // namespace costate
