// Closest points of points, lines and planes, and the contact that they define: the closed forms of contacts.
#pragma once

#include "core/math/bar.hpp"
#include "core/math/normalise.hpp"

namespace costate {

template <class T> struct Contact {
    Vec3<T> point;   // midpoint of the two witness points, m
    Vec3<T> normal;  // unit, from b to a
    T gap;           // signed distance, m
};

template <class T> struct PointPair { Vec3<T> a, b; };

// lines with a squared sine up to this have no unique closest points
inline constexpr double degenerate_sine2 = 1e-13;

// The point nearest to x on the line through q along the unit vector w:   y = q + w (w . (x - q))
template <class T> Vec3<T> closest_on_line(const Vec3<T>& x, const Vec3<T>& q, const Vec3<T>& w) {
    return q + w * w.dot(x - q);
}
// With k = w . y_bar:   x_bar += k w,   q_bar += y_bar - k w,   w_bar += (w . (x - q)) y_bar + k (x - q)
template <class T>
void closest_on_line_adj(const Vec3<T>& x, const Vec3<T>& q, const Vec3<T>& w, const Vec3<T>& y_bar,
                         Vec3<T>& x_bar, Vec3<T>& q_bar, Vec3<T>& w_bar) {
    const Vec3<T> r = x - q;
    const T k = w.dot(y_bar);
    x_bar += k * w;
    q_bar += y_bar - k * w;
    w_bar += w.dot(r) * y_bar + k * r;
}

// The point nearest to x on the plane through q with unit normal n:   y = x - n (n . (x - q))
template <class T> Vec3<T> closest_on_plane(const Vec3<T>& x, const Vec3<T>& q, const Vec3<T>& n) {
    return x - n * n.dot(x - q);
}
// With k = n . y_bar:   x_bar += y_bar - k n,   q_bar += k n,   n_bar -= (n . (x - q)) y_bar + k (x - q)
template <class T>
void closest_on_plane_adj(const Vec3<T>& x, const Vec3<T>& q, const Vec3<T>& n, const Vec3<T>& y_bar,
                          Vec3<T>& x_bar, Vec3<T>& q_bar, Vec3<T>& n_bar) {
    const Vec3<T> r = x - q;
    const T k = n.dot(y_bar);
    x_bar += y_bar - k * n;
    q_bar += k * n;
    n_bar -= n.dot(r) * y_bar + k * r;
}

// The closest points a = p + s u and b = q + t w of two lines. With r = q - p, c = u x w, D = |c|^2:
//   s = (r x w) . c/D,   t = (r x u) . c/D;   0 if D <= degenerate_sine2
template <class T>
PointPair<T> closest_of_lines(const Vec3<T>& p, const Vec3<T>& u, const Vec3<T>& q, const Vec3<T>& w) {
    const Vec3<T> c = u.cross(w), r = q - p;
    const T D = c.squaredNorm();
    if (!(value_of(D) > degenerate_sine2)) return {p, q};
    return {p + u * (r.cross(w).dot(c) / D), q + w * (r.cross(u).dot(c) / D)};
}
// s_bar = u . a_bar/D,   t_bar = w . b_bar/D,   r_bar = s_bar w x c + t_bar u x c,
// q_bar += b_bar + r_bar,   p_bar += a_bar - r_bar,
// c_bar = s_bar r x w + t_bar r x u - 2 (s s_bar + t t_bar) c,
// u_bar += s a_bar + t_bar c x r + w x c_bar,   w_bar += t b_bar + s_bar c x r + c_bar x u
template <class T>
void closest_of_lines_adj(const Vec3<T>& p, const Vec3<T>& u, const Vec3<T>& q, const Vec3<T>& w,
                          const PointPair<T>& out_bar, Vec3<T>& p_bar, Vec3<T>& u_bar, Vec3<T>& q_bar,
                          Vec3<T>& w_bar) {
    const Vec3<T> c = u.cross(w), r = q - p;
    const T D = c.squaredNorm();
    p_bar += out_bar.a;
    q_bar += out_bar.b;
    if (!(value_of(D) > degenerate_sine2)) return;
    const Vec3<T> rw = r.cross(w), ru = r.cross(u), cr = c.cross(r);
    const T s = rw.dot(c) / D, t = ru.dot(c) / D;
    const T s_bar = u.dot(out_bar.a) / D, t_bar = w.dot(out_bar.b) / D;
    const Vec3<T> r_bar = s_bar * w.cross(c) + t_bar * u.cross(c);
    const Vec3<T> c_bar = s_bar * rw + t_bar * ru - T(2) * (s * s_bar + t * t_bar) * c;
    p_bar -= r_bar;
    u_bar += s * out_bar.a + t_bar * cr + w.cross(c_bar);
    q_bar += r_bar;
    w_bar += t * out_bar.b + s_bar * cr + c_bar.cross(u);
}

// The intersection of the line through p along u with the plane through s with normal m:
// x = p + u (m . (s - p))/(m . u);   p if |m . u| <= degenerate_length
template <class T>
Vec3<T> pierce_plane(const Vec3<T>& p, const Vec3<T>& u, const Vec3<T>& s, const Vec3<T>& m) {
    const T rate = m.dot(u);
    if (!(magnitude(value_of(rate)) > degenerate_length)) return p;
    return p + u * (m.dot(s - p) / rate);
}
// With t = m . (s - p)/(m . u) and k = u . x_bar/(m . u):
// p_bar += x_bar - k m,   u_bar += t x_bar - k t m,   s_bar += k m,   m_bar += k (s - p - t u)
template <class T>
void pierce_plane_adj(const Vec3<T>& p, const Vec3<T>& u, const Vec3<T>& s, const Vec3<T>& m,
                      const Vec3<T>& x_bar, Vec3<T>& p_bar, Vec3<T>& u_bar, Vec3<T>& s_bar, Vec3<T>& m_bar) {
    const T rate = m.dot(u);
    p_bar += x_bar;
    if (!(magnitude(value_of(rate)) > degenerate_length)) return;
    const T t = m.dot(s - p) / rate, k = u.dot(x_bar) / rate;
    p_bar -= k * m;
    u_bar += t * x_bar - k * t * m;
    s_bar += k * m;
    m_bar += k * (s - p - t * u);
}

// The contact of two points rounded by r_a and r_b, with unit normal n from x_b to x_a:
// gap = n . (x_a - x_b) - r_a - r_b,   point = (x_a + x_b)/2 + n (r_b - r_a)/2
template <class T>
Contact<T> span(const Vec3<T>& n, const Vec3<T>& x_a, const Vec3<T>& x_b, const T& r_a, const T& r_b) {
    return {T(0.5) * (x_a + x_b + n * (r_b - r_a)), n, n.dot(x_a - x_b) - r_a - r_b};
}
// n_bar += normal_bar + gap_bar (x_a - x_b) + point_bar (r_b - r_a)/2,
// x_a_bar += point_bar/2 + gap_bar n,   x_b_bar += point_bar/2 - gap_bar n,
// r_a_bar -= gap_bar + n . point_bar/2,   r_b_bar -= gap_bar - n . point_bar/2
template <class T>
void span_adj(const Vec3<T>& n, const Vec3<T>& x_a, const Vec3<T>& x_b, const T& r_a, const T& r_b,
              const Contact<T>& out_bar, Vec3<T>& n_bar, Vec3<T>& x_a_bar, Vec3<T>& x_b_bar, T& r_a_bar,
              T& r_b_bar) {
    const Vec3<T> half = T(0.5) * out_bar.point, along = out_bar.gap * n;
    n_bar += out_bar.normal + out_bar.gap * (x_a - x_b) + half * (r_b - r_a);
    x_a_bar += half + along;
    x_b_bar += half - along;
    r_a_bar -= out_bar.gap + n.dot(half);
    r_b_bar -= out_bar.gap - n.dot(half);
}

}  // namespace costate
