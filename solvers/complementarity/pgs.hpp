// Boxed MLCP by projected Gauss-Seidel, and its sweep backwards: the gradient of what ran, converged or not.
//
// One row update of the problem of solvers/complementarity/mlcp.hpp, bounds lo and hi, of friction rows by
// the current x of their normal row:
//   y = -(b_r + sum over s != r of A_rs x_s)/A_rr,   x_r <- clamp(y, lo, hi).
//
// The iterate is a window that slides over a tape: every update appends the new x_r, and the rows - 1 numbers
// before it are the values that the next row reads, oldest first. So no old value is ever lost, the row's
// coefficients are stored in that cyclic order, and the sum ends with the number that was computed last,
// which keeps the latency chain short. Backwards the same holds for z_r = (adjoint of y_r)/A_rr, appended
// from the last row of the last sweep to the first.
//
// Where A = W W^T + R is factored, the updates are the same with sum over s of A_rs x_s = W_r y + R_r x_r and
// y = W^T x kept up to date. Backwards y retraces its way, and eta = -sum of z_s W_s over the updates met so
// far is its covector: what a row has been read by since its own next update is eta less the eta of then.
#pragma once

#include "solvers/complementarity/mlcp.hpp"

namespace costate {

template <class T> struct PgsTape {
    int sweeps = 0;  // done
    // rows x (rows - 1): -A_rs/A_rr for s = r + 1, ..., r - 1 cyclically; of a dense A
    std::vector<T> coefficients;
    std::vector<T> inverse;  // (rows) 1/A_rr, 0 where the row is left out
    std::vector<T> x;        // ((1 + sweeps) rows) the iterates
    // reverse
    std::vector<T> z;      // ((1 + sweeps) rows), in the order of the reverse sweep
    std::vector<T> extra;  // (rows) what reaches x_r other than through the rows that read it
    std::vector<T> A_bar;  // (rows x rows), each row from s = r + 1 to s = r cyclically
    // of a factored A
    std::vector<T> eta;       // (dofs)
    std::vector<T> eta_then;  // as W: on each row's columns the eta when its next update had been met
};

// Covectors of A (rows x rows, not symmetric), or of W and R (rows) where A is factored.
template <class T> struct OperatorBar { T *A = nullptr, *W = nullptr, *R = nullptr; };

// x (rows): where the sweeps start, then the solution, which is the last `rows` numbers of the tape. Stops
// early when no entry moves by more than `tolerance` in a sweep; tolerance 0 runs all sweeps. Instantiated
// for double and Dual<double>.
template <class T> void pgs(const MlcpView<T>& p, int max_sweeps, double tolerance, PgsTape<T>& tape, T* x);
// Adds to the bars of the operator, to b_bar and mu_bar (rows). x_bar (rows): the covector of the solution,
// then that of the start. A row at x = mu x_n = 0 counts as clamped.
template <class T>
void pgs_adj(const MlcpView<T>& p, PgsTape<T>& tape, T* x_bar, const OperatorBar<T>& operator_bar, T* b_bar,
             T* mu_bar);

// Where the clamp of a row left it: -1 at lo, +1 at hi, 0 free. `x` points at the row's new value on the
// tape. Between bounds of 0 the side that the row was clamped to is in the sign of its zero: with it the
// gradient by mu = 0 is that of mu > 0.
template <class T> int clamp_code(const MlcpView<T>& p, int r, const T* x) {
    if (p.normal[r] == unilateral_row) return x[0] == T(0) ? -1 : 0;
    if (p.normal[r] == free_row) return 0;
    const T bound = p.normal[r] == boxed_row ? p.mu[r] : T(p.mu[r] * x[p.normal_of(r) - r]);
    if (std::signbit(value_of(x[0]))) return x[0] == -bound ? -1 : 0;
    return x[0] == bound ? 1 : 0;
}

}  // namespace costate
