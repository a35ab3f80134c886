// Support points of curves (the farthest points along a direction d), and their derivatives with respect to
// d.
#pragma once

#include "collision/contact/placed_feature.hpp"

namespace costate {

// Of a circle with centre c, unit axis z and radius r:   x = c + r e,   e = normalise(d - z (z . d))
template <class T> Vec3<T> rim_support(const Vec3<T>& c, const Vec3<T>& z, const T& r, const Vec3<T>& d) {
    return c + r * normalise<T>(d - z * z.dot(d));
}
// With e_bar = r x_bar and v = d - z (z . d):
// c_bar += x_bar,   r_bar += e . x_bar,   d_bar += v_bar - z (z . v_bar),   z_bar -= (z . d) v_bar + (z .
// v_bar) d
template <class T>
void rim_support_adj(const Vec3<T>& c, const Vec3<T>& z, const T& r, const Vec3<T>& d, const Vec3<T>& x_bar,
                     Vec3<T>& c_bar, Vec3<T>& z_bar, T& r_bar, Vec3<T>& d_bar) {
    static_cast<void>(c);
    const Vec3<T> v = d - z * z.dot(d);
    Vec3<T> v_bar = Vec3<T>::Zero();
    normalise_adj<T>(v, r * x_bar, v_bar);
    c_bar += x_bar;
    r_bar += normalise(v).dot(x_bar);
    d_bar += v_bar - z * z.dot(v_bar);
    z_bar -= z.dot(d) * v_bar + z.dot(v_bar) * d;
}
// (dx/dd) w = r t (t . w)/|v|,   t = z x e
template <class T>
Vec3<T> rim_support_rate(const Vec3<T>& z, const T& r, const Vec3<T>& d, const Vec3<T>& w) {
    const Vec3<T> v = d - z * z.dot(d), t = z.cross(normalise(v));
    const T length = safe_norm(v);
    if (!(value_of(length) > degenerate_length)) return Vec3<T>::Zero();
    return t * (r * t.dot(w) / length);
}

// Of the ellipsoid with semi-axes s at X:   x = X (s o q),   q = normalise(s o R^T d)
template <class T> Vec3<T> ellipsoid_support(const Transform<T>& X, const Vec3<T>& s, const Vec3<T>& d) {
    return transform_point<T>(X, s.cwiseProduct(normalise<T>(s.cwiseProduct(X.R.transpose() * d))));
}
// With l = R^T d, o = R^T x_bar, p = s o l and p_bar from q_bar = s o o:
// X_bar += (x x x_bar - d x R(s o p_bar), x_bar),   s_bar += q o o + l o p_bar,   d_bar += R(s o p_bar)
template <class T>
void ellipsoid_support_adj(const Transform<T>& X, const Vec3<T>& s, const Vec3<T>& d, const Vec3<T>& x_bar,
                           Force<T>& X_bar, Vec3<T>& s_bar, Vec3<T>& d_bar) {
    const Vec3<T> l = X.R.transpose() * d, p = s.cwiseProduct(l), q = normalise(p);
    Vec3<T> offset_bar = Vec3<T>::Zero(), p_bar = Vec3<T>::Zero();
    transform_point_adj<T>(X, s.cwiseProduct(q), x_bar, X_bar, offset_bar);
    normalise_adj<T>(p, s.cwiseProduct(offset_bar), p_bar);
    const Vec3<T> turned = X.R * s.cwiseProduct(p_bar);
    X_bar.ang -= d.cross(turned);
    s_bar += q.cwiseProduct(offset_bar) + l.cwiseProduct(p_bar);
    d_bar += turned;
}
// (dx/dd) w = R (s o (u - q (q . u)))/|s o R^T d|,   u = s o R^T w
template <class T>
Vec3<T> ellipsoid_support_rate(const Transform<T>& X, const Vec3<T>& s, const Vec3<T>& d, const Vec3<T>& w) {
    const Vec3<T> p = s.cwiseProduct(X.R.transpose() * d), u = s.cwiseProduct(X.R.transpose() * w),
                  q = normalise(p);
    const T length = safe_norm(p);
    if (!(value_of(length) > degenerate_length)) return Vec3<T>::Zero();
    return X.R * s.cwiseProduct(u - q * q.dot(u)) / length;
}

// The point x of a curve that is farthest along d; for a vertex, the vertex itself
template <class T>
Vec3<T> support_point(const Shape& shape, const Feature& f, const Transform<T>& X, const Vec3<T>& size,
                      const Vec3<T>& d) {
    if (shape.type == ShapeType::ellipsoid) return ellipsoid_support(X, size, d);
    const RoundedFeature<T> it = place_feature(shape, f, X, size);
    return f.kind == FeatureKind::curve ? rim_support(it.point, it.direction, size.x(), d) : it.point;
}
// The statements of `support_point` in reverse order.
template <class T>
void support_point_adj(const Shape& shape, const Feature& f, const Transform<T>& X, const Vec3<T>& size,
                       const Vec3<T>& d, const Vec3<T>& x_bar, NoBar& none, NoBar&, Force<T>& X_bar,
                       Vec3<T>& size_bar, Vec3<T>& d_bar) {
    if (shape.type == ShapeType::ellipsoid)
        return ellipsoid_support_adj(X, size, d, x_bar, X_bar, size_bar, d_bar);
    const RoundedFeature<T> it = place_feature(shape, f, X, size);
    RoundedFeature<T> bar = RoundedFeature<T>::zero();
    if (f.kind == FeatureKind::curve)
        rim_support_adj(it.point, it.direction, size.x(), d, x_bar, bar.point, bar.direction, size_bar.x(),
                        d_bar);
    else
        bar.point += x_bar;
    place_feature_adj(shape, f, X, size, bar, none, none, X_bar, size_bar);
}
// (dx/dd) w
template <class T>
Vec3<T> support_rate(const Shape& shape, const Feature& f, const Transform<T>& X, const Vec3<T>& size,
                     const Vec3<T>& d, const Vec3<T>& w) {
    if (f.kind != FeatureKind::curve) return Vec3<T>::Zero();
    if (shape.type == ShapeType::ellipsoid) return ellipsoid_support_rate(X, size, d, w);
    return rim_support_rate<T>(X.R.col(2), size.x(), d, w);
}

}  // namespace costate
