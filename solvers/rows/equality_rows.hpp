// Rows that hold two bodies together: connect (two points coincide) and weld (two frames coincide).
#pragma once

#include "core/dynamics/rnea.hpp"
#include "solvers/complementarity/mlcp.hpp"
#include "solvers/rows/row_blocks.hpp"

namespace costate {

// cos(t/2) of the angle t between the axes of a and b
template <class T> T half_angle_cosine(const Transform<T>& a, const Transform<T>& b) {
    using std::sqrt;
    const T least(1e-12);  // at half a turn, where the error has no direction
    return T(0.5) * sqrt(larger<T>(T(1) + (a.R.transpose() * b.R).trace(), least));
}
// Rotation from the axes of b to those of a, about n in the axes of b: e = 2 sin(t/2) n. It is twice the vector of the
// quaternion, as in MuJoCo.
template <class T> Vec3<T> rotation_error(const Transform<T>& a, const Transform<T>& b) {
    return axial<T>(a.R.transpose() * b.R) / (T(2) * half_angle_cosine(a, b));
}
// A rotation d of a relative to b, in the axes of b, changes w = cos(t/2) by -d.e/4, and e by w d + d x e/2.
template <class T>
void pull_back_turn(const Transform<T>& a, const Transform<T>& b, const T& w_bar, const Vec3<T>& e_bar,
                    Force<T>& a_bar, Force<T>& b_bar) {
    const Vec3<T> e = rotation_error(a, b);
    const Vec3<T> d_bar = half_angle_cosine(a, b) * e_bar + T(0.5) * e.cross(e_bar) - (T(0.25) * w_bar) * e;
    a_bar.ang += b.R * d_bar;
    b_bar.ang -= b.R * d_bar;
}
template <class T>
void rotation_error_adj(const Transform<T>& a, const Transform<T>& b, const Vec3<T>& e_bar, Force<T>& a_bar,
                        Force<T>& b_bar) {
    pull_back_turn(a, b, T(0), e_bar, a_bar, b_bar);
}

// Axes of the rows of the error, as columns: an entry of e changes by its axis . (rotation of a - that of b)
//   R_b (w + [e]x/2)
template <class T> Mat3<T> rotation_axes(const Transform<T>& a, const Transform<T>& b) {
    return b.R * (half_angle_cosine(a, b) * Mat3<T>::Identity() + T(0.5) * skew(rotation_error(a, b)));
}
template <class T>
void rotation_axes_adj(const Transform<T>& a, const Transform<T>& b, const Mat3<T>& axes_bar, Force<T>& a_bar,
                       Force<T>& b_bar) {
    const Mat3<T> axes = rotation_axes(a, b), own_bar = b.R.transpose() * axes_bar;
    for (int r = 0; r < 3; ++r)
        b_bar.ang += axes.col(r).cross(axes_bar.col(r));
    pull_back_turn<T>(a, b, own_bar.trace(), T(-0.5) * axial(own_bar), a_bar, b_bar);
}

// The two ends of an equality: frames at the anchors, each in the common frame of its body's tree.
template <class T> struct EqualityEnds {
    Transform<T> a, b;
    Vec3<T> to_b;  // origin of b's common frame in a's common frame
};
template <class T> Transform<T> body_in_common_frame(const Kinematics<T>& k, int body) {
    return body < 0 ? Transform<T>::identity() : k.X[body];
}
template <class T>
EqualityEnds<T> equality_ends(const World& w, const T* theta, const Kinematics<T>& k, int index) {
    const Equality& e = w.model.equalities[index];
    const Transform<T> at_a{Mat3<T>::Identity(), load3(theta + w.model.anchor_a.at(index))},
        at_b{retract_rotation(cast<T>(e.R_ba), load3(theta + w.model.weld_rotation.at(index))),
             load3(theta + w.model.anchor_b.at(index))};
    return {compose(body_in_common_frame(k, e.body_a), at_a),
            compose(body_in_common_frame(k, e.body_b), at_b),
            common_origin(w.model, k, e.body_b) - common_origin(w.model, k, e.body_a)};
}
// The anchors move with their bodies, and in their bodies with their parameters. The rotation parameters turn
// the frame at b about its origin.
template <class T>
void equality_ends_adj(const World& w, const T* theta, const Kinematics<T>& k, int index,
                       const EqualityEnds<T>& ends, const Force<T>& a_bar, const Force<T>& b_bar,
                       KinematicsBar<T>& bar, T* theta_bar) {
    const Equality& e = w.model.equalities[index];
    if (e.type == EqualityType::weld) {
        const int rotation = w.model.weld_rotation.at(index);
        Vec3<T> rotation_bar = Vec3<T>::Zero();
        quaternion_exp_adj<T>(load3(theta + rotation),
                              ends.b.R.transpose() * (b_bar.ang - ends.b.p.cross(b_bar.lin)), rotation_bar);
        add3(theta_bar + rotation, rotation_bar);
    }
    const auto end = [&](int body, int anchor, const Force<T>& X_bar) {
        add3<T>(theta_bar + anchor, body_in_common_frame(k, body).R.transpose() * X_bar.lin);
        if (body >= 0) bar.X[body] += X_bar;
    };
    end(e.body_a, w.model.anchor_a.at(index), a_bar);
    end(e.body_b, w.model.anchor_b.at(index), b_bar);
}

// Rows along the world's axes at the two anchors; a weld has three more rows for the rotation. error (rows):
// pose of a relative to b.
template <class T>
void equality_rows(const World& w, const T* theta, const Kinematics<T>& k, const RowBlock& block,
                   Rows<T>& rows, T* error) {
    const EqualityEnds<T> ends = equality_ends(w, theta, k, block.index);
    const Vec3<T> apart = ends.a.p - ends.b.p - ends.to_b;
    for (int r = 0; r < 3; ++r) {
        const Vec3<T> d = Vec3<T>::Unit(r);
        error[r] = apart[r];
        force_row(k, rows, block, point_force(ends.a.p, d), point_force(ends.b.p, d),
                  jacobian_row(rows, block, r));
    }
    for (int r = 0; r < block.rows; ++r)
        rows.type[block.row + r] = RowType::free;
    if (block.kind != RowKind::weld) return;
    const Vec3<T> turned = rotation_error(ends.a, ends.b);
    const Mat3<T> axes = rotation_axes(ends.a, ends.b);
    for (int r = 0; r < 3; ++r) {
        const Force<T> torque{axes.col(r), Vec3<T>::Zero()};
        error[3 + r] = turned[r];
        force_row(k, rows, block, torque, torque, jacobian_row(rows, block, 3 + r));
    }
}
template <class T>
void equality_rows_adj(const World& w, const T* theta, const Kinematics<T>& k, const RowBlock& block,
                       const Rows<T>& rows, const T* error_bar, KinematicsBar<T>& bar, T* theta_bar) {
    const EqualityEnds<T> ends = equality_ends(w, theta, k, block.index);
    Force<T> a_bar = Force<T>::zero(), b_bar = Force<T>::zero();
    const auto J_bar = [&](int r) { return jacobian_row_bar(rows, block, r); };
    Motion<T> F_a_bar, F_b_bar;
    Vec3<T> unused = Vec3<T>::Zero();
    if (block.kind == RowKind::weld) {
        const Mat3<T> axes = rotation_axes(ends.a, ends.b);
        Mat3<T> axes_bar;
        for (int r = 0; r < 3; ++r) {
            const Force<T> torque{axes.col(r), Vec3<T>::Zero()};
            F_a_bar = F_b_bar = Motion<T>::zero();
            force_row_adj(k, rows, block, torque, torque, J_bar(3 + r), bar, F_a_bar, F_b_bar);
            axes_bar.col(r) = F_a_bar.ang + F_b_bar.ang;
        }
        rotation_axes_adj(ends.a, ends.b, axes_bar, a_bar, b_bar);
        rotation_error_adj(ends.a, ends.b, load3(error_bar + 3), a_bar, b_bar);
    }
    for (int r = 0; r < 3; ++r) {
        const Vec3<T> d = Vec3<T>::Unit(r);
        Vec3<T> p_a_bar = error_bar[r] * d, p_b_bar = -error_bar[r] * d;
        F_a_bar = F_b_bar = Motion<T>::zero();
        force_row_adj(k, rows, block, point_force(ends.a.p, d), point_force(ends.b.p, d), J_bar(r), bar,
                      F_a_bar, F_b_bar);
        point_force_adj(ends.a.p, d, F_a_bar, p_a_bar, unused);
        point_force_adj(ends.b.p, d, F_b_bar, p_b_bar, unused);
        a_bar += point_force(ends.a.p, p_a_bar);
        b_bar += point_force(ends.b.p, p_b_bar);
    }
    equality_ends_adj(w, theta, k, block.index, ends, a_bar, b_bar, bar, theta_bar);
}

template <class T> Motion<T> body_twist(const Kinematics<T>& k, int body) {
    return body < 0 ? Motion<T>::zero() : k.V[body];
}
// Adds h dJ/dt v to the biases of a connect or weld: the second derivative of its error at zero joint accelerations.
// For a weld's rotation it is axes^T d - |u|^2 e/4, with u the angular velocity of a less that of b, and d the
// derivative of u in the axes of b. (MuJoCo 3.7 and later)
template <class T>
void equality_drift(const World& w, const T* theta, const T* v, const Kinematics<T>& k, const RowBlock& block,
                    T* beta) {
    const Equality& e = w.model.equalities[block.index];
    const EqualityEnds<T> ends = equality_ends(w, theta, k, block.index);
    const Motion<T> V_a = body_twist(k, e.body_a), A_a = bias_acceleration(w.model, e.body_a, k, v),
                    V_b = body_twist(k, e.body_b), A_b = bias_acceleration(w.model, e.body_b, k, v);
    const T& h = w.h(theta);
    add3<T>(beta, h * (point_acceleration(V_a, A_a, ends.a.p) - point_acceleration(V_b, A_b, ends.b.p)));
    if (block.kind != RowKind::weld) return;
    const Vec3<T> u = V_a.ang - V_b.ang, d = A_a.ang - A_b.ang - V_b.ang.cross(V_a.ang);
    add3<T>(beta + 3, h * (rotation_axes(ends.a, ends.b).transpose() * d -
                           (T(0.25) * u.squaredNorm()) * rotation_error(ends.a, ends.b)));
}
template <class T>
void equality_drift_adj(const World& w, const T* theta, const T* v, const Kinematics<T>& k,
                        const RowBlock& block, const T* beta_bar, KinematicsBar<T>& bar, T* theta_bar,
                        T* v_bar) {
    const Equality& e = w.model.equalities[block.index];
    const EqualityEnds<T> ends = equality_ends(w, theta, k, block.index);
    const Motion<T> V_a = body_twist(k, e.body_a), A_a = bias_acceleration(w.model, e.body_a, k, v),
                    V_b = body_twist(k, e.body_b), A_b = bias_acceleration(w.model, e.body_b, k, v);
    const T& h = w.h(theta);
    T added[max_equality_rows] = {T(0), T(0), T(0), T(0), T(0), T(0)};
    equality_drift(w, theta, v, k, block, added);
    for (int r = 0; r < block.rows; ++r)
        w.h(theta_bar) += beta_bar[r] * added[r] / h;
    Force<T> X_a_bar = Force<T>::zero(), X_b_bar = X_a_bar, V_a_bar = X_a_bar, V_b_bar = X_a_bar,
             A_a_bar = X_a_bar, A_b_bar = X_a_bar;
    if (block.kind == RowKind::weld) {
        const Vec3<T> turn_bar = h * load3(beta_bar + 3), turned = rotation_error(ends.a, ends.b);
        const Vec3<T> u = V_a.ang - V_b.ang, d = A_a.ang - A_b.ang - V_b.ang.cross(V_a.ang);
        const Vec3<T> d_bar = rotation_axes(ends.a, ends.b) * turn_bar,
                      u_bar = (T(-0.5) * turn_bar.dot(turned)) * u;
        rotation_axes_adj<T>(ends.a, ends.b, d * turn_bar.transpose(), X_a_bar, X_b_bar);
        rotation_error_adj<T>(ends.a, ends.b, (T(-0.25) * u.squaredNorm()) * turn_bar, X_a_bar, X_b_bar);
        A_a_bar.ang += d_bar;
        A_b_bar.ang -= d_bar;
        V_a_bar.ang += u_bar - d_bar.cross(V_b.ang);
        V_b_bar.ang += d_bar.cross(V_a.ang) - u_bar;
    }
    const auto end = [&](int body, const Vec3<T>& p, const Motion<T>& V, const Motion<T>& A, const T& sign,
                         Force<T>& X_bar, Force<T>& V_bar, Force<T>& A_bar) {
        Vec3<T> p_bar = Vec3<T>::Zero();
        point_acceleration_adj<T>(V, A, p, sign * h * load3(beta_bar), V_bar, A_bar, p_bar);
        X_bar += point_force(p, p_bar);
        if (body >= 0) bar.V[body] += V_bar;
        bias_acceleration_adj(w.model, body, k, v, A_bar, bar, v_bar);
    };
    end(e.body_a, ends.a.p, V_a, A_a, T(1), X_a_bar, V_a_bar, A_a_bar);
    end(e.body_b, ends.b.p, V_b, A_b, T(-1), X_b_bar, V_b_bar, A_b_bar);
    equality_ends_adj(w, theta, k, block.index, ends, X_a_bar, X_b_bar, bar, theta_bar);
}

}  // namespace costate
