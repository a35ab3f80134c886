// Runs of all environments on dual numbers: derivatives along a direction, forwards and of the reverse.
#include <algorithm>

#include "adjoint/batch/batch.hpp"
#include "adjoint/batch/outputs.hpp"
#include "adjoint/batch/workers.hpp"
#include "adjoint/rollout/state.hpp"

namespace costate {
namespace {

using D = Dual<double>;

bool is_finite(const VecX<D>& x) {
    return std::all_of(x.begin(), x.end(), [](const D& value) { return isfinite(value); });
}

// The dual numbers of an environment's inputs.
struct DualInputs {
    const World& w;
    const BatchRun& run;
    const BatchDirection& along;
    size_t n_env, e;
    VecX<D> theta, x;
    VecX<D> wrenches;  // of a control step

    DualInputs(const World& world, const BatchRun& r, const BatchDirection& d, size_t n, size_t env,
               const double* parameters, const double* x0)
        : w(world),
          run(r),
          along(d),
          n_env(n),
          e(env),
          theta(dual_vector(parameters, d.theta, w.np())) {
        VecX<double> start(w.nx());
        normalize_state(w, x0 + e * w.nx(), start.data());
        const VecX<double> still = VecX<double>::Zero(w.ndx());
        x = dual_state(w, start.data(), d.x ? d.x + e * w.ndx() : still.data());
    }
    VecX<D> u(int t) const {
        const size_t at = (t * n_env + e) * w.nu();
        return dual_vector(run.u + at, along.u ? along.u + at : nullptr, w.nu());
    }
    const D* pushed(int t) {
        if (!run.wrenches) return nullptr;
        const size_t width = 6 * w.model.bodies.size();
        wrenches = dual_vector(run.wrenches + (t * n_env + e) * width, nullptr, static_cast<int>(width));
        return wrenches.data();
    }
};

}  // namespace

int Batch::run_jvp(const BatchRun& run, const BatchDirection& along, double* states_dot, double* y_dot) {
    const size_t ny = world_.ny();
    const CountedCall call(*workers_, run.steps * n_env());
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        DualInputs in(world_, run, along, n_env(), e, parameters(e), run.x ? run.x : x_.data());
        TangentStep& step = worker.workspace->tangent_step(world_);
        SensorScratch<D> sensors(world_);
        VecX<D> next(world_.nx()), y(world_.ny());
        bool finite = run.x || status_[e] == EnvironmentStatus::ok;
        for (int t = 0; t < run.steps; ++t) {
            workers_->check_interrupt(worker);
            const size_t at = t * n_env() + e;
            const VecX<D> u = in.u(t);
            const D* pushed = in.pushed(t);
            if (y_dot) std::fill_n(y_dot + at * ny, ny, 0.0);
            if (states_dot) std::fill_n(states_dot + at * ndx(), ndx(), 0.0);
            for (int k = 0; finite && k < options_.substeps; ++k) {
                step(in.theta.data(), in.x.data(), u.data(), next.data(), pushed);
                finite = is_finite(next);
                if (finite && k == 0 && y_dot) {
                    sensor_values(world_, {in.theta.data(), in.x.data(), u.data()}, step.scratch, sensors,
                                  y.data());
                    for (size_t i = 0; i < ny; ++i)
                        y_dot[at * ny + i] = y[i].d;
                }
                in.x.swap(next);
            }
            if (finite && states_dot) tangent_of(world_, in.x, states_dot + at * ndx());
            workers_->advance(1);
        }
        outcome_[e] = finite ? EnvironmentStatus::ok : EnvironmentStatus::diverged;
    });
    call.finish();
    return count_diverged();
}

int Batch::run_hvp(const BatchRun& run, const BatchDirection& along, const double* states_bar,
                   const double* states_bar_dot, const BatchGradients& out_dot, ThetaBar of) {
    double* const rows = theta_bar_rows(out_dot.theta_bar, of);
    const int substeps = options_.substeps;
    const CountedCall call(*workers_, run.steps * n_env());
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        DualInputs in(world_, run, along, n_env(), e, parameters(e), run.x ? run.x : x_.data());
        TangentStep& step = worker.workspace->tangent_step(world_);
        std::vector<VecX<D>> states{in.x};  // before each time step
        bool finite = run.x || status_[e] == EnvironmentStatus::ok;
        for (int n = 0; finite && n < run.steps * substeps; ++n) {
            workers_->check_interrupt(worker);
            const VecX<D> u = in.u(n / substeps);
            states.emplace_back(world_.nx());
            step(in.theta.data(), states[n].data(), u.data(), states.back().data(), in.pushed(n / substeps));
            finite = is_finite(states.back());
        }
        VecX<D> theta_bar = VecX<D>::Zero(world_.np()), x_bar = VecX<D>::Zero(world_.ndx()),
                before_bar(x_bar), next(world_.nx()), u_bar(world_.nu());
        for (int t = run.steps; t-- > 0;) {
            const size_t at = t * n_env() + e;
            u_bar.setZero();
            if (finite)
                x_bar += dual_vector(states_bar + at * ndx(),
                                     states_bar_dot ? states_bar_dot + at * ndx() : nullptr, world_.ndx());
            const VecX<D> u = in.u(t);
            const D* pushed = in.pushed(t);
            for (int n = (t + 1) * substeps; finite && n-- > t * substeps;) {
                const D* x = states[n].data();
                workers_->check_interrupt(worker);
                step(in.theta.data(), x, u.data(), next.data(), pushed);
                step.scratch.clear_bars();
                before_bar.setZero();
                step_adj(world_, {in.theta.data(), x, u.data(), pushed}, step.scratch, x_bar.data(),
                         {theta_bar.data(), before_bar.data(), u_bar.data()});
                x_bar.swap(before_bar);
            }
            for (size_t i = 0; out_dot.u_bar && i < nu(); ++i)
                out_dot.u_bar[at * nu() + i] = u_bar[i].d;
            workers_->advance(1);
        }
        // by the tangent d at the state x, of which the first state is the retraction
        VecX<D> base_bar = VecX<D>::Zero(world_.nv()), tangent_bar = x_bar, start(world_.nq()),
                d(world_.nv());
        tangent_bar.head(world_.nv()).setZero();
        for (int i = 0; i < world_.nq(); ++i)
            start[i] = states[0][i].v;
        for (int i = 0; i < world_.nv(); ++i)
            d[i] = {0, along.x ? along.x[e * ndx() + i] : 0};
        retract_adj(world_.model, start.data(), d.data(), x_bar.data(), base_bar.data(), tangent_bar.data());
        finite = finite && is_finite(tangent_bar) && is_finite(theta_bar);
        for (size_t i = 0; out_dot.x_bar && i < ndx(); ++i)
            out_dot.x_bar[e * ndx() + i] = finite ? tangent_bar[i].d : 0;
        for (size_t i = 0; rows && i < np(); ++i)
            rows[e * np() + i] = finite ? theta_bar[i].d : 0;
        outcome_[e] = finite ? EnvironmentStatus::ok : EnvironmentStatus::diverged;
    });
    call.finish();
    sum_theta_bar(out_dot.theta_bar, of);
    return count_diverged();
}

}  // namespace costate
