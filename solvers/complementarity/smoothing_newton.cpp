// With x' = (mu x_n, x_T) and s' = (s_n/mu, s_T) a friction cone and its dual become the cone L of |z_T| <=
// z_n, and a solution is x' = P(x' - s'), where P projects on L, eigenvalue by eigenvalue: z has l = z_n +-
// |z_T| with the frame u = z_T/|z_T|, and P takes max(0, l) of each. Taking phi(l) = (l + sqrt(l^2 + 4
// e^2))/2 instead makes the equation smooth; it is solved for e -> 0 (Chen, Sun & Sun 2003; Hayashi,
// Yamashita & Fukushima 2005). De Saxce's shift |s_T| is smoothed likewise.
#include <Eigen/LU>

#include "solvers/complementarity/cone.hpp"

namespace costate {

namespace {

struct Smoothed {
    double e;
    double value(double l) const { return (l + std::sqrt(l * l + 4 * e * e)) / 2; }
    double slope(double l) const { return (1 + l / std::sqrt(l * l + 4 * e * e)) / 2; }
};

// P(z) and its Jacobian
void project(const Smoothed& phi, const Eigen::Vector3d& z, Eigen::Vector3d& P, Eigen::Matrix3d& D) {
    const double length = std::hypot(z[1], z[2]), high = z[0] + length, low = z[0] - length;
    const Eigen::Vector2d u = length > 0 ? Eigen::Vector2d(z.tail<2>() / length) : Eigen::Vector2d(1, 0);
    const double b = (phi.slope(high) + phi.slope(low)) / 2, c = (phi.slope(high) - phi.slope(low)) / 2;
    const double a =
        length > 1e-9 * (std::abs(z[0]) + phi.e) ? (phi.value(high) - phi.value(low)) / (high - low) : b;
    P[0] = (phi.value(high) + phi.value(low)) / 2;
    P.tail<2>() = (phi.value(high) - phi.value(low)) / 2 * u;
    D(0, 0) = b;
    D.block<1, 2>(0, 1) = c * u.transpose(), D.block<2, 1>(1, 0) = c * u;
    D.block<2, 2>(1, 1) = a * Eigen::Matrix2d::Identity() + (b - a) * u * u.transpose();
}

// The equations H(x') = x' - P(x' - s'(x')) on rows scaled to a diagonal of about 1: x = d x', s' = d s.
struct Equations {
    const MlcpView<double>& p;
    FrictionLaw law;
    Eigen::VectorXd d, b, H;
    Eigen::MatrixXd A, J;

    Equations(const MlcpView<double>& problem, FrictionLaw friction)
        : p(problem),
          law(friction),
          d(p.rows),
          H(p.rows),
          J(p.rows, p.rows) {
        using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        for (int r = 0; r < p.rows; ++r) {
            d[r] = p.a(r, r) > 0 ? 1 / std::sqrt(p.a(r, r)) : 0;
            if (!p.contact_at(r)) continue;
            d[r + 1] = d[r + 2] = d[r];
            d[r] /= std::max(p.mu[r + 1], 1e-6);
            r += 2;
        }
        A = d.asDiagonal() * Eigen::Map<const RowMajor>(p.A, p.rows, p.rows) * d.asDiagonal();
        b = d.cwiseProduct(Eigen::Map<const Eigen::VectorXd>(p.b, p.rows));
    }

    // H and, where asked, J = dH/dx'
    void evaluate(const Eigen::VectorXd& x, double e, bool with_jacobian) {
        const Smoothed phi{e};
        const Eigen::VectorXd s = A * x + b;
        for (int r = 0; r < p.rows; ++r) {
            if (p.contact_at(r)) {
                const Eigen::Vector2d s_T = s.segment<2>(r + 1);
                const double slip = std::sqrt(s_T.squaredNorm() + e * e);
                Eigen::Vector3d z = x.segment<3>(r) - s.segment<3>(r), P;
                if (law == FrictionLaw::cone) z[0] -= slip;
                Eigen::Matrix3d D;
                project(phi, z, P, D);
                H.segment<3>(r) = x.segment<3>(r) - P;
                if (with_jacobian) {
                    Eigen::MatrixXd z_dot = -A.middleRows(r, 3);
                    if (law == FrictionLaw::cone)
                        z_dot.row(0) -= s_T.transpose() / slip * A.middleRows(r + 1, 2);
                    z_dot.middleCols(r, 3) += Eigen::Matrix3d::Identity();
                    J.middleRows(r, 3) = -D * z_dot;
                    J.block(r, r, 3, 3) += Eigen::Matrix3d::Identity();
                }
                r += 2;
                continue;
            }
            const double y = x[r] - s[r], bound = p.normal[r] == boxed_row && d[r] > 0 ? p.mu[r] / d[r] : 0;
            double value = y, slope = 1;
            if (p.normal[r] == unilateral_row) {
                value = phi.value(y);
                slope = phi.slope(y);
            } else if (p.normal[r] == boxed_row) {
                value = phi.value(y + bound) - phi.value(y - bound) - bound;
                slope = phi.slope(y + bound) - phi.slope(y - bound);
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
    constexpr int most_steps = 200, most_halvings = 12;
    Equations equations(p, law);
    const double scale = equations.b.cwiseAbs().maxCoeff();
    Eigen::VectorXd x = Eigen::VectorXd::Zero(p.rows), before;
    double e = scale;
    for (int k = 0; k < most_steps && e > 1e-12 * scale && work < most_work; ++k) {
        work += factorisation_work(static_cast<size_t>(p.rows));
        equations.evaluate(x, e, true);
        const double start = equations.H.norm();
        const Eigen::VectorXd step = equations.J.partialPivLu().solve(equations.H);
        if (!step.allFinite()) return false;
        before = x;
        double length = 1, now = start;
        for (int i = 0; i < most_halvings; ++i, length /= 2) {
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
