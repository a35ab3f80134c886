// The equation that holds for a row in a state, with its derivatives (solvers/complementarity/active_set.hpp).
#pragma once

#include "solvers/complementarity/active_set.hpp"

namespace costate {

// Direction u of the slip of the contact with the normal row n: that of s_T - a x_T, where a is the diagonal of
// the normal row and x_T is shortened to mu x_n. At a solution x_T = -mu x_n u, so this is the direction of s_T;
// on the way there it also has a meaning where s_T is almost 0 (Alart & Curnier 1991).
template <class T> struct Slip {
    int rows;                                      // friction rows
    int moving = 0, at[max_friction_rows];         // those that an impulse moves
    T a, bound, speed, u[max_friction_rows] = {};  // mu x_n; |s_T - a x_T|
    Slip(const MlcpView<T>& p, const T* x, const T* s, int n)
        : rows(p.friction_rows(n)),
          a(p.diagonal(n)),
          bound(p.mu(n + 1) * x[n]) {
        using std::sqrt;
        const double longest = std::max(0.0, value_of(bound)), length = length_of(x + n + 1, rows);
        const T pull = length > longest ? a * (longest / length) : a;
        T squared(0);
        for (int i = 0; i < rows; ++i) {
            if (p.drops(n + 1 + i)) continue;
            at[moving++] = i;
            u[i] = s[n + 1 + i] - pull * x[n + 1 + i];
            squared += u[i] * u[i];
        }
        speed = sqrt(squared);
        for (int i = 0; i < rows; ++i)
            u[i] /= speed;
    }
    // The place of friction row i among those that move.
    int place(int i) const { return static_cast<int>(std::find(at, at + moving, i) - at); }
    // The kth of the unit vectors that with u are an orthonormal basis, k > 0: a column of Householder's
    // reflection that takes the first axis to u or -u, on the rows that move.
    void across(int k, T* out) const {
        const T& u0 = u[at[0]];
        const T side = where(u0 < T(0), T(-1), T(1)), first = u0 + side;
        std::fill_n(out, rows, T(0));
        for (int j = 0; j < moving; ++j)
            out[at[j]] = T(k == j ? 1 : 0) - (j == 0 ? first : u[at[j]]) * u[at[k]] / (side * first);
    }
};

// The equation of a row:
//   F,   dF = sum of P[i] ds[row_s + i] + sum of K[i] dx[row_x[i]] + r_bound dbound[row_bound]
// Friction x_T = -mu x_n u that slides has one equation along the slip u and others across, in m/s. With w across
//   w.((1 - c) a x_T + c s_T) = 0,   c = a mu x_n/|s_T - a x_T|
// which is the projection of x_T - s_T/a on the disc |x_T| <= mu x_n, and nearly the equation of sticking where
// slip is slow. u, w and c are constants of F, which is 0: their derivatives, of 1/|s_T|, would only multiply its
// round-off.
template <class T> struct Equation {
    T F{}, P[max_contact_rows] = {}, K[max_contact_rows] = {}, r_bound{};
    int row_s = 0, count_s = 0, row_x[max_contact_rows] = {}, count_x = 0, row_bound = 0;
    // the rows of P are contiguous
    void ds(int row, const T& d) {
        P[count_s++] = d;
        row_s = count_s == 1 ? row : row_s;
    }
    void dx(int row, const T& d) {
        K[count_x] = d;
        row_x[count_x++] = row;
    }
};

template <class T>
Equation<T> equation(const MlcpView<T>& p, const std::vector<RowState>& state, const T* x, const T* s,
                     int r) {
    Equation<T> e;
    const RowState at = state[r];
    e.row_bound = r;
    switch (at) {
        case RowState::separating:
            e.F = x[r];
            e.dx(r, T(1));
            break;
        case RowState::clamping:
            e.F = s[r];
            e.ds(r, T(1));
            break;
        case RowState::lower:
        case RowState::upper: {
            const T side(static_cast<int>(at));
            e.dx(r, T(1));
            if (p.type[r] == RowType::boxed) {
                e.F = x[r] - side * p.max_impulse(r);
                e.r_bound = -side;
                break;
            }
            const int n = p.normal_of(r);
            e.F = x[r] - side * p.mu(r) * x[n];
            e.dx(n, -side * p.mu(r));
            e.r_bound = -side * x[n];
            break;
        }
        case RowState::sliding: {
            const int n = p.normal_of(r), t = n + 1;
            const Slip<T> slip(p, x, s, n);
            const int place = slip.place(r - t);
            T across[max_friction_rows];
            if (place == 0) {  // along the slip
                e.F = slip.a * slip.bound;
                for (int j = 0; j < slip.rows; ++j) {
                    e.F += slip.a * value_of(slip.u[j]) * x[t + j];
                    e.dx(t + j, slip.a * slip.u[j]);
                }
                e.dx(n, slip.a * p.mu(t));
                e.r_bound = slip.a * x[n];
                e.row_bound = t;
                break;
            }
            slip.across(place, across);
            const T c = clamp_value(T(slip.a * slip.bound / slip.speed), T(0), T(1)),
                    still = slip.a * (T(1) - c);
            for (int j = 0; j < slip.rows; ++j) {
                e.F += value_of(across[j]) * (value_of(still) * x[t + j] + value_of(c) * s[t + j]);
                e.ds(t + j, c * across[j]);
                e.dx(t + j, still * across[j]);
            }
            break;
        }
        case RowState::dilating: {
            const Slip<T> slip(p, x, s, r);
            const T& mu = p.mu(r + 1);
            e.F = s[r];
            e.ds(r, T(1));
            for (int j = 0; j < slip.rows; ++j) {
                e.F -= mu * value_of(slip.u[j]) * s[r + 1 + j];
                e.r_bound -= slip.u[j] * s[r + 1 + j];
                e.ds(r + 1 + j, -mu * slip.u[j]);
            }
            e.row_bound = r + 1;
            break;
        }
    }
    return e;
}

}  // namespace costate
