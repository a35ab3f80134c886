// Spatial tendons: a tendon runs from point to point, on one or several branches with a pulley before each (MuJoCo
// documentation, "spatial"), straight or around a sphere or a cylinder (core/dynamics/wrapping.hpp). Its length,
// m, and moment arms, m/rad or 1, are
//
//   l = sum |b - a| / d,    r_j = dl/dq_j = sum u . (b_j - a_j) / d,    u = (b - a)/|b - a|
//
// over the straight pieces from a to b with divisor d, and the length of arcs; a_j and b_j are the velocities of
// the points at unit velocity of dof j. The rate is l' = sum r_j v_j, and a force f along the tendon acts on dof j
// with r_j f. A piece whose ends coincide has no direction and no moment arm.
//
// Lengths and arms need poses and axes, so these forces are added after the kinematics of a step, unlike those of
// joints and fixed tendons.
#pragma once

#include "core/dynamics/actuation.hpp"
#include "core/dynamics/wrapping.hpp"

namespace costate {

// Lengths and moment arms, or their covectors.
template <class T> struct TendonPaths {
    std::vector<T> length;  // (tendons) m; 0 of fixed tendons
    std::vector<T> arm;     // of tendon n from first_arm on, one for each of its dofs
    explicit TendonPaths(const Model& m) : length(m.tendons.size(), T(0)), arm(m.tendon_arms, T(0)) {}
    void set_zero() {
        std::ranges::fill(length, T(0));
        std::ranges::fill(arm, T(0));
    }
};

// A point in the common frame of its tree, m; of the world, in world axes.
template <class T> Vec3<T> tendon_point(const T* theta, const Kinematics<T>& k, const TendonPoint& at) {
    const Vec3<T> p = load3(theta + at.position);
    return at.body < 0 ? p : transform_point(k.X[at.body], p);
}
template <class T>
void tendon_point_adj(const T* theta, const Kinematics<T>& k, const TendonPoint& at, const Vec3<T>& p_bar,
                      KinematicsBar<T>& bar, T* theta_bar) {
    if (at.body < 0) return add3(theta_bar + at.position, p_bar);
    Vec3<T> in_body_bar = Vec3<T>::Zero();
    transform_point_adj<T>(k.X[at.body], load3(theta + at.position), p_bar, bar.X[at.body], in_body_bar);
    add3(theta_bar + at.position, in_body_bar);
}

// A point in world axes, m. The origin of its tree's common frame counts as fixed, as everywhere.
template <class T>
Vec3<T> tendon_point_in_world(const Model& m, const T* theta, const Kinematics<T>& k, const TendonPoint& at) {
    const Vec3<T> p = tendon_point(theta, k, at);
    return at.body < 0 ? p : Vec3<T>(k.origin[m.bodies[at.body].tree] + p);
}

// The axis z of a wrapping object, world axes
template <class T> Vec3<T> wrap_axis(const T* theta, const Kinematics<T>& k, const TendonWrap& wrap) {
    if (wrap.rotation < 0) return cast<T>(wrap.R).col(2);
    const Mat3<T> R = retract_rotation(cast<T>(wrap.R), load3(theta + wrap.rotation));
    return k.X[wrap.centre.body].R * R.col(2);
}
template <class T>
void wrap_axis_adj(const T* theta, const Kinematics<T>& k, const TendonWrap& wrap, const Vec3<T>& axis_bar,
                   KinematicsBar<T>& bar, T* theta_bar) {
    if (wrap.rotation < 0) return;
    const Vec3<T> rotation = load3(theta + wrap.rotation);
    const Mat3<T> R = k.X[wrap.centre.body].R * retract_rotation(cast<T>(wrap.R), rotation);
    const Vec3<T> turn_bar = R.col(2).cross(axis_bar);
    Vec3<T> rotation_bar = Vec3<T>::Zero();
    quaternion_exp_adj<T>(rotation, R.transpose() * turn_bar, rotation_bar);
    add3(theta_bar + wrap.rotation, rotation_bar);
    bar.X[wrap.centre.body].ang += turn_bar;
}

// The way of a segment: a straight line, or two of them and an arc around an object. Points in world axes, m.
template <class T> struct PathPiece {
    Vec3<T> from, to;
    int body_from, body_to;  // that carry the points, -1: the world
    Vec3<T> along() const { return to - from; }
};
template <class T> struct SegmentPath {
    int pieces = 1;
    PathPiece<T> piece[2];
    T arc = T(0);     // m
    double turn = 0;  // see wrap_turn; 0: straight
};
template <class T> struct SegmentPathBar {
    Vec3<T> from[2], to[2];
    T arc;
    static SegmentPathBar zero() {
        const Vec3<T> none = Vec3<T>::Zero();
        return {{none, none}, {none, none}, T(0)};
    }
    void add_along(int piece, const Vec3<T>& d_bar) {
        from[piece] -= d_bar;
        to[piece] += d_bar;
    }
};

template <class T>
SegmentPath<T> segment_path(const Model& m, const T* theta, const Kinematics<T>& k, const TendonSegment& s) {
    SegmentPath<T> out;
    const Vec3<T> a = tendon_point_in_world(m, theta, k, s.a), b = tendon_point_in_world(m, theta, k, s.b);
    out.piece[0] = {a, b, s.a.body, s.b.body};
    if (s.wrap < 0) return out;
    const TendonWrap& wrap = m.wraps[s.wrap];
    const Vec3<T> centre = tendon_point_in_world(m, theta, k, wrap.centre), axis = wrap_axis(theta, k, wrap);
    const T& r = theta[wrap.radius];
    Vec3<T> side = Vec3<T>::Zero();
    if (wrap.sided) side = tendon_point_in_world(m, theta, k, wrap.side) - centre;
    out.turn = wrap_turn<T>(wrap.shape, a - centre, b - centre, axis, r, wrap.sided ? &side : nullptr);
    if (out.turn == 0) return out;
    const WrapArc<T> arc = wrap_arc<T>(wrap.shape, a - centre, b - centre, axis, r, out.turn);
    out.pieces = 2;
    out.piece[0] = {a, centre + arc.t0, s.a.body, wrap.centre.body};
    out.piece[1] = {centre + arc.t1, b, wrap.centre.body, s.b.body};
    out.arc = arc.length;
    return out;
}
// path: the result of the forward
template <class T>
void segment_path_adj(const Model& m, const T* theta, const Kinematics<T>& k, const TendonSegment& s,
                      const SegmentPath<T>& path, const SegmentPathBar<T>& out_bar, KinematicsBar<T>& bar,
                      T* theta_bar) {
    Vec3<T> a_bar = out_bar.from[0], b_bar = out_bar.to[path.pieces - 1];
    if (path.pieces == 2) {
        const TendonWrap& wrap = m.wraps[s.wrap];
        const Vec3<T> centre = tendon_point_in_world(m, theta, k, wrap.centre);
        Vec3<T> from_centre_a = Vec3<T>::Zero(), from_centre_b = Vec3<T>::Zero(), axis_bar = Vec3<T>::Zero();
        wrap_arc_adj<T>(wrap.shape, path.piece[0].from - centre, path.piece[1].to - centre,
                        wrap_axis(theta, k, wrap), theta[wrap.radius], path.turn,
                        {out_bar.to[0], out_bar.from[1], out_bar.arc}, from_centre_a, from_centre_b, axis_bar,
                        theta_bar[wrap.radius]);
        a_bar += from_centre_a;
        b_bar += from_centre_b;
        wrap_axis_adj(theta, k, wrap, axis_bar, bar, theta_bar);
        tendon_point_adj<T>(theta, k, wrap.centre,
                            out_bar.to[0] + out_bar.from[1] - from_centre_a - from_centre_b, bar, theta_bar);
    }
    tendon_point_adj(theta, k, s.b, b_bar, bar, theta_bar);
    tendon_point_adj(theta, k, s.a, a_bar, bar, theta_bar);
}

// True if the ends of a piece are apart.
template <class T> bool has_direction(const Vec3<T>& d) { return value_of(safe_norm(d)) > degenerate_length; }

template <class T>
T path_length(const Model& m, const T* theta, const Kinematics<T>& k, const Tendon& tendon) {
    T l(0);
    for (const TendonSegment& s : tendon.segments) {
        const SegmentPath<T> path = segment_path(m, theta, k, s);
        T length = safe_norm(path.piece[0].along());
        if (path.pieces == 2) length += path.arc + safe_norm(path.piece[1].along());
        l += length / T(s.divisor);
    }
    return l;
}
// d_bar = l_bar u / divisor
template <class T>
void path_length_adj(const Model& m, const T* theta, const Kinematics<T>& k, const Tendon& tendon,
                     const T& l_bar, KinematicsBar<T>& bar, T* theta_bar) {
    for (const TendonSegment& s : tendon.segments) {
        const SegmentPath<T> path = segment_path(m, theta, k, s);
        SegmentPathBar<T> path_bar = SegmentPathBar<T>::zero();
        path_bar.arc = l_bar / T(s.divisor);
        for (int n = 0; n < path.pieces; ++n)
            if (const Vec3<T> d = path.piece[n].along(); has_direction(d))
                path_bar.add_along(n, (l_bar / T(s.divisor)) * normalise(d));
        segment_path_adj(m, theta, k, s, path, path_bar, bar, theta_bar);
    }
}

// The end of a piece that dof j moves alone: its body, and the sign of its velocity in that of to - from; 0 if
// there is none. At tangent points it is the point of the object that counts: the length of the shortest way
// changes as if they were fixed in it.
struct MovedEnd {
    int body = -1, sign = 0;
};
template <class T> MovedEnd moved_end(const Model& m, const PathPiece<T>& piece, int j) {
    const int sign =
        static_cast<int>(m.moves(j, piece.body_to)) - static_cast<int>(m.moves(j, piece.body_from));
    return {sign > 0 ? piece.body_to : piece.body_from, sign};
}
// Its point in the common frame of its tree, m
template <class T>
Vec3<T> end_point(const Model& m, const Kinematics<T>& k, const PathPiece<T>& piece, const MovedEnd& end) {
    return (end.sign > 0 ? piece.to : piece.from) - k.origin[m.bodies[end.body].tree];
}

// r_j
template <class T>
T path_arm(const Model& m, const T* theta, const Kinematics<T>& k, const Tendon& tendon, int j) {
    T arm(0);
    for (const TendonSegment& s : tendon.segments) {
        if (!m.changes_length(j, s)) continue;
        const SegmentPath<T> path = segment_path(m, theta, k, s);
        for (int n = 0; n < path.pieces; ++n) {
            const PathPiece<T>& piece = path.piece[n];
            const MovedEnd end = moved_end(m, piece, j);
            const Vec3<T> d = piece.along();
            if (end.sign == 0 || !has_direction(d)) continue;
            arm += T(end.sign / s.divisor) *
                   normalise(d).dot(point_velocity(k.S[j], end_point(m, k, piece, end)));
        }
    }
    return arm;
}
template <class T>
void path_arm_adj(const Model& m, const T* theta, const Kinematics<T>& k, const Tendon& tendon, int j,
                  const T& arm_bar, KinematicsBar<T>& bar, T* theta_bar) {
    for (const TendonSegment& s : tendon.segments) {
        if (!m.changes_length(j, s)) continue;
        const SegmentPath<T> path = segment_path(m, theta, k, s);
        SegmentPathBar<T> path_bar = SegmentPathBar<T>::zero();
        for (int n = 0; n < path.pieces; ++n) {
            const PathPiece<T>& piece = path.piece[n];
            const MovedEnd end = moved_end(m, piece, j);
            const Vec3<T> d = piece.along();
            if (end.sign == 0 || !has_direction(d)) continue;
            const Vec3<T> p = end_point(m, k, piece, end);
            const T scale = arm_bar * T(end.sign / s.divisor);
            Vec3<T> d_bar = Vec3<T>::Zero();
            normalise_adj<T>(d, scale * point_velocity(k.S[j], p), d_bar);
            point_velocity_adj<T>(k.S[j], p, scale * normalise(d), bar.S[j],
                                  end.sign > 0 ? path_bar.to[n] : path_bar.from[n]);
            path_bar.add_along(n, d_bar);
        }
        segment_path_adj(m, theta, k, s, path, path_bar, bar, theta_bar);
    }
}

template <class T>
void place_tendons(const Model& m, const T* theta, const Kinematics<T>& k, TendonPaths<T>& paths) {
    for (size_t n = 0; n < m.tendons.size(); ++n) {
        const Tendon& tendon = m.tendons[n];
        if (!tendon.spatial()) continue;
        paths.length[n] = path_length(m, theta, k, tendon);
        for (size_t i = 0; i < tendon.dofs.size(); ++i)
            paths.arm[tendon.first_arm + i] = path_arm(m, theta, k, tendon, tendon.dofs[i]);
    }
}
template <class T>
void place_tendons_adj(const Model& m, const T* theta, const Kinematics<T>& k,
                       const TendonPaths<T>& paths_bar, KinematicsBar<T>& bar, T* theta_bar) {
    for (size_t n = 0; n < m.tendons.size(); ++n) {
        const Tendon& tendon = m.tendons[n];
        if (!tendon.spatial()) continue;
        path_length_adj(m, theta, k, tendon, paths_bar.length[n], bar, theta_bar);
        for (size_t i = 0; i < tendon.dofs.size(); ++i)
            path_arm_adj(m, theta, k, tendon, tendon.dofs[i], paths_bar.arm[tendon.first_arm + i], bar,
                         theta_bar);
    }
}

// l' = sum r_j v_j
template <class T> T path_rate(const Tendon& tendon, const TendonPaths<T>& paths, const T* v) {
    T rate(0);
    for (size_t i = 0; i < tendon.dofs.size(); ++i)
        rate += paths.arm[tendon.first_arm + i] * v[tendon.dofs[i]];
    return rate;
}
template <class T>
void path_rate_adj(const Tendon& tendon, const TendonPaths<T>& paths, const T* v, const T& rate_bar,
                   TendonPaths<T>& paths_bar, T* v_bar) {
    for (size_t i = 0; i < tendon.dofs.size(); ++i) {
        paths_bar.arm[tendon.first_arm + i] += rate_bar * v[tendon.dofs[i]];
        v_bar[tendon.dofs[i]] += rate_bar * paths.arm[tendon.first_arm + i];
    }
}

// The force along spatial tendon n, N: of its spring and damper, and gear f of its actuators.
template <class T>
T path_force(const Model& m, const T* theta, const T& length, const T& rate, const T* ctrl,
             const Saturation<T>* saturations, int n) {
    T force = tendon_force(m, theta, n, length, rate);
    for (int i = 0; i < m.nu; ++i)
        if (m.actuators[i].tendon == n)
            force += actuator_output(m, theta, length, rate, ctrl, saturations[i], i).force;
    return force;
}
template <class T>
void path_force_adj(const Model& m, const T* theta, const T& length, const T& rate, const T* ctrl,
                    const Saturation<T>* saturations, int n, const T& force_bar, T* theta_bar, T& length_bar,
                    T& rate_bar, T* ctrl_bar) {
    for (int i = m.nu; i-- > 0;)
        if (m.actuators[i].tendon == n)
            actuator_output_adj(m, theta, length, rate, ctrl, saturations[i], i, {force_bar, T(0)}, theta_bar,
                                length_bar, rate_bar, ctrl_bar);
    tendon_force_adj(m, theta, n, length, rate, force_bar, theta_bar, length_bar, rate_bar);
}

// Adds the forces of all spatial tendons: tau_j += r_j f
template <class T>
void pull_paths(const Model& m, const T* theta, const TendonPaths<T>& paths,
                const T* v,                  // (nv)
                const T* ctrl,               // (nu)
                Saturation<T>* saturations,  // (nu) out, of the actuators on spatial tendons
                T* tau)                      // (nv) N m or N
{
    for (int n = 0; n < static_cast<int>(m.tendons.size()); ++n) {
        const Tendon& tendon = m.tendons[n];
        if (!tendon.spatial()) continue;
        const T &length = paths.length[n], rate = path_rate(tendon, paths, v);
        for (int i = 0; i < m.nu; ++i)
            if (m.actuators[i].tendon == n) saturations[i] = saturation(m, theta, length, rate, ctrl, i);
        const T force = path_force(m, theta, length, rate, ctrl, saturations, n);
        for (size_t i = 0; i < tendon.dofs.size(); ++i)
            tau[tendon.dofs[i]] += paths.arm[tendon.first_arm + i] * force;
    }
}
// arm_bar_j += tau_bar_j f,   f_bar = sum r_j tau_bar_j
template <class T>
void pull_paths_adj(const Model& m, const T* theta, const TendonPaths<T>& paths, const T* v, const T* ctrl,
                    const Saturation<T>* saturations, const T* tau_bar, TendonPaths<T>& paths_bar,
                    T* theta_bar, T* v_bar, T* ctrl_bar) {
    for (int n = static_cast<int>(m.tendons.size()); n-- > 0;) {
        const Tendon& tendon = m.tendons[n];
        if (!tendon.spatial()) continue;
        const T &length = paths.length[n], rate = path_rate(tendon, paths, v),
                force = path_force<T>(m, theta, length, rate, ctrl, saturations, n);
        T force_bar(0), rate_bar(0);
        for (size_t i = 0; i < tendon.dofs.size(); ++i) {
            force_bar += paths.arm[tendon.first_arm + i] * tau_bar[tendon.dofs[i]];
            paths_bar.arm[tendon.first_arm + i] += tau_bar[tendon.dofs[i]] * force;
        }
        path_force_adj<T>(m, theta, length, rate, ctrl, saturations, n, force_bar, theta_bar,
                          paths_bar.length[n], rate_bar, ctrl_bar);
        path_rate_adj(tendon, paths, v, rate_bar, paths_bar, v_bar);
    }
}

// Coordinate and velocity of what an actuator drives: a joint, a fixed or a spatial tendon. For the latter, they
// read the poses of `k`.
template <class T>
T drive_length(const Model& m, const T* theta, const Kinematics<T>& k, const Actuator& a, const T* q) {
    return m.drives_path(a) ? path_length(m, theta, k, m.tendons[a.tendon])
                            : driven_coordinate(m, theta, a, q);
}
template <class T>
void drive_length_adj(const Model& m, const T* theta, const Kinematics<T>& k, const Actuator& a, const T* q,
                      const T& l_bar, KinematicsBar<T>& bar, T* theta_bar, T* q_bar) {
    if (m.drives_path(a))
        path_length_adj(m, theta, k, m.tendons[a.tendon], l_bar, bar, theta_bar);
    else
        driven_coordinate_adj(m, theta, a, q, l_bar, theta_bar, q_bar);
}
template <class T>
T drive_rate(const Model& m, const T* theta, const Kinematics<T>& k, const Actuator& a, const T* v) {
    if (!m.drives_path(a)) return driven_velocity(m, theta, a, v);
    T rate(0);
    for (const int j : m.tendons[a.tendon].dofs)
        rate += path_arm(m, theta, k, m.tendons[a.tendon], j) * v[j];
    return rate;
}
template <class T>
void drive_rate_adj(const Model& m, const T* theta, const Kinematics<T>& k, const Actuator& a, const T* v,
                    const T& rate_bar, KinematicsBar<T>& bar, T* theta_bar, T* v_bar) {
    if (!m.drives_path(a)) return driven_velocity_adj(m, theta, a, v, rate_bar, theta_bar, v_bar);
    const Tendon& tendon = m.tendons[a.tendon];
    for (const int j : tendon.dofs) {
        v_bar[j] += rate_bar * path_arm(m, theta, k, tendon, j);
        path_arm_adj<T>(m, theta, k, tendon, j, rate_bar * v[j], bar, theta_bar);
    }
}

extern template double path_length(const Model&, const double*, const Kinematics<double>&, const Tendon&);
extern template double path_arm(const Model&, const double*, const Kinematics<double>&, const Tendon&, int);

}  // namespace costate
