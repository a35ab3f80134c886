#include "solvers/lcp.hpp"

namespace costate {

namespace {

constexpr int most_pivots = 40, sweeps_between = 100;

// Pivots from the states that x points to. Keeps the best x seen; true if it is a solution.
bool pivot(const MlcpView<double>& p, LcpScratch& w, double* x, int& pivots) {
    const size_t n = static_cast<size_t>(p.rows);
    w.set.state.resize(n), w.set.s.resize(n), w.state.resize(n), w.x.assign(x, x + p.rows);
    mlcp_velocity(p, x, w.set.s.data());
    classify(p, FrictionLaw::box, x, w.set.s.data(), w.set.state.data());
    double best = mlcp_residual(p, x);
    for (int k = 0; k < most_pivots; ++k, ++pivots) {
        solve_active_set(p, w.set, w.x.data());
        const double residual = mlcp_residual(p, w.x.data());
        if (std::isfinite(residual) && residual < best) best = residual, std::ranges::copy(w.x, x);
        classify(p, FrictionLaw::box, w.x.data(), w.set.s.data(), w.state.data());
        if (residual <= acceptable_residual(p, w.x.data())) return true;
        if (w.state == w.set.state) return solve_active_set(p, w.set, w.x.data()), std::ranges::copy(w.x, x), mlcp_residual(p, x) <= 10 * acceptable_residual(p, x);
        w.set.state = w.state;
    }
    return false;
}

SolverStatus solve(const MlcpView<double>& p, LcpScratch& w, double* x) {
    int pivots = 0;
    if (pivot(p, w, x, pivots)) return pivots == 0 ? SolverStatus::guessed : SolverStatus::pivoted;
    for (int i = 0; i < 3; ++i) {
        gauss_seidel_inplace(p, sweeps_between, x);
        if (pivot(p, w, x, pivots)) return SolverStatus::pivoted;
    }
    w.best.assign(x, x + p.rows);
    if (lemke(p, w.tableau, x) && pivot(p, w, x, pivots)) return SolverStatus::lemke;
    if (!(mlcp_residual(p, x) < mlcp_residual(p, w.best.data()))) std::ranges::copy(w.best, x);
    return SolverStatus::unsolved;
}

}  // namespace

void gauss_seidel_inplace(const MlcpView<double>& p, int sweeps, double* x) {
    double largest = 0;
    for (int r = 0; r < p.rows; ++r) largest = std::max(largest, p.a(r, r));
    for (int k = 0; k < sweeps; ++k)
        for (int r = 0; r < p.rows; ++r) {
            if (p.a(r, r) <= 1e-12 * largest) continue;
            double s = p.b[r];
            for (int c = 0; c < p.rows; ++c) s += p.a(r, c) * x[c];
            const double y = x[r] - s / p.a(r, r);
            if (p.normal[r] == unilateral_row) x[r] = std::max(0.0, y);
            else if (p.normal[r] == free_row) x[r] = y;
            else {
                const double bound = p.mu[r] * (p.normal[r] == boxed_row ? 1 : x[p.normal_of(r)]);
                x[r] = std::clamp(y, -bound, bound);
            }
        }
}

template <class T> SolverStatus lcp(const MlcpView<T>& p, LcpScratch& w, ActiveSet<T>& set, T* x) {
    return with_values(p, FrictionLaw::box, set, x, [&](const MlcpView<double>& values, double* start) { return solve(values, w, start); });
}

template SolverStatus lcp(const MlcpView<double>&, LcpScratch&, ActiveSet<double>&, double*);
template SolverStatus lcp(const MlcpView<Dual<double>>&, LcpScratch&, ActiveSet<Dual<double>>&, Dual<double>*);

}  // namespace costate
