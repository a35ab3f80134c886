// Contact point, normal and gap in closed form from two features, with exact derivatives, which include the
// motion of the contact point along a feature. A contact is computed by three operator pairs:
//   place_feature   the two features from the poses and sizes of their shapes
//   meet            their closest points x_a, x_b without radii, and the unit normal n from b to a
//   span            gap = n . (x_a - x_b) - r_a - r_b,   point = (x_a + x_b)/2 + n (r_b - r_a)/2
// For curves (collision/contact/curved.hpp), n is computed first. For a side, the point is the intersection
// of the other shape's edge with the side.
#pragma once

#include <algorithm>
#include <cassert>

#include "collision/contact/curved.hpp"
#include "core/math/dual.hpp"

namespace costate {

enum class Meeting { vertex_vertex, vertex_edge, vertex_face, edge_edge, edge_edge_reversed };
template <> struct BarOf<Meeting> { using type = NoBar; };

// The contact of two features, where a is of the kind named first in the Meeting. x_a, x_b: closest points.
// n: from x_b to x_a for vertices (the constant z if they coincide), the normal of a face, or +-u x w/|u x w|
// for two edges, which is smooth even where the edges intersect.
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
// The statements of `meet` in reverse order.
template <class T>
void meet_adj(const Meeting& m, const RoundedFeature<T>& a, const RoundedFeature<T>& b,
              const Contact<T>& out_bar, NoBar&, RoundedFeature<T>& a_bar, RoundedFeature<T>& b_bar) {
    PointPair<T> x{a.point, b.point}, x_bar{Vec3<T>::Zero(), Vec3<T>::Zero()};
    Vec3<T> n_bar = Vec3<T>::Zero(), v_bar = Vec3<T>::Zero();
    switch (m) {
        case Meeting::vertex_vertex:
        case Meeting::vertex_edge: {
            if (m == Meeting::vertex_edge) x.b = closest_on_line(a.point, b.point, b.direction);
            const Vec3<T> v = x.a - x.b;
            span_adj(normalise(v), x.a, x.b, a.radius, b.radius, out_bar, n_bar, x_bar.a, x_bar.b,
                     a_bar.radius, b_bar.radius);
            normalise_adj(v, n_bar, v_bar);
            a_bar.point += x_bar.a + v_bar;
            x_bar.b -= v_bar;
            if (m == Meeting::vertex_vertex)
                b_bar.point += x_bar.b;
            else
                closest_on_line_adj(a.point, b.point, b.direction, x_bar.b, a_bar.point, b_bar.point,
                                    b_bar.direction);
            break;
        }
        case Meeting::vertex_face:
            x.b = closest_on_plane(a.point, b.point, b.direction);
            span_adj(b.direction, x.a, x.b, a.radius, b.radius, out_bar, b_bar.direction, a_bar.point,
                     x_bar.b, a_bar.radius, b_bar.radius);
            closest_on_plane_adj(a.point, b.point, b.direction, x_bar.b, a_bar.point, b_bar.point,
                                 b_bar.direction);
            break;
        case Meeting::edge_edge:
        case Meeting::edge_edge_reversed: {
            const T sign(m == Meeting::edge_edge ? 1 : -1);
            x = closest_of_lines(a.point, a.direction, b.point, b.direction);
            const Vec3<T> v = a.direction.cross(b.direction), n = sign * normalise(v);
            span_adj(n, x.a, x.b, a.radius, b.radius, out_bar, n_bar, x_bar.a, x_bar.b, a_bar.radius,
                     b_bar.radius);
            normalise_adj<T>(v, sign * n_bar, v_bar);
            a_bar.direction += b.direction.cross(v_bar);
            b_bar.direction += v_bar.cross(a.direction);
            closest_of_lines_adj(a.point, a.direction, b.point, b.direction, x_bar, a_bar.point,
                                 a_bar.direction, b_bar.point, b_bar.direction);
            break;
        }
    }
}

// The kind of meeting of the features of f, the lower kind first. Neither may be a side or a curve.
inline Meeting meeting_of(const FeaturePair& f) {
    const FeatureKind first = std::min(f.on_a.kind, f.on_b.kind), second = std::max(f.on_a.kind, f.on_b.kind);
    if (first == FeatureKind::edge) {
        assert(second == FeatureKind::edge);
        return (f.on_b.index & reversed_normal) == 0 ? Meeting::edge_edge : Meeting::edge_edge_reversed;
    }
    assert(first == FeatureKind::vertex);
    return second == FeatureKind::vertex
               ? Meeting::vertex_vertex
               : (second == FeatureKind::edge ? Meeting::vertex_edge : Meeting::vertex_face);
}

// The contact of an edge with a face at the point x where the edge crosses a side of the face, i.e. the plane
// through an edge s of the face at right angles to it:
//   x = pierce_plane(edge, s, s x n),   gap = n . (x - s) - r   along the normal n of the face
template <class T>
Contact<T> side_contact(const RoundedFeature<T>& edge, const RoundedFeature<T>& side,
                        const RoundedFeature<T>& face) {
    const Vec3<T> n = face.direction,
                  x = pierce_plane<T>(edge.point, edge.direction, side.point, side.direction.cross(n));
    return span<T>(n, x, closest_on_plane(x, side.point, n), edge.radius, T(0));
}
// The statements of `side_contact` in reverse order.
template <class T>
void side_contact_adj(const RoundedFeature<T>& edge, const RoundedFeature<T>& side,
                      const RoundedFeature<T>& face, const Contact<T>& out_bar, RoundedFeature<T>& edge_bar,
                      RoundedFeature<T>& side_bar, RoundedFeature<T>& face_bar) {
    const Vec3<T> n = face.direction, m = side.direction.cross(n);
    const Vec3<T> x = pierce_plane(edge.point, edge.direction, side.point, m);
    Vec3<T> x_bar = Vec3<T>::Zero(), foot_bar = Vec3<T>::Zero(), m_bar = Vec3<T>::Zero();
    T unused(0);
    span_adj<T>(n, x, closest_on_plane(x, side.point, n), edge.radius, T(0), out_bar, face_bar.direction,
                x_bar, foot_bar, edge_bar.radius, unused);
    closest_on_plane_adj(x, side.point, n, foot_bar, x_bar, side_bar.point, face_bar.direction);
    pierce_plane_adj(edge.point, edge.direction, side.point, m, x_bar, edge_bar.point, edge_bar.direction,
                     side_bar.point, m_bar);
    side_bar.direction += n.cross(m_bar);
    face_bar.direction += m_bar.cross(side.direction);
}

// The contact of b and a from that of a and b.
template <class T> Contact<T> exchanged(const Contact<T>& c) { return {c.point, -c.normal, c.gap}; }

// The contact of the features f1 and f2, normal from f2 to f1. n0: FeaturePair::normal in that direction.
template <class T>
Contact<T> contact_of(const FeatureOf<T>& f1, const FeatureOf<T>& f2, const FeaturePair& f,
                      const Vec3<double>& n0) {
    if (f1.feature.kind == FeatureKind::curve) return curve_contact(f1, f2, n0);
    if (f2.feature.kind != FeatureKind::side) return meet(meeting_of(f), place(f1), place(f2));
    const Feature side = edge_of_side(f2.shape, f2.feature), face = face_of_side(f2.shape, f2.feature);
    return side_contact(place(f1), place_feature(f2.shape, side, f2.X, f2.size),
                        place_feature(f2.shape, face, f2.X, f2.size));
}
// The statements of `contact_of` in reverse order.
template <class T>
void contact_of_adj(const FeatureOf<T>& f1, const FeatureOf<T>& f2, const FeaturePair& f,
                    const Vec3<double>& n0, const Contact<T>& out_bar, FeatureOfBar<T> bar_1,
                    FeatureOfBar<T> bar_2) {
    if (f1.feature.kind == FeatureKind::curve) return curve_contact_adj(f1, f2, n0, out_bar, bar_1, bar_2);
    NoBar none;
    RoundedFeature<T> one_bar = RoundedFeature<T>::zero(), two_bar = one_bar, face_bar = one_bar;
    if (f2.feature.kind != FeatureKind::side) {
        meet_adj(meeting_of(f), place(f1), place(f2), out_bar, none, one_bar, two_bar);
        place_feature_adj(f2.shape, f2.feature, f2.X, f2.size, two_bar, none, none, bar_2.X, bar_2.size);
    } else {
        const Feature side = edge_of_side(f2.shape, f2.feature), face = face_of_side(f2.shape, f2.feature);
        side_contact_adj(place(f1), place_feature(f2.shape, side, f2.X, f2.size),
                         place_feature(f2.shape, face, f2.X, f2.size), out_bar, one_bar, two_bar, face_bar);
        place_feature_adj(f2.shape, face, f2.X, f2.size, face_bar, none, none, bar_2.X, bar_2.size);
        place_feature_adj(f2.shape, side, f2.X, f2.size, two_bar, none, none, bar_2.X, bar_2.size);
    }
    place_feature_adj(f1.shape, f1.feature, f1.X, f1.size, one_bar, none, none, bar_1.X, bar_1.size);
}

// True if on_a comes first: a curve always does, a side never, otherwise the lower kind does.
inline bool a_first(const FeaturePair& f) {
    if (f.on_a.kind == FeatureKind::curve || f.on_b.kind == FeatureKind::curve)
        return f.on_a.kind == FeatureKind::curve;
    return f.on_a.kind <= f.on_b.kind;
}

// The contact of shapes a and b at their features f, which must belong to these poses and sizes. X_a, X_b:
// poses of the shapes in a common frame, also the frame of the result; size_a, size_b: their sizes.
template <class T>
Contact<T> contact(const Shape& sa, const Shape& sb, const FeaturePair& f, const Transform<T>& X_a,
                   const Transform<T>& X_b, const Vec3<T>& size_a, const Vec3<T>& size_b) {
    const FeatureOf<T> a{sa, f.on_a, X_a, size_a}, b{sb, f.on_b, X_b, size_b};
    return a_first(f) ? contact_of(a, b, f, f.normal)
                      : exchanged(contact_of(b, a, f, Vec3<double>(-f.normal)));
}
// The statements of `contact` in reverse order. X_a_bar, X_b_bar: covectors of twists in the common frame.
template <class T>
void contact_adj(const Shape& sa, const Shape& sb, const FeaturePair& f, const Transform<T>& X_a,
                 const Transform<T>& X_b, const Vec3<T>& size_a, const Vec3<T>& size_b,
                 const Contact<T>& out_bar, Force<T>& X_a_bar, Force<T>& X_b_bar, Vec3<T>& size_a_bar,
                 Vec3<T>& size_b_bar) {
    const FeatureOf<T> a{sa, f.on_a, X_a, size_a}, b{sb, f.on_b, X_b, size_b};
    const FeatureOfBar<T> a_bar{X_a_bar, size_a_bar}, b_bar{X_b_bar, size_b_bar};
    if (a_first(f))
        contact_of_adj(a, b, f, f.normal, out_bar, a_bar, b_bar);
    else
        contact_of_adj(b, a, f, Vec3<double>(-f.normal), exchanged(out_bar), b_bar, a_bar);
}

// Compiled in contact.cpp.
extern template Contact<double> contact(const Shape&, const Shape&, const FeaturePair&,
                                        const Transform<double>&, const Transform<double>&,
                                        const Vec3<double>&, const Vec3<double>&);
extern template void contact_adj(const Shape&, const Shape&, const FeaturePair&, const Transform<double>&,
                                 const Transform<double>&, const Vec3<double>&, const Vec3<double>&,
                                 const Contact<double>&, Force<double>&, Force<double>&, Vec3<double>&,
                                 Vec3<double>&);
extern template Contact<Dual<double>> contact(const Shape&, const Shape&, const FeaturePair&,
                                              const Transform<Dual<double>>&, const Transform<Dual<double>>&,
                                              const Vec3<Dual<double>>&, const Vec3<Dual<double>>&);
extern template void contact_adj(const Shape&, const Shape&, const FeaturePair&,
                                 const Transform<Dual<double>>&, const Transform<Dual<double>>&,
                                 const Vec3<Dual<double>>&, const Vec3<Dual<double>>&,
                                 const Contact<Dual<double>>&, Force<Dual<double>>&, Force<Dual<double>>&,
                                 Vec3<Dual<double>>&, Vec3<Dual<double>>&);

}  // namespace costate
