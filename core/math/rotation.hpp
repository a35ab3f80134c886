// Unit quaternions (w, x, y, z), the exponential of SO(3) and its right Jacobian.
//
// The adjoint of a Quaternion is a Vec3: the covector of d in q <- q exp(d), with d in body axes.
// References: Sola, Deray, Atchuthan, "A micro Lie theory for state estimation in robotics", 2018, eqs. 135,
// 143, 144.
#pragma once

#include "core/math/elementary.hpp"
#include "core/math/linalg.hpp"

namespace costate {

template <class T> struct Quaternion {
    T w;
    Vec3<T> v;
    static Quaternion identity() { return {T(1), Vec3<T>::Zero()}; }
};
// Loads w x y z.
template <class T> Quaternion<T> load_quaternion(const T* q) { return {q[0], load3(q + 1)}; }

// Functions of the squared angle that are smooth at zero.
namespace so3 {

// Below this squared angle the series are exact to round-off (next terms < 1e-18).
inline constexpr double small_angle2 = 1e-4;

// sin(a)/a
template <class T> T sinc(const T& a2) {
    using std::sqrt;
    return choose(
        value_of(a2) < small_angle2,
        [&] { return T(T(1) - a2 / T(6) * (T(1) - a2 / T(20) * (T(1) - a2 / T(42)))); },
        [&] {
            const T a = sqrt(a2);
            return T(sin(a) / a);
        });
}

// (1 - cos(a))/a^2
template <class T> T cosc(const T& a2) {
    using std::sqrt;
    return choose(
        value_of(a2) < small_angle2,
        [&] { return T(T(0.5) * (T(1) - a2 / T(12) * (T(1) - a2 / T(30) * (T(1) - a2 / T(56))))); },
        [&] { return T((T(1) - cos(sqrt(a2))) / a2); });
}

// (1 - sin(a)/a)/a^2
template <class T> T sincc(const T& a2) {
    return choose(
        value_of(a2) < small_angle2,
        [&] { return T(T(1) / T(6) * (T(1) - a2 / T(20) * (T(1) - a2 / T(42) * (T(1) - a2 / T(72))))); },
        [&] { return T((T(1) - sinc(a2)) / a2); });
}

}  // namespace so3

template <class T> Mat3<T> rotation_matrix(const Quaternion<T>& q) {
    const T &w = q.w, &x = q.v.x(), &y = q.v.y(), &z = q.v.z();
    const T two(2), one(1);
    Mat3<T> R;
    R << one - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y), two * (x * y + w * z),
        one - two * (x * x + z * z), two * (y * z - w * x), two * (x * z - w * y), two * (y * z + w * x),
        one - two * (x * x + y * y);
    return R;
}
// With q <- q exp(d), R <- R [1 + d]x:  q_bar . d = trace(R_bar^T R [d]x)
template <class T> void rotation_matrix_adj(const Quaternion<T>& q, const Mat3<T>& R_bar, Vec3<T>& q_bar) {
    const Mat3<T> B = R_bar.transpose() * rotation_matrix(q);
    q_bar += axial(B);
}

template <class T> Quaternion<T> quaternion_product(const Quaternion<T>& a, const Quaternion<T>& b) {
    return {a.w * b.w - a.v.dot(b.v), a.w * b.v + b.w * a.v + a.v.cross(b.v)};
}

// True if exp(d) is the identity for this scalar, including its derivatives, so that kernels may skip it.
template <class T> bool is_identity(const Vec3<T>& d) {
    if constexpr (std::is_floating_point_v<T> || is_lanes<T>)
        return d.x() == T(0) && d.y() == T(0) && d.z() == T(0);
    else
        return false;
}

// exp of a rotation vector d, rad
template <class T> Quaternion<T> quaternion_exp(const Vec3<T>& d) {
    const Vec3<T> half = T(0.5) * d;
    const T a2 = half.squaredNorm();
    const T w = T(1) - a2 * so3::cosc(a2);
    return {w, so3::sinc(a2) * half};
}

// J_r(d):  exp(d + e) = exp(d) exp(J_r e) to first order in e             (Sola et al. eq. 143)
template <class T> Mat3<T> right_jacobian(const Vec3<T>& d) {
    const Mat3<T> D = skew(d);
    const T a2 = d.squaredNorm();
    return Mat3<T>::Identity() - so3::cosc(a2) * D + so3::sincc(a2) * (D * D);
}
// d_bar += J_r(d)^T q_bar
template <class T> void quaternion_exp_adj(const Vec3<T>& d, const Vec3<T>& q_bar, Vec3<T>& d_bar) {
    if (is_identity(d))
        d_bar += q_bar;
    else
        d_bar += right_jacobian(d).transpose() * q_bar;
}

// R exp(d), rad
template <class T> Mat3<T> retract_rotation(const Mat3<T>& R, const Vec3<T>& d) {
    return is_identity(d) ? R : Mat3<T>(R * rotation_matrix(quaternion_exp(d)));
}

// The shortest rotation of the z axis onto a unit vector n; about x if n = -z.
inline Mat3<double> rotation_of_z_onto(const Vec3<double>& n) {
    const Vec3<double> axis(-n.y(), n.x(), 0);  // z x n
    const double sine = axis.norm(), angle = atan2(sine, n.z());
    return rotation_matrix(
        quaternion_exp<double>(sine > 0 ? Vec3<double>(axis * (angle / sine)) : Vec3<double>(angle, 0, 0)));
}

// q+ = q exp(d), normalized
template <class T> Quaternion<T> retract_quaternion(const Quaternion<T>& q, const Vec3<T>& d) {
    using std::sqrt;
    const Quaternion<T> r = quaternion_product(q, quaternion_exp(d));
    const T scale = T(1) / sqrt(r.w * r.w + r.v.squaredNorm());
    return {scale * r.w, scale * r.v};
}
// q exp(e) exp(d) = q exp(d) exp(E^T e), E = exp(d):  q_bar += E q+_bar,   d_bar += J_r(d)^T q+_bar.
// Normalization only changes the length, so it leaves tangent covectors unchanged.
template <class T>
void retract_quaternion_adj(const Quaternion<T>&, const Vec3<T>& d, const Vec3<T>& next_bar, Vec3<T>& q_bar,
                            Vec3<T>& d_bar) {
    q_bar += rotation_matrix(quaternion_exp(d)) * next_bar;
    d_bar += right_jacobian(d).transpose() * next_bar;
}

// J_r(d)^-1                                                                (Sola et al. eq. 144)
template <class T> Mat3<T> inverse_right_jacobian(const Vec3<T>& d) {
    using std::sqrt;
    const Mat3<T> D = skew(d);
    const T a2 = d.squaredNorm();
    const T k = choose(  // (1 - a/2 cot(a/2))/a^2
        value_of(a2) < so3::small_angle2, [&] { return T(T(1) / T(12) * (T(1) + a2 / T(60))); },
        [&] {
            const T half2 = T(0.25) * a2;
            return T((T(1) - cos(sqrt(half2)) / so3::sinc(half2)) / a2);
        });
    return Mat3<T>::Identity() + T(0.5) * D + k * (D * D);
}

// The shortest rotation vector d with a exp(d) = b, rad (|d| <= pi)
template <class T> Vec3<T> quaternion_difference(const Quaternion<T>& a, const Quaternion<T>& b) {
    const Quaternion<T> r = quaternion_product(Quaternion<T>{a.w, -a.v}, b);
    const T sign = where(r.w < T(0), T(-1), T(1));
    const T s2 = r.v.squaredNorm();
    const T scale = choose(  // 2 asin(s)/s
        value_of(s2) < so3::small_angle2,
        [&] { return T(T(2) * (T(1) + s2 / T(6) * (T(1) + s2 * T(0.45) * (T(1) + s2 * T(25.0 / 42.0))))); },
        [&] {
            const T s = safe_sqrt(s2);
            return T(T(2) * atan2(s, T(sign * r.w)) / s);
        });
    return scale * Vec3<T>(sign * r.v);
}
// b <- b exp(e): d <- d + J_r(d)^-1 e
// a <- a exp(e): d <- d - J_r(-d)^-1 e = d - J_r(d)^-T e
template <class T>
void quaternion_difference_adj(const Quaternion<T>& a, const Quaternion<T>& b, const Vec3<T>& d_bar,
                               Vec3<T>& a_bar, Vec3<T>& b_bar) {
    const Mat3<T> inverse = inverse_right_jacobian(quaternion_difference(a, b));
    b_bar += inverse.transpose() * d_bar;
    a_bar -= inverse * d_bar;
}

}  // namespace costate
