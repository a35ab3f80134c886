// Environments forwards in time, and backwards: each control step is run again from the state in which it
// began, and pulled back.
#include <algorithm>

#include "adjoint/batch/batch.hpp"
#include "adjoint/batch/workers.hpp"
#include "adjoint/rollout/state.hpp"

namespace costate {

// The control step of environment e from one state (nx) to another, which may have the same place; false if
// it diverges, and then `to` is as it was.
bool Batch::control_step(Worker& worker, size_t e, const double* u, const double* from, double* to,
                         const double* wrenches) {
    workers_->check_interrupt(worker);
    VecX<double>& x = worker.workspace->x;
    VecX<double>& x_next = worker.workspace->x_next;
    for (int k = 0; k < options_.substeps; ++k, x.swap(x_next)) {
        costate::step(world_, parameters(e), k == 0 ? from : x.data(), u, worker.workspace->step,
                      x_next.data(), wrenches);
        if (!x_next.allFinite()) return false;
        const SolverOutcome solved = solver_outcome(world_, worker.workspace->step);
        residual_[e] = std::max(residual_[e], solved.residual);
        if (!solved.converged) ++unconverged_[e];
    }
    std::copy_n(x.data(), nx(), to);
    return true;
}

int Batch::step(const double* x, const double* u, double* x_next) {
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        const double *given = (x ? x : x_.data()) + e * nx(), *from = given;
        double* to = x_next_.data() + e * nx();
        residual_[e] = 0;
        unconverged_[e] = 0;
        if (x) {
            normalize_state(world_, given, to);
            from = to;
        }
        const bool goes_on =
            (x || status_[e] == EnvironmentStatus::ok) && control_step(worker, e, u + e * nu(), from, to);
        if (!goes_on) std::copy_n(given, nx(), to);
        outcome_[e] = goes_on ? EnvironmentStatus::ok : EnvironmentStatus::diverged;
    });
    if (x_next) std::copy(x_next_.begin(), x_next_.end(), x_next);
    return finish_step(!x);
}

int Batch::rollout(int steps, const double* x, const double* u, double* states, int* completed) {
    const size_t row = n_env() * nx();
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        double* last = x_next_.data() + e * nx();
        normalize_state(world_, (x ? x : x_.data()) + e * nx(), last);
        residual_[e] = 0;
        unconverged_[e] = 0;
        int done = 0;
        const auto after = [&](int t) { return states + t * row + e * nx(); };
        while (done < steps && (x || status_[e] == EnvironmentStatus::ok) &&
               control_step(worker, e, u + (done * n_env() + e) * nu(), last, last))
            std::copy_n(last, nx(), after(done++));
        outcome_[e] = done == steps ? EnvironmentStatus::ok : EnvironmentStatus::diverged;
        if (completed) completed[e] = done;
        for (; done < steps; ++done)
            std::copy_n(last, nx(), after(done));
    });
    return finish_step(!x);
}

// Ends a call on the batch's own states, or on others.
int Batch::finish_step(bool own) {
    if (own) {
        x_.swap(x_next_);
        status_ = outcome_;
    }
    return count_diverged();
}

// What a call of `backward` reads and writes.
struct Batch::Reverse {
    const Batch& batch;
    const double *x, *u, *states_bar;
    double *x_bar, *u_bar, *theta_bar;  // theta_bar (n_env x np)

    size_t row(size_t t, size_t e) const { return t * batch.n_env() + e; }
    bool control_step(Worker& worker, size_t t, size_t e, bool last) const;
    bool environment(Worker& worker, size_t e, size_t completed, size_t steps) const;
};

// Pulls back through control step t of environment e the covector of the state after it: what is given, and
// but for the last step worker.x_bar, which then is that of the state before. False if something is not finite.
bool Batch::Reverse::control_step(Worker& worker, size_t t, size_t e, bool last) const {
    const Batch& b = batch;
    b.workers_->check_interrupt(worker);
    VecX<double>& x0 = worker.workspace->x;
    normalize_state(b.world_, x + row(t, e) * b.nx(), x0.data());
    worker.u = Eigen::Map<const VecX<double>>(u + row(t, e) * b.nu(), worker.u.size());
    worker.steps.wrenches = nullptr;
    worker.rollout.forward(worker.theta, x0, worker.u);
    if (worker.rollout.divergence()) return false;

    b.coordinates_.read_state_bar(b.world_, worker.rollout.last_state().data(),
                                  states_bar + row(t, e) * b.state_bar_width(), worker.end_bar.data());
    if (!last) worker.end_bar += worker.x_bar;
    worker.steps.end_bar = worker.end_bar.data();
    Gradient& g = worker.gradient;
    worker.rollout.backward(worker.theta, worker.u, g);

    worker.x_bar = g.initial_state;
    if (u_bar) std::copy(g.controls.begin(), g.controls.end(), u_bar + row(t, e) * b.nu());
    if (theta_bar) {
        Eigen::Map<VecX<double>> sum(theta_bar + e * b.np(), g.parameters.size());
        if (last)
            sum = g.parameters;
        else
            sum += g.parameters;
    }
    return g.controls.allFinite() && g.initial_state.allFinite() && g.parameters.allFinite();
}

// From the last completed control step to the first; false if gradients are not finite, and then they are
// zero.
bool Batch::Reverse::environment(Worker& worker, size_t e, size_t completed, size_t steps) const {
    const Batch& b = batch;
    worker.theta = Eigen::Map<const VecX<double>>(b.parameters(e), worker.theta.size());
    bool finite = true;
    for (size_t t = completed; finite && t-- > 0;)
        finite = control_step(worker, t, e, t + 1 == completed);
    if (finite && completed > 0 && theta_bar)
        finite = Eigen::Map<const VecX<double>>(theta_bar + e * b.np(), worker.theta.size()).allFinite();

    const size_t kept = finite ? completed : 0;
    if (kept == 0) {
        worker.x_bar.setZero();
        if (theta_bar) std::fill_n(theta_bar + e * b.np(), b.np(), 0.0);
    }
    if (u_bar)
        for (size_t t = kept; t < steps; ++t)
            std::fill_n(u_bar + row(t, e) * b.nu(), b.nu(), 0.0);
    if (x_bar)
        b.coordinates_.write_state_bar(b.world_, x + e * b.nx(), worker.x_bar.data(),
                                       x_bar + e * b.state_bar_width());
    return finite;
}

int Batch::backward(int steps, const double* x, const double* u, const int* completed,
                    const double* states_bar, double* x_bar, double* u_bar, double* theta_bar, ThetaBar of) {
    const Reverse reverse{*this, x, u, states_bar, x_bar, u_bar, theta_bar_rows(theta_bar, of)};
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        const int done = completed ? completed[e] : steps;
        const bool finite = reverse.environment(worker, e, static_cast<size_t>(done), steps);
        outcome_[e] = finite ? EnvironmentStatus::ok : EnvironmentStatus::diverged;
    });
    sum_theta_bar(theta_bar, of);
    return count_diverged();
}

}  // namespace costate
