// Levenberg-Marquardt over the residuals r(y) of a rollout.
//
// With few residuals r, all of the final state, and many variables y: J is computed by rows, with one reverse
// sweep per residual.
//
//   d = -J^T (J J^T + mu I)^-1 r        the shortest step that reduces the linear model r + J d equally
//
// Between two Jacobians, Broyden's update keeps J exact along the steps tried,
//
//   J += (r(y + d) - r(y) - J d) d^T / |d|^2
//
// which costs only one loss, as long as every step reduces the loss sufficiently, as in Powell's hybrid
// method (Powell 1970; More, Garbow & Hillstrom, User Guide for MINPACK-1, 1980, hybrj).
//
// Otherwise J is computed by columns, with forward products (adjoint/optimize/forward_products.hpp), for
// every step:
//
//   d = argmin 1/2 d^T (J^T J + mu D) d + (J^T r)^T d  within the variables' bounds,   D = diag(J^T J)
#include <Eigen/Cholesky>

#include "adjoint/optimize/box_qp.hpp"
#include "adjoint/optimize/forward_products.hpp"
#include "adjoint/optimize/problem.hpp"

namespace costate {

namespace {

// The step d above within its bounds: components that would violate their bounds are set to the bounds, and
// the others are solved again for the remaining r.
VecX<double> bounded_step(const Eigen::MatrixXd& J, const VecX<double>& r, double mu,
                          const VecX<double>& lower, const VecX<double>& upper) {
    constexpr int max_rounds = 10;
    VecX<double> d = VecX<double>::Zero(lower.size()), is_free = VecX<double>::Ones(lower.size());
    for (int round = 0; round < max_rounds; ++round) {
        const Eigen::MatrixXd J_free = J * is_free.asDiagonal();
        Eigen::MatrixXd A = J_free * J_free.transpose();
        A.diagonal().array() += mu;
        const VecX<double> held = d - is_free.cwiseProduct(d);
        d = held - J_free.transpose() * A.ldlt().solve(r + J * held);
        const VecX<double> inside = d.cwiseMax(lower).cwiseMin(upper);
        if (inside == d) break;
        for (Eigen::Index i = 0; i < d.size(); ++i)
            if (inside[i] != d[i]) is_free[i] = 0;
        d = inside;
    }
    return d;
}

// Why a method ends whose steps from y do not reduce the loss any more. It has converged if the least damped
// of them is below the precision of y, or the reduction that the linear model promises below that of the
// loss, as by xtol and ftol of lmder (More, Garbow & Hillstrom 1980).
const char* reason_without_descent(const VecX<double>& y, const VecX<double>& d, double promised,
                                   double loss) {
    constexpr double precision = 1e-10;
    const bool converged = d.norm() <= precision * y.norm() || promised <= precision * loss;
    return converged ? "converged" : "no descent along the steps";
}

struct ByRows {
    VecX<double> y, r;
    Eigen::MatrixXd J;
    double damping = 0.1;  // mu in units of the mean eigenvalue of J J^T
    bool stale = false;    // J must be computed again
    template <class Archive> void transfer(Archive& a) { a(y, r, J, damping, stale); }
};

void by_rows(Problem& p, const Objective& components) {
    constexpr double good = 0.6;       // of |r|: a step that leaves more triggers a new Jacobian
    constexpr double least = 0.999;    // of |r|: an accepted step leaves at most this
    constexpr int max_rejections = 8;  // in a row
    const auto count = static_cast<int>(components.size());
    const VecX<double>&lower = p.variables.lower(), &upper = p.variables.upper();

    ByRows state;
    VecX<double>&y = state.y, &r = state.r;
    auto& J = state.J;
    double& damping = state.damping;
    bool& stale = state.stale;
    const bool resumed = p.resume(state);
    if (resumed) {
        p.revisit(y);
    } else {
        y = p.variables.start();
        p.value(y);
        r = p.residuals(components);
        J = p.jacobian(y, components);
    }
    // The loss is |r| or |r|^2.
    const bool distance = norm_of(p.objective().front()) == TermNorm::distance;
    const auto note_gradient = [&] {
        p.note_gradient((J.transpose() * r).norm() * (distance ? 1 / std::max(r.norm(), 1e-300) : 2));
    };
    if (!resumed) note_gradient();
    const char* why_no_descent = "";
    for (int rejections = 0; rejections < max_rejections;) {
        if (stale && p.result.gradient_evaluations + count <= p.settings.max_gradient_evaluations) {
            J = p.jacobian(y, components);  // the last loss was that of y, otherwise J would not be stale
            stale = false;
            note_gradient();
        }
        if (const char* why = p.budget_spent()) return void(p.result.stopped = why);
        const double scale = J.squaredNorm() / count;
        if ((J.transpose() * r).cwiseAbs().maxCoeff() <= p.settings.gradient_tolerance)
            return void(p.result.stopped = "gradient vanishes");
        const VecX<double> d = bounded_step(J, r, damping * scale, lower - y, upper - y),
                           trial = (y + d).cwiseMax(lower).cwiseMin(upper);
        const bool finite = p.value(trial) < unlimited;
        const double before = r.norm();
        if (rejections == 0)
            why_no_descent = reason_without_descent(
                y, trial - y, r.squaredNorm() - (r + J * (trial - y)).squaredNorm(), r.squaredNorm());
        double after = unlimited;
        if (finite) {
            const VecX<double> r_trial = p.residuals(components);
            after = r_trial.norm();
            if (d.squaredNorm() > 0) J += (r_trial - r - J * d) * d.transpose() / d.squaredNorm();
            if (after < least * before) {
                y = trial;
                r = r_trial;
            }
        }
        if (!(after < least * before)) {
            damping *= 3;
            ++rejections;
            continue;
        }
        damping *= after < 0.5 * before ? 0.1 : 0.3;
        stale = after > good * before;
        rejections = 0;
        p.end_iteration(state);
    }
    p.result.stopped = why_no_descent;
}

struct ByColumns {
    VecX<double> y;
    double loss = 0, damping = 1e-3;
    template <class Archive> void transfer(Archive& a) { a(y, loss, damping); }
};

void by_columns(Problem& p) {
    constexpr double least_damping = 1e-16, least_scale = 1e-12;
    constexpr int max_rejections = 12;  // in a row
    const VecX<double>&lower = p.variables.lower(), &upper = p.variables.upper();
    ForwardProducts products(p.world(), p.objective(), p.rollout().plan(), p.variables, p.rollout().steps());

    ByColumns state;
    auto& [y, loss, damping] = state;
    if (!p.resume(state)) {
        y = p.variables.start();
        loss = p.value(y);
    }
    while (true) {
        const NormalEquations normal = products.at(y);
        ++p.result.gradient_evaluations;
        const VecX<double> gradient = 2 * normal.g;
        p.note_gradient(gradient.norm());
        if (const char* why = p.reason_to_stop(gradient)) return void(p.result.stopped = why);
        const VecX<double> diagonal = normal.H.diagonal(),
                           D = diagonal.cwiseMax(least_scale * diagonal.maxCoeff());
        double after = unlimited;
        const char* why_no_descent = "no descent along the steps";
        for (int rejections = 0; rejections < max_rejections; ++rejections, damping *= 4) {
            if (const char* why = p.budget_spent()) return void(p.result.stopped = why);
            Eigen::MatrixXd H = normal.H;
            H.diagonal() += damping * D;
            const BoxQp qp = solve_box_qp(H, normal.g, lower - y, upper - y, VecX<double>::Zero(y.size()));
            const VecX<double> trial = (y + qp.x).cwiseMax(lower).cwiseMin(upper);
            const VecX<double> d = trial - y;
            if (rejections == 0 && qp.solved)
                why_no_descent =
                    reason_without_descent(y, d, -d.dot(2 * normal.g + normal.H * d), std::abs(loss));
            if (!qp.solved || trial == y) continue;
            after = p.value(trial);
            if (after < loss) {
                y = trial;
                break;
            }
        }
        if (!(after < loss)) return void(p.result.stopped = why_no_descent);
        loss = after;
        damping = std::max(0.1 * damping, least_damping);
        p.end_iteration(state);
    }
}

}  // namespace

void gauss_newton(Problem& p) {
    check_least_squares(p.objective());
    const Objective components = residual_components(p.objective());
    if (components.empty() || static_cast<int>(components.size()) >= p.variables.size())
        by_columns(p);
    else
        by_rows(p, components);
}

}  // namespace costate
