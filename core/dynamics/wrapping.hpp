// The way of a tendon around a sphere or a cylinder (MuJoCo documentation, "spatial", geom). It leaves a straight
// line at a tangent point, runs along a great circle or a helix about the axis, and leaves at the other tangent
// point. With a and b the ends, m from the centre, and their parts across the axis n, the tangent points on the
// circle are
//
//   t = (r^2 p +- r sqrt(|p|^2 - r^2) n x p)/|p|^2
//
// The axis of a sphere is that of the plane of a and b: n = a x b/|a x b|. On a cylinder, the tendon is straight
// after unrolling: its slope is the same on the lines and on the helix. With its side inside, the object is a ring,
// through which the tendon passes (core/dynamics/ring.hpp).
#pragma once

#include "core/dynamics/ring.hpp"
#include "core/model/model.hpp"

namespace costate {

// t; turn: 1 or -1, the sign
template <class T> Vec3<T> tangent_point(const Vec3<T>& p, const Vec3<T>& n, const T& r, double turn) {
    using std::sqrt;
    const T square = p.squaredNorm();
    return (r * r / square) * p + (T(turn) * r * sqrt(square - r * r) / square) * n.cross(p);
}
template <class T>
void tangent_point_adj(const Vec3<T>& p, const Vec3<T>& n, const T& r, double turn, const Vec3<T>& t_bar,
                       Vec3<T>& p_bar, Vec3<T>& n_bar, T& r_bar) {
    using std::sqrt;
    const T square = p.squaredNorm(), reach = sqrt(square - r * r), along = r * r / square,
            across = T(turn) * r * reach / square;
    const T along_bar = p.dot(t_bar), across_bar = n.cross(p).dot(t_bar);
    const T square_bar = -along_bar * along / square +
                         across_bar * T(turn) * r * (T(0.5) / (reach * square) - reach / (square * square));
    p_bar += along * t_bar + across * t_bar.cross(n) + (T(2) * square_bar) * p;
    n_bar += across * p.cross(t_bar);
    r_bar +=
        T(2) * r * along_bar / square + across_bar * T(turn) * (reach / square - r * r / (reach * square));
}

// On the circle of radius r across n
template <class T>
WrapArc<T> circle_arc(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& n, const T& r, double turn) {
    const Vec3<T> t0 = tangent_point(a, n, r, turn), t1 = tangent_point(b, n, r, -turn);
    return {t0, t1, r * turned_angle(t0, t1, n, turn)};
}
template <class T>
void circle_arc_adj(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& n, const T& r, double turn,
                    const WrapArc<T>& out_bar, Vec3<T>& a_bar, Vec3<T>& b_bar, Vec3<T>& n_bar, T& r_bar) {
    const Vec3<T> t0 = tangent_point(a, n, r, turn), t1 = tangent_point(b, n, r, -turn);
    WrapArc<T> bar = out_bar;
    r_bar += bar.length * turned_angle(t0, t1, n, turn);
    turned_angle_adj<T>(t0, t1, n, turn, bar.length * r, bar.t0, bar.t1, n_bar);
    tangent_point_adj(b, n, r, -turn, bar.t1, b_bar, n_bar, r_bar);
    tangent_point_adj(a, n, r, turn, bar.t0, a_bar, n_bar, r_bar);
}

// A turn (see wrap_turn): the tendon touches the circle from inside.
inline constexpr double through_ring = 2;

// Around the circle, or through it as a ring
template <class T>
WrapArc<T> flat_arc(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& n, const T& r, double turn) {
    if (turn != through_ring) return circle_arc(a, b, n, r, turn);
    const Vec3<T> z = ring_point(a, b, n, r);
    return {z, z, T(0)};
}
template <class T>
void flat_arc_adj(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& n, const T& r, double turn,
                  const WrapArc<T>& out_bar, Vec3<T>& a_bar, Vec3<T>& b_bar, Vec3<T>& n_bar, T& r_bar) {
    if (turn != through_ring) return circle_arc_adj(a, b, n, r, turn, out_bar, a_bar, b_bar, n_bar, r_bar);
    ring_point_adj<T>(a, b, n, r, out_bar.t0 + out_bar.t1, a_bar, b_bar, n_bar, r_bar);
}

// n of a sphere. If a and b are opposite, any axis across them, which is held constant.
template <class T> Vec3<T> sphere_axis(const Vec3<T>& a, const Vec3<T>& b) {
    const Vec3<T> across = a.cross(b);
    if (value_of(safe_norm(across)) > degenerate_length) return normalise(across);
    int least = 0;
    for (int i = 1; i < 3; ++i)
        if (a[i] * a[i] < a[least] * a[least]) least = i;
    return normalise<T>(a.cross(Vec3<T>::Unit(least)));
}
template <class T>
void sphere_axis_adj(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& n_bar, Vec3<T>& a_bar,
                     Vec3<T>& b_bar) {
    const Vec3<T> across = a.cross(b);
    if (!(value_of(safe_norm(across)) > degenerate_length)) return;
    Vec3<T> across_bar = Vec3<T>::Zero();
    normalise_adj(across, n_bar, across_bar);
    a_bar += b.cross(across_bar);
    b_bar += across_bar.cross(a);
}

// On a cylinder about n: the heights of the tangent points lie on the unrolled line.
template <class T>
WrapArc<T> helix_arc(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& n, const T& r, double turn) {
    using std::sqrt;
    const T z_a = n.dot(a), z_b = n.dot(b);
    const Vec3<T> flat_a = a - n * z_a, flat_b = b - n * z_b;
    const WrapArc<T> flat = flat_arc(flat_a, flat_b, n, r, turn);
    const T before = (flat.t0 - flat_a).norm(), after = (flat_b - flat.t1).norm(),
            slope = (z_b - z_a) / (before + flat.length + after);
    return {flat.t0 + n * (z_a + slope * before), flat.t1 + n * (z_a + slope * (before + flat.length)),
            flat.length * sqrt(T(1) + slope * slope)};
}
template <class T>
void helix_arc_adj(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& n, const T& r, double turn,
                   const WrapArc<T>& out_bar, Vec3<T>& a_bar, Vec3<T>& b_bar, Vec3<T>& n_bar, T& r_bar) {
    using std::sqrt;
    const T z_a = n.dot(a), z_b = n.dot(b);
    const Vec3<T> flat_a = a - n * z_a, flat_b = b - n * z_b;
    const WrapArc<T> flat = flat_arc(flat_a, flat_b, n, r, turn);
    const Vec3<T> line_a = flat.t0 - flat_a, line_b = flat_b - flat.t1;
    const T before = line_a.norm(), after = line_b.norm(), whole = before + flat.length + after,
            slope = (z_b - z_a) / whole, stretch = sqrt(T(1) + slope * slope);
    const T h0_bar = n.dot(out_bar.t0), h1_bar = n.dot(out_bar.t1);
    n_bar += out_bar.t0 * (z_a + slope * before) + out_bar.t1 * (z_a + slope * (before + flat.length));
    const T slope_bar =
        out_bar.length * flat.length * slope / stretch + h0_bar * before + h1_bar * (before + flat.length);
    const T rise_bar = slope_bar / whole, whole_bar = -rise_bar * slope;
    const T before_bar = (h0_bar + h1_bar) * slope + whole_bar, after_bar = whole_bar;
    const T z_a_bar = h0_bar + h1_bar - rise_bar, z_b_bar = rise_bar;
    const Vec3<T> line_a_bar = (before_bar / before) * line_a, line_b_bar = (after_bar / after) * line_b;
    const WrapArc<T> flat_bar{out_bar.t0 + line_a_bar, out_bar.t1 - line_b_bar,
                              out_bar.length * stretch + h1_bar * slope + whole_bar};
    Vec3<T> flat_a_bar = -line_a_bar, flat_b_bar = line_b_bar;
    flat_arc_adj(flat_a, flat_b, n, r, turn, flat_bar, flat_a_bar, flat_b_bar, n_bar, r_bar);
    const auto lift = [&](const Vec3<T>& p, const T& z, const Vec3<T>& flat_p_bar, const T& z_bar,
                          Vec3<T>& p_bar) {
        const T all_bar = z_bar - n.dot(flat_p_bar);
        p_bar += flat_p_bar + all_bar * n;
        n_bar += all_bar * p - z * flat_p_bar;
    };
    lift(a, z_a, flat_a_bar, z_a_bar, a_bar);
    lift(b, z_b, flat_b_bar, z_b_bar, b_bar);
}

template <class T>
WrapArc<T> wrap_arc(WrapShape shape, const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& axis, const T& r,
                    double turn) {
    if (shape == WrapShape::cylinder) return helix_arc(a, b, axis, r, turn);
    return flat_arc(a, b, sphere_axis(a, b), r, turn);
}
template <class T>
void wrap_arc_adj(WrapShape shape, const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& axis, const T& r,
                  double turn, const WrapArc<T>& out_bar, Vec3<T>& a_bar, Vec3<T>& b_bar, Vec3<T>& axis_bar,
                  T& r_bar) {
    if (shape == WrapShape::cylinder)
        return helix_arc_adj(a, b, axis, r, turn, out_bar, a_bar, b_bar, axis_bar, r_bar);
    Vec3<T> n_bar = Vec3<T>::Zero();
    flat_arc_adj(a, b, sphere_axis(a, b), r, turn, out_bar, a_bar, b_bar, n_bar, r_bar);
    sphere_axis_adj(a, b, n_bar, a_bar, b_bar);
}

// True if the segments from a to b and from c to d, in a plane across n, meet.
template <class T>
bool segments_meet(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c, const Vec3<T>& d, const Vec3<T>& n) {
    const auto area = [&](const Vec3<T>& x, const Vec3<T>& y) { return value_of(n.dot(x.cross(y))); };
    const auto det = area(b - a, d - c);
    if (det * det < 1e-30) return false;
    const auto on_first = area(d - c, a - c) / det, on_second = area(b - a, a - c) / det;
    return on_first >= 0 && on_first <= 1 && on_second >= 0 && on_second <= 1;
}

// The direction in which a tendon from a to b wraps: 1 or -1, about n of a sphere or the axis of a cylinder; 0: it
// runs straight. It wraps where the straight line meets the circle, on the shorter way. With `side`, a vector from
// the centre, it wraps on that side, also where the line passes on the other side. With a side nearer than r it passes
// through a ring: through_ring, where the line misses the circle. It runs straight if an end is inside, or if the lines
// to both tangent points would cross.
template <class T>
double wrap_turn(WrapShape shape, const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& axis, const T& r,
                 const Vec3<T>* side) {
    const bool flat = shape == WrapShape::cylinder;
    const Vec3<T> n = flat ? axis : sphere_axis(a, b), p = flat ? Vec3<T>(a - n * n.dot(a)) : a,
                  q = flat ? Vec3<T>(b - n * n.dot(b)) : b, line = q - p;
    const T square = r * r * T(1 + 1e-12), length = line.squaredNorm();
    const bool is_ring = side != nullptr && side->squaredNorm() < r * r;
    if (!(p.squaredNorm() > square) || !(q.squaredNorm() > square)) return 0;
    if (!(length > T(1e-15))) return is_ring ? through_ring : 0;
    const T share = clamp_value<T>(-line.dot(p) / length, T(0), T(1));
    const Vec3<T> nearest = p + share * line;
    if (is_ring) return nearest.squaredNorm() > r * r ? through_ring : 0;
    if (nearest.squaredNorm() > r * r && (side == nullptr || side->dot(nearest) >= T(0))) return 0;
    T best(0);
    double turn = 0;
    for (const double each : {-1.0, 1.0}) {
        const Vec3<T> t0 = tangent_point(p, n, r, each), t1 = tangent_point(q, n, r, -each);
        if (segments_meet(p, t0, q, t1, n)) continue;
        const T good = side != nullptr ? side->dot(normalise<T>(t0 + t1)) : T(-(t0 - t1).squaredNorm());
        if (turn == 0 || good >= best) {
            best = good;
            turn = each;
        }
    }
    return turn;
}

extern template double wrap_turn(WrapShape, const Vec3<double>&, const Vec3<double>&, const Vec3<double>&,
                                 const double&, const Vec3<double>*);

extern template WrapArc<double> helix_arc(const Vec3<double>&, const Vec3<double>&, const Vec3<double>&,
                                          const double&, double);

}  // namespace costate
