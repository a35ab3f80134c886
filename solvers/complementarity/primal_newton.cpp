#include "solvers/complementarity/primal_newton.hpp"

#include <functional>

namespace costate {

namespace {

constexpr int max_dofs = 200, max_iterations = 60, max_searches = 20;
constexpr FrictionLaw law = FrictionLaw::relaxed_cone;
constexpr double least_compliance = 1e-10;  // relative to a row's diagonal
constexpr double nearly = 1e-6;             // a relative gradient from which the residual is looked at

double norm(const std::vector<double>& x) {
    return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

// The impulse of a row that no other bounds, and D.
double row_impulse(const MlcpView<double>& p, int r, double u, double& D) {
    const double compliance = p.factored->R[r], x = -u / compliance;
    double bounded = x;
    if (p.type[r] == RowType::unilateral) bounded = std::max(0.0, x);
    if (p.type[r] == RowType::boxed) bounded = std::clamp(x, -p.max_impulse(r), p.max_impulse(r));
    D = bounded == x ? 1 / compliance : 0;
    return bounded;
}

// The impulses of a contact, and D if it is not null. With R_n of its normal row and R_T = k^2 R_n of its friction
// rows, (x_n, k x_T) is the projection of (-u_n, -u_T/k)/R_n on the cone |k x_T| <= m x_n, m = k mu.
void contact_impulses(const MlcpView<double>& p, int n, int friction, const double* u, double* x, double* D) {
    const int rows = 1 + friction;
    const double R_n = p.factored->R[n], k = std::sqrt(p.factored->R[n + 1] / R_n), m = k * p.mu(n + 1);
    double z[max_contact_rows];
    for (int i = 0; i < rows; ++i)
        z[i] = p.drops(n + i) ? 0 : -u[i] / (R_n * (i == 0 ? 1 : k));
    const double length = length_of(z + 1, friction);
    if (D != nullptr) std::fill_n(D, rows * rows, 0.0);
    std::fill_n(x, rows, 0.0);
    if (m * length <= -z[0]) return;
    if (z[0] >= 0 && length <= m * z[0]) {
        for (int i = 0; i < rows; ++i) {
            if (p.drops(n + i)) continue;
            x[i] = z[i] / (i == 0 ? 1 : k);
            if (D != nullptr) D[i * rows + i] = 1 / (R_n * (i == 0 ? 1 : k * k));
        }
        return;
    }
    const double normal = (z[0] + m * length) / (1 + m * m), across = m * normal / length;
    x[0] = normal;
    for (int i = 1; i < rows; ++i)
        x[i] = across * z[i] / k;
    if (D == nullptr) return;
    const double share = 1 / (1 + m * m);
    D[0] = share / R_n;
    for (int i = 1; i < rows; ++i) {
        D[i] = D[i * rows] = m * share * z[i] / length / (R_n * k);
        for (int j = 1; j < rows; ++j)
            D[i * rows + j] = (m * m * share - across) * z[i] / length * z[j] / length / (R_n * k * k);
        if (!p.drops(n + i)) D[i * rows + i] += across / (R_n * k * k);
    }
}

}  // namespace

bool PrimalNewton::collect_groups(const MlcpView<double>& p) {
    const double* R = p.factored->R;
    groups_.clear();
    for (int r = 0; r < p.rows; ++r) {
        if (p.drops(r)) continue;
        const int friction = p.friction_rows(r);
        if (friction == 0 && p.type[r] == RowType::friction) return false;
        for (int i = 0; i <= friction; ++i)
            if (!(R[r + i] > least_compliance * p.diagonal(r + i)) || (i > 1 && R[r + i] != R[r + 1]))
                return false;
        groups_.push_back({r, 1 + friction, {}, {}});
        r += friction;
    }
    return true;
}

void PrimalNewton::find_impulses(const MlcpView<double>& p, const double* u, bool with_derivatives) {
    for (Group& g : groups_) {
        const int r = g.first;
        if (g.rows > 1) {
            contact_impulses(p, r, g.rows - 1, u + r, x_.data() + r, with_derivatives ? g.D : nullptr);
        } else {
            double D;
            x_[r] = row_impulse(p, r, u[r], D);
            if (with_derivatives) g.D[0] = D;
        }
    }
}

void PrimalNewton::find_gradient(const MlcpView<double>& p) {
    std::ranges::transform(v_, gradient_.begin(), std::negate());
    for (const Group& g : groups_)
        for (int r = g.first; r < g.first + g.rows; ++r)
            if (x_[r] != 0) p.factored->add(r, x_[r], gradient_.data());
    std::ranges::transform(gradient_, gradient_.begin(), std::negate());
}

// Adds what has changed since the last H, and solves H dv = -gradient. False if round-off has made H indefinite.
bool PrimalNewton::find_step(const MlcpView<double>& p) {
    const FactoredOperator<double>& A = *p.factored;
    const size_t dofs = A.dofs;
    for (Group& g : groups_) {
        double change[Group::most];
        const int entries = g.rows * g.rows;
        std::transform(g.D, g.D + entries, g.in_H, change, std::minus());
        if (std::all_of(change, change + entries, [](double d) { return d == 0; })) continue;
        std::copy_n(g.D, entries, g.in_H);
        const double* W[max_contact_rows];
        for (int i = 0; i < g.rows; ++i)
            W[i] = A.W + A.start[g.first + i];
        add_symmetric_product(W, change, g.rows, A.column + A.start[g.first], A.length(g.first), H_.data(),
                              dofs);
    }
    factor_ = H_;
    if (!factor_symmetric_inplace(factor_.data(), dofs)) return false;
    std::ranges::transform(gradient_, dv_.begin(), std::negate());
    solve_symmetric_inplace(factor_.data(), dofs, dv_.data());
    for (const Group& g : groups_)
        for (int r = g.first; r < g.first + g.rows; ++r)
            du_[r] = A.dot(r, dv_.data());
    return true;
}

// The derivative along the step after a part of it.
double PrimalNewton::slope_after(const MlcpView<double>& p, double length) {
    for (size_t r = 0; r < u_.size(); ++r)
        trial_[r] = u_[r] + length * du_[r];
    find_impulses(p, trial_.data(), false);
    double slope = 0;
    for (int k = 0; k < p.factored->dofs; ++k)
        slope += (v_[k] + length * dv_[k]) * dv_[k];
    for (const Group& g : groups_)
        for (int r = g.first; r < g.first + g.rows; ++r)
            slope -= x_[r] * du_[r];
    return slope;
}

// The part of the step after which its derivative is a small share of the first one.
double PrimalNewton::search(const MlcpView<double>& p) {
    constexpr double small = 0.1;
    const double first = std::inner_product(gradient_.begin(), gradient_.end(), dv_.begin(), 0.0);
    double low = 0, high = 1, at_low = first, at_high = slope_after(p, 1);
    if (at_high <= small * std::abs(first)) return 1;
    for (int k = 0; k < max_searches; ++k) {
        double middle = low + (high - low) * at_low / (at_low - at_high);
        if (k % 3 == 2) middle = (low + high) / 2;
        const double slope = slope_after(p, middle);
        if (std::abs(slope) <= small * std::abs(first)) return middle;
        (slope < 0 ? low : high) = middle;
        (slope < 0 ? at_low : at_high) = slope;
    }
    return low;
}

bool PrimalNewton::solve(const MlcpView<double>& p, double* x) {
    if (p.factored == nullptr || p.factored->dofs > max_dofs || !collect_groups(p)) return false;
    const FactoredOperator<double>& A = *p.factored;
    x_.assign(p.rows, 0);
    u_.assign(p.rows, 0);
    trial_.assign(p.rows, 0);
    du_.assign(p.rows, 0);
    const size_t dofs = A.dofs;
    v_.assign(row_length(dofs), 0);
    gradient_ = dv_ = v_;
    H_.assign(matrix_size(dofs), 0);
    for (size_t k = 0; k < dofs; ++k)
        H_[k * row_length(dofs) + k] = 1;
    for (int r = 0; r < p.rows; ++r)
        A.add(r, x[r], v_.data());
    for (const Group& g : groups_)
        for (int r = g.first; r < g.first + g.rows; ++r)
            u_[r] = p.b[r] + A.dot(r, v_.data());
    double last = std::numeric_limits<double>::infinity();
    for (int k = 0; k < max_iterations; ++k) {
        find_impulses(p, u_.data(), true);
        find_gradient(p);
        if (const double now = norm(gradient_); now <= nearly * (1 + norm(v_))) {
            const bool solved = mlcp_residual(p, x_.data(), law) <= acceptable_residual(p, x_.data());
            if (solved || !(now < 0.5 * last)) {
                std::ranges::copy(x_, x);
                return solved;
            }
            last = now;
        }
        if (!find_step(p)) return false;
        const double length = search(p);
        if (!(length > 0)) return false;
        for (size_t i = 0; i < dofs; ++i)
            v_[i] += length * dv_[i];
        for (size_t r = 0; r < u_.size(); ++r)
            u_[r] += length * du_[r];
    }
    return false;
}

}  // namespace costate
