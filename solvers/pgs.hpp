// Boxed MLCP by projected Gauss-Seidel, and its sweep backwards: the gradient of what ran, converged or not.
//
//   find x with  w = A x + b,  lo <= x <= hi,  w_r >= 0 at lo, w_r <= 0 at hi, w_r = 0 between
//   unilateral rows: lo = 0, hi = infinity;  friction rows: -lo = hi = mu x_n with the current x of their normal row
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

// One island's problem. A is symmetric (rows x rows, row-major); rows whose diagonal is at most 1e-12 of the largest keep x = 0.
template <class T> struct MlcpView {
    int rows;
    const T* A;
    const T* b;         // (rows)
    const T* mu;        // (rows) of friction rows
    const int* normal;  // (rows) index of the normal row in the caller's numbering, -1: unilateral
    int first_row;      // of the island in that numbering
    int normal_of(int r) const { return normal[r] - first_row; }
};

template <class T> struct PgsTape {
    int sweeps = 0;             // done
    std::vector<T> coefficients;  // rows x (rows - 1): -A_rs/A_rr for s = r + 1, ..., r - 1 cyclically
    std::vector<T> inverse;     // (rows) 1/A_rr, 0 where the row is left out
    std::vector<T> x;           // ((1 + sweeps) rows) the iterates
    std::vector<T> z;           // reverse: ((1 + sweeps) rows), in the order of the reverse sweep
};

template <class T> void pgs_prepare(const MlcpView<T>& p, int max_sweeps, PgsTape<T>& tape) {
    const size_t m = static_cast<size_t>(p.rows);
    double largest = 0;
    for (size_t r = 0; r < m; ++r) largest = std::max(largest, value_of(p.A[r * m + r]));
    tape.coefficients.resize(m * (m - 1)), tape.inverse.resize(m);
    tape.x.resize((1 + static_cast<size_t>(max_sweeps)) * m);
    for (size_t r = 0; r < m; ++r) {
        const T& diagonal = p.A[r * m + r];
        tape.inverse[r] = value_of(diagonal) <= 1e-12 * largest ? T(0) : T(1) / diagonal;
        T* c = tape.coefficients.data() + r * (m - 1);
        for (size_t s = r + 1; s < m; ++s) *c++ = -p.A[r * m + s] * tape.inverse[r];
        for (size_t s = 0; s < r; ++s) *c++ = -p.A[r * m + s] * tape.inverse[r];
    }
}

// Sum of c[i] x[i], the last term added last.
template <class T> T ordered_dot(T sum, const T* c, const T* x, int n) {
    for (int i = 0; i < n; ++i) sum += c[i] * x[i];
    return sum;
}

// Solves from x = 0; the solution is the last `rows` numbers of the tape. Stops early when no entry moves by more than
// `tolerance` in a sweep; tolerance 0 runs all sweeps.
template <class T> void pgs(const MlcpView<T>& p, int max_sweeps, double tolerance, PgsTape<T>& tape, T* solution) {
    const int m = p.rows;
    pgs_prepare(p, max_sweeps, tape);
    std::fill(tape.x.begin(), tape.x.begin() + m, T(0));
    T* window = tape.x.data();  // the row about to be updated stands first, and its new value goes behind the window
    for (tape.sweeps = 0; tape.sweeps < max_sweeps;) {
        for (int r = 0; r < m; ++r, ++window) {
            const T y = ordered_dot<T>(-p.b[r] * tape.inverse[static_cast<size_t>(r)], tape.coefficients.data() + r * (m - 1), window + 1, m - 1);
            if (p.normal[r] < 0) {
                window[m] = y < T(0) ? T(0) : y;
            } else {
                const T bound = p.mu[r] * window[m - r + p.normal_of(r)];
                window[m] = y < -bound ? T(-bound) : (bound < y ? bound : y);
            }
        }
        ++tape.sweeps;
        if (tolerance > 0) {
            double moved = 0;
            for (int r = 0; r < m; ++r) moved = std::max(moved, std::abs(value_of(window[r]) - value_of(window[r - m])));
            if (moved <= tolerance) break;
        }
    }
    std::copy(window, window + m, solution);
}

// Where the clamp of a row left it: -1 at lo, +1 at hi, 0 free. `x` points at the row's new value on the tape.
template <class T> int clamp_code(const MlcpView<T>& p, int r, const T* x) {
    if (p.normal[r] < 0) return x[0] == T(0) ? -1 : 0;
    const T bound = p.mu[r] * x[p.normal_of(r) - r];
    return x[0] == bound ? 1 : (x[0] == -bound ? -1 : 0);
}

// Adds to A_bar (rows x rows, not symmetric), b_bar and mu_bar (rows). A row at x = mu x_n = 0 counts as clamped.
template <class T>
void pgs_adj(const MlcpView<T>& p, PgsTape<T>& tape, const T* solution_bar, std::vector<T>& extra, T* A_bar, T* b_bar, T* mu_bar) {
    const int m = p.rows;
    const size_t updates = static_cast<size_t>(tape.sweeps) * static_cast<size_t>(m);
    tape.z.assign(updates + static_cast<size_t>(m), T(0));
    extra.assign(solution_bar, solution_bar + m);  // what reaches x_r other than through the rows it is read by
    // 1 z of every update, last first
    T* z = tape.z.data() + m;
    const T* x = tape.x.data() + updates + static_cast<size_t>(m);
    for (int k = tape.sweeps; k-- > 0;) {
        for (int r = m; r-- > 0; ++z) {
            --x;
            const T* c = tape.coefficients.data() + r * (m - 1);
            T g = extra[static_cast<size_t>(r)] * tape.inverse[static_cast<size_t>(r)];
            for (int i = 0; i < m - 1; ++i) g += c[m - 2 - i] * z[i - (m - 1)];
            extra[static_cast<size_t>(r)] = T(0);
            const int code = clamp_code(p, r, x);
            if (code == 0) {
                z[0] = g;
                continue;
            }
            z[0] = T(0);
            if (p.normal[r] < 0) continue;
            const T t = T(code) * g * p.A[r * m + r];  // x_r = code mu x_n
            extra[static_cast<size_t>(p.normal_of(r))] += p.mu[r] * t;
            mu_bar[r] += x[p.normal_of(r) - r] * t;
        }
    }
    // 2 A_bar_rs -= z_r x_s,   b_bar_r -= z_r, with the x that the update read and for s = r the one it wrote
    for (size_t n = 0; n < updates; ++n) {
        const T& z_r = tape.z[updates + static_cast<size_t>(m) - 1 - n];
        if (z_r == T(0)) continue;
        const int r = static_cast<int>(n % static_cast<size_t>(m));
        const T* read = tape.x.data() + n + 1;  // x_{r+1}, ..., x_{m-1}, x_0, ..., x_r
        T* row_bar = A_bar + r * m;
        b_bar[r] -= z_r;
        for (int s = r + 1; s < m; ++s) row_bar[s] -= z_r * read[s - r - 1];
        for (int s = 0; s <= r; ++s) row_bar[s] -= z_r * read[s + m - r - 1];
    }
}

// How far x is from a solution, as a velocity: the largest |x - clamp(x - w/A_rr)| A_rr.
template <class T> double mlcp_residual(const MlcpView<T>& p, const T* x) {
    double worst = 0;
    for (int r = 0; r < p.rows; ++r) {
        const double diagonal = value_of(p.A[r * p.rows + r]);
        if (diagonal <= 0) continue;
        double w = value_of(p.b[r]);
        for (int s = 0; s < p.rows; ++s) w += value_of(p.A[r * p.rows + s]) * value_of(x[s]);
        const double bound = p.normal[r] < 0 ? 0 : value_of(p.mu[r]) * value_of(x[p.normal_of(r)]);
        const double target = value_of(x[r]) - w / diagonal;
        const double projected = p.normal[r] < 0 ? std::max(0.0, target) : std::clamp(target, -bound, bound);
        worst = std::max(worst, std::abs(value_of(x[r]) - projected) * diagonal);
    }
    return worst;
}

}  // namespace costate
