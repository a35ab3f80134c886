// The solution of an island's problem as a function of the problem, on its active set: every row is in one of
// a few states, and in each it obeys an equation F = 0 that can be differentiated,
//
//   separating       x_r = 0
//   clamping         s_r = 0
//   lower, upper     x_r = -+ mu x_n, or -+ mu of a boxed row
//   sliding (t1,t2)  x_T + mu x_n u = 0,   u = s_T/|s_T|   (of the cone)
//   dilating (n)     s_n - mu |s_T| = 0                    (of the relaxed cone, with sliding tangents)
//
// dF = P ds + K dx + r_mu dmu. With s = A x + b, G = P A + K gives Newton's step -G^-1 F, which is how the
// solvers end, exact for the box; and backwards, with G^T z = -x_bar and s_bar = P^T z,
//
//   b_bar += s_bar,   A_bar += s_bar x^T,   mu_bar += r_mu^T z.
//
// (Werling et al. 2021, section IV; Le Lidec et al. 2024, section III.) Where G is singular, redundant
// contacts, the solves are least squares. A row in two states at once, x = 0 and s = 0, counts as separating,
// and one at its bound with s = 0 as clamping: the gradient there is one of the one-sided ones.
#pragma once

#include "solvers/complementarity/factored_solver.hpp"
#include "solvers/complementarity/mlcp.hpp"

namespace costate {

// A factored operator in plain numbers, with room of its own to work in.
struct FactoredValues {
    std::vector<size_t> start;
    std::vector<double> W, R, diagonal, along, swept, velocity;
    FactoredOperator<double> view{};
    template <class T> void take(const FactoredOperator<T>& A) {
        const size_t rows = A.rows, dofs = A.dofs, first = A.start[0];
        start.resize(rows + 1);
        for (size_t r = 0; r <= rows; ++r)
            start[r] = A.start[r] - first;
        const auto copy = [](const T* from, size_t n, std::vector<double>& to) {
            to.resize(n);
            std::transform(from, from + n, to.begin(), [](const T& t) { return value_of(t); });
        };
        copy(A.W + first, start[rows], W);
        copy(A.R, rows, R);
        copy(A.diagonal, rows, diagonal);
        along.resize(dofs);
        swept.resize(dofs);
        velocity.resize(rows);
        view = {A.rows,          A.dofs,       start.data(), A.column + first, W.data(), R.data(),
                diagonal.data(), along.data(), swept.data(), velocity.data(),  A.tree,   A.trees};
    }
};

enum class RowState : signed char { lower = -1, clamping = 0, upper = 1, separating, sliding, dilating };

template <class T> struct ActiveSet {
    std::vector<RowState> state;  // (rows)
    std::vector<int> active;      // rows that are not separating
    std::vector<T> G;             // (active x active) row-major; of a dense A
    std::vector<T> s;             // (rows) A x + b
    std::vector<T> work;          // (active)
    std::vector<T> settled;       // (rows)
    std::vector<T> s_bar;         // (rows) work of whoever pulls back
    DenseSolver solver;           // of G
    FactoredSolver factored;      // of G where A is factored
    FactoredValues values;        // that factored A in plain numbers
    std::vector<double> columns;  // right-hand sides of active_set_response
};

// x <- x - G^-1 F(x) on set.state, separating rows to 0; leaves G and its factors for the adjoint.
template <class T> void solve_active_set(const MlcpView<T>& p, ActiveSet<T>& set, T* x);

// Adds to s_bar (rows), the covector of s with x held, and to mu_bar (rows), at a solution x that
// solve_active_set has left.
template <class T>
void solve_active_set_adj(const MlcpView<T>& p, ActiveSet<T>& set, const T* x, const T* x_bar, T* s_bar,
                          T* mu_bar);

// Forwards: the rows move by ds (rows x columns, row-major) with x held, and the solution by dx (rows x
// columns).
void active_set_response(const MlcpView<double>& p, ActiveSet<double>& set, const double* x, int columns,
                         const double* ds, double* dx);

// The states that x, not yet a solution, points to: those of the projection of x - s/a, where a is the row's
// diagonal. `s` (rows).
template <class T>
void classify(const MlcpView<T>& p, FrictionLaw law, const T* x, const T* s, RowState* state);

// Leaves the active set that x points to in `set`, linearised, and in set.settled the x of a Newton step on
// it.
template <class T> void linearise_at(const MlcpView<T>& p, FrictionLaw law, ActiveSet<T>& set, const T* x);

// The same for the states that set.state already has.
template <class T> void linearise_states(const MlcpView<T>& p, ActiveSet<T>& set, const T* x);

// As linearise_at, and takes that step where it helps.
void settle_inplace(const MlcpView<double>& p, FrictionLaw law, ActiveSet<double>& set, double* x);

// Solves in plain numbers, by solve(values, set, x), which leaves x's active set linearised in `set`; then
// lets every scalar see the solution, by a Newton step in T on that set.
template <class T, class Solve>
auto with_values(const MlcpView<T>& p, ActiveSet<T>& set, T* x, const Solve& solve) {
    if constexpr (std::is_same_v<T, double>) {
        return solve(p, set, x);
    } else {
        const auto values = [](const T* from, int n) {
            std::vector<double> to(n);
            std::transform(from, from + n, to.begin(), [](const T& t) { return value_of(t); });
            return to;
        };
        const std::vector<double> A = values(p.A, p.factored != nullptr ? 0 : p.rows * p.rows),
                                  b = values(p.b, p.rows), mu = values(p.mu, p.rows);
        std::vector<double> start = values(x, p.rows);
        if (p.factored != nullptr) set.values.take(*p.factored);
        ActiveSet<double> found;
        const auto status =
            solve(MlcpView<double>{p.rows, A.data(), b.data(), mu.data(), p.normal, p.first_row, p.dropped,
                                   p.factored != nullptr ? &set.values.view : nullptr},
                  found, start.data());
        std::copy(start.begin(), start.end(), x);
        set.state = found.state;
        solve_active_set(p, set, x);
        return status;
    }
}

}  // namespace costate
