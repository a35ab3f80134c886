// Contact point, normal and gap in closed form from the features that meet, with true derivatives: the point where a sphere
// nears a line moves along that line, and the adjoint knows. A contact is built in three moves, each an operator pair:
//   place_feature   the two features from the poses and sizes of their shapes
//   meet            their closest points x_a, x_b before rounding, and the unit normal n from b to a
//   span            gap = n . (x_a - x_b) - r_a - r_b,   point = (x_a + x_b)/2 + n (r_b - r_a)/2
#pragma once

#include <algorithm>
#include <cassert>

#include "collision/feature.hpp"
#include "core/bar.hpp"

namespace costate {

template <class T> struct Contact {
    Vec3<T> point;   // midpoint of the two witness points, m
    Vec3<T> normal;  // unit, from b to a
    T gap;           // signed distance, m
};

// A feature placed in the common frame.
template <class T> struct RoundedFeature {
    Vec3<T> point;      // a point of it, m
    Vec3<T> direction;  // unit: along an edge, out of a face; 0 for a vertex
    T radius;           // m
    static RoundedFeature zero() { return {Vec3<T>::Zero(), Vec3<T>::Zero(), T(0)}; }
};

template <class T> struct PointPair {
    Vec3<T> a, b;
};

enum class Meeting { vertex_vertex, vertex_edge, vertex_face, edge_edge, edge_edge_reversed };

template <> struct BarOf<ShapeType> { using type = NoBar; };
template <> struct BarOf<Feature> { using type = NoBar; };
template <> struct BarOf<Meeting> { using type = NoBar; };

inline constexpr double degenerate_length = 1e-12;  // vectors no longer than this have no direction
inline constexpr double degenerate_sine2 = 1e-13;   // nor have lines with a smaller squared sine a pair of closest points

// n = v/|v|;  where |v| <= degenerate_length the constant z
template <class T> Vec3<T> normalise(const Vec3<T>& v) {
    const T length = safe_norm(v);
    if (!(value_of(length) > degenerate_length)) return Vec3<T>::UnitZ();
    return v / length;
}
// v_bar += (n_bar - n (n . n_bar))/|v|;  nothing where n is constant
template <class T> void normalise_adj(const Vec3<T>& v, const Vec3<T>& n_bar, Vec3<T>& v_bar) {
    const T length = safe_norm(v);
    if (!(value_of(length) > degenerate_length)) return;
    const Vec3<T> n = v / length;
    v_bar += (n_bar - n * n.dot(n_bar)) / length;
}

// The feature f of a shape at X, in the frame of X: (X offset, R direction, radius)
template <class T>
RoundedFeature<T> place_feature(const ShapeType& type, const Feature& f, const Transform<T>& X, const Vec3<T>& size) {
    return {transform_point(X, feature_offset(type, f, size)), rotate(X, cast<T>(feature_direction(type, f))),
            is_round(type) ? size.x() : T(0)};
}
// X_bar += (point x point_bar + direction x direction_bar, point_bar),   size_bar += (d offset/d size)^T R^T point_bar,
// and to size[0] of a round shape radius_bar
template <class T>
void place_feature_adj(const ShapeType& type, const Feature& f, const Transform<T>& X, const Vec3<T>& size,
                       const RoundedFeature<T>& out_bar, NoBar&, NoBar&, Force<T>& X_bar, Vec3<T>& size_bar) {
    Vec3<T> offset_bar = Vec3<T>::Zero(), constant_bar = Vec3<T>::Zero();
    if (is_round(type)) size_bar.x() += out_bar.radius;
    rotate_adj(X, cast<T>(feature_direction(type, f)), out_bar.direction, X_bar, constant_bar);
    transform_point_adj(X, feature_offset(type, f, size), out_bar.point, X_bar, offset_bar);
    if (type == ShapeType::box) size_bar += cast<T>(box_side(f)).cwiseProduct(offset_bar);
    if (type == ShapeType::capsule && f.kind == FeatureKind::vertex)
        size_bar.y() += f.index == 0 ? -offset_bar.z() : offset_bar.z();
}

// The point nearest to x on the line through q along the unit vector w:   y = q + w (w . (x - q))
template <class T> Vec3<T> closest_on_line(const Vec3<T>& x, const Vec3<T>& q, const Vec3<T>& w) {
    return q + w * w.dot(x - q);
}
// With k = w . y_bar:   x_bar += k w,   q_bar += y_bar - k w,   w_bar += (w . (x - q)) y_bar + k (x - q)
template <class T>
void closest_on_line_adj(const Vec3<T>& x, const Vec3<T>& q, const Vec3<T>& w, const Vec3<T>& y_bar, Vec3<T>& x_bar,
                         Vec3<T>& q_bar, Vec3<T>& w_bar) {
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
void closest_on_plane_adj(const Vec3<T>& x, const Vec3<T>& q, const Vec3<T>& n, const Vec3<T>& y_bar, Vec3<T>& x_bar,
                          Vec3<T>& q_bar, Vec3<T>& n_bar) {
    const Vec3<T> r = x - q;
    const T k = n.dot(y_bar);
    x_bar += y_bar - k * n;
    q_bar += k * n;
    n_bar -= n.dot(r) * y_bar + k * r;
}

// The points a = p + s u and b = q + t w at which the two lines are closest. With r = q - p, c = u x w, D = |c|^2:
//   s = (r x w) . c/D,   t = (r x u) . c/D;   0 where D <= degenerate_sine2
template <class T> PointPair<T> closest_of_lines(const Vec3<T>& p, const Vec3<T>& u, const Vec3<T>& q, const Vec3<T>& w) {
    const Vec3<T> c = u.cross(w), r = q - p;
    const T D = c.squaredNorm();
    if (!(value_of(D) > degenerate_sine2)) return {p, q};
    return {p + u * (r.cross(w).dot(c) / D), q + w * (r.cross(u).dot(c) / D)};
}
// s_bar = u . a_bar/D,   t_bar = w . b_bar/D;   r_bar = s_bar w x c + t_bar u x c,   q_bar += b_bar + r_bar,
// p_bar += a_bar - r_bar;   c_bar = s_bar r x w + t_bar r x u - 2 (s s_bar + t t_bar) c,
// u_bar += s a_bar + t_bar c x r + w x c_bar,   w_bar += t b_bar + s_bar c x r + c_bar x u
template <class T>
void closest_of_lines_adj(const Vec3<T>& p, const Vec3<T>& u, const Vec3<T>& q, const Vec3<T>& w, const PointPair<T>& out_bar,
                          Vec3<T>& p_bar, Vec3<T>& u_bar, Vec3<T>& q_bar, Vec3<T>& w_bar) {
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

// The contact of two points rounded by r_a and r_b, with unit normal n from x_b to x_a:
// gap = n . (x_a - x_b) - r_a - r_b,   point = (x_a + x_b)/2 + n (r_b - r_a)/2
template <class T>
Contact<T> span(const Vec3<T>& n, const Vec3<T>& x_a, const Vec3<T>& x_b, const T& r_a, const T& r_b) {
    return {T(0.5) * (x_a + x_b + n * (r_b - r_a)), n, n.dot(x_a - x_b) - r_a - r_b};
}
// n_bar += normal_bar + gap_bar (x_a - x_b) + point_bar (r_b - r_a)/2,   x_a_bar += point_bar/2 + gap_bar n,
// x_b_bar += point_bar/2 - gap_bar n,   r_a_bar -= gap_bar + n . point_bar/2,   r_b_bar -= gap_bar - n . point_bar/2
template <class T>
void span_adj(const Vec3<T>& n, const Vec3<T>& x_a, const Vec3<T>& x_b, const T& r_a, const T& r_b, const Contact<T>& out_bar,
              Vec3<T>& n_bar, Vec3<T>& x_a_bar, Vec3<T>& x_b_bar, T& r_a_bar, T& r_b_bar) {
    const Vec3<T> half = T(0.5) * out_bar.point, along = out_bar.gap * n;
    n_bar += out_bar.normal + out_bar.gap * (x_a - x_b) + half * (r_b - r_a);
    x_a_bar += half + along;
    x_b_bar += half - along;
    r_a_bar -= out_bar.gap + n.dot(half);
    r_b_bar -= out_bar.gap - n.dot(half);
}

// The contact of two features, a of the kind named first. x_a, x_b: closest points; n: from x_b to x_a between points (the
// constant z where they coincide), the face's own for a face, +-u x w/|u x w| between edges, smooth also where they cross.
template <class T> Contact<T> meet(const Meeting& m, const RoundedFeature<T>& a, const RoundedFeature<T>& b) {
    PointPair<T> x{a.point, b.point};
    switch (m) {
        case Meeting::vertex_vertex: break;
        case Meeting::vertex_edge: x.b = closest_on_line(a.point, b.point, b.direction); break;
        case Meeting::vertex_face:
            x.b = closest_on_plane(a.point, b.point, b.direction);
            return span(b.direction, x.a, x.b, a.radius, b.radius);
        case Meeting::edge_edge:
        case Meeting::edge_edge_reversed: {
            x = closest_of_lines(a.point, a.direction, b.point, b.direction);
            const Vec3<T> n = normalise<T>(a.direction.cross(b.direction));
            return span<T>(m == Meeting::edge_edge ? n : Vec3<T>(-n), x.a, x.b, a.radius, b.radius);
        }
    }
    return span(normalise<T>(x.a - x.b), x.a, x.b, a.radius, b.radius);
}
// The lines of `meet` from the last to the first.
template <class T>
void meet_adj(const Meeting& m, const RoundedFeature<T>& a, const RoundedFeature<T>& b, const Contact<T>& out_bar, NoBar&,
              RoundedFeature<T>& a_bar, RoundedFeature<T>& b_bar) {
    PointPair<T> x{a.point, b.point}, x_bar{Vec3<T>::Zero(), Vec3<T>::Zero()};
    Vec3<T> n_bar = Vec3<T>::Zero(), v_bar = Vec3<T>::Zero();
    switch (m) {
        case Meeting::vertex_vertex:
        case Meeting::vertex_edge: {
            if (m == Meeting::vertex_edge) x.b = closest_on_line(a.point, b.point, b.direction);
            const Vec3<T> v = x.a - x.b;
            span_adj(normalise(v), x.a, x.b, a.radius, b.radius, out_bar, n_bar, x_bar.a, x_bar.b, a_bar.radius, b_bar.radius);
            normalise_adj(v, n_bar, v_bar);
            a_bar.point += x_bar.a + v_bar;
            x_bar.b -= v_bar;
            if (m == Meeting::vertex_vertex) b_bar.point += x_bar.b;
            else closest_on_line_adj(a.point, b.point, b.direction, x_bar.b, a_bar.point, b_bar.point, b_bar.direction);
            break;
        }
        case Meeting::vertex_face:
            x.b = closest_on_plane(a.point, b.point, b.direction);
            span_adj(b.direction, x.a, x.b, a.radius, b.radius, out_bar, b_bar.direction, a_bar.point, x_bar.b, a_bar.radius,
                     b_bar.radius);
            closest_on_plane_adj(a.point, b.point, b.direction, x_bar.b, a_bar.point, b_bar.point, b_bar.direction);
            break;
        case Meeting::edge_edge:
        case Meeting::edge_edge_reversed: {
            const T sign(m == Meeting::edge_edge ? 1 : -1);
            x = closest_of_lines(a.point, a.direction, b.point, b.direction);
            const Vec3<T> v = a.direction.cross(b.direction), n = sign * normalise(v);
            span_adj(n, x.a, x.b, a.radius, b.radius, out_bar, n_bar, x_bar.a, x_bar.b, a_bar.radius, b_bar.radius);
            normalise_adj<T>(v, sign * n_bar, v_bar);
            a_bar.direction += b.direction.cross(v_bar);
            b_bar.direction += v_bar.cross(a.direction);
            closest_of_lines_adj(a.point, a.direction, b.point, b.direction, x_bar, a_bar.point, a_bar.direction, b_bar.point,
                                 b_bar.direction);
            break;
        }
    }
}

// How the features of f meet, with the one of the lower kind first.
inline Meeting meeting_of(const FeaturePair& f) {
    const FeatureKind first = std::min(f.on_a.kind, f.on_b.kind), second = std::max(f.on_a.kind, f.on_b.kind);
    if (first == FeatureKind::edge) {
        assert(second == FeatureKind::edge);
        return (f.on_b.index & reversed_normal) == 0 ? Meeting::edge_edge : Meeting::edge_edge_reversed;
    }
    assert(first == FeatureKind::vertex);
    return second == FeatureKind::vertex ? Meeting::vertex_vertex
                                         : (second == FeatureKind::edge ? Meeting::vertex_edge : Meeting::vertex_face);
}

// The contact of shape a and shape b where their features f meet. X_a, X_b: poses of the two shapes in one common frame, in
// which the result is; size_a, size_b: their three numbers of size.
template <class T>
Contact<T> contact(ShapeType ta, ShapeType tb, const FeaturePair& f, const Transform<T>& X_a, const Transform<T>& X_b,
                   const Vec3<T>& size_a, const Vec3<T>& size_b) {
    const RoundedFeature<T> a = place_feature(ta, f.on_a, X_a, size_a), b = place_feature(tb, f.on_b, X_b, size_b);
    if (f.on_a.kind <= f.on_b.kind) return meet(meeting_of(f), a, b);
    const Contact<T> c = meet(meeting_of(f), b, a);
    return {c.point, -c.normal, c.gap};
}
// The lines of `contact` from the last to the first. X_a_bar, X_b_bar: covectors of twists in the common frame.
template <class T>
void contact_adj(ShapeType ta, ShapeType tb, const FeaturePair& f, const Transform<T>& X_a, const Transform<T>& X_b,
                 const Vec3<T>& size_a, const Vec3<T>& size_b, const Contact<T>& out_bar, Force<T>& X_a_bar, Force<T>& X_b_bar,
                 Vec3<T>& size_a_bar, Vec3<T>& size_b_bar) {
    NoBar none;
    const RoundedFeature<T> a = place_feature(ta, f.on_a, X_a, size_a), b = place_feature(tb, f.on_b, X_b, size_b);
    RoundedFeature<T> a_bar = RoundedFeature<T>::zero(), b_bar = RoundedFeature<T>::zero();
    if (f.on_a.kind <= f.on_b.kind) meet_adj(meeting_of(f), a, b, out_bar, none, a_bar, b_bar);
    else meet_adj(meeting_of(f), b, a, Contact<T>{out_bar.point, -out_bar.normal, out_bar.gap}, none, b_bar, a_bar);
    place_feature_adj(tb, f.on_b, X_b, size_b, b_bar, none, none, X_b_bar, size_b_bar);
    place_feature_adj(ta, f.on_a, X_a, size_a, a_bar, none, none, X_a_bar, size_a_bar);
}

}  // namespace costate
