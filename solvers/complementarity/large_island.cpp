#include "solvers/complementarity/large_island.hpp"

namespace costate {

namespace {

constexpr int max_large_newton_steps = 30, max_step_halvings = 8;
constexpr double near = 1e-3;  // m/s: a guess with a smaller residual may have the right states

// Norm of all residuals. With many contacts the largest residual may rise while the iterates converge.
double residual_norm(const MlcpView<double>& p, FrictionLaw law, const double* x) {
    double sum = 0;
    for_each_residual(p, x, law, [&](int, double e) { sum += e * e; });
    return std::sqrt(sum);
}

bool solved(const MlcpView<double>& p, FrictionLaw law, const double* x) {
    return mlcp_residual(p, x, law) <= acceptable_residual(p, x);
}

}  // namespace

bool newton_inplace(const MlcpView<double>& p, FrictionLaw law, LargeScratch& w, double max_work, double* x) {
    const size_t n = p.rows;
    w.set.state.clear();
    w.s.resize(n);
    double residual = residual_norm(p, law, x);
    for (int k = 0; k < max_large_newton_steps && w.work < max_work; ++k) {
        if (solved(p, law, x)) return true;
        mlcp_velocity(p, x, w.s.data());
        w.set.state.resize(n);
        classify(p, law, x, w.s.data(), w.set.state.data());
        w.before.assign(x, x + n);
        w.x = w.before;
        solve_active_set(p, w.set, w.x.data());
        w.work += w.set.factored.work();
        double length = 1, now = residual_norm(p, law, w.x.data());
        std::ranges::copy(w.x, x);
        for (int i = 0; i < max_step_halvings && !(now < residual); ++i) {
            length /= 2;
            for (size_t r = 0; r < n; ++r)
                x[r] = w.before[r] + length * (w.x[r] - w.before[r]);
            now = residual_norm(p, law, x);
        }
        if (!(now < residual)) {
            std::ranges::copy(w.before, x);
            return false;
        }
        residual = now;
    }
    return solved(p, law, x);
}

void settle_large(const MlcpView<double>& p, FrictionLaw law, SolverStatus status,
                  const ActiveSet<double>* found, ActiveSet<double>& set, double* x) {
    if (status != SolverStatus::unsolved) return settle_inplace(p, law, set, x, found);
    set.state.assign(p.rows, RowState::separating);
    set.active.clear();
}

double work_limit(const FactoredOperator<double>& A) {
    return max_work_of_an_entry * static_cast<double>(A.start[A.rows] - A.start[0]);
}

SolverStatus solve_large_by_states(const MlcpView<double>& p, FrictionLaw law, LargeScratch& w, double* x) {
    const double limit = work_limit(*p.factored), entries = limit / max_work_of_an_entry;
    if (mlcp_residual(p, x, law) < near && newton_inplace(p, law, w, limit, x)) return SolverStatus::guessed;
    for (const int sweeps : {50, 100}) {
        if (law == FrictionLaw::box)
            gauss_seidel_inplace(p, sweeps, w.s, x);
        else
            cone_gauss_seidel_inplace(p, law, sweeps, acceptable_residual(p, x), w.s, x);
        w.work += 2 * entries * sweeps;
        if (newton_inplace(p, law, w, limit, x)) return SolverStatus::pivoted;
    }
    return SolverStatus::unsolved;
}

SolverStatus solve_large_smoothed(const MlcpView<double>& p, FrictionLaw law, LargeScratch& w, double* x) {
    w.best.assign(x, x + p.rows);
    if (smoothed_newton(p, law, w, work_limit(*p.factored), x)) return SolverStatus::smoothed;
    std::ranges::copy(w.best, x);
    return SolverStatus::unsolved;
}

SolverStatus solve_large(const MlcpView<double>& p, FrictionLaw law, LargeScratch& w, double* x) {
    w.work = 0;
    const SolverStatus status = solve_large_by_states(p, law, w, x);
    return status == SolverStatus::unsolved ? solve_large_smoothed(p, law, w, x) : status;
}

}  // namespace costate
