// Spatial vectors (Featherstone, Rigid Body Dynamics Algorithms, 2008): a Motion is (angular, linear), a
// Force is (moment, force), both about the origin of their frame. They are dual: the adjoint of an operator
// on motions is an operator on forces. Separate types keep them apart.
//
// Adjoints: `x_bar` is the gradient of the objective with respect to x; `foo_adj` adds to the input bars and
// modifies nothing else.
#pragma once

#include "core/math/linalg.hpp"

namespace costate {

template <class T> struct Motion {
    Vec3<T> ang;  // angular velocity, rad/s
    Vec3<T> lin;  // velocity of the point at the frame's origin, m/s
    static Motion zero() { return {Vec3<T>::Zero(), Vec3<T>::Zero()}; }
    Motion& operator+=(const Motion& b) {
        ang += b.ang;
        lin += b.lin;
        return *this;
    }
    Motion& operator-=(const Motion& b) {
        ang -= b.ang;
        lin -= b.lin;
        return *this;
    }
};

template <class T> struct Force {
    Vec3<T> ang;  // moment about the frame's origin, N m
    Vec3<T> lin;  // force, N
    static Force zero() { return {Vec3<T>::Zero(), Vec3<T>::Zero()}; }
    Force& operator+=(const Force& b) {
        ang += b.ang;
        lin += b.lin;
        return *this;
    }
    Force& operator-=(const Force& b) {
        ang -= b.ang;
        lin -= b.lin;
        return *this;
    }
};

template <class T> Motion<T> operator+(Motion<T> a, const Motion<T>& b) { return a += b; }
template <class T> Motion<T> operator-(Motion<T> a, const Motion<T>& b) { return a -= b; }
template <class T> Motion<T> operator*(const T& s, const Motion<T>& a) { return {s * a.ang, s * a.lin}; }
template <class T> Force<T> operator+(Force<T> a, const Force<T>& b) { return a += b; }
template <class T> Force<T> operator-(Force<T> a, const Force<T>& b) { return a -= b; }
template <class T> Force<T> operator*(const T& s, const Force<T>& a) { return {s * a.ang, s * a.lin}; }

// y = m . f, power                                                        (RBDA 2.2)
template <class T> T dot(const Motion<T>& m, const Force<T>& f) {
    return m.ang.dot(f.ang) + m.lin.dot(f.lin);
}
// m_bar += y_bar f,   f_bar += y_bar m
template <class T>
void dot_adj(const Motion<T>& m, const Force<T>& f, const T& y_bar, Force<T>& m_bar, Motion<T>& f_bar) {
    m_bar += y_bar * f;
    f_bar += y_bar * m;
}

// c = a x b, rate of a motion b carried by a frame moving with a          (RBDA 2.9)
template <class T> Motion<T> cross_motion(const Motion<T>& a, const Motion<T>& b) {
    return {a.ang.cross(b.ang), a.ang.cross(b.lin) + a.lin.cross(b.ang)};
}
// c = a x* f, rate of a force f carried by a frame moving with a          (RBDA 2.9)
template <class T> Force<T> cross_force(const Motion<T>& a, const Force<T>& f) {
    return {a.ang.cross(f.ang) + a.lin.cross(f.lin), a.ang.cross(f.lin)};
}
// For c = a x b:  a_bar += b x* c_bar,   b_bar -= a x* c_bar
template <class T>
void cross_motion_adj(const Motion<T>& a, const Motion<T>& b, const Force<T>& c_bar, Force<T>& a_bar,
                      Force<T>& b_bar) {
    a_bar += cross_force(b, c_bar);
    b_bar -= cross_force(a, c_bar);
}
// For c = a x* f:  a_bar -= c_bar x* f,   f_bar -= a x c_bar
template <class T>
void cross_force_adj(const Motion<T>& a, const Force<T>& f, const Motion<T>& c_bar, Force<T>& a_bar,
                     Motion<T>& f_bar) {
    a_bar -= cross_force(c_bar, f);
    f_bar -= cross_motion(a, c_bar);
}

// v = lin + ang x p, the velocity of the material point at p of a body moving with m
template <class T> Vec3<T> point_velocity(const Motion<T>& m, const Vec3<T>& p) {
    return m.lin + m.ang.cross(p);
}
// m_bar += (p x v_bar, v_bar),   p_bar += v_bar x ang
template <class T>
void point_velocity_adj(const Motion<T>& m, const Vec3<T>& p, const Vec3<T>& v_bar, Force<T>& m_bar,
                        Vec3<T>& p_bar) {
    m_bar += Force<T>{p.cross(v_bar), v_bar};
    p_bar += v_bar.cross(m.ang);
}

// a = A.lin + A.ang x p + V.ang x (V.lin + V.ang x p), the acceleration of the material point at p of a body
// that moves with V and has the spatial acceleration A
template <class T> Vec3<T> point_acceleration(const Motion<T>& V, const Motion<T>& A, const Vec3<T>& p) {
    return point_velocity(A, p) + V.ang.cross(point_velocity(V, p));
}
template <class T>
void point_acceleration_adj(const Motion<T>& V, const Motion<T>& A, const Vec3<T>& p, const Vec3<T>& a_bar,
                            Force<T>& V_bar, Force<T>& A_bar, Vec3<T>& p_bar) {
    point_velocity_adj(A, p, a_bar, A_bar, p_bar);
    V_bar.ang += point_velocity(V, p).cross(a_bar);
    point_velocity_adj(V, p, Vec3<T>(a_bar.cross(V.ang)), V_bar, p_bar);
}

// f = (p x d, d), the wrench of the force d at the point p
template <class T> Force<T> point_force(const Vec3<T>& p, const Vec3<T>& d) { return {p.cross(d), d}; }
// p_bar += d x f_bar.ang,   d_bar += f_bar.ang x p + f_bar.lin
template <class T>
void point_force_adj(const Vec3<T>& p, const Vec3<T>& d, const Motion<T>& f_bar, Vec3<T>& p_bar,
                     Vec3<T>& d_bar) {
    p_bar += d.cross(f_bar.ang);
    d_bar += f_bar.ang.cross(p) + f_bar.lin;
}

}  // namespace costate
