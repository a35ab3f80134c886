// Rows that hold two bodies together: connect (two points coincide) and weld (two frames coincide).
#pragma once

#include "core/dynamics/rnea.hpp"
#include "solvers/complementarity/mlcp.hpp"
#include "solvers/rows/row_blocks.hpp"

namespace costate {

// Rotation from the axes of b to those of a, equal to the rotation vector for small angles:
//   e = sum over the axes k of b_k x a_k / 2
template <class T> Vec3<T> rotation_error(const Transform<T>& a, const Transform<T>& b) {
    Vec3<T> e = Vec3<T>::Zero();
    for (int k = 0; k < 3; ++k)
        e += T(0.5) * b.R.col(k).cross(a.R.col(k));
    return e;
}
// a_bar.ang += sum a_k x (e_bar x b_k)/2,   b_bar.ang -= sum b_k x (e_bar x a_k)/2
template <class T>
void rotation_error_adj(const Transform<T>& a, const Transform<T>& b, const Vec3<T>& e_bar, Force<T>& a_bar,
                        Force<T>& b_bar) {
    for (int k = 0; k < 3; ++k) {
        const Vec3<T> a_k = a.R.col(k), b_k = b.R.col(k);
        a_bar.ang += T(0.5) * a_k.cross(e_bar.cross(b_k));
        b_bar.ang -= T(0.5) * b_k.cross(e_bar.cross(a_k));
    }
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
    for (int r = 3; r < 6; ++r) {
        const Force<T> torque{Vec3<T>::Unit(r - 3), Vec3<T>::Zero()};
        error[r] = turned[r - 3];
        force_row(k, rows, block, torque, torque, jacobian_row(rows, block, r));
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
    for (int r = 3; r < block.rows; ++r) {
        const Force<T> torque{Vec3<T>::Unit(r - 3), Vec3<T>::Zero()};
        F_a_bar = F_b_bar = Motion<T>::zero();
        force_row_adj(k, rows, block, torque, torque, J_bar(r), bar, F_a_bar, F_b_bar);
    }
    if (block.kind == RowKind::weld) rotation_error_adj(ends.a, ends.b, load3(error_bar + 3), a_bar, b_bar);
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
// Adds h dJ/dt v to the biases of a connect or weld, with dJ/dt v the acceleration of a relative to b at zero
// joint accelerations. The axes of the rotation turn with b. (MuJoCo 3.7 and later)
template <class T>
void equality_drift(const World& w, const T* theta, const T* v, const Kinematics<T>& k, const RowBlock& block,
                    T* beta) {
    const Equality& e = w.model.equalities[block.index];
    const EqualityEnds<T> ends = equality_ends(w, theta, k, block.index);
    const Motion<T> V_a = body_twist(k, e.body_a), A_a = bias_acceleration(w.model, e.body_a, k, v),
                    V_b = body_twist(k, e.body_b), A_b = bias_acceleration(w.model, e.body_b, k, v);
    const T& h = w.h(theta);
    add3<T>(beta, h * (point_acceleration(V_a, A_a, ends.a.p) - point_acceleration(V_b, A_b, ends.b.p)));
    if (block.kind == RowKind::weld) add3<T>(beta + 3, h * (A_a.ang - A_b.ang - V_b.ang.cross(V_a.ang)));
}
template <class T>
void equality_drift_adj(const World& w, const T* theta, const T* v, const Kinematics<T>& k,
                        const RowBlock& block, const T* beta_bar, KinematicsBar<T>& bar, T* theta_bar,
                        T* v_bar) {
    const Equality& e = w.model.equalities[block.index];
    const EqualityEnds<T> ends = equality_ends(w, theta, k, block.index);
    const T& h = w.h(theta);
    T added[max_equality_rows] = {T(0), T(0), T(0), T(0), T(0), T(0)};
    equality_drift(w, theta, v, k, block, added);
    for (int r = 0; r < block.rows; ++r)
        w.h(theta_bar) += beta_bar[r] * added[r] / h;
    const Vec3<T> shift_bar = load3(beta_bar),
                  turn_bar = block.kind == RowKind::weld ? load3(beta_bar + 3) : Vec3<T>(Vec3<T>::Zero());
    const auto end = [&](int body, int other, const Vec3<T>& p, const T& sign) {
        const Motion<T> V = body_twist(k, body), A = bias_acceleration(w.model, body, k, v);
        const Vec3<T> spin = body_twist(k, other).ang;
        Vec3<T> p_bar = Vec3<T>::Zero();
        Force<T> V_bar{sign * h * spin.cross(turn_bar), Vec3<T>::Zero()},
            A_bar{sign * h * turn_bar, Vec3<T>::Zero()};
        point_acceleration_adj<T>(V, A, p, sign * h * shift_bar, V_bar, A_bar, p_bar);
        if (body >= 0) bar.V[body] += V_bar;
        bias_acceleration_adj(w.model, body, k, v, A_bar, bar, v_bar);
        return point_force(p, p_bar);
    };
    const Force<T> a_bar = end(e.body_a, e.body_b, ends.a.p, T(1)),
                   b_bar = end(e.body_b, e.body_a, ends.b.p, T(-1));
    equality_ends_adj(w, theta, k, block.index, ends, a_bar, b_bar, bar, theta_bar);
}

}  // namespace costate
