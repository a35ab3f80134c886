// First-order methods for the law of a cone: projected Gauss-Seidel, contact by contact, and ADMM.
#include <numeric>

#include <Eigen/Cholesky>

#include "solvers/complementarity/cone.hpp"

namespace costate {

namespace {

// The new impulse of a free or unilateral row or of a row with constant bounds: the solution of its own
// equation.
double one_row(const MlcpView<double>& p, const double* x, int r, double s) {
    const double y = x[r] - s / p.diagonal(r);
    if (p.type[r] == RowType::unilateral) return std::max(0.0, y);
    return p.type[r] == RowType::free ? y : std::clamp(y, -p.max_impulse(r), p.max_impulse(r));
}

// An upper bound for the eigenvalues of A on the friction rows t ... t + rows - 1; the largest one of two rows.
double friction_step(const MlcpView<double>& p, int t, int rows) {
    if (rows == 2) {
        const double a = p.diagonal(t), b = p.a(t, t + 1), c = p.diagonal(t + 1);
        return (a + c) / 2 + length_of((a - c) / 2, b);
    }
    double largest = 0;
    for (int i = t; i < t + rows; ++i) {
        double sum = 0;
        for (int j = t; j < t + rows; ++j)
            sum += std::abs(p.a(i, j));
        largest = std::max(largest, sum);
    }
    return largest;
}

// Updates the rows of a contact. Cone: the normal impulse such that the normal velocity is 0, then a step of
// the friction against the slip, projected on the disk of the new normal impulse. Relaxed cone: a projected
// gradient step of all rows.
void contact_update_inplace(const MlcpView<double>& p, FrictionLaw law, int n, int friction, const double* x,
                            SweptVelocity& s) {
    const double mu = p.mu(n + 1);
    double y[max_contact_rows] = {}, step = 0;
    if (law == FrictionLaw::relaxed_cone) {
        for (int i = 0; i <= friction; ++i)
            step += p.diagonal(n + i);
        for (int i = 0; i <= friction; ++i)
            y[i] = p.drops(n + i) ? 0 : x[n + i] - s(n + i) / step;
        project_on_cone_inplace(mu, friction, y);
        for (int i = 0; i <= friction; ++i)
            s.set(n + i, y[i]);
        return;
    }
    s.set(n, std::max(0.0, x[n] - s(n) / p.diagonal(n)));
    step = friction_step(p, n + 1, friction);
    for (int i = 1; i <= friction; ++i)
        y[i] = p.drops(n + i) ? 0 : x[n + i] - s(n + i) / step;
    const double length = length_of(y + 1, friction), bound = mu * x[n];
    for (int i = 1; i <= friction; ++i)
        s.set(n + i, length > bound ? y[i] * (bound / length) : y[i]);
}

}  // namespace

double cone_gauss_seidel_inplace(const MlcpView<double>& p, FrictionLaw law, int sweeps, double tolerance,
                                 std::vector<double>& work, double* x) {
    double residual = mlcp_residual(p, x, law);
    SweptVelocity s(p, work, x);
    for (int k = 0; k < sweeps && residual > tolerance; ++k) {
        for (int r = 0; r < p.rows; ++r) {
            if (const int friction = p.friction_rows(r); friction > 0) {
                contact_update_inplace(p, law, r, friction, x, s);
                r += friction;
            } else if (!p.drops(r))
                s.set(r, one_row(p, x, r, s(r)));
        }
        if (k % 10 == 9 || k + 1 == sweeps) residual = mlcp_residual(p, x, law);
    }
    return residual;
}

// ADMM for
//
//   min over z in the cones of z.(A z/2 + b + shift)
//
// split as x = z with the scaled dual y. On the normal row of a cone, shift = mu |s_T| (De Saxce) follows the
// iterate. The penalty rho stays within 1e-6 to 1e6 of the mean diagonal: with jammed contacts it would
// shrink until A + rho is no longer positive definite in working precision. Ends with the best finite
// iterate.
double cone_admm_inplace(const MlcpView<double>& p, FrictionLaw law, int iterations, double tolerance,
                         ConeScratch& w, double* x) {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const bool dense = p.factored == nullptr;
    const Eigen::Map<const RowMajor> A(p.A, dense ? p.rows : 0, dense ? p.rows : 0);
    const Eigen::Map<const Eigen::VectorXd> b(p.b, p.rows);
    Eigen::Map<Eigen::VectorXd> z(x, p.rows);
    const double mean =
        dense ? A.diagonal().mean() : Eigen::Map<const Eigen::VectorXd>(p.factored->diagonal, p.rows).mean();
    double rho = 0.1 * mean, residual = mlcp_residual(p, x, law), least = residual;
    w.best.assign(x, x + p.rows);
    Eigen::VectorXd &y = w.dual, &split = w.split, &rhs = w.rhs, &primal = w.primal;
    y.setZero(p.rows);
    const auto factor = [&] {
        if (!dense) {
            w.rows.resize(p.rows);
            std::iota(w.rows.begin(), w.rows.end(), 0);
            w.shifted_factor.groups.clear();
            for (int r = 0; r < p.rows; ++r) {
                RowGroup& g = w.shifted_factor.groups.emplace_back();
                g.first = r;
                g.count = 1;
                g.P[0] = 1;
                g.K[0] = rho;
            }
            w.shifted_factor.factor(*p.factored, w.rows);
            return true;
        }
        w.shifted = A;
        w.shifted.diagonal().array() += rho;
        return Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(w.shifted).info() == Eigen::Success;
    };
    bool factored = factor();
    for (int k = 0; factored && k < iterations && residual > tolerance; ++k) {
        if (dense)
            rhs = A * z + b;
        else {
            rhs.resize(p.rows);
            mlcp_velocity(p, x, rhs.data());
        }
        for (int r = 0; r < p.rows; ++r) {
            const int friction = law == FrictionLaw::cone ? p.friction_rows(r) : 0;
            const double shift = friction > 0 ? p.mu(r + 1) * length_of(rhs.data() + r + 1, friction) : 0;
            rhs[r] = -b[r] - shift + rho * (z[r] - y[r]);
            for (int i = 0; i < friction; ++i) {
                ++r;
                rhs[r] = -b[r] + rho * (z[r] - y[r]);
            }
        }
        primal = rhs;
        if (dense) {
            w.shifted.triangularView<Eigen::Lower>().solveInPlace(primal);
            w.shifted.triangularView<Eigen::Lower>().transpose().solveInPlace(primal);
        } else {
            w.shifted_factor.solve_inplace(primal.data());
        }
        split = primal + y;
        for (int r = 0; r < p.rows; ++r) {
            if (const int friction = p.friction_rows(r); friction > 0) {
                project_on_cone_inplace(p.mu(r + 1), friction, split.data() + r);
                r += friction;
            } else if (p.type[r] == RowType::unilateral)
                split[r] = std::max(0.0, split[r]);
            else if (p.type[r] == RowType::boxed)
                split[r] = std::clamp(split[r], -p.max_impulse(r), p.max_impulse(r));
            else if (p.drops(r))
                split[r] = 0;
        }
        y += primal - split;
        const double apart = (primal - split).norm(), moved = (split - z).norm();
        z = split;
        if (k % 10 != 9) continue;
        residual = mlcp_residual(p, x, law);
        if (residual < least) {
            least = residual;
            w.best.assign(x, x + p.rows);
        }
        double balance = apart > 10 * moved ? 4 : (moved > 10 * apart ? 0.25 : 1);
        balance = std::clamp(balance * rho, 1e-6 * mean, 1e6 * mean) / rho;
        if (balance == 1) continue;
        rho *= balance;
        y /= balance;
        factored = factor();
    }
    residual = mlcp_residual(p, x, law);
    if (residual <= least) return residual;
    std::ranges::copy(w.best, x);
    return least;
}

}  // namespace costate
