// Newton's method on smoothed equations, as in solvers/complementarity/smoothing_newton.cpp, for large
// islands and all laws of friction. Except for A, an equation has variables of one contact only, so
// solvers/complementarity/factored_solver.hpp computes the steps. Rows are scaled to a diagonal of about 1: x
// = d x' and s' = d s, with mu in the d of a cone's normal row.
//
//   row r           x'_r - phi(x'_r - s'_r)          or phi within bounds, for friction mu x_n
//   contact         x' - P(x' - s' - e_n |s'_T|)     |s'_T| smoothed by e; without it for the relaxed cone
#include "solvers/complementarity/large_island.hpp"
#include "solvers/complementarity/smoothing.hpp"

namespace costate {

namespace {

constexpr int max_steps = 100, max_path_halvings = 12;
constexpr double least_smoothing = 1e-12, try_newton = 1e-4, expected_steps = 25;

// d of row r
double scale_of(const MlcpView<double>& p, FrictionLaw law, int r) {
    const int n = p.type[r] == RowType::friction && law != FrictionLaw::box ? p.normal_of(r) : r;
    if (p.drops(n)) return 1;
    const double root = std::sqrt(p.diagonal(n));
    return 1 / (law != FrictionLaw::box && p.contact_at(r) ? root * std::max(p.mu(r + 1), 1e-6) : root);
}

class SmoothedEquations {
public:
    SmoothedEquations(const MlcpView<double>& p, FrictionLaw law, LargeScratch& w) : p_(p), law_(law), w_(w) {
        const size_t n = p.rows;
        w.s.resize(n);
        w.equations.resize(n);
        w.rows.resize(n);
        w.scale.resize(n);
        for (int r = 0; r < p.rows; ++r) {
            w.rows[r] = r;
            w.scale[r] = scale_of(p, law, r);
        }
    }
    // Norm of the equations at x. Leaves the equations in w.equations, and the groups of their Jacobian in
    // w.smoothed.
    double evaluate(const double* x, double e) {
        mlcp_velocity(p_, x, w_.s.data());
        w_.smoothed.groups.clear();
        for (int r = 0; r < p_.rows; r += w_.smoothed.groups.back().count) {
            RowGroup& g = w_.smoothed.groups.emplace_back();
            g.first = r;
            g.count = 1;
            while (r + g.count < p_.rows && p_.has_normal(r + g.count, r))
                ++g.count;  // its friction
            if (law_ != FrictionLaw::box && p_.contact_at(r))
                contact(x, Smoothed{e}, g);
            else
                for (int i = 0; i < g.count; ++i)
                    row(x, Smoothed{e}, i, g);
        }
        double sum = 0;
        for (const double H : w_.equations)
            sum += H * H;
        return std::sqrt(sum);
    }

private:
    double d(int r) const { return w_.scale[r]; }
    double s(int r) const { return w_.s[r] * d(r); }
    double& H(int r) { return w_.equations[r]; }

    void contact(const double* x, const Smoothed& phi, RowGroup& g) {
        const int n = g.first, rows = g.count;
        ContactVector X(rows), S(rows), z, P;
        ContactMatrix D, shift = ContactMatrix::Identity(rows, rows);  // ds' with De Saxce's term
        for (int i = 0; i < rows; ++i) {
            X[i] = x[n + i] / d(n + i);
            S[i] = s(n + i);
        }
        z = X - S;
        if (law_ == FrictionLaw::cone) {
            const double slip = length_of(length_of(S.data() + 1, rows - 1), phi.e);
            z[0] -= slip;
            for (int i = 1; i < rows; ++i)
                shift(0, i) = S[i] / slip;
        }
        project_smoothly(phi, z, P, D);
        shift = (D * shift).eval();
        for (int i = 0; i < rows; ++i) {
            H(n + i) = X[i] - P[i];
            for (int j = 0; j < rows; ++j) {
                g.P[rows * i + j] = shift(i, j) * d(n + j);
                g.K[rows * i + j] = ((i == j ? 1 : 0) - D(i, j)) / d(n + j);
            }
        }
    }

    // Row i of the group. The first row of the group may be the normal row of the others.
    void row(const double* x, const Smoothed& phi, int i, RowGroup& g) {
        const int r = g.first + i;
        const double X = x[r] / d(r), y = X - s(r);
        double value = y, slope = 1, by_normal = 0;
        if (p_.drops(r)) {
            value = slope = 0;
        } else if (p_.type[r] == RowType::unilateral) {
            value = phi.value(y);
            slope = phi.slope(y);
        } else if (p_.type[r] != RowType::free) {
            const bool boxed = p_.type[r] == RowType::boxed;
            const double bound = (boxed ? p_.max_impulse(r) : p_.mu(r) * std::max(0.0, x[g.first])) / d(r);
            value = phi.value_within(y, bound);
            slope = phi.slope_within(y, bound);
            if (!boxed && x[g.first] > 0) by_normal = phi.slope_by_bound(y, bound) * p_.mu(r) / d(r);
        }
        H(r) = X - value;
        g.P[g.count * i + i] = slope * d(r);
        g.K[g.count * i + i] = (1 - slope) / d(r);
        if (i > 0) g.K[g.count * i] = -by_normal;
    }

    const MlcpView<double>& p_;
    FrictionLaw law_;
    LargeScratch& w_;
};

}  // namespace

bool smoothed_newton(const MlcpView<double>& p, FrictionLaw law, LargeScratch& w, double max_work,
                     double* x) {
    const size_t n = p.rows;
    if (w.work + expected_steps * w.smoothed.expected_work(*p.factored) > max_work) return false;
    SmoothedEquations equations(p, law, w);
    double scale = 0;
    for (size_t r = 0; r < n; ++r)
        scale = std::max(scale, std::abs(p.b[r]) * w.scale[r]);
    w.trial.assign(n, 0);
    double e = scale;
    for (int k = 0; k < max_steps && e > least_smoothing * scale && w.work < max_work; ++k) {
        const double start = equations.evaluate(w.trial.data(), e);
        w.smoothed.factor(*p.factored, w.rows);
        w.work += w.smoothed.work();
        w.step = w.equations;
        w.start = w.trial;
        w.smoothed.solve_inplace(w.step.data());
        double length = 1, now = start;
        for (int i = 0; i < max_path_halvings; ++i, length /= 2) {
            for (size_t r = 0; r < n; ++r)
                w.trial[r] = w.start[r] - length * w.step[r];
            now = equations.evaluate(w.trial.data(), e);
            if (now < (1 - 0.1 * length) * start) break;
        }
        if (!(now < std::numeric_limits<double>::infinity())) return false;
        if (!(now < e / 2)) continue;
        e *= length == 1 ? 0.1 : 0.5;
        if (e > try_newton * scale) continue;
        std::ranges::copy(w.trial, x);
        if (newton_inplace(p, law, w, max_work, x)) return true;
    }
    return false;
}

}  // namespace costate
