// Accelerations of bodies, and wrenches across joints, of a step.
#pragma once

#include "core/dynamics/compensation.hpp"
#include "core/dynamics/rnea.hpp"
#include "solvers/sensors/sensors.hpp"
#include "solvers/step/observation.hpp"

namespace costate {

// A_i = A_P + S_i a + V x (S v),   A_world = -g,   a = (v+ - v)/h
template <class T>
void body_accelerations(const World& w, const T* theta, const T* v, const StepScratch<T>& s,
                        SensorScratch<T>& out) {
    for (int j = 0; j < w.nv(); ++j)
        out.a[j] = (s.v_next[j] - v[j]) / w.h(theta);
    for (size_t i = 0; i < w.model.bodies.size(); ++i) {
        const Body& b = w.model.bodies[i];
        Motion<T>& A = out.A[i];
        A = (b.parent < 0 ? gravity_acceleration(w.model, theta) : out.A[b.parent]) +
            velocity_product(w.model, static_cast<int>(i), s.kinematics, v);
        for (int j = b.v0; j < b.v0 + b.nv; ++j)
            A += out.a[j] * s.kinematics.S[j];
    }
}
// Modifies out.A_bar, the covector of A.
template <class T>
void body_accelerations_adj(const World& w, const T* theta, const T* v, StepScratch<T>& s,
                            SensorScratch<T>& out, T* theta_bar, T* v_bar) {
    const T& h = w.h(theta);
    for (size_t i = w.model.bodies.size(); i-- > 0;) {
        const Body& b = w.model.bodies[i];
        const Force<T>& A_bar = out.A_bar[i];
        for (int j = b.v0; j < b.v0 + b.nv; ++j) {
            const T a_bar = dot(s.kinematics.S[j], A_bar);
            s.bar.S[j] += out.a[j] * A_bar;
            s.velocity_bar[j] += a_bar / h;
            v_bar[j] -= a_bar / h;
            w.h(theta_bar) -= a_bar * out.a[j] / h;
        }
        velocity_product_adj(w.model, static_cast<int>(i), s.kinematics, v, A_bar, s.bar, v_bar);
        if (b.parent >= 0)
            out.A_bar[b.parent] += A_bar;
        else
            add3<T>(theta_bar + w.model.gravity.at(0), -A_bar.lin);
    }
}

// The force of contact c on its body a during the step, N, world axes: f = sum lambda_r d_r / h
template <class T>
Vec3<T> contact_force_on_a(const World& w, const T* theta, const StepScratch<T>& s, int c) {
    Vec3<T> f = Vec3<T>::Zero();
    const int row = s.rows.contact_row[c];
    for (int i = 0; row >= 0 && i < 3; ++i) {
        const ContactPoint<T>& point = s.contacts.points[c];
        f += (impulse_along(point, &s.impulses.lambda[row], i) / w.h(theta)) * point.direction(i);
    }
    return f;
}
template <class T>
void contact_force_on_a_adj(const World& w, const T* theta, StepScratch<T>& s, int c, const Vec3<T>& f_bar,
                            T* theta_bar) {
    const int row = s.rows.contact_row[c];
    if (row < 0) return;
    const T& h = w.h(theta);
    w.h(theta_bar) -= f_bar.dot(contact_force_on_a(w, theta, s, c)) / h;
    const ContactPoint<T>& point = s.contacts.points[c];
    ContactPointBar<T>& bar = s.contacts.points_bar[c];
    const T* lambda = &s.impulses.lambda[row];
    for (int i = 0; i < 3; ++i) {
        impulse_along_adj<T>(point, lambda, i, point.direction(i).dot(f_bar) / h, &s.impulses.lambda_bar[row],
                             bar);
        bar.direction(i) += (impulse_along(point, lambda, i) / h) * f_bar;
    }
}

// The couple of its torsional and rolling friction on a, N m, world axes: sum lambda_r rho_r d_r / h
template <class T>
Vec3<T> contact_couple_on_a(const World& w, const T* theta, const StepScratch<T>& s, int n) {
    return contact_couple(s, n) / w.h(theta);
}
template <class T>
void contact_couple_on_a_adj(const World& w, const T* theta, StepScratch<T>& s, int n,
                             const Vec3<T>& couple_bar, T* theta_bar) {
    const ContactPoint<T>& c = s.contacts.points[n];
    ContactPointBar<T>& bar = s.contacts.points_bar[n];
    const int row = s.rows.contact_row[n];
    if (row < 0 || c.directions == 3) return;
    const T& h = w.h(theta);
    w.h(theta_bar) -= couple_bar.dot(contact_couple_on_a(w, theta, s, n)) / h;
    for (int i = 3; i < c.directions; ++i) {
        const T *lambda = &s.impulses.lambda[row], &arm = couple_arm(c, i), x = impulse_along(c, lambda, i);
        const T along = c.direction(i).dot(couple_bar) / h;
        impulse_along_adj<T>(c, lambda, i, arm * along, &s.impulses.lambda_bar[row], bar);
        (i == 3 ? bar.torsional_arm : bar.rolling_arm) += x * along;
        bar.direction(i) += (x * arm / h) * couple_bar;
    }
}

// Subtracts from F (bodies) the wrenches of contacts on bodies: f at the point and the couple on a, the
// opposite on b.
template <class T>
void subtract_contacts(const World& w, const T* theta, const StepScratch<T>& s, SensorScratch<T>& out) {
    for (size_t n = 0; n < s.contacts.points.size(); ++n) {
        const ContactPoint<T>& c = s.contacts.points[n];
        const int i = static_cast<int>(n);
        const Vec3<T> f = contact_force_on_a(w, theta, s, i);
        const Force<T> couple{contact_couple_on_a(w, theta, s, i), Vec3<T>::Zero()};
        if (c.body_a >= 0) out.F[c.body_a] -= point_force(c.geometry.point, f) + couple;
        if (c.body_b >= 0) out.F[c.body_b] += point_force<T>(c.geometry.point - c.to_b, f) + couple;
    }
}
template <class T>
void subtract_contacts_adj(const World& w, const T* theta, StepScratch<T>& s, const SensorScratch<T>& out,
                           T* theta_bar) {
    for (size_t n = 0; n < s.contacts.points.size(); ++n) {
        const ContactPoint<T>& c = s.contacts.points[n];
        if (s.rows.contact_row[n] < 0) continue;
        const int i = static_cast<int>(n);
        const Vec3<T> f = contact_force_on_a(w, theta, s, i);
        Vec3<T> f_bar = Vec3<T>::Zero(), p_bar = Vec3<T>::Zero(), couple_bar = Vec3<T>::Zero();
        if (c.body_a >= 0) {
            point_force_adj(c.geometry.point, f, T(-1) * out.F_bar[c.body_a], p_bar, f_bar);
            couple_bar -= out.F_bar[c.body_a].ang;
        }
        if (c.body_b >= 0) {
            point_force_adj<T>(c.geometry.point - c.to_b, f, out.F_bar[c.body_b], p_bar, f_bar);
            couple_bar += out.F_bar[c.body_b].ang;
        }
        s.contacts.points_bar[n].geometry.point += p_bar;
        contact_force_on_a_adj(w, theta, s, i, f_bar, theta_bar);
        contact_couple_on_a_adj(w, theta, s, i, couple_bar, theta_bar);
    }
}

// The force of an equality on its body a, and the torque of a weld, world axes: its rows are those of unit forces along
// the axes at the anchors, then of torques about the axes of the error of its rotation.
template <class T>
Force<T> equality_force(const World& w, const T* theta, const StepScratch<T>& s, const RowBlock& block,
                        const EqualityEnds<T>& ends) {
    const T* lambda = s.impulses.lambda.data() + block.row;
    const T& h = w.h(theta);
    Force<T> f = {Vec3<T>::Zero(), load3(lambda) / h};
    if (block.kind == RowKind::weld) f.ang = rotation_axes(ends.a, ends.b) * load3(lambda + 3) / h;
    return f;
}
template <class T>
void equality_force_adj(const World& w, const T* theta, StepScratch<T>& s, const RowBlock& block,
                        const EqualityEnds<T>& ends, const Motion<T>& f_bar, T* theta_bar, Force<T>& a_bar,
                        Force<T>& b_bar) {
    const T& h = w.h(theta);
    const T* lambda = s.impulses.lambda.data() + block.row;
    T* lambda_bar = s.impulses.lambda_bar.data() + block.row;
    w.h(theta_bar) -= dot(f_bar, equality_force(w, theta, s, block, ends)) / h;
    add3<T>(lambda_bar, f_bar.lin / h);
    if (block.kind != RowKind::weld) return;
    const Vec3<T> torque_bar = f_bar.ang / h;
    add3<T>(lambda_bar + 3, rotation_axes(ends.a, ends.b).transpose() * torque_bar);
    rotation_axes_adj<T>(ends.a, ends.b, torque_bar * load3(lambda + 3).transpose(), a_bar, b_bar);
}

// Subtracts the wrenches of equalities: f at the anchor of a, -f at that of b, and the torques of welds.
template <class T>
void subtract_equalities(const World& w, const T* theta, const StepScratch<T>& s, SensorScratch<T>& out) {
    for (const RowBlock& block : s.rows.blocks) {
        if (!block.joins()) continue;
        const Equality& e = w.model.equalities[block.index];
        const EqualityEnds<T> ends = equality_ends(w, theta, s.kinematics, block.index);
        const Force<T> f = equality_force(w, theta, s, block, ends), torque{f.ang, Vec3<T>::Zero()};
        if (e.body_a >= 0) out.F[e.body_a] -= point_force(ends.a.p, f.lin) + torque;
        if (e.body_b >= 0) out.F[e.body_b] += point_force(ends.b.p, f.lin) + torque;
    }
}
template <class T>
void subtract_equalities_adj(const World& w, const T* theta, StepScratch<T>& s, const SensorScratch<T>& out,
                             T* theta_bar) {
    for (const RowBlock& block : s.rows.blocks) {
        if (!block.joins()) continue;
        const Equality& e = w.model.equalities[block.index];
        const EqualityEnds<T> ends = equality_ends(w, theta, s.kinematics, block.index);
        const Force<T> f = equality_force(w, theta, s, block, ends);
        Motion<T> f_bar = Motion<T>::zero();
        const auto end = [&](int body, const Vec3<T>& p, const T& sign) {
            Vec3<T> p_bar = Vec3<T>::Zero();
            if (body < 0) return Force<T>::zero();
            const Motion<T> W_bar = sign * out.F_bar[body];
            point_force_adj(p, f.lin, W_bar, p_bar, f_bar.lin);
            f_bar.ang += W_bar.ang;
            return point_force(p, p_bar);
        };
        Force<T> a_bar = end(e.body_a, ends.a.p, T(-1)), b_bar = end(e.body_b, ends.b.p, T(1));
        equality_force_adj(w, theta, s, block, ends, f_bar, theta_bar, a_bar, b_bar);
        equality_ends_adj(w, theta, s.kinematics, block.index, ends, a_bar, b_bar, s.bar, theta_bar);
    }
}

// Subtracts the wrenches of thrusters.
template <class T> void subtract_thrusters(const SensorInputs<T>& in, SensorScratch<T>& out) {
    for (int n = 0; n < in.w.nu(); ++n) {
        const Actuator& a = in.w.model.actuators[n];
        if (a.on_joint) continue;
        const T x = thrust_force(in.w.model, in.theta, in.s.saturations[n], in.u, n);
        out.F[a.body] -= x * unit_thrust(a, in.k().X[a.body]);
    }
}
template <class T> void subtract_thrusters_adj(const SensorInputs<T>& in, const SensorBars<T>& bar) {
    for (int n = 0; n < in.w.nu(); ++n) {
        const Actuator& a = in.w.model.actuators[n];
        if (a.on_joint) continue;
        const Transform<T>& X = in.k().X[a.body];
        const T x = thrust_force(in.w.model, in.theta, in.s.saturations[n], in.u, n);
        const Motion<T> W_bar = T(-1) * bar.scratch.F_bar[a.body];
        thrust_force_adj(in.w.model, in.theta, in.s.saturations[n], in.u, n, dot(W_bar, unit_thrust(a, X)),
                         bar.theta, bar.u);
        unit_thrust_adj<T>(a, X, x * W_bar, bar.s.bar.X[a.body]);
    }
}

// Subtracts the wrenches of the medium.
template <class T> void subtract_medium(const SensorInputs<T>& in, SensorScratch<T>& out) {
    const Model& m = in.w.model;
    for (size_t n = 0; n < m.drag_boxes.size(); ++n)
        out.F[m.drag_boxes[n].body] -= medium_wrench(m, in.theta, in.k(), static_cast<int>(n));
}
template <class T> void subtract_medium_adj(const SensorInputs<T>& in, const SensorBars<T>& bar) {
    const Model& m = in.w.model;
    for (size_t n = 0; n < m.drag_boxes.size(); ++n)
        medium_wrench_adj<T>(m, in.theta, in.k(), static_cast<int>(n),
                             T(-1) * bar.scratch.F_bar[m.drag_boxes[n].body], bar.s.bar, bar.theta);
}

// Subtracts the forces that carry a share of the weight.
template <class T> void subtract_compensation(const SensorInputs<T>& in, SensorScratch<T>& out) {
    const Model& m = in.w.model;
    for (size_t n = 0; n < m.compensated.size(); ++n)
        out.F[m.compensated[n]] -= compensation_wrench(m, in.theta, in.k(), static_cast<int>(n));
}
template <class T> void subtract_compensation_adj(const SensorInputs<T>& in, const SensorBars<T>& bar) {
    const Model& m = in.w.model;
    for (size_t n = 0; n < m.compensated.size(); ++n)
        compensation_wrench_adj<T>(m, in.theta, in.k(), static_cast<int>(n),
                                   T(-1) * bar.scratch.F_bar[m.compensated[n]], bar.s.bar, bar.theta);
}

// The force of the limits of tendon n along it: lambda/h at its lower end, -lambda/h at its upper end.
template <class T> T limit_force(const SensorInputs<T>& in, int n) {
    T impulse(0);
    for (const RowBlock& b : in.s.rows.blocks)
        if (b.kind == RowKind::tendon_limit && in.w.model.measured_tendons[b.index].tendon == n)
            impulse += T(b.side) * in.s.impulses.lambda[b.row];
    return impulse / in.w.h(in.theta);
}
template <class T>
void limit_force_adj(const SensorInputs<T>& in, int n, const T& force_bar, const SensorBars<T>& bar) {
    const T& h = in.w.h(in.theta);
    in.w.h(bar.theta) -= force_bar * limit_force(in, n) / h;
    for (const RowBlock& b : in.s.rows.blocks)
        if (b.kind == RowKind::tendon_limit && in.w.model.measured_tendons[b.index].tendon == n)
            bar.s.impulses.lambda_bar[b.row] += T(b.side) * force_bar / h;
}

// Length, rate and force along spatial tendon n at the step.
template <class T> struct PathState { T length, rate, force; };
template <class T> PathState<T> path_state(const SensorInputs<T>& in, int n) {
    const Model& m = in.w.model;
    const T &length = in.s.paths.length[n], rate = path_rate(m.tendons[n], in.s.paths, in.v());
    const T force = path_force(m, in.theta, length, rate, in.u, in.s.saturations.data(), n);
    return {length, rate, force + limit_force(in, n)};
}

// Subtracts the wrenches of spatial tendons: -f u/divisor at the end of a straight piece, f u/divisor at its beginning. At
// tangent points they act on the object, and together are the pressure of the arc on it.
template <class T> void subtract_paths(const SensorInputs<T>& in, SensorScratch<T>& out) {
    const Model& m = in.w.model;
    for (int n = 0; n < static_cast<int>(m.tendons.size()); ++n) {
        if (!m.tendons[n].spatial()) continue;
        const T force = path_state(in, n).force;
        for (const TendonSegment& s : m.tendons[n].segments) {
            const SegmentPath<T> path = segment_path(m, in.theta, in.k(), s);
            for (int i = 0; i < path.pieces; ++i) {
                const PathPiece<T>& piece = path.piece[i];
                const Vec3<T> d = piece.along();
                if (!has_direction(d)) continue;
                const Vec3<T> f = (force / T(s.divisor)) * normalise(d);
                for (const MovedEnd end : {MovedEnd{piece.body_from, -1}, MovedEnd{piece.body_to, 1}})
                    if (end.body >= 0)
                        out.F[end.body] -= point_force<T>(end_point(m, in.k(), piece, end), T(end.sign) * f);
            }
        }
    }
}
template <class T> void subtract_paths_adj(const SensorInputs<T>& in, const SensorBars<T>& bar) {
    const Model& m = in.w.model;
    const T* v = in.v();
    for (int n = 0; n < static_cast<int>(m.tendons.size()); ++n) {
        const Tendon& tendon = m.tendons[n];
        if (!tendon.spatial()) continue;
        const PathState<T> at = path_state(in, n);
        T force_bar(0), length_bar(0), rate_bar(0);
        for (const TendonSegment& s : tendon.segments) {
            const SegmentPath<T> path = segment_path(m, in.theta, in.k(), s);
            SegmentPathBar<T> path_bar = SegmentPathBar<T>::zero();
            for (int i = 0; i < path.pieces; ++i) {
                const PathPiece<T>& piece = path.piece[i];
                const Vec3<T> d = piece.along();
                if (!has_direction(d)) continue;
                const Vec3<T> u = normalise(d), f = (at.force / T(s.divisor)) * u;
                Vec3<T> f_bar = Vec3<T>::Zero(), d_bar = f_bar;
                for (const MovedEnd end : {MovedEnd{piece.body_from, -1}, MovedEnd{piece.body_to, 1}})
                    if (end.body >= 0)
                        point_force_adj<T>(end_point(m, in.k(), piece, end), f,
                                           T(-end.sign) * bar.scratch.F_bar[end.body],
                                           end.sign > 0 ? path_bar.to[i] : path_bar.from[i], f_bar);
                force_bar += f_bar.dot(u) / T(s.divisor);
                normalise_adj<T>(d, (at.force / T(s.divisor)) * f_bar, d_bar);
                path_bar.add_along(i, d_bar);
            }
            segment_path_adj(m, in.theta, in.k(), s, path, path_bar, bar.s.bar, bar.theta);
        }
        limit_force_adj(in, n, force_bar, bar);
        path_force_adj(m, in.theta, at.length, at.rate, in.u, in.s.saturations.data(), n, force_bar,
                       bar.theta, length_bar, rate_bar, bar.u);
        path_length_adj(m, in.theta, in.k(), tendon, length_bar, bar.s.bar, bar.theta);
        for (size_t i = 0; i < tendon.dofs.size(); ++i) {
            bar.x[in.w.nv() + tendon.dofs[i]] += rate_bar * in.s.paths.arm[tendon.first_arm + i];
            path_arm_adj<T>(m, in.theta, in.k(), tendon, tendon.dofs[i], rate_bar * v[tendon.dofs[i]],
                            bar.s.bar, bar.theta);
        }
    }
}

// F_i = I_i A_i + V_i x* I_i V_i - external wrenches on i, summed over the bodies that i carries.
// Call after body_accelerations.
template <class T> void joint_wrenches(const SensorInputs<T>& in, SensorScratch<T>& out) {
    const Kinematics<T>& k = in.k();
    for (size_t i = 0; i < out.F.size(); ++i) {
        out.F[i] = apply(k.I[i], out.A[i]) + gyroscopic_force(k.I[i], k.V[i]);
        if (in.s.pushed) out.F[i] -= in.s.wrenches[i];
    }
    subtract_contacts(in.w, in.theta, in.s, out);
    subtract_equalities(in.w, in.theta, in.s, out);
    subtract_thrusters(in, out);
    subtract_medium(in, out);
    subtract_compensation(in, out);
    subtract_paths(in, out);
    for (size_t i = out.F.size(); i-- > 0;)
        if (const int parent = in.w.model.bodies[i].parent; parent >= 0) out.F[parent] += out.F[i];
}
// Modifies F_bar, the covector of F.
template <class T> void joint_wrenches_adj(const SensorInputs<T>& in, const SensorBars<T>& bar) {
    const Kinematics<T>& k = in.k();
    SensorScratch<T>& out = bar.scratch;
    for (size_t i = 0; i < out.F.size(); ++i) {
        if (const int parent = in.w.model.bodies[i].parent; parent >= 0) out.F_bar[i] += out.F_bar[parent];
        gyroscopic_force_adj(k.I[i], k.V[i], out.F_bar[i], bar.s.bar.I[i], bar.s.bar.V[i]);
        apply_adj(k.I[i], out.A[i], out.F_bar[i], bar.s.bar.I[i], out.A_bar[i]);
        if (in.s.pushed) bar.s.wrenches_bar[i] -= out.F_bar[i];
    }
    subtract_paths_adj(in, bar);
    subtract_compensation_adj(in, bar);
    subtract_medium_adj(in, bar);
    subtract_thrusters_adj(in, bar);
    subtract_equalities_adj(in.w, in.theta, bar.s, out, bar.theta);
    subtract_contacts_adj(in.w, in.theta, bar.s, out, bar.theta);
}

}  // namespace costate
