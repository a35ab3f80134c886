// Boxed MLCP by projected Gauss-Seidel, and its sweep backwards: the gradient of what ran, converged or not.
//
//   find x with  w = A x + b,  lo <= x <= hi,  w_r >= 0 at lo, w_r <= 0 at hi, w_r = 0 between
//   unilateral rows: lo = 0, hi = infinity;  friction rows: -lo = hi = mu x_n with the current x of their normal row;
//   boxed rows: -lo = hi = mu;  free rows: no bounds
//
// One row update:  y = -(b_r + sum over s != r of A_rs x_s)/A_rr,   x_r <- clamp(y, lo, hi).
//
// The iterate is a window that slides over a tape: every update appends the new x_r, and the rows - 1 numbers before it are
// the values that the next row reads, oldest first. So no old value is ever lost, the row's coefficients are stored in
// that cyclic order, and the sum ends with the number that was computed last, which keeps the latency chain short.
// Backwards the same holds for z_r = (adjoint of y_r)/A_rr, appended from the last row of the last sweep to the first.
#pragma once

#include <vector>

#include "core/linalg.hpp"

namespace costate {

// What `normal` says of a row that leans on no normal row.
inline constexpr int unilateral_row = -1, boxed_row = -2, free_row = -3;

// One island's problem. A is symmetric (rows x rows, row-major); rows whose diagonal is at most 1e-12 of the largest keep x = 0.
template <class T> struct MlcpView {
    int rows;
    const T* A;
    const T* b;         // (rows)
    const T* mu;        // (rows) of friction and boxed rows
    const int* normal;  // (rows) index of a friction row's normal row in the caller's numbering, or one of the above
    int first_row;      // of the island in that numbering
    int normal_of(int r) const { return normal[r] - first_row; }
};

template <class T> struct PgsTape {
    int sweeps = 0;             // done
    std::vector<T> coefficients;  // rows x (rows - 1): -A_rs/A_rr for s = r + 1, ..., r - 1 cyclically
    std::vector<T> inverse;     // (rows) 1/A_rr, 0 where the row is left out
    std::vector<T> x;           // ((1 + sweeps) rows) the iterates
    // reverse
    std::vector<T> z;           // ((1 + sweeps) rows), in the order of the reverse sweep
    std::vector<T> extra;       // (rows) what reaches x_r other than through the rows that read it
    std::vector<T> A_bar;       // (rows x rows), each row from s = r + 1 to s = r cyclically
};

// Solves from x = 0; the solution is the last `rows` numbers of the tape. Stops early when no entry moves by more than
// `tolerance` in a sweep; tolerance 0 runs all sweeps. Instantiated for double and Dual<double>.
template <class T> void pgs(const MlcpView<T>& p, int max_sweeps, double tolerance, PgsTape<T>& tape, T* solution);
// Adds to A_bar (rows x rows, not symmetric), b_bar and mu_bar (rows). A row at x = mu x_n = 0 counts as clamped.
template <class T> void pgs_adj(const MlcpView<T>& p, PgsTape<T>& tape, const T* solution_bar, T* A_bar, T* b_bar, T* mu_bar);

// Where the clamp of a row left it: -1 at lo, +1 at hi, 0 free. `x` points at the row's new value on the tape. Between bounds of 0
// the side that the row was clamped to is in the sign of its zero: with it the gradient by mu = 0 is that of mu > 0.
template <class T> int clamp_code(const MlcpView<T>& p, int r, const T* x) {
    if (p.normal[r] == unilateral_row) return x[0] == T(0) ? -1 : 0;
    if (p.normal[r] == free_row) return 0;
    const T bound = p.normal[r] == boxed_row ? p.mu[r] : T(p.mu[r] * x[p.normal_of(r) - r]);
    if (std::signbit(value_of(x[0]))) return x[0] == -bound ? -1 : 0;
    return x[0] == bound ? 1 : 0;
}

// How far x is from a solution, as a velocity: the largest |x - clamp(x - w/A_rr)| A_rr.
template <class T> double mlcp_residual(const MlcpView<T>& p, const T* x) {
    double worst = 0;
    for (int r = 0; r < p.rows; ++r) {
        const double diagonal = value_of(p.A[r * p.rows + r]);
        if (diagonal <= 0) continue;
        double w = value_of(p.b[r]);
        for (int s = 0; s < p.rows; ++s) w += value_of(p.A[r * p.rows + s]) * value_of(x[s]);
        const double target = value_of(x[r]) - w / diagonal;
        const double bound = p.normal[r] == free_row ? std::abs(target) : value_of(p.mu[r]) * (p.normal[r] >= 0 ? value_of(x[p.normal_of(r)]) : 1);
        const double projected = p.normal[r] == unilateral_row ? std::max(0.0, target) : std::clamp(target, -bound, bound);
        worst = std::max(worst, std::abs(value_of(x[r]) - projected) * diagonal);
    }
    return worst;
}

}  // namespace costate
