// With x' = (mu x_n, x_T) and s' = (s_n/mu, s_T), a friction cone and its dual both become the cone L =
// {|z_T| <= z_n}, and a solution satisfies x' = P(x' - s') with the projection P on L. The smoothed
// projection (solvers/complementarity/smoothing.hpp) makes the equation smooth. It is solved for e -> 0. De
// Saxce's shift |s_T| is smoothed in the same way.
#include <Eigen/LU>

#include "solvers/complementarity/cone.hpp"
#include "solvers/complementarity/smoothing.hpp"

namespace costate {

namespace {

// The equations H(x') = x' - P(x' - s'(x')) on rows scaled to a diagonal of about 1: x = d x', s' = d s.
struct Equations {
    const MlcpView<double>& p;
    FrictionLaw law;
    Eigen::VectorXd d, b, H;
    Eigen::MatrixXd A, J;

    Equations(const MlcpView<double>& problem, FrictionLaw friction_law)
        : p(problem),
          law(friction_law),
          d(p.rows),
          H(p.rows),
          J(p.rows, p.rows) {
        using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        for (int r = 0; r < p.rows; ++r) {
            d[r] = p.a(r, r) > 0 ? 1 / std::sqrt(p.a(r, r)) : 0;
            const int friction = p.friction_rows(r);
            if (friction == 0) continue;
            d.segment(r + 1, friction).setConstant(d[r]);
            d[r] /= std::max(p.mu(r + 1), 1e-6);
            r += friction;
        }
        A = d.asDiagonal() * Eigen::Map<const RowMajor>(p.A, p.rows, p.rows) * d.asDiagonal();
        b = d.cwiseProduct(Eigen::Map<const Eigen::VectorXd>(p.b, p.rows));
    }

    // H, and J = dH/dx' if `with_jacobian`
    void evaluate(const Eigen::VectorXd& x, double e, bool with_jacobian) {
        const Smoothed phi{e};
        const Eigen::VectorXd s = A * x + b;
        for (int r = 0; r < p.rows; ++r) {
            if (const int friction = p.friction_rows(r); friction > 0) {
                const int rows = 1 + friction;
                const ContactVector s_T = s.segment(r + 1, friction);
                const double slip = std::sqrt(s_T.squaredNorm() + e * e);
                ContactVector z = x.segment(r, rows) - s.segment(r, rows), P;
                if (law == FrictionLaw::cone) z[0] -= slip;
                ContactMatrix D;
                project_smoothly(phi, z, P, D);
                H.segment(r, rows) = x.segment(r, rows) - P;
                if (with_jacobian) {
                    Eigen::MatrixXd z_dot = -A.middleRows(r, rows);
                    if (law == FrictionLaw::cone)
                        z_dot.row(0) -= s_T.transpose() / slip * A.middleRows(r + 1, friction);
                    z_dot.middleCols(r, rows) += ContactMatrix::Identity(rows, rows);
                    J.middleRows(r, rows) = -D * z_dot;
                    J.block(r, r, rows, rows) += ContactMatrix::Identity(rows, rows);
                }
                r += friction;
                continue;
            }
            const double y = x[r] - s[r],
                         bound = p.type[r] == RowType::boxed && d[r] > 0 ? p.max_impulse(r) / d[r] : 0;
            double value = y, slope = 1;
            if (p.type[r] == RowType::unilateral) {
                value = phi.value(y);
                slope = phi.slope(y);
            } else if (p.type[r] == RowType::boxed) {
                value = phi.value_within(y, bound);
                slope = phi.slope_within(y, bound);
            }
            H[r] = x[r] - value;
            if (!with_jacobian) continue;
            J.row(r) = slope * A.row(r);
            J(r, r) += 1 - slope;
        }
    }
};

}  // namespace

bool smoothing_newton(const MlcpView<double>& p, FrictionLaw law, double* x_out, double& work) {
    constexpr int max_steps = 200, max_halvings = 12;
    Equations equations(p, law);
    const double scale = equations.b.cwiseAbs().maxCoeff();
    Eigen::VectorXd x = Eigen::VectorXd::Zero(p.rows), before;
    double e = scale;
    for (int k = 0; k < max_steps && e > 1e-12 * scale && work < max_work; ++k) {
        work += factorisation_work(p.rows);
        equations.evaluate(x, e, true);
        const double start = equations.H.norm();
        const Eigen::VectorXd step = equations.J.partialPivLu().solve(equations.H);
        if (!step.allFinite()) return false;
        before = x;
        double length = 1, now = start;
        for (int i = 0; i < max_halvings; ++i, length /= 2) {
            x = before - length * step;
            equations.evaluate(x, e, false);
            now = equations.H.norm();
            if (now < (1 - 0.1 * length) * start) break;
        }
        if (now < 0.5 * e) e *= length == 1 ? 0.1 : 0.5;
    }
    Eigen::Map<Eigen::VectorXd>(x_out, p.rows) = equations.d.cwiseProduct(x);
    return true;
}

}  // namespace costate
