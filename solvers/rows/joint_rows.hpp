// Rows of one joint or of two joints: limits, the maximal angle of a spherical joint, dry friction,
// couplings.
#pragma once

#include "core/dynamics/integrate.hpp"
#include "solvers/complementarity/mlcp.hpp"
#include "solvers/rows/row_blocks.hpp"

namespace costate {

// Distance to an end of the range, rad or m. side: +1 lower end, -1 upper end.
template <class T> T limit_gap(const JointLimit& l, const T* theta, const T* q, int side) {
    return side > 0 ? q[l.q] - theta[l.range.lower] : theta[l.range.upper] - q[l.q];
}
template <class T>
void limit_gap_adj(const JointLimit& l, int side, const T& gap_bar, T* theta_bar, T* q_bar) {
    q_bar[l.v] += T(side) * gap_bar;
    theta_bar[side > 0 ? l.range.lower : l.range.upper] -= T(side) * gap_bar;
}

// The rotation vector of a spherical joint, body axes, rad; its length is the joint's angle.
template <class T> Vec3<T> ball_rotation(const JointLimit& l, const T* q) {
    return quaternion_difference(Quaternion<T>::identity(), load_quaternion(q + l.q));
}
template <class T> void ball_rotation_adj(const JointLimit& l, const T* q, const Vec3<T>& d_bar, T* q_bar) {
    Vec3<T> unused = Vec3<T>::Zero(), r_bar = Vec3<T>::Zero();
    quaternion_difference_adj(Quaternion<T>::identity(), load_quaternion(q + l.q), d_bar, unused, r_bar);
    add3(q_bar + l.v, r_bar);
}

// gap = upper - |d|
template <class T> T ball_gap(const JointLimit& l, const T* theta, const T* q) {
    return theta[l.range.upper] - safe_norm(ball_rotation(l, q));
}
template <class T>
void ball_gap_adj(const JointLimit& l, const T* q, const T& gap_bar, T* theta_bar, T* q_bar) {
    theta_bar[l.range.upper] += gap_bar;
    ball_rotation_adj<T>(l, q, -gap_bar * normalise(ball_rotation(l, q)), q_bar);
}

// J = -d/|d|: the angle grows with the velocity's component along the axis of rotation
template <class T>
void ball_limit_row(const JointLimit& l, const T* q, const RowBlock& block, Rows<T>& rows) {
    const Vec3<T> n = normalise(ball_rotation(l, q));
    T* J = jacobian_row(rows, block, 0);
    for (int c = 0; c < 3; ++c)
        J[2 - c] = -n[c];  // a chain is ordered from the last dof to the first
}
template <class T>
void ball_limit_row_adj(const JointLimit& l, const T* q, const RowBlock& block, const Rows<T>& rows,
                        T* q_bar) {
    const T* J_bar = jacobian_row_bar(rows, block, 0);
    Vec3<T> d_bar = Vec3<T>::Zero();
    normalise_adj<T>(ball_rotation(l, q), Vec3<T>(-J_bar[2], -J_bar[1], -J_bar[0]), d_bar);
    ball_rotation_adj(l, q, d_bar, q_bar);
}

// J = 1 on the dof, |lambda| <= h f
template <class T>
void dry_friction_row(const World& w, const T* theta, const RowBlock& block, Rows<T>& rows) {
    const size_t row = block.row;
    jacobian_row(rows, block, 0)[0] = T(1);
    rows.type[row] = RowType::boxed;
    rows.bound[row] = w.h(theta) * theta[w.model.dry_friction.at(block.last_a)];
}
template <class T>
void dry_friction_row_adj(const World& w, const T* theta, const RowBlock& block, const Rows<T>& rows,
                          T* theta_bar) {
    const int f = w.model.dry_friction.at(block.last_a);
    const T& bound_bar = rows.bound_bar[block.row];
    theta_bar[f] += w.h(theta) * bound_bar;
    w.h(theta_bar) += theta[f] * bound_bar;
}

// error = q_a - p(q_b),   J = 1 on a, -p'(q_b) on b; of one joint: error = q_a - c_0
template <class T>
void coupling_row(const World& w, const T* theta, const T* q, const RowBlock& block, Rows<T>& rows,
                  T* error) {
    const Equality& e = w.model.equalities[block.index];
    const T* c = theta + w.model.coupling.at(block.index);
    const CouplingCurve<T> p(c, e.q_b < 0 ? T(0) : q[e.q_b]);
    error[0] = q[e.q_a] - p.value;
    T* J = jacobian_row(rows, block, 0);
    for (int i = 0; i < block.length; ++i) {
        const int j = rows.chain_dof[block.chain + i];
        J[i] = j == e.v_a ? T(1) : (j == e.v_b ? T(-p.slope) : T(0));
    }
    rows.type[block.row] = RowType::free;
}
template <class T>
void coupling_row_adj(const World& w, const T* theta, const T* q, const RowBlock& block, const Rows<T>& rows,
                      const T* error_bar, T* theta_bar, T* q_bar) {
    const Equality& e = w.model.equalities[block.index];
    T* c_bar = theta_bar + w.model.coupling.at(block.index);
    const T value_bar = -error_bar[0];
    T slope_bar(0);
    q_bar[e.v_a] += error_bar[0];
    if (e.q_b < 0) {
        c_bar[0] += value_bar;
        return;
    }
    for (int i = 0; i < block.length; ++i)
        if (rows.chain_dof[block.chain + i] == e.v_b) slope_bar -= rows.J_bar[block.values + i];
    const CouplingCurve<T> p(theta + w.model.coupling.at(block.index), q[e.q_b]);
    q_bar[e.v_b] += value_bar * p.slope + slope_bar * p.bend;
    T power(1), below(0);  // x^k and x^(k-1)
    for (int k = 0; k < coupling_terms; ++k) {
        c_bar[k] += value_bar * power + slope_bar * T(k) * below;
        below = power;
        power *= q[e.q_b];
    }
}

}  // namespace costate
