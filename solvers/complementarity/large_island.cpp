#include "solvers/complementarity/large_island.hpp"

namespace costate {

namespace {

constexpr int rounds = 6, first_sweeps = 50, most_newton_steps = 30, most_halvings = 8;
constexpr double near = 1e-3;  // m/s: a guess this good may have the right states

// Of all rows together: with many contacts the largest residual rises now and then on the way down.
double residual_norm(const MlcpView<double>& p, FrictionLaw law, const double* x) {
    double sum = 0;
    for_each_residual(p, x, law, [&](int, double e) { sum += e * e; });
    return std::sqrt(sum);
}

bool solved(const MlcpView<double>& p, FrictionLaw law, const double* x) {
    return mlcp_residual(p, x, law) <= acceptable_residual(p, x);
}

// Newton's method on the states that each iterate points to, with a step that is halved until the residual
// falls. False, at the best iterate, where none does.
bool newton(const MlcpView<double>& p, FrictionLaw law, LargeScratch& w, double* x) {
    const size_t n = p.rows;
    w.set.state.resize(n);
    w.s.resize(n);
    double residual = residual_norm(p, law, x);
    for (int k = 0; k < most_newton_steps; ++k) {
        if (solved(p, law, x)) return true;
        mlcp_velocity(p, x, w.s.data());
        classify(p, law, x, w.s.data(), w.set.state.data());
        w.before.assign(x, x + n);
        w.x = w.before;
        solve_active_set(p, w.set, w.x.data());
        double length = 1, now = residual_norm(p, law, w.x.data());
        std::ranges::copy(w.x, x);
        for (int i = 0; i < most_halvings && !(now < residual); ++i) {
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

}  // namespace

SolverStatus solve_large(const MlcpView<double>& p, FrictionLaw law, LargeScratch& w, double* x) {
    if (mlcp_residual(p, x, law) < near && newton(p, law, w, x)) return SolverStatus::guessed;
    w.best.assign(x, x + p.rows);
    double least = residual_norm(p, law, x);
    for (int round = 0, sweeps = first_sweeps; round < rounds; ++round, sweeps *= 2) {
        if (law == FrictionLaw::box)
            gauss_seidel_inplace(p, sweeps, x);
        else
            cone_gauss_seidel_inplace(p, law, sweeps, acceptable_residual(p, x), x);
        if (newton(p, law, w, x)) return SolverStatus::pivoted;
        const double residual = residual_norm(p, law, x);
        if (!(residual < least)) continue;
        least = residual;
        w.best.assign(x, x + p.rows);
    }
    std::ranges::copy(w.best, x);
    return SolverStatus::unsolved;
}

}  // namespace costate
