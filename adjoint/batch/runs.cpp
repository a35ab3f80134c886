// Rollouts with external wrenches and sensors, and their reverse from checkpoints: the states of all
// environments at some control steps, from which those between are computed again.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "adjoint/batch/batch.hpp"
#include "adjoint/batch/workers.hpp"
#include "adjoint/rollout/state.hpp"

namespace costate {
namespace {

const double* part(const double* all, size_t at) { return all ? all + at : nullptr; }

Schedule run_schedule(int steps, size_t state_bytes, size_t bytes) {
    if (bytes == 0) return Schedule::every_step(steps);
    if (bytes < state_bytes)
        throw std::invalid_argument("the budget is " + std::to_string(bytes) + " bytes; the least is " +
                                    std::to_string(state_bytes) + ", a state of all environments");
    return Schedule::within(static_cast<std::int64_t>(std::min<size_t>(bytes, INT64_MAX)),
                            static_cast<std::int64_t>(state_bytes), steps);
}

}  // namespace

int Batch::run(const BatchRun& run) {
    const size_t ny = world_.ny(), width = wrenches_width(), row = n_env() * nx();
    const CountedCall call(*workers_, run.steps * n_env());
    workers_->for_each_chunk(n_env(), [&](Worker& worker, size_t first, size_t last) {
        for (size_t e = first; e < last; ++e) {
            normalize_state(world_, (run.x ? run.x : x_.data()) + e * nx(), x_next_.data() + e * nx());
            residual_[e] = 0;
            unconverged_[e] = 0;
            outcome_[e] = run.x ? EnvironmentStatus::ok : status_[e];
            if (run.completed) run.completed[e] = 0;
        }
        for (int t = 0; t < run.steps; ++t) {
            worker.forward.clear();
            for (size_t e = first; e < last; ++e) {
                const size_t at = t * n_env() + e;
                const double *u = run.u + at * nu(), *wrenches = part(run.wrenches, at * width);
                double* x = x_next_.data() + e * nx();
                bool goes_on = outcome_[e] == EnvironmentStatus::ok;
                if (run.y) {
                    goes_on = goes_on && read_sensors(worker, e, x, u, wrenches, run.y + at * ny);
                    if (!goes_on) std::fill_n(run.y + at * ny, ny, 0.0);
                }
                outcome_[e] = EnvironmentStatus::diverged;
                if (goes_on) worker.forward.push_back({e, u, x, x, wrenches});
            }
            make_control_steps(worker);
            for (const ControlStep& it : worker.forward) {
                if (!it.goes_on) continue;
                outcome_[it.e] = EnvironmentStatus::ok;
                if (run.completed) ++run.completed[it.e];
            }
            if (run.states)
                std::copy_n(x_next_.data() + first * nx(), (last - first) * nx(),
                            run.states + t * row + first * nx());
            workers_->advance(last - first);
        }
    });
    call.finish();
    return finish_step(!run.x);
}

// The reverse of one call.
struct Batch::RunReverse {
    Batch& b;
    const BatchRun& run;
    const BatchSeeds& seeds;
    const BatchGradients& out;
    double* theta_bar;  // (n_env x np), or null

    std::vector<double> x, after;       // (n_env x nx) the states before and after a control step
    std::vector<int> done;              // (n_env) control steps that an environment completes
    std::vector<double> x_bar;          // (n_env x ndx) of `after`
    std::vector<double> y, y_bar;       // (n_env x ny)
    std::vector<double> states_bar;     // (n_env x state_bar_width)
    std::vector<unsigned char> finite;  // (n_env)
    std::vector<double> none;           // (bodies x 6) zeros, if wrenches have a gradient but are not given

    RunReverse(Batch& batch, const BatchRun& r, const BatchSeeds& s, const BatchGradients& g, double* rows)
        : b(batch),
          run(r),
          seeds(s),
          out(g),
          theta_bar(rows),
          x(b.n_env() * b.nx()),
          after(x),
          done(b.n_env(), 0),
          x_bar(b.n_env() * b.ndx(), 0.0),
          y(b.n_env() * b.world_.ny()),
          y_bar(y.size()),
          states_bar(b.n_env() * b.state_bar_width()),
          finite(b.n_env(), 1),
          none(g.wrenches_bar && !r.wrenches ? b.wrenches_width() : 0) {}

    size_t at(int t, size_t e) const { return t * b.n_env() + e; }
    const double* u(int t, size_t e) const { return run.u + at(t, e) * b.nu(); }
    const double* wrenches(int t, size_t e) const {
        return none.empty() ? part(run.wrenches, at(t, e) * b.wrenches_width()) : none.data();
    }
    double* of_env(std::vector<double>& all, size_t e, size_t width) const { return all.data() + e * width; }

    void begin();
    void forward(int t, bool first_sweep);
    void seed(int t);
    void reverse(int t);
    void finish();
};

void Batch::RunReverse::begin() {
    const double* from = run.x ? run.x : b.x_.data();
    for (size_t e = 0; e < b.n_env(); ++e)
        normalize_state(b.world_, from + e * b.nx(), of_env(x, e, b.nx()));
    if (theta_bar) std::fill_n(theta_bar, b.n_env() * b.np(), 0.0);
}

void Batch::RunReverse::forward(int t, bool first_sweep) {
    b.workers_->for_each_chunk(b.n_env(), [&](Worker& worker, size_t first, size_t last) {
        worker.forward.clear();
        for (size_t e = first; e < last; ++e) {
            if (first_sweep ? done[e] < t : done[e] <= t) continue;
            if (first_sweep && !run.x && b.status_[e] != EnvironmentStatus::ok) continue;
            double* state = of_env(x, e, b.nx());
            worker.forward.push_back({e, u(t, e), state, state, wrenches(t, e)});
        }
        b.make_control_steps(worker);
        for (const ControlStep& it : worker.forward)
            if (first_sweep && it.goes_on) done[it.e] = t + 1;
    });
}

// Gradients by the states after control step t, and by the sensors at its beginning.
void Batch::RunReverse::seed(int t) {
    const size_t ny = b.world_.ny(), width = b.state_bar_width();
    std::fill(states_bar.begin(), states_bar.end(), 0.0);
    std::fill(y_bar.begin(), y_bar.end(), 0.0);
    if (!seeds.at) {
        if (seeds.states_bar)
            std::copy_n(seeds.states_bar + at(t, 0) * width, states_bar.size(), states_bar.begin());
        if (seeds.y_bar) std::copy_n(seeds.y_bar + at(t, 0) * ny, y_bar.size(), y_bar.begin());
        return;
    }
    b.workers_->for_each(b.n_env(), [&](Worker& worker, size_t e) {
        double* values = of_env(y, e, ny);
        if (ny == 0 || done[e] <= t ||
            !b.read_sensors(worker, e, of_env(x, e, b.nx()), u(t, e), wrenches(t, e), values))
            std::fill_n(values, ny, 0.0);
    });
    if (!seeds.at(t, after.data(), y.data(), states_bar.data(), y_bar.data())) throw CallInterrupted();
}

void Batch::RunReverse::reverse(int t) {
    seed(t);
    const size_t ny = b.world_.ny(), width = b.wrenches_width();
    b.workers_->for_each_chunk(b.n_env(), [&](Worker& worker, size_t first, size_t last) {
        worker.reverse.clear();
        for (size_t e = first; e < last; ++e) {
            double* u_bar = out.u_bar ? out.u_bar + at(t, e) * b.nu() : nullptr;
            double* wrenches_bar = out.wrenches_bar ? out.wrenches_bar + at(t, e) * width : nullptr;
            if (!finite[e] || done[e] <= t) {
                if (u_bar) std::fill_n(u_bar, b.nu(), 0.0);
                if (wrenches_bar) std::fill_n(wrenches_bar, width, 0.0);
                continue;
            }
            double *next_bar = of_env(x_bar, e, b.ndx()), *sensors_bar = of_env(y_bar, e, ny);
            const bool last_step = t + 1 == done[e],
                       senses = std::any_of(sensors_bar, sensors_bar + ny, [](double it) { return it != 0; });
            worker.reverse.push_back(
                {e, of_env(x, e, b.nx()), u(t, e), wrenches(t, e), of_env(states_bar, e, b.state_bar_width()),
                 last_step ? nullptr : next_bar, next_bar, u_bar, wrenches_bar,
                 theta_bar ? theta_bar + e * b.np() : nullptr, !last_step, senses ? sensors_bar : nullptr});
        }
        b.pull_back_control_steps(worker);
        for (const ReverseStep& it : worker.reverse)
            finite[it.e] = it.finite;
        b.workers_->advance(last - first);
    });
    after = x;  // of the step before
}

// Zeros for environments with a gradient that is not finite, and the gradients of the first states.
void Batch::RunReverse::finish() {
    const double* from = run.x ? run.x : b.x_.data();
    for (size_t e = 0; e < b.n_env(); ++e) {
        if (finite[e] && theta_bar)
            finite[e] =
                Eigen::Map<const VecX<double>>(theta_bar + e * b.np(), static_cast<Eigen::Index>(b.np()))
                    .allFinite();
        if (!finite[e]) {
            std::fill_n(of_env(x_bar, e, b.ndx()), b.ndx(), 0.0);
            if (theta_bar) std::fill_n(theta_bar + e * b.np(), b.np(), 0.0);
            for (int t = 0; t < run.steps; ++t) {
                if (out.u_bar) std::fill_n(out.u_bar + at(t, e) * b.nu(), b.nu(), 0.0);
                if (out.wrenches_bar)
                    std::fill_n(out.wrenches_bar + at(t, e) * b.wrenches_width(), b.wrenches_width(), 0.0);
            }
        }
        b.outcome_[e] = finite[e] ? EnvironmentStatus::ok : EnvironmentStatus::diverged;
        if (run.completed) run.completed[e] = done[e];
        if (out.x_bar)
            b.coordinates_.write_state_bar(b.world_, from + e * b.nx(), of_env(x_bar, e, b.ndx()),
                                           out.x_bar + e * b.state_bar_width());
    }
}

int Batch::run_backward(const BatchRun& run, const BatchSeeds& seeds, const BatchGradients& out, size_t bytes,
                        ThetaBar of) {
    const size_t row = n_env() * nx();
    Schedule schedule = run_schedule(run.steps, row * sizeof(double), bytes);
    std::vector<std::vector<double>> slots(schedule.slots());
    RunReverse reverse(*this, run, seeds, out, theta_bar_rows(out.theta_bar, of));
    reverse.begin();
    const CountedCall call(*workers_, run.steps * n_env());
    bool first_sweep = true;
    std::vector<double> before;
    while (!schedule.done()) {
        const Action a = schedule.next();
        switch (a.kind) {
            case Action::Kind::store: slots[a.slot] = reverse.x; break;
            case Action::Kind::restore: reverse.x = slots[a.slot]; break;
            case Action::Kind::forward: {
                // the step that is reversed next is run again there; what comes after it is known, but for
                // the last
                const bool reversed = schedule.reverses_next();
                for (int t = a.step; t + reversed < a.to; ++t)
                    reverse.forward(t, first_sweep);
                if (!reversed || !first_sweep) break;
                before = reverse.x;
                reverse.forward(a.to - 1, first_sweep);
                reverse.after.swap(reverse.x);
                reverse.x = before;
                first_sweep = false;
                break;
            }
            case Action::Kind::reverse: reverse.reverse(a.step); break;
        }
    }
    reverse.finish();
    call.finish();
    sum_theta_bar(out.theta_bar, of);
    return count_diverged();
}

}  // namespace costate
