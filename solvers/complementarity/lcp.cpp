#include "solvers/complementarity/lcp.hpp"

namespace costate {

namespace {

constexpr int max_pivots = 40, max_stalled = 10, sweeps_between = 100;

// Pivots, starting from the states suggested by x. True if x is then a solution, and `set` its active set.
// Otherwise x is the best iterate.
bool pivot(const MlcpView<double>& p, LcpScratch& w, ActiveSet<double>& set, double* x, int& pivots) {
    const size_t n = p.rows;
    set.state.resize(n);
    set.s.resize(n);
    w.state.resize(n);
    w.x.assign(x, x + n);
    mlcp_velocity(p, x, set.s.data());
    classify(p, FrictionLaw::box, x, set.s.data(), set.state.data());
    double best = mlcp_residual(p, x, set.s.data(), FrictionLaw::box);
    for (int k = 0, stalled = 0; k < max_pivots && stalled < max_stalled && w.work < max_work;
         ++k, ++pivots) {
        solve_active_set(p, set, w.x.data());
        w.work += factorisation_work(set.active.size());
        const double residual = mlcp_residual(p, w.x.data(), set.s.data(), FrictionLaw::box);
        const bool solved = residual <= acceptable_residual(p, w.x.data());
        ++stalled;
        if (solved || residual < best) {
            stalled = 0;
            best = residual;
            std::ranges::copy(w.x, x);
        }
        classify(p, FrictionLaw::box, w.x.data(), set.s.data(), w.state.data());
        if (solved && w.state == set.state) return true;
        if (solved || w.state == set.state) {  // rows in two states, or solved up to round-off
            w.found = set;
            settle_inplace(p, FrictionLaw::box, set, x, &w.found);
            return mlcp_residual(p, x) <= 10 * acceptable_residual(p, x);
        }
        set.state = w.state;
    }
    return false;
}

SolverStatus solve(const MlcpView<double>& p, LcpScratch& w, ActiveSet<double>& set, double* x) {
    if (p.factored != nullptr) {
        const SolverStatus status = solve_large(p, FrictionLaw::box, w.large, x);
        settle_large(p, FrictionLaw::box, status, &w.large.set, set, x);
        return status;
    }
    w.work = 0;
    int pivots = 0;
    if (pivot(p, w, set, x, pivots)) return pivots == 0 ? SolverStatus::guessed : SolverStatus::pivoted;
    for (int i = 0; i < 3; ++i) {
        gauss_seidel_inplace(p, sweeps_between, set.s, x);
        if (pivot(p, w, set, x, pivots)) return SolverStatus::pivoted;
    }
    w.best.assign(x, x + p.rows);
    if (w.work < max_work && lemke(p, w.tableau, x, w.work) && pivot(p, w, set, x, pivots))
        return SolverStatus::lemke;
    if (!(mlcp_residual(p, x) < mlcp_residual(p, w.best.data()))) std::ranges::copy(w.best, x);
    settle_inplace(p, FrictionLaw::box, set, x);
    return SolverStatus::unsolved;
}

}  // namespace

bool lcp_by_pivots(const MlcpView<double>& p, LcpScratch& w, ActiveSet<double>& set, double* x) {
    w.work = 0;
    int pivots = 0;
    return pivot(p, w, set, x, pivots);
}

template <class T> SolverStatus lcp(const MlcpView<T>& p, LcpScratch& w, ActiveSet<T>& set, T* x) {
    return with_values(p, set, x,
                       [&](const MlcpView<double>& values, ActiveSet<double>& found, double* start) {
                           guess_inplace(values, found.s, start);
                           return solve(values, w, found, start);
                       });
}

template SolverStatus lcp(const MlcpView<double>&, LcpScratch&, ActiveSet<double>&, double*);
template SolverStatus lcp(const MlcpView<Dual<double>>&, LcpScratch&, ActiveSet<Dual<double>>&,
                          Dual<double>*);

}  // namespace costate
