// The solution of an island's problem as a function of the problem, on its active set. Every row is in one of
// a few states, and each state has a differentiable equation F = 0:
//
//   separating       x_r = 0
//   clamping         s_r = 0
//   lower, upper     x_r = -+ mu x_n, or -+ its largest impulse for a boxed row
//   sliding (T)      x_T + mu x_n u = 0,   u = s_T/|s_T|   (cone)
//   dilating (n)     s_n - mu |s_T| = 0                    (relaxed cone, with sliding friction)
//
// dF = P ds + K dx + r_bound dbound, where the bound is mu or the largest impulse. With s = A x + b and
// G = P A + K, Newton's step is -G^-1 F. The solvers end with this step, which is exact for the box. In reverse, with
// G^T z = -x_bar and s_bar = P^T z:
//
//   b_bar += s_bar,   A_bar += s_bar x^T,   bound_bar += r_bound^T z.
//
// (Werling et al. 2021, section IV; Le Lidec et al. 2024, section III; the steps towards sliding: Alart & Curnier
// 1991.) Redundant contacts make G singular; the solves are then least squares. A row in two states at once counts
// as separating if x = 0 and s = 0, and as clamping if it is at its bound with s = 0. The gradient there is one of
// the one-sided derivatives.
#pragma once

#include "core/math/dual.hpp"
#include "solvers/complementarity/factored_solver.hpp"
#include "solvers/complementarity/gauss_seidel.hpp"
#include "solvers/complementarity/mlcp.hpp"

namespace costate {

// The values of a factored operator, with its own work space.
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
    std::vector<RowState> state;   // (rows)
    std::vector<int> active;       // rows that are not separating; for a dense A, those at bounds last
    std::vector<int> position;     // (rows) of each row in `active`; of others undefined
    std::vector<T> s;              // (rows) A x + b
    std::vector<T> work;           // (active)
    std::vector<T> settled;        // (rows)
    std::vector<T> s_bar;          // (rows) work of adjoints
    bool has_factor = false;       // of G
    MatrixStructure structure;     // of G, for a dense A
    DenseSolver solver;            // of G, for a dense A
    std::vector<double> gathered;  // rows of A on the active columns
    FactoredSolver factored;       // of G, for a factored A
    FactoredValues values;         // the values of a factored A
    std::vector<double> columns;   // right-hand sides of active_set_response
};

// x <- x - G^-1 F(x) for the states set.state; separating rows become 0. Leaves G and its factors for the
// adjoint.
template <class T> void solve_active_set(const MlcpView<T>& p, ActiveSet<T>& set, T* x);
// The same for the given states. has_factor: `set` has the factor of this problem for its states; it is used again
// if the states are the same and determine G. s: A x + b, or null. Leaves that of the new x in set.s. True if G
// was factored.
bool solve_states(const MlcpView<double>& p, ActiveSet<double>& set, const std::vector<RowState>& states,
                  bool has_factor, const double* s, double* x);

// The derivatives of a solution x with the states set.state: x_dot = -G^-1 F_dot. The values of x stay.
// (A Newton step in dual numbers adds -G^-1 G_dot z, where z is the change of the values. z has the size of
// round-off, but G_dot has no bound if slip speeds have that size too.)
void differentiate_solution(const MlcpView<Dual<double>>& p, ActiveSet<Dual<double>>& set, Dual<double>* x);

// Adds to s_bar (rows), the covector of s with x held constant, and to bound_bar (rows), at a solution x of
// solve_active_set.
template <class T>
void solve_active_set_adj(const MlcpView<T>& p, ActiveSet<T>& set, const T* x, const T* x_bar, T* s_bar,
                          T* bound_bar);

// Forward derivative: dx (rows x columns) of the solution, from ds (rows x columns, row-major), the
// derivative of s with x held constant.
void active_set_response(const MlcpView<double>& p, ActiveSet<double>& set, const double* x, int columns,
                         const double* ds, double* dx);

// The states suggested by x, which need not be a solution: those of the projection of x - s/a, where a is the
// row's diagonal. `s` (rows).
template <class T>
void classify(const MlcpView<T>& p, FrictionLaw law, const T* x, const T* s, RowState* state);

// Linearises the active set suggested by x in `set`. set.settled gets the result of a Newton step from x.
template <class T> void linearise_at(const MlcpView<T>& p, FrictionLaw law, ActiveSet<T>& set, const T* x);

// The same for the given states set.state.
template <class T> void linearise_states(const MlcpView<T>& p, ActiveSet<T>& set, const T* x);

// As linearise_at, and takes the Newton step if it decreases the residual. found: a set of which x solves the equations
// within the residual of a solution. Its factor is used if it has the states that x suggests and G has full rank. If a
// step to the states that x suggests is no solution, as where rows are redundant up to round-off, its states count.
void settle_inplace(const MlcpView<double>& p, FrictionLaw law, ActiveSet<double>& set, double* x,
                    const ActiveSet<double>* found = nullptr);

// The active set that a solution x within the residual suggests. G is factored once something asks for it.
void take_solution(const MlcpView<double>& p, FrictionLaw law, ActiveSet<double>& set, double* x);

// Solves for the values by solve(values, set, x), which leaves the active set of x linearised in `set`.
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
                                  b = values(p.b, p.rows), bound = values(p.bound, p.rows);
        std::vector<double> start = values(x, p.rows);
        if (p.factored != nullptr) set.values.take(*p.factored);
        ActiveSet<double> found;
        const MlcpView<double> view{
            p.rows,      A.data(),  b.data(),
            p.type,      p.normal,  bound.data(),
            p.first_row, p.dropped, p.factored != nullptr ? &set.values.view : nullptr,
            nullptr,     p.before};
        const auto status = solve(view, found, start.data());
        std::copy(start.begin(), start.end(), x);
        set.state = found.state;
        differentiate_solution(p, set, x);
        return status;
    }
}

}  // namespace costate
