// The way of a tendon through a ring, which is a circle about the origin across n, from a to b outside. Where the
// straight line misses the circle, the tendon touches it at the point z at which |z - a| + |b - z| is least. With
// A = |a|, B = |b| and the angle Phi between both, z is at the angle phi from a at which the two pieces meet the circle
// alike:
//
//   h(A, phi) = h(B, Phi - phi),   h(X, psi) = X sin(psi)/l,   l^2 = X^2 + r^2 - 2 X r cos(psi)
#pragma once

#include "core/dynamics/wrap_arc.hpp"
#include "core/math/normalise.hpp"

namespace costate {

// h and its partial derivatives: how fast the distance l of a point at X from one of the circle grows with psi, m/m.
template <class T> struct RingSlope {
    T h, by_X, by_psi, by_r;
    RingSlope(const T& X, const T& psi, const T& r) {
        using std::sqrt;
        const SinCos<T> at = sin_cos(psi);
        const T square = X * X + r * r - T(2) * X * r * at.cos, l = sqrt(square), cube = square * l;
        h = X * at.sin / l;
        by_X = at.sin * r * (r - X * at.cos) / cube;
        by_psi = X * at.cos / l - X * X * r * at.sin * at.sin / cube;
        by_r = X * at.sin * (X * at.cos - r) / cube;
    }
};

// phi: by Newton's method between bounds
inline double touching_angle(double A, double B, double r, double Phi) {
    double low = 0, high = Phi, phi = 0.5 * Phi;
    for (int k = 0; k < 60; ++k) {
        const RingSlope<double> a(A, phi, r), b(B, Phi - phi, r);
        const double g = a.h - b.h;
        (g > 0 ? high : low) = phi;
        double next = phi - g / (a.by_psi + b.by_psi);
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (std::abs(next - phi) <= 1e-16 * Phi) break;
        phi = next;
    }
    return phi;
}
// The last of its steps has the derivatives.
template <class T> T ring_angle(const T& A, const T& B, const T& r, const T& Phi) {
    const T phi(from_lanes<Value<T>>([&](int i) {
        const auto of = [i](const T& x) { return lane(value_of(x), i); };
        return touching_angle(of(A), of(B), of(r), of(Phi));
    }));
    const RingSlope<T> a(A, phi, r), b(B, Phi - phi, r);
    return phi - (a.h - b.h) / (a.by_psi + b.by_psi);
}
template <class T>
void ring_angle_adj(const T& A, const T& B, const T& r, const T& Phi, const T& phi_bar, T& A_bar, T& B_bar,
                    T& r_bar, T& Phi_bar) {
    const T phi = ring_angle(A, B, r, Phi);
    const RingSlope<T> a(A, phi, r), b(B, Phi - phi, r);
    const T g_bar = -phi_bar / (a.by_psi + b.by_psi);
    A_bar += g_bar * a.by_X;
    B_bar -= g_bar * b.by_X;
    r_bar += g_bar * (a.by_r - b.by_r);
    Phi_bar -= g_bar * b.by_psi;
}

// z = r (cos(phi) e + sin(phi) f),   e = a/A,   f = +- n x e towards b
template <class T> double ring_turn(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& n) {
    return n.dot(a.cross(b)) < T(0) ? -1 : 1;
}
template <class T> Vec3<T> ring_point(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& n, const T& r) {
    const double turn = ring_turn(a, b, n);
    const Vec3<T> e = normalise(a);
    const T phi = ring_angle<T>(a.norm(), b.norm(), r, turned_angle(a, b, n, turn));
    const SinCos<T> at = sin_cos(phi);
    return r * (at.cos * e + T(turn) * at.sin * n.cross(e));
}
template <class T>
void ring_point_adj(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& n, const T& r, const Vec3<T>& z_bar,
                    Vec3<T>& a_bar, Vec3<T>& b_bar, Vec3<T>& n_bar, T& r_bar) {
    const double turn = ring_turn(a, b, n);
    const T A = a.norm(), B = b.norm(), Phi = turned_angle(a, b, n, turn), phi = ring_angle(A, B, r, Phi);
    const SinCos<T> at = sin_cos(phi);
    const Vec3<T> e = normalise(a), f = T(turn) * n.cross(e);
    r_bar += z_bar.dot(at.cos * e + at.sin * f);
    T A_bar(0), B_bar(0), Phi_bar(0);
    ring_angle_adj<T>(A, B, r, Phi, r * z_bar.dot(at.cos * f - at.sin * e), A_bar, B_bar, r_bar, Phi_bar);
    turned_angle_adj(a, b, n, turn, Phi_bar, a_bar, b_bar, n_bar);
    const T across = T(turn) * r * at.sin;
    n_bar += across * e.cross(z_bar);
    normalise_adj<T>(a, r * at.cos * z_bar + across * z_bar.cross(n), a_bar);
    a_bar += A_bar * e;
    b_bar += (B_bar / B) * b;
}

}  // namespace costate
