// Jacobians of control steps: those of the time steps, multiplied.
//
//   x_{k+1} = f(x_k, u, theta),  A_k, B_k, C_k its Jacobians by x, u, theta
//   by_x <- A_k by_x,  by_u <- A_k by_u + B_k,  by_theta <- A_k by_theta + C_k
//
// by_x, by_u and by_theta have the chosen columns alone. A_0 needs those of by_x only.
#include <algorithm>

#include "adjoint/batch/batch.hpp"
#include "adjoint/batch/workers.hpp"
#include "adjoint/rollout/state.hpp"
#include "core/math/products.hpp"

namespace costate {

// The columns to compute, as indices.
struct Batch::ChosenColumns {
    std::vector<int> x, u, theta;
    std::vector<int> first, later;  // of (q, v, u), in the first and in later time steps
    bool all;                       // of x and u: no mask leaves some out

    ChosenColumns(const World& w, const JacobianColumns& given, bool by_x, bool by_u, bool by_theta)
        : x(indices(given.x, w.ndx(), by_x)),
          u(indices(given.u, w.nu(), by_u)),
          theta(indices(given.theta, w.np(), by_theta)),
          first(x),
          later(indices(nullptr, w.ndx(), true)),
          all(!given.x && !given.u) {
        for (const int column : u) {
            first.push_back(w.ndx() + column);
            later.push_back(w.ndx() + column);
        }
    }
    static std::vector<int> indices(const unsigned char* mask, int n, bool wanted) {
        std::vector<int> out;
        for (int i = 0; wanted && i < n; ++i)
            if (!mask || mask[i]) out.push_back(i);
        return out;
    }
};

namespace {

using Matrix = StepJacobian::Matrix;

// The chosen columns of a matrix.
void take(const Matrix& from, const std::vector<int>& columns, Matrix& to) {
    if (static_cast<Eigen::Index>(columns.size()) == from.cols())
        to = from;
    else
        to = from(Eigen::all, columns);
}

// all <- A all; product: work
void multiply(const Matrix& A, Matrix& all, Matrix& product) {
    product.setZero(A.rows(), all.cols());
    // the transposed product, whose factors are stored by columns
    add_product(all.cols(), A.cols(), A.rows(), all.data(), A.data(), 1, A.cols(), product.data(),
                all.cols());
    all.swap(product);
}

// all <- A all + step, of its chosen columns; in the first time step all is step.
void chain(const Matrix& step, const std::vector<int>& columns, const Matrix& A, bool first, Matrix& all,
           Matrix& product) {
    if (columns.empty()) return;
    if (first) return take(step, columns, all);
    multiply(A, all, product);
    all += step(Eigen::all, columns);
}

// The columns of an environment's part of an output, where the caller wants it.
void write_columns(const Matrix& J, const std::vector<int>& columns, bool finite, size_t e, int rows,
                   int width, double* out) {
    if (!out) return;
    double* row = out + e * rows * width;
    for (int r = 0; r < rows; ++r, row += width)
        for (size_t i = 0; i < columns.size(); ++i)
            row[columns[i]] = finite ? J(r, static_cast<Eigen::Index>(i)) : 0;
}

}  // namespace

// Of the control step of environment e from x (nx), in worker.jacobian; false if something is not finite.
bool Batch::control_step_jacobian(Worker& worker, size_t e, const double* x, const double* u,
                                  const ChosenColumns& columns) const {
    workers_->check_interrupt(worker);
    if (!worker.jacobian) worker.jacobian.emplace(world_);
    ControlStepJacobian& J = *worker.jacobian;
    Workspace& s = *worker.workspace;
    const double* theta = parameters(e);
    const bool by_theta = !columns.theta.empty();
    normalize_state(world_, x, s.x.data());
    for (int k = 0; k < options_.substeps; ++k, s.x.swap(s.x_next)) {
        costate::step(world_, {theta, s.x.data(), u}, s.step, s.x_next.data());
        if (!s.x_next.allFinite()) return false;
        if (world_.settings.warm_start) {
            state_jacobian(world_, theta, s.x.data(), u, s.step, J.step_by_x, J.step_by_u, J.step_by_theta);
        } else {
            const std::vector<int>* chosen = columns.all ? nullptr : k == 0 ? &columns.first : &columns.later;
            if (by_theta)
                step_jacobian_by_adjoints(world_, theta, s.x.data(), u, s.step, J.closed_form,
                                          &J.step_by_theta);
            step_jacobian(world_, theta, s.x.data(), u, s.step, J.closed_form, nullptr, chosen);
        }
        const bool whole = world_.settings.warm_start;
        const Matrix &A = whole ? J.step_by_x : J.closed_form.by_x,
                     &B = whole ? J.step_by_u : J.closed_form.by_u;
        chain(B, columns.u, A, k == 0, J.by_u, J.product);
        chain(J.step_by_theta, columns.theta, A, k == 0, J.by_theta, J.product);
        if (columns.x.empty()) continue;
        if (k == 0)
            take(A, columns.x, J.by_x);
        else
            multiply(A, J.by_x, J.product);
    }
    return (columns.x.empty() || J.by_x.allFinite()) && (columns.u.empty() || J.by_u.allFinite()) &&
           (!by_theta || J.by_theta.allFinite());
}

int Batch::jacobian(const double* x, const double* u, const unsigned char* which, double* by_x, double* by_u,
                    double* by_theta, const JacobianColumns& columns) {
    const ChosenColumns chosen(world_, columns, by_x != nullptr, by_u != nullptr, by_theta != nullptr);
    const int rows = world_.ndx();
    const CountedCall call(*workers_, n_env());
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        outcome_[e] = EnvironmentStatus::ok;
        if (which && !which[e]) return workers_->advance(1);
        const double* from = (x ? x : x_.data()) + e * nx();
        const bool finite = control_step_jacobian(worker, e, from, u + e * nu(), chosen) &&
                            (x || status_[e] == EnvironmentStatus::ok);
        outcome_[e] = finite ? EnvironmentStatus::ok : EnvironmentStatus::diverged;
        const ControlStepJacobian& J = *worker.jacobian;
        write_columns(J.by_x, chosen.x, finite, e, rows, world_.ndx(), by_x);
        write_columns(J.by_u, chosen.u, finite, e, rows, world_.nu(), by_u);
        write_columns(J.by_theta, chosen.theta, finite, e, rows, world_.np(), by_theta);
        workers_->advance(1);
    });
    call.finish();
    return count_diverged();
}

int Batch::observe_steps(const double* x, const double* u, const VisitStep& visit) {
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        workers_->check_interrupt(worker);
        Workspace& s = *worker.workspace;
        normalize_state(world_, (x ? x : x_.data()) + e * nx(), s.x.data());
        costate::step(world_, {parameters(e), s.x.data(), u + e * nu()}, s.step, s.x_next.data());
        const bool finite = s.x_next.allFinite() && (x || status_[e] == EnvironmentStatus::ok);
        outcome_[e] = finite ? EnvironmentStatus::ok : EnvironmentStatus::diverged;
        if (finite) visit(e, Observation<double>(world_, s.step));
    });
    return count_diverged();
}

}  // namespace costate
