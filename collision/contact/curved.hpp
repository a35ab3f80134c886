// Contacts of a curve with a vertex, an edge, a face or another curve. Their normal is the unit vector n that
// maximizes the separation
//   F(n) = n . (x_1(-n) - x_2(n)),   x_1, x_2 the support points of the two features,
// so r = x_1 - x_2 is parallel to n and n . r = F. A face prescribes n; an edge requires n to be normal to
// it.
#pragma once

#include "collision/contact/support.hpp"
#include "collision/contact/tangents.hpp"

namespace costate {

// One of two features and the pose and size of its shape.
template <class T> struct FeatureOf {
    const Shape& shape;
    const Feature& feature;
    const Transform<T>& X;
    const Vec3<T>& size;
};
template <class T> struct FeatureOfBar {
    Force<T>& X;
    Vec3<T>& size;
};

template <class T> RoundedFeature<T> place(const FeatureOf<T>& f) {
    return place_feature(f.shape, f.feature, f.X, f.size);
}
template <class T> Vec3<T> support_point(const FeatureOf<T>& f, const Vec3<T>& d) {
    return support_point(f.shape, f.feature, f.X, f.size, d);
}
template <class T> Vec3<T> support_rate(const FeatureOf<T>& f, const Vec3<T>& d, const Vec3<T>& w) {
    return support_rate(f.shape, f.feature, f.X, f.size, d, w);
}

// m; if the curvature of F is not above this, the normal counts as constant
inline constexpr double degenerate_curvature = 1e-12;

// The equation of n: B^T r(n) = 0 for the tangents B = (b1, b2), or only b1 for an edge, with
// H = B^T (dr/dn) B - (n . r) 1.
template <class T> struct NormalEquation {
    Vec3<T> b1, b2, r;
    T h11, h12, h22, det;
    bool solvable;
};

// The equation at n, where the second feature is not a face; one unknown if it is an edge along `edge`
template <class T>
NormalEquation<T> normal_equation(const FeatureOf<T>& f1, const FeatureOf<T>& f2,
                                  const RoundedFeature<T>& placed_2, const Vec3<T>& n) {
    NormalEquation<T> e;
    const bool edge = f2.feature.kind == FeatureKind::edge;
    const Vec3<T> d = -n;
    const auto J = [&](const Vec3<T>& w) -> Vec3<T> {
        return -support_rate(f1, d, w) - support_rate(f2, n, w);
    };
    e.r = support_point(f1, d) - (edge ? placed_2.point : support_point(f2, n));
    const T along = n.dot(e.r);
    if (edge) {
        e.b1 = placed_2.direction.cross(n);
        e.b2 = placed_2.direction;
        e.h11 = e.det = e.b1.dot(J(e.b1)) - along;
        e.h12 = e.b1.dot(J(e.b2));
        e.h22 = T(0);
        e.solvable = magnitude(value_of(e.det)) > degenerate_curvature;
    } else {
        const Tangents<T> t = contact_tangents(n);
        e.b1 = t.t1;
        e.b2 = t.t2;
        const Vec3<T> J1 = J(e.b1), J2 = J(e.b2);
        e.h11 = e.b1.dot(J1) - along;
        e.h12 = e.b1.dot(J2);
        e.h22 = e.b2.dot(J2) - along;
        e.det = e.h11 * e.h22 - e.h12 * e.h12;
        e.solvable = magnitude(value_of(e.det)) > degenerate_curvature * degenerate_curvature;
    }
    return e;
}

// The normal from f2 to f1 by one Newton step from n0. Since n0 is the solution to round-off, the step is
// exact for n and its first derivative, for every scalar type.
//   face           its normal
//   edge along u   n' = normalise(n0 - u (u . n0)), b = u x n', n = normalise(n' - b (b . r)/h)
//   vertex, curve  n = normalise(n0 - B H^-1 B^T r)
template <class T>
Vec3<T> curve_normal(const FeatureOf<T>& f1, const FeatureOf<T>& f2, const Vec3<double>& n0) {
    if (f2.feature.kind == FeatureKind::face) return place(f2).direction;
    const RoundedFeature<T> placed_2 = place(f2);
    const bool edge = f2.feature.kind == FeatureKind::edge;
    Vec3<T> n = cast<T>(n0);
    if (edge) n = normalise<T>(n - placed_2.direction * placed_2.direction.dot(n));
    const NormalEquation<T> e = normal_equation(f1, f2, placed_2, n);
    if (!e.solvable) return n;
    const T g1 = e.b1.dot(e.r), g2 = e.b2.dot(e.r);
    if (edge) return normalise<T>(n - e.b1 * (g1 / e.h11));
    return normalise<T>(n - e.b1 * ((e.h22 * g1 - e.h12 * g2) / e.det) -
                        e.b2 * ((e.h11 * g2 - e.h12 * g1) / e.det));
}
// By the implicit function theorem at the solution n.
//   face           direction_bar += n_bar
//   vertex, curve  r_bar = -B H^-1 B^T n_bar
//   edge           with k = b . n_bar/h and J = dr/dn:
//                  r_bar = -k b,   u_bar += k (b . J u) n + k (u . r) b - (u . n_bar) n
template <class T>
void curve_normal_adj(const FeatureOf<T>& f1, const FeatureOf<T>& f2, const Vec3<T>& n, const Vec3<T>& n_bar,
                      FeatureOfBar<T> bar_1, FeatureOfBar<T> bar_2) {
    NoBar none;
    RoundedFeature<T> placed_2_bar = RoundedFeature<T>::zero();
    const RoundedFeature<T> placed_2 = place(f2);
    if (f2.feature.kind == FeatureKind::face) {
        placed_2_bar.direction = n_bar;
        return place_feature_adj(f2.shape, f2.feature, f2.X, f2.size, placed_2_bar, none, none, bar_2.X,
                                 bar_2.size);
    }
    const NormalEquation<T> e = normal_equation(f1, f2, placed_2, n);
    const T g1 = e.b1.dot(n_bar), g2 = e.b2.dot(n_bar);
    Vec3<T> r_bar = Vec3<T>::Zero(), unused = Vec3<T>::Zero();
    if (f2.feature.kind == FeatureKind::edge) {
        // n rotates with u, to which it stays normal
        placed_2_bar.direction -= n * g2;
        if (e.solvable) {
            const T k = g1 / e.h11;
            r_bar = -k * e.b1;
            placed_2_bar.direction += k * (e.h12 * n + e.b2.dot(e.r) * e.b1);
        }
        placed_2_bar.point = -r_bar;
        place_feature_adj(f2.shape, f2.feature, f2.X, f2.size, placed_2_bar, none, none, bar_2.X, bar_2.size);
    } else if (e.solvable) {
        r_bar = -(e.b1 * ((e.h22 * g1 - e.h12 * g2) / e.det) + e.b2 * ((e.h11 * g2 - e.h12 * g1) / e.det));
        support_point_adj<T>(f2.shape, f2.feature, f2.X, f2.size, n, -r_bar, none, none, bar_2.X, bar_2.size,
                             unused);
    }
    support_point_adj<T>(f1.shape, f1.feature, f1.X, f1.size, -n, r_bar, none, none, bar_1.X, bar_1.size,
                         unused);
}

// The contact of a curve f1 with f2; n0 points from f2 to f1.
template <class T>
Contact<T> curve_contact(const FeatureOf<T>& f1, const FeatureOf<T>& f2, const Vec3<double>& n0) {
    const Vec3<T> n = curve_normal(f1, f2, n0);
    const Vec3<T> x1 = support_point<T>(f1, -n);
    if (f2.feature.kind == FeatureKind::curve) return span<T>(n, x1, support_point(f2, n), T(0), T(0));
    const RoundedFeature<T> b = place(f2);
    Vec3<T> x2 = b.point;
    if (f2.feature.kind == FeatureKind::edge) x2 = closest_on_line(x1, b.point, b.direction);
    if (f2.feature.kind == FeatureKind::face) x2 = closest_on_plane(x1, b.point, b.direction);
    return span<T>(n, x1, x2, T(0), b.radius);
}
// The statements of `curve_contact` in reverse order.
template <class T>
void curve_contact_adj(const FeatureOf<T>& f1, const FeatureOf<T>& f2, const Vec3<double>& n0,
                       const Contact<T>& out_bar, FeatureOfBar<T> bar_1, FeatureOfBar<T> bar_2) {
    NoBar none;
    const FeatureKind kind = f2.feature.kind;
    const Vec3<T> n = curve_normal(f1, f2, n0);
    const Vec3<T> x1 = support_point<T>(f1, -n);
    Vec3<T> n_bar = Vec3<T>::Zero(), x1_bar = Vec3<T>::Zero(), x2_bar = Vec3<T>::Zero(),
            opposite_bar = Vec3<T>::Zero();
    T unused(0);
    if (kind == FeatureKind::curve) {
        span_adj<T>(n, x1, support_point(f2, n), T(0), T(0), out_bar, n_bar, x1_bar, x2_bar, unused, unused);
        support_point_adj(f2.shape, f2.feature, f2.X, f2.size, n, x2_bar, none, none, bar_2.X, bar_2.size,
                          n_bar);
    } else {
        const RoundedFeature<T> b = place(f2);
        RoundedFeature<T> b_bar = RoundedFeature<T>::zero();
        Vec3<T> x2 = b.point;
        if (kind == FeatureKind::edge) x2 = closest_on_line(x1, b.point, b.direction);
        if (kind == FeatureKind::face) x2 = closest_on_plane(x1, b.point, b.direction);
        span_adj(n, x1, x2, T(0), b.radius, out_bar, n_bar, x1_bar, x2_bar, unused, b_bar.radius);
        if (kind == FeatureKind::vertex) b_bar.point += x2_bar;
        if (kind == FeatureKind::edge)
            closest_on_line_adj(x1, b.point, b.direction, x2_bar, x1_bar, b_bar.point, b_bar.direction);
        if (kind == FeatureKind::face)
            closest_on_plane_adj(x1, b.point, b.direction, x2_bar, x1_bar, b_bar.point, b_bar.direction);
        place_feature_adj(f2.shape, f2.feature, f2.X, f2.size, b_bar, none, none, bar_2.X, bar_2.size);
    }
    support_point_adj<T>(f1.shape, f1.feature, f1.X, f1.size, -n, x1_bar, none, none, bar_1.X, bar_1.size,
                         opposite_bar);
    curve_normal_adj<T>(f1, f2, n, n_bar - opposite_bar, bar_1, bar_2);
}

}  // namespace costate
