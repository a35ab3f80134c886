// The sensors of all environments, backwards, and their Jacobians.
#include <algorithm>

#include "adjoint/batch/batch.hpp"
#include "adjoint/batch/outputs.hpp"
#include "adjoint/batch/workers.hpp"
#include "adjoint/rollout/state.hpp"

namespace costate {

// Of environment e at a state x (nx) with unit quaternions; false if the step diverges.
bool Batch::read_sensors(Worker& worker, size_t e, const double* x, const double* u, const double* wrenches,
                         double* y) const {
    return run_outputs(world_, {parameters(e), x, u, wrenches}, false, *worker.workspace, y);
}

// Call after read_sensors with the same arguments. The gradients are added to; false if one is not finite.
bool Batch::pull_back_sensors(Worker& worker, size_t e, const double* x, const double* u,
                              const double* wrenches, const double* y_bar, double* x_bar, double* u_bar,
                              double* wrenches_bar, double* theta_bar) const {
    pull_back_outputs(world_, {parameters(e), x, u, wrenches}, false, *worker.workspace, nullptr, y_bar,
                      {theta_bar, x_bar, u_bar, wrenches_bar});
    const auto finite = [](const double* values, size_t n) {
        return std::all_of(values, values + n, [](double value) { return std::isfinite(value); });
    };
    return finite(x_bar, ndx()) && finite(theta_bar, np()) && (!u_bar || finite(u_bar, nu()));
}

int Batch::sensors(const double* x, const double* u, const double* wrenches, double* y) {
    const size_t ny = world_.ny(), width = wrenches_width();
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        VecX<double> at(nx());
        normalize_state(world_, (x ? x : x_.data()) + e * nx(), at.data());
        const bool finite = read_sensors(worker, e, at.data(), u ? u + e * nu() : nullptr,
                                         wrenches ? wrenches + e * width : nullptr, y + e * ny);
        if (!finite) std::fill_n(y + e * ny, ny, 0.0);
        outcome_[e] = finite ? EnvironmentStatus::ok : EnvironmentStatus::diverged;
    });
    return count_diverged();
}

int Batch::sensors_backward(const double* x, const double* u, const double* wrenches, const double* y_bar,
                            const BatchGradients& out, ThetaBar of) {
    const size_t ny = world_.ny(), width = wrenches_width();
    double* const rows = theta_bar_rows(out.theta_bar, of);
    const std::vector<double> none(width, 0);
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        const double* given = (x ? x : x_.data()) + e * nx();
        VecX<double> at(nx()), y(ny), u_bar = VecX<double>::Zero(nu()),
                                      wrenches_bar = VecX<double>::Zero(width);
        normalize_state(world_, given, at.data());
        VecX<double>& theta_bar = worker.gradient.parameters;
        theta_bar.setZero();
        worker.x_bar.setZero();
        const double *control = u ? u + e * nu() : nullptr,
                     *pushed = wrenches ? wrenches + e * width : (out.wrenches_bar ? none.data() : nullptr);
        const bool finite =
            read_sensors(worker, e, at.data(), control, pushed, y.data()) &&
            pull_back_sensors(worker, e, at.data(), control, pushed, y_bar + e * ny, worker.x_bar.data(),
                              u_bar.data(), wrenches_bar.data(), theta_bar.data());
        outcome_[e] = finite ? EnvironmentStatus::ok : EnvironmentStatus::diverged;
        if (!finite) {
            worker.x_bar.setZero();
            theta_bar.setZero();
            u_bar.setZero();
            wrenches_bar.setZero();
        }
        if (out.x_bar)
            coordinates_.write_state_bar(world_, given, worker.x_bar.data(),
                                         out.x_bar + e * state_bar_width());
        if (out.u_bar) std::ranges::copy(u_bar, out.u_bar + e * nu());
        if (out.wrenches_bar) std::ranges::copy(wrenches_bar, out.wrenches_bar + e * width);
        if (rows) std::ranges::copy(theta_bar, rows + e * np());
    });
    sum_theta_bar(out.theta_bar, of);
    return count_diverged();
}

int Batch::sensors_jacobian(const double* x, const double* u, const unsigned char* which, double* by_x,
                            double* by_u, double* by_theta) {
    const size_t ny = world_.ny();
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        outcome_[e] = EnvironmentStatus::ok;
        if (which && !which[e]) return;
        VecX<double> at(nx()), y(ny), y_bar = VecX<double>::Zero(ny), u_bar(nu());
        VecX<double>& theta_bar = worker.gradient.parameters;
        normalize_state(world_, (x ? x : x_.data()) + e * nx(), at.data());
        const double* control = u ? u + e * nu() : nullptr;
        bool finite = read_sensors(worker, e, at.data(), control, nullptr, y.data());
        const auto write = [&](const VecX<double>& row, size_t i, double* out) {
            if (out) std::ranges::copy(row, out + (e * ny + i) * row.size());
        };
        for (size_t i = 0; i < ny; ++i) {
            worker.x_bar.setZero();
            u_bar.setZero();
            theta_bar.setZero();
            y_bar[i] = 1;
            // seeds and adjoints overwrite intermediates of the step's gradient, never those of the step
            if (finite)
                finite = pull_back_sensors(worker, e, at.data(), control, nullptr, y_bar.data(),
                                           worker.x_bar.data(), u_bar.data(), nullptr, theta_bar.data());
            y_bar[i] = 0;
            if (!finite) {
                worker.x_bar.setZero();
                u_bar.setZero();
                theta_bar.setZero();
            }
            write(worker.x_bar, i, by_x);
            write(u_bar, i, by_u);
            write(theta_bar, i, by_theta);
        }
        outcome_[e] = finite ? EnvironmentStatus::ok : EnvironmentStatus::diverged;
    });
    return count_diverged();
}

}  // namespace costate
