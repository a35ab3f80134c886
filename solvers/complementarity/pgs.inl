// Definitions of the templates of solvers/complementarity/pgs.hpp, for the files that instantiate them.
// solvers/complementarity/pgs.cpp does for double and Dual<double>.
#pragma once

#include "solvers/complementarity/pgs.hpp"

namespace costate {

namespace {

template <class T> void pgs_prepare(const MlcpView<T>& p, int max_sweeps, PgsTape<T>& tape) {
    const size_t m = p.rows;
    tape.inverse.resize(m);
    tape.x.resize((1 + max_sweeps) * m);
    if (p.factored != nullptr) {
        for (int r = 0; r < p.rows; ++r) {
            T diagonal = p.factored->R[r];
            for (size_t k = p.factored->start[r]; k < p.factored->start[r + 1]; ++k)
                diagonal += p.factored->W[k] * p.factored->W[k];
            tape.inverse[r] = where(p.drops(r), T(0), T(T(1) / diagonal));
        }
        return;
    }
    tape.coefficients.resize(m * (m - 1));
    for (size_t r = 0; r < m; ++r) {
        tape.inverse[r] = where(p.drops(static_cast<int>(r)), T(0), T(T(1) / p.A[r * m + r]));
        T* c = tape.coefficients.data() + r * (m - 1);
        for (size_t s = r + 1; s < m; ++s)
            *c++ = -p.A[r * m + s] * tape.inverse[r];
        for (size_t s = 0; s < r; ++s)
            *c++ = -p.A[r * m + s] * tape.inverse[r];
    }
}

// sum of c_i x[i] with i = 0, 1, ... in this order, starting from `sum`. c_i is c[i], or c[-1 - i] for a stride of -1:
// then c is the end of the coefficients. Unrolled: an update of a row is little more than this.
template <int stride, class T> T ordered_dot(T sum, const T* c, const T* x, int n) {
    static_assert(stride == 1 || stride == -1);
    constexpr int at = stride < 0 ? -1 : 0;
    for (; n >= 4; n -= 4, c += 4 * stride, x += 4) {
        const T first = c[at] * x[0], second = c[at + stride] * x[1];
        const T third = c[at + 2 * stride] * x[2], fourth = c[at + 3 * stride] * x[3];
        sum += first;
        sum += second;
        sum += third;
        sum += fourth;
    }
    for (; n > 0; --n, c += stride, ++x)
        sum += c[at] * *x;
    return sum;
}

// max(y, lo), and y clamped between -bound and bound. If y is at the bound, a dual number gets the bound's
// derivative, as in the adjoint. For plain numbers both are equal, so they use comparisons that compile to
// one instruction. NaN stays NaN.
template <class T> T at_least(const T& y, const T& lo) {
    if constexpr (std::is_arithmetic_v<T> || is_lanes<T>)
        return larger(y, lo);
    else
        return y <= lo ? lo : y;
}
template <class T> T within(const T& y, const T& bound) {
    if constexpr (std::is_arithmetic_v<T> || is_lanes<T>)
        return clamp_value(y, T(-bound), bound);
    else
        return bound <= y ? bound : (y <= -bound ? T(-bound) : y);
}

// The value of an update: y clamped to the bounds of row r. x_n: the current impulse of its normal row.
template <class T, class NormalImpulse>
T clamped(const MlcpView<T>& p, int r, const T& y, const NormalImpulse& x_n) {
    if (p.type[r] == RowType::unilateral) return at_least(y, T(0));
    if (p.type[r] == RowType::free) return y;
    return within(y, p.type[r] == RowType::boxed ? p.max_impulse(r) : T(p.mu(r) * x_n()));
}

// Adds g, the covector of x_r at a bound, to the covectors of the bound: x_r = code mu x_n, or code mu.
template <class T>
void clamped_adj(const MlcpView<T>& p, int r, const ClampCode<T>& code, const T* x, const T& g, T* extra,
                 T* bound_bar) {
    const T t = where(code == 0, T(0), T(T(code) * g));
    if (p.type[r] == RowType::boxed) {
        bound_bar[r] += t;
        return;
    }
    extra[p.normal_of(r)] += p.mu(r) * t;
    bound_bar[r] += x[p.normal_of(r) - r] * t;
}

// Computes z of every update, from the last to the first.
template <class T> void reverse_sweeps(const MlcpView<T>& p, PgsTape<T>& tape, T* bound_bar) {
    const int m = p.rows;
    T* z = tape.z.data() + m;
    const T* x = tape.x.data() + static_cast<size_t>(tape.sweeps + 1) * static_cast<size_t>(m);
    for (int k = tape.sweeps; k-- > 0;) {
        for (int r = m; r-- > 0; ++z) {
            --x;
            T& extra = tape.extra[r];
            const T* end = tape.coefficients.data() + (r + 1) * (m - 1);
            const T g = ordered_dot<-1, T>(extra * tape.inverse[r], end, z - (m - 1), m - 1);
            extra = T(0);
            const ClampCode<T> code = clamp_code(p, r, x);
            z[0] = where(code == 0, g, T(0));
            if (all(code == 0) || p.type[r] == RowType::unilateral) continue;
            clamped_adj<T>(p, r, code, x, g * p.A[r * m + r], tape.extra.data(), bound_bar);
        }
    }
}

//   A_bar_rs -= z_r x_s,   b_bar_r -= z_r
// with the x that the update has read, and for s = r the x that it has written: a window of the tape.
template <class T> void accumulate_bars(const MlcpView<T>& p, PgsTape<T>& tape, T* A_bar, T* b_bar) {
    const size_t m = p.rows, updates = tape.sweeps * m;
    tape.A_bar.assign(m * m, T(0));
    for (size_t n = 0; n < updates; ++n) {
        const T& z = tape.z[updates + m - 1 - n];
        if (all(z == T(0))) continue;
        b_bar[n % m] -= z;
        Eigen::Map<VecX<T>>(tape.A_bar.data() + n % m * m, p.rows) -=
            z * Eigen::Map<const VecX<T>>(tape.x.data() + n + 1, p.rows);
    }
    for (size_t r = 0; r < m; ++r)
        for (size_t i = 0; i < m; ++i)
            A_bar[r * m + (r + 1 + i) % m] += tape.A_bar[r * m + i];
}

// True if the sweeps may stop after two iterates `before` and `now` of `rows` impulses.
template <class T> bool settled(const T* now, const T* before, int rows, double tolerance) {
    if (tolerance <= 0) return false;
    Value<T> moved(0);
    for (int r = 0; r < rows; ++r)
        moved = larger(moved, magnitude<Value<T>>(value_of(now[r]) - value_of(before[r])));
    return moved <= tolerance;
}

// One update of row r: x[0] from the row's previous value, and y = W^T x with it.
template <class T>
void factored_update(const MlcpView<T>& p, int r, const T& before, const T& inverse, T* x, T* y) {
    const FactoredOperator<T>& A = *p.factored;
    const T s = p.b[r] + A.R[r] * before + A.dot(r, y);
    x[0] = clamped(p, r, T(before - s * inverse), [&]() -> const T& { return x[p.normal_of(r) - r]; });
    A.add(r, x[0] - before, y);
}
// Its reverse, from the new value x[0] and the y after it: from `extra` and eta to the
// covectors of the operator, of b, of the bounds and of the rows that the update has read.
template <class T>
void factored_update_adj(const MlcpView<T>& p, int r, const T* x, const T* y, PgsTape<T>& tape,
                         const OperatorBar<T>& bar, T* b_bar, T* bound_bar) {
    const FactoredOperator<T>& A = *p.factored;
    T& extra = tape.extra[r];
    T* then = tape.eta_then.data() + (A.start[r] - A.start[0]);
    T g = extra;
    extra = T(0);
    for (size_t k = A.start[r], i = 0; k < A.start[r + 1]; ++k, ++i)
        g += A.W[k] * (tape.eta[A.column[k]] - then[i]);
    const ClampCode<T> code = clamp_code(p, r, x);
    const T z = where(code == 0, T(g * tape.inverse[r]), T(0));
    b_bar[r] -= z;
    bar.R[r] -= z * x[0];
    for (size_t k = A.start[r], i = 0; k < A.start[r + 1]; ++k, ++i) {
        T& eta = tape.eta[A.column[k]];
        eta -= z * A.W[k];
        bar.W[k] += x[0] * (eta - then[i]) - z * y[A.column[k]];
        then[i] = eta;
    }
    if (any(code != 0) && p.type[r] != RowType::unilateral)
        clamped_adj(p, r, code, x, g, tape.extra.data(), bound_bar);
}

template <class T>
void factored_sweeps(const MlcpView<T>& p, int max_sweeps, double tolerance, PgsTape<T>& tape) {
    const FactoredOperator<T>& A = *p.factored;
    const int m = p.rows;
    T *y = A.swept, *x = tape.x.data() + m;  // x: the next value; x[-m]: the row's previous value
    std::fill(y, y + A.dofs, T(0));
    for (int r = 0; r < m; ++r)
        A.add(r, tape.x[r], y);
    for (tape.sweeps = 0; tape.sweeps < max_sweeps;) {
        for (int r = 0; r < m; ++r, ++x) {
            const T& before = x[-m];
            if (p.drops(r)) {
                x[0] = before;
                continue;
            }
            factored_update(p, r, before, tape.inverse[r], x, y);
        }
        ++tape.sweeps;
        if (settled(x - m, x - 2 * m, m, tolerance)) break;
    }
}

template <class T>
void factored_sweeps_adj(const MlcpView<T>& p, PgsTape<T>& tape, T* x_bar, const OperatorBar<T>& bar,
                         T* b_bar, T* bound_bar) {
    const FactoredOperator<T>& A = *p.factored;
    const int m = p.rows;
    tape.eta.assign(A.dofs, T(0));
    tape.eta_then.assign(A.start[m] - A.start[0], T(0));
    T* y = A.swept;
    for (int k = tape.sweeps; k-- > 0;) {
        const T* x = tape.x.data() + static_cast<size_t>(k + 1) * static_cast<size_t>(m);
        std::fill(y, y + A.dofs, T(0));
        for (int r = 0; r < m; ++r)
            A.add(r, x[r], y);
        for (int r = m; r-- > 0;) {
            if (p.drops(r)) continue;
            factored_update_adj(p, r, x + r, y, tape, bar, b_bar, bound_bar);
            A.add(r, x[r - m] - x[r], y);
        }
    }
    for (int r = 0; r < m; ++r) {  // in the first sweep, earlier rows have read the start
        const T* then = tape.eta_then.data() + (A.start[r] - A.start[0]);
        if (p.drops(r)) {
            x_bar[r] = T(0);
            continue;
        }
        x_bar[r] = tape.extra[r];
        for (size_t k = A.start[r], i = 0; k < A.start[r + 1]; ++k, ++i) {
            const T read = tape.eta[A.column[k]] - then[i];
            x_bar[r] += A.W[k] * read;
            bar.W[k] += tape.x[r] * read;
        }
    }
}

}  // namespace

template <class T> void pgs(const MlcpView<T>& p, int max_sweeps, double tolerance, PgsTape<T>& tape, T* x) {
    const int m = p.rows;
    pgs_prepare(p, max_sweeps, tape);
    std::copy(x, x + m, tape.x.begin());
    if (p.factored != nullptr) {
        factored_sweeps(p, max_sweeps, tolerance, tape);
        std::copy_n(tape.x.data() + static_cast<size_t>(tape.sweeps) * static_cast<size_t>(m), m, x);
        return;
    }
    // the window starts with the row to be updated; its new value is appended
    T* window = tape.x.data();
    for (tape.sweeps = 0; tape.sweeps < max_sweeps;) {
        for (int r = 0; r < m; ++r, ++window) {
            const T y = ordered_dot<1, T>(-p.b[r] * tape.inverse[r], tape.coefficients.data() + r * (m - 1),
                                          window + 1, m - 1);
            if constexpr (!std::is_arithmetic_v<T> && !is_lanes<T>) {
                if (p.drops(r)) {  // 0, which is not at a bound, though the bound may be 0
                    window[m] = y;
                    continue;
                }
            }
            window[m] = clamped(p, r, y, [&]() -> const T& { return window[m - r + p.normal_of(r)]; });
        }
        ++tape.sweeps;
        if (settled(window, window - m, m, tolerance)) break;
    }
    std::copy(window, window + m, x);
}

template <class T>
void pgs_adj(const MlcpView<T>& p, PgsTape<T>& tape, T* x_bar, const OperatorBar<T>& bar, T* b_bar,
             T* bound_bar) {
    tape.extra.assign(x_bar, x_bar + p.rows);
    if (p.factored != nullptr) return factored_sweeps_adj(p, tape, x_bar, bar, b_bar, bound_bar);
    tape.z.assign(static_cast<size_t>(tape.sweeps + 1) * static_cast<size_t>(p.rows), T(0));
    reverse_sweeps(p, tape, bound_bar);
    accumulate_bars(p, tape, bar.A, b_bar);
    for (int r = 0; r < p.rows; ++r) {  // in the first sweep, earlier rows have read the start
        x_bar[r] = tape.extra[r];
        for (int s = 0; s < r; ++s)
            x_bar[r] -= p.A[s * p.rows + r] * tape.z[tape.z.size() - 1 - s];
    }
}

}  // namespace costate
