// Projected Gauss-Seidel for the boxed MLCP, and its reverse sweeps: the gradient of the sweeps that ran,
// converged or not.
//
// One row update of the problem in solvers/complementarity/mlcp.hpp, with bounds lo and hi, for friction rows
// from the current x of their normal row:
//
//   y = -(b_r + sum over s != r of A_rs x_s)/A_rr
//   x_r <- clamp(y, lo, hi)
//
// The iterate is a window that slides over a tape. Every update appends the new x_r, and the rows - 1 numbers
// before it are the values that the next row reads, oldest first. No old value is lost. The row's
// coefficients are stored in this cyclic order, and the sum ends with the number computed last, which keeps
// the latency chain short. In reverse, the same holds for z_r = (adjoint of y_r)/A_rr, appended from the last
// row of the last sweep to the first.
//
// For a factored A = W W^T + R the updates are the same, with y = W^T x updated along with x and
//
//   sum over s of A_rs x_s = W_r y + R_r x_r
//
// In reverse, y is restored update by update, and its covector is eta = -sum of z_s W_s over the updates
// processed so far. The rows that read x_r between two of its updates contribute the difference of the two
// eta.
#pragma once

#include "solvers/complementarity/mlcp.hpp"

namespace costate {

template <class T> struct PgsTape {
    int sweeps = 0;  // number of sweeps that ran
    // rows x (rows - 1): -A_rs/A_rr for s = r + 1, ..., r - 1 cyclically; for a dense A
    std::vector<T> coefficients;
    std::vector<T> inverse;  // (rows) 1/A_rr, 0 for dropped rows
    std::vector<T> x;        // ((1 + sweeps) rows) the iterates
    // reverse
    std::vector<T> z;      // ((1 + sweeps) rows), in the order of the reverse sweep
    std::vector<T> extra;  // (rows) covector of x_r, without the part through rows that read x_r
    std::vector<T> A_bar;  // (rows x rows), each row from s = r + 1 to s = r cyclically
    // for a factored A
    std::vector<T> eta;       // (dofs)
    std::vector<T> eta_then;  // as W: on each row's columns, eta after its last reversed update
};

// Covectors of A (rows x rows, not symmetric), or of W and R (rows) for a factored A.
template <class T> struct OperatorBar { T *A = nullptr, *W = nullptr, *R = nullptr; };

// x (rows): in, the start; out, the solution, also the last `rows` numbers of the tape. Stops early if no
// entry changes by more than `tolerance` in a sweep; tolerance 0 runs all sweeps. Instantiated for double and
// Dual<double>.
template <class T> void pgs(const MlcpView<T>& p, int max_sweeps, double tolerance, PgsTape<T>& tape, T* x);
// Adds to the covectors of the operator, and to b_bar and bound_bar (rows). x_bar (rows): in, the covector of
// the solution; out, of the start. A row at x = mu x_n = 0 counts as clamped.
template <class T>
void pgs_adj(const MlcpView<T>& p, PgsTape<T>& tape, T* x_bar, const OperatorBar<T>& operator_bar, T* b_bar,
             T* bound_bar);

// Result of a row's clamp: -1 at lo, +1 at hi, 0 free. `x` points to the row's new value on the tape. If both
// bounds are 0, the sign of the zero is the side of the clamp; the gradient by mu at mu = 0 is then the limit
// of mu > 0.
template <class T> using ClampCode = std::conditional_t<is_lanes<T>, T, int>;
template <class T> ClampCode<T> clamp_code(const MlcpView<T>& p, int r, const T* x) {
    const auto at = [&](const T& bound, int code) {
        if constexpr (is_lanes<T>)
            return where(x[0] == bound, T(code), T(0));
        else
            return x[0] == bound ? code : 0;
    };
    if (p.type[r] == RowType::unilateral) return at(T(0), -1);
    if (p.type[r] == RowType::free) return 0;
    const T bound = p.type[r] == RowType::boxed ? p.max_impulse(r) : T(p.mu(r) * x[p.normal_of(r) - r]);
    if constexpr (is_lanes<T>)
        return where(signbit(x[0]), at(-bound, -1), at(bound, 1));
    else
        return std::signbit(value_of(x[0])) ? at(-bound, -1) : at(bound, 1);
}

}  // namespace costate
