// Jacobians of control steps: those of the time steps, multiplied.
//
//   x_{k+1} = f(x_k, u, theta),  A_k, B_k, C_k its Jacobians by x, u, theta
//   by_x <- A_k by_x,  by_u <- A_k by_u + B_k,  by_theta <- A_k by_theta + C_k
#include <algorithm>

#include "adjoint/batch/batch.hpp"
#include "adjoint/batch/workers.hpp"
#include "adjoint/rollout/state.hpp"

namespace costate {
namespace {

using Matrix = StepJacobian::Matrix;

// Of the time step that the scratch holds.
void time_step_jacobian(const World& w, const double* theta, const double* x, const double* u,
                        StepScratch<double>& s, bool by_theta, ControlStepJacobian& J) {
    if (w.settings.warm_start)
        return state_jacobian(w, theta, x, u, s, J.step_by_x, J.step_by_u, J.step_by_theta);
    if (by_theta) step_jacobian_by_adjoints(w, theta, x, u, s, J.closed_form, &J.step_by_theta);
    step_jacobian(w, theta, x, u, s, J.closed_form);
    J.step_by_x = J.closed_form.by_x;
    J.step_by_u = J.closed_form.by_u;
}

void multiply(ControlStepJacobian& J, bool first, bool by_theta) {
    const auto chain = [&](const Matrix& step, Matrix& all) {
        if (first)
            all = step;
        else
            all = J.step_by_x * all + step;
    };
    chain(J.step_by_u, J.by_u);
    if (by_theta) chain(J.step_by_theta, J.by_theta);
    if (first)
        J.by_x = J.step_by_x;
    else
        J.by_x = J.step_by_x * J.by_x;
}

// A row of an output, where the caller wants it.
void write_row(const Matrix& J, bool finite, size_t e, double* out) {
    if (!out) return;
    Eigen::Map<Matrix> row(out + e * J.size(), J.rows(), J.cols());
    if (finite)
        row = J;
    else
        row.setZero();
}

}  // namespace

// Of the control step of environment e from x (nx), in worker.jacobian; false if something is not finite.
bool Batch::control_step_jacobian(Worker& worker, size_t e, const double* x, const double* u,
                                  bool by_theta) const {
    workers_->check_interrupt(worker);
    if (!worker.jacobian) worker.jacobian.emplace(world_);
    ControlStepJacobian& J = *worker.jacobian;
    J.by_x.setZero(world_.ndx(), world_.ndx());
    J.by_u.setZero(world_.ndx(), world_.nu());
    if (by_theta) J.by_theta.setZero(world_.ndx(), world_.np());
    Workspace& s = *worker.workspace;
    normalize_state(world_, x, s.x.data());
    for (int k = 0; k < options_.substeps; ++k, s.x.swap(s.x_next)) {
        costate::step(world_, parameters(e), s.x.data(), u, s.step, s.x_next.data());
        if (!s.x_next.allFinite()) return false;
        time_step_jacobian(world_, parameters(e), s.x.data(), u, s.step, by_theta, J);
        multiply(J, k == 0, by_theta);
    }
    return J.by_x.allFinite() && J.by_u.allFinite() && (!by_theta || J.by_theta.allFinite());
}

int Batch::jacobian(const double* x, const double* u, const unsigned char* which, double* by_x, double* by_u,
                    double* by_theta) {
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        outcome_[e] = EnvironmentStatus::ok;
        if (which && !which[e]) return;
        const double* from = (x ? x : x_.data()) + e * nx();
        const bool finite = control_step_jacobian(worker, e, from, u + e * nu(), by_theta != nullptr) &&
                            (x || status_[e] == EnvironmentStatus::ok);
        outcome_[e] = finite ? EnvironmentStatus::ok : EnvironmentStatus::diverged;
        write_row(worker.jacobian->by_x, finite, e, by_x);
        write_row(worker.jacobian->by_u, finite, e, by_u);
        if (by_theta) write_row(worker.jacobian->by_theta, finite, e, by_theta);
    });
    return count_diverged();
}

}  // namespace costate
