// Environments forwards in time, and backwards: each control step is run again from the state in which it
// began, and pulled back.
#include <algorithm>

#include "adjoint/batch/batch.hpp"
#include "adjoint/batch/workers.hpp"
#include "adjoint/rollout/state.hpp"

namespace costate {

int Batch::step(const double* x, const double* u, double* x_next) {
    workers_->for_each_chunk(n_env(), [&](Worker& worker, size_t first, size_t last) {
        worker.forward.clear();
        for (size_t e = first; e < last; ++e) {
            const double* from = (x ? x : x_.data()) + e * nx();
            double* to = x_next_.data() + e * nx();
            if (x)
                normalize_state(world_, from, to);
            else
                std::copy_n(from, nx(), to);
            residual_[e] = 0;
            unconverged_[e] = 0;
            outcome_[e] = EnvironmentStatus::diverged;
            if (x || status_[e] == EnvironmentStatus::ok)
                worker.forward.push_back({e, u + e * nu(), to, to, nullptr});
        }
        make_control_steps(worker);
        for (const ControlStep& it : worker.forward) {
            if (it.goes_on)
                outcome_[it.e] = EnvironmentStatus::ok;
            else
                std::copy_n((x ? x : x_.data()) + it.e * nx(), nx(), it.to);
        }
    });
    if (x_next) std::copy(x_next_.begin(), x_next_.end(), x_next);
    return finish_step(!x);
}

int Batch::rollout(int steps, const double* x, const double* u, double* states, int* completed) {
    return run({.steps = steps, .x = x, .u = u, .states = states, .completed = completed});
}

// Ends a call on the batch's own states, or on others.
int Batch::finish_step(bool own) {
    if (own) {
        x_.swap(x_next_);
        status_ = outcome_;
    }
    return count_diverged();
}

// Each control step is run again from the state in which it began, the last one first.
int Batch::backward(int steps, const double* x, const double* u, const int* completed,
                    const double* states_bar, double* x_bar, double* u_bar, double* theta_bar, ThetaBar of) {
    double* rows = theta_bar_rows(theta_bar, of);
    std::fill(first_bar_.begin(), first_bar_.end(), 0.0);
    const CountedCall call(*workers_, steps * n_env());
    workers_->for_each_chunk(n_env(), [&](Worker& worker, size_t first, size_t last) {
        const auto row = [&](int t, size_t e) { return t * n_env() + e; };
        const auto done = [&](size_t e) { return completed ? completed[e] : steps; };
        std::fill(outcome_.begin() + first, outcome_.begin() + last, EnvironmentStatus::ok);
        for (int t = steps; t-- > 0;) {
            worker.reverse.clear();
            for (size_t e = first; e < last; ++e) {
                if (t >= done(e) || outcome_[e] != EnvironmentStatus::ok) continue;
                double* of_env = first_bar_.data() + e * ndx();
                worker.reverse.push_back({e, x + row(t, e) * nx(), u + row(t, e) * nu(), nullptr,
                                          states_bar + row(t, e) * state_bar_width(),
                                          t + 1 < done(e) ? of_env : nullptr, of_env,
                                          u_bar ? u_bar + row(t, e) * nu() : nullptr, nullptr,
                                          rows ? rows + e * np() : nullptr, t + 1 < done(e)});
            }
            pull_back_control_steps(worker);
            for (const ReverseStep& it : worker.reverse)
                if (!it.finite) outcome_[it.e] = EnvironmentStatus::diverged;
            workers_->advance(last - first);
        }
        for (size_t e = first; e < last; ++e)
            finish_backward(e, steps, done(e), x + e * nx(), x_bar, u_bar, rows);
    });
    call.finish();
    sum_theta_bar(theta_bar, of);
    return count_diverged();
}

// Zeros for control steps that were not completed, and for environments with a gradient that is not finite; writes
// the gradient of the first state.
void Batch::finish_backward(size_t e, int steps, int completed, const double* x, double* x_bar, double* u_bar,
                            double* theta_rows) {
    double* first_bar = first_bar_.data() + e * ndx();
    double* theta_bar = theta_rows ? theta_rows + e * np() : nullptr;
    if (theta_bar && completed > 0 &&
        !Eigen::Map<const VecX<double>>(theta_bar, static_cast<Eigen::Index>(np())).allFinite())
        outcome_[e] = EnvironmentStatus::diverged;
    const int kept = outcome_[e] == EnvironmentStatus::ok ? completed : 0;
    if (kept == 0) {
        std::fill_n(first_bar, ndx(), 0.0);
        if (theta_bar) std::fill_n(theta_bar, np(), 0.0);
    }
    for (int t = kept; u_bar && t < steps; ++t)
        std::fill_n(u_bar + (t * n_env() + e) * nu(), nu(), 0.0);
    if (x_bar) coordinates_.write_state_bar(world_, x, first_bar, x_bar + e * state_bar_width());
}

}  // namespace costate
