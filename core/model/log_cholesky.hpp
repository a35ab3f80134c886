// Parameterization of the ten inertial parameters of a body by ten unbounded numbers: every point is a
// physical body, and every body with extent in three directions is exactly one point.
//
// The pseudo-inertia J = int rho (r, 1) (r, 1)^T dV = [Sigma h; h^T m], with Sigma = trace(I_o)/2 1 - I_o
// about the body's origin, is positive definite if and only if the mass is positive and some mass
// distribution has this inertia, i.e. the principal moments satisfy the triangle inequalities strictly. It is
// represented by its factor:
//
//   J = U U^T,   U = e^alpha [e^d1 s12 s13 t1;  0 e^d2 s23 t2;  0 0 e^d3 t3;  0 0 0 1]
//
// By blocks: m = e^(2 alpha), c = t, and S = m L L^T about the centre of mass, where L is the upper left
// block of U / e^alpha. References: Rucker, Wensing, "Smooth parameterization of rigid-body inertia", IEEE
// RA-L 2022, sec. III; Wensing, Kim, Slotine, "Linear matrix inequalities for physically consistent inertial
// parameter identification", IEEE RA-L 2018, theorem 2.
#pragma once

#include <optional>

#include "core/math/elementary.hpp"
#include "core/math/inertia.hpp"

namespace costate {

template <class T> struct LogCholesky {
    static constexpr int size = 10;
    T alpha;    // log(m)/2
    Vec3<T> d;  // log of the diagonal of L, m
    Vec3<T> s;  // s12, s23, s13, m
    Vec3<T> t;  // centre of mass, m
    static LogCholesky load(const T* y) {
        return {y[0], {y[1], y[2], y[3]}, {y[4], y[5], y[6]}, {y[7], y[8], y[9]}};
    }
    void add_to(T* y) const {
        y[0] += alpha;
        for (int i = 0; i < 3; ++i) {
            y[1 + i] += d[i];
            y[4 + i] += s[i];
            y[7 + i] += t[i];
        }
    }
    // upper triangular
    Mat3<T> factor() const {
        Mat3<T> L;
        L << exp(d[0]), s[0], s[2], T(0), exp(d[1]), s[1], T(0), T(0), exp(d[2]);
        return L;
    }
};

// m = e^(2 alpha),   c = t,   S = m L L^T,   I = trace(S) 1 - S
template <class T> MassProperties<T> log_cholesky_body(const LogCholesky<T>& y) {
    const T m = exp(T(2) * y.alpha);
    const Mat3<T> L = y.factor(), S = m * (L * L.transpose());
    return {m, y.t, S.trace() * Mat3<T>::Identity() - S};
}
// S_bar = trace(I_bar) 1 - I_bar,   alpha_bar += 2 (m m_bar + <S_bar, S>),
// L_bar = 2 m S_bar L,   d_bar_i += L_ii L_bar_ii,   t_bar += c_bar
template <class T>
void log_cholesky_body_adj(const LogCholesky<T>& y, const MassProperties<T>& B_bar, LogCholesky<T>& y_bar) {
    const T m = exp(T(2) * y.alpha);
    const Mat3<T> L = y.factor(), S_bar = B_bar.I.trace() * Mat3<T>::Identity() - B_bar.I,
                  L_bar = (T(2) * m) * (S_bar * L);
    y_bar.alpha += T(2) * m * B_bar.m + L_bar.cwiseProduct(L).sum();
    for (int i = 0; i < 3; ++i)
        y_bar.d[i] += L(i, i) * L_bar(i, i);
    y_bar.s += Vec3<T>(L_bar(0, 1), L_bar(1, 2), L_bar(0, 2));
    y_bar.t += B_bar.c;
}

// The point of a body; none if the body is flat, thin or unphysical: its second moments must be positive in
// all directions, relative to 1e-9 of their sum.
inline std::optional<LogCholesky<double>> log_cholesky_of(const MassProperties<double>& B) {
    if (!(B.m > 0)) return {};
    const Mat3<double> A = (0.5 * B.I.trace() * Mat3<double>::Identity() - B.I) / B.m;  // L L^T
    const double least = 1e-9 * A.trace();
    LogCholesky<double> y{0.5 * log(B.m), {}, {}, B.c};
    double pivot = A(2, 2);
    if (!(pivot > least)) return {};
    y.d[2] = 0.5 * log(pivot);
    y.s[1] = A(1, 2) / std::sqrt(pivot);
    y.s[2] = A(0, 2) / std::sqrt(pivot);
    pivot = A(1, 1) - y.s[1] * y.s[1];
    if (!(pivot > least)) return {};
    y.d[1] = 0.5 * log(pivot);
    y.s[0] = (A(0, 1) - y.s[2] * y.s[1]) / std::sqrt(pivot);
    pivot = A(0, 0) - y.s[0] * y.s[0] - y.s[2] * y.s[2];
    if (!(pivot > least)) return {};
    y.d[0] = 0.5 * log(pivot);
    return y;
}

}  // namespace costate
