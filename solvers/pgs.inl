// The bodies of solvers/pgs.hpp's templates, for the files that instantiate them: solvers/pgs.cpp for double and Dual<double>.
#pragma once

#include "solvers/pgs.hpp"

namespace costate {

namespace {

template <class T> void pgs_prepare(const MlcpView<T>& p, int max_sweeps, PgsTape<T>& tape) {
    const size_t m = static_cast<size_t>(p.rows);
    tape.coefficients.resize(m * (m - 1)), tape.inverse.resize(m);
    tape.x.resize((1 + static_cast<size_t>(max_sweeps)) * m);
    for (size_t r = 0; r < m; ++r) {
        tape.inverse[r] = p.drops(static_cast<int>(r)) ? T(0) : T(1) / p.A[r * m + r];
        T* c = tape.coefficients.data() + r * (m - 1);
        for (size_t s = r + 1; s < m; ++s) *c++ = -p.A[r * m + s] * tape.inverse[r];
        for (size_t s = 0; s < r; ++s) *c++ = -p.A[r * m + s] * tape.inverse[r];
    }
}

// sum + c[i] x[i], the last term added last
template <class T> T ordered_dot(T sum, const T* c, const T* x, int n) {
    for (int i = 0; i < n; ++i) sum += c[i] * x[i];
    return sum;
}
// The same with c read backwards.
template <class T> T ordered_dot_reversed(T sum, const T* c, const T* x, int n) {
    for (int i = 0; i < n; ++i) sum += c[n - 1 - i] * x[i];
    return sum;
}

// max(y, lo), and y between -bound and bound. At a bound the result is the bound: a dual number has the bound's derivative, as the
// adjoint has. Numbers are the same either way, so they take the comparisons that are one instruction; NaN stays.
template <class T> T at_least(const T& y, const T& lo) {
    if constexpr (std::is_arithmetic_v<T>) return y < lo ? lo : y;
    else return y <= lo ? lo : y;
}
template <class T> T within(const T& y, const T& bound) {
    if constexpr (std::is_arithmetic_v<T>) return y < -bound ? T(-bound) : (bound < y ? bound : y);
    else return bound <= y ? bound : (y <= -bound ? T(-bound) : y);
}

// z of every update, the last one first.
template <class T> void reverse_sweeps(const MlcpView<T>& p, PgsTape<T>& tape, T* mu_bar) {
    const int m = p.rows;
    T* z = tape.z.data() + m;
    const T* x = tape.x.data() + static_cast<size_t>(tape.sweeps + 1) * static_cast<size_t>(m);
    for (int k = tape.sweeps; k-- > 0;) {
        for (int r = m; r-- > 0; ++z) {
            --x;
            T& extra = tape.extra[static_cast<size_t>(r)];
            const T g = ordered_dot_reversed<T>(extra * tape.inverse[static_cast<size_t>(r)], tape.coefficients.data() + r * (m - 1), z - (m - 1), m - 1);
            extra = T(0);
            const int code = clamp_code(p, r, x);
            z[0] = code == 0 ? g : T(0);
            if (code == 0 || p.normal[r] == unilateral_row) continue;
            const T t = T(code) * g * p.A[r * m + r];  // x_r = code mu x_n, or code mu
            if (p.normal[r] == boxed_row) {
                mu_bar[r] += t;
                continue;
            }
            tape.extra[static_cast<size_t>(p.normal_of(r))] += p.mu[r] * t;
            mu_bar[r] += x[p.normal_of(r) - r] * t;
        }
    }
}

// A_bar_rs -= z_r x_s,   b_bar_r -= z_r, with the x that the update read and for s = r the one it wrote: a window of the tape.
template <class T> void accumulate_bars(const MlcpView<T>& p, PgsTape<T>& tape, T* A_bar, T* b_bar) {
    const size_t m = static_cast<size_t>(p.rows), updates = static_cast<size_t>(tape.sweeps) * m;
    tape.A_bar.assign(m * m, T(0));
    for (size_t n = 0; n < updates; ++n) {
        const T& z = tape.z[updates + m - 1 - n];
        if (z == T(0)) continue;
        b_bar[n % m] -= z;
        Eigen::Map<VecX<T>>(tape.A_bar.data() + n % m * m, p.rows) -= z * Eigen::Map<const VecX<T>>(tape.x.data() + n + 1, p.rows);
    }
    for (size_t r = 0; r < m; ++r)
        for (size_t i = 0; i < m; ++i) A_bar[r * m + (r + 1 + i) % m] += tape.A_bar[r * m + i];
}

}  // namespace

template <class T> void pgs(const MlcpView<T>& p, int max_sweeps, double tolerance, PgsTape<T>& tape, T* x) {
    const int m = p.rows;
    pgs_prepare(p, max_sweeps, tape);
    std::copy(x, x + m, tape.x.begin());
    T* window = tape.x.data();  // the row about to be updated stands first, and its new value goes behind the window
    for (tape.sweeps = 0; tape.sweeps < max_sweeps;) {
        for (int r = 0; r < m; ++r, ++window) {
            const T y = ordered_dot<T>(-p.b[r] * tape.inverse[static_cast<size_t>(r)], tape.coefficients.data() + r * (m - 1), window + 1, m - 1);
            if (p.normal[r] == unilateral_row) {
                window[m] = at_least(y, T(0));
            } else if (p.normal[r] == free_row) {
                window[m] = y;
            } else {
                const T bound = p.normal[r] == boxed_row ? p.mu[r] : T(p.mu[r] * window[m - r + p.normal_of(r)]);
                window[m] = within(y, bound);
            }
        }
        ++tape.sweeps;
        if (tolerance > 0) {
            double moved = 0;
            for (int r = 0; r < m; ++r) moved = std::max(moved, std::abs(value_of(window[r]) - value_of(window[r - m])));
            if (moved <= tolerance) break;
        }
    }
    std::copy(window, window + m, x);
}

template <class T> void pgs_adj(const MlcpView<T>& p, PgsTape<T>& tape, T* x_bar, T* A_bar, T* b_bar, T* mu_bar) {
    tape.z.assign(static_cast<size_t>(tape.sweeps + 1) * static_cast<size_t>(p.rows), T(0));
    tape.extra.assign(x_bar, x_bar + p.rows);
    reverse_sweeps(p, tape, mu_bar);
    accumulate_bars(p, tape, A_bar, b_bar);
    for (int r = 0; r < p.rows; ++r) {  // the start was read by the rows above, in the first sweep
        x_bar[r] = tape.extra[static_cast<size_t>(r)];
        for (int s = 0; s < r; ++s) x_bar[r] -= p.a(s, r) * tape.z[tape.z.size() - 1 - static_cast<size_t>(s)];
    }
}

}  // namespace costate
