// Levenberg-Marquardt over the residuals of a rollout's final terms: few numbers r(y) of many variables y.
//
//   d = -J^T (J J^T + mu I)^-1 r        the shortest step among those that bring the linear model r + J d as far
//
// A Jacobian costs one reverse sweep a residual. Between two of them Broyden's update keeps J true along the steps tried,
//
//   J += (r(y + d) - r(y) - J d) d^T / |d|^2
//
// at the price of the loss alone, as long as every step takes a good part of the loss: the economy of Powell's hybrid method
// (Powell 1970; More, Garbow & Hillstrom, User Guide for MINPACK-1, 1980, hybrj).
#include <Eigen/Cholesky>

#include "adjoint/problem.hpp"

namespace costate {

namespace {

// d above within its bounds: what would leave them is moved to them, and the rest is asked again for what is left of r.
VecX<double> bounded_step(const Eigen::MatrixXd& J, const VecX<double>& r, double mu, const VecX<double>& lower, const VecX<double>& upper) {
    constexpr int most_rounds = 10;
    VecX<double> d = VecX<double>::Zero(lower.size()), is_free = VecX<double>::Ones(lower.size());
    for (int round = 0; round < most_rounds; ++round) {
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

}  // namespace

void gauss_newton(Problem& p) {
    constexpr double good = 0.6;        // of |r|: a step that leaves more asks for a new Jacobian
    constexpr double least = 0.999;     // of |r|: what a step must leave at most
    constexpr int most_rejections = 8;  // in a row
    const Objective components = residual_components(p.objective());
    const auto count = static_cast<int>(components.size());
    const VecX<double>&lower = p.variables.lower(), &upper = p.variables.upper();

    VecX<double> y = p.variables.start();
    p.value(y);
    VecX<double> r = p.residuals(components);
    Eigen::MatrixXd J = p.jacobian(y, components);
    // The loss is |r| or |r|^2.
    const bool distance = p.objective().front().norm == TermNorm::distance;
    const auto note_gradient = [&] { p.note_gradient((J.transpose() * r).norm() * (distance ? 1 / std::max(r.norm(), 1e-300) : 2)); };
    note_gradient();
    double damping = 0.1;  // mu in units of the mean eigenvalue of J J^T
    bool stale = false;
    for (int rejections = 0; rejections < most_rejections;) {
        if (stale && p.result.gradient_evaluations + count <= p.settings.max_gradient_evaluations) {
            J = p.jacobian(y, components), stale = false;  // the last loss was y's, else J would not be stale
            note_gradient();
        }
        if (const char* why = p.budget_spent()) return void(p.result.stopped = why);
        const double scale = J.squaredNorm() / count;
        if ((J.transpose() * r).cwiseAbs().maxCoeff() <= p.settings.gradient_tolerance) return void(p.result.stopped = "gradient vanishes");
        const VecX<double> d = bounded_step(J, r, damping * scale, lower - y, upper - y), trial = (y + d).cwiseMax(lower).cwiseMin(upper);
        const bool finite = p.value(trial) < unlimited;
        const double before = r.norm();
        double after = unlimited;
        if (finite) {
            const VecX<double> r_trial = p.residuals(components);
            after = r_trial.norm();
            if (d.squaredNorm() > 0) J += (r_trial - r - J * d) * d.transpose() / d.squaredNorm();
            if (after < least * before) y = trial, r = r_trial;
        }
        if (!(after < least * before)) {
            damping *= 3, ++rejections;
            continue;
        }
        damping *= after < 0.5 * before ? 0.1 : 0.3;
        stale = after > good * before, rejections = 0;
        p.end_iteration();
    }
    p.result.stopped = "no descent along the steps";
}

}  // namespace costate
