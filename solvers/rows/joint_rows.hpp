// Rows of one joint or of two joints: limits, the maximal angle of a spherical joint, dry friction,
// couplings; and couplings of tendons.
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

// One of the two of a coupling: a joint, whose arm on its own dof is 1, or a tendon.
struct Coupled {
    int q, v;    // entries of a joint
    int length;  // entry of measured_tendons, -1: a joint
    bool any() const { return q >= 0 || length >= 0; }
};
inline Coupled first_coupled(const Equality& e) { return {e.of_tendons() ? -1 : e.q_a, e.v_a, e.length_a}; }
inline Coupled second_coupled(const Equality& e) { return {e.q_b, e.v_b, e.length_b}; }

// Its position or length x, and dx/dq_j.
template <class T> T coupled_position(const Coupled& c, const T* q, const TendonMeasures<T>& tendons) {
    return c.length >= 0 ? tendons.length[c.length] : (c.any() ? q[c.q] : T(0));
}
template <class T>
void coupled_position_adj(const Coupled& c, const T& x_bar, TendonMeasures<T>& tendons_bar, T* q_bar) {
    if (c.length >= 0)
        tendons_bar.length[c.length] += x_bar;
    else
        q_bar[c.v] += x_bar;
}
template <class T> T coupled_arm(const Model& m, const Coupled& c, int j, const TendonMeasures<T>& tendons) {
    if (c.length < 0) return T(c.any() && j == c.v ? 1 : 0);
    const MeasuredTendon& tendon = m.measured_tendons[c.length];
    const int n = measured_dof(tendon, j);
    return n < 0 ? T(0) : tendons.arm[tendon.first_arm + n];
}
template <class T>
void coupled_arm_adj(const Model& m, const Coupled& c, int j, const T& arm_bar,
                     TendonMeasures<T>& tendons_bar) {
    if (c.length < 0) return;
    const MeasuredTendon& tendon = m.measured_tendons[c.length];
    if (const int n = measured_dof(tendon, j); n >= 0) tendons_bar.arm[tendon.first_arm + n] += arm_bar;
}

// error = x_a - p(x_b),   J = dx_a/dq - p'(x_b) dx_b/dq;   of one joint or tendon: error = x_a - c_0
template <class T>
void coupling_row(const World& w, const T* theta, const T* q, const RowBlock& block, Rows<T>& rows,
                  T* error) {
    const Equality& e = w.model.equalities[block.index];
    const Coupled a = first_coupled(e), b = second_coupled(e);
    const CouplingCurve<T> p(theta + w.model.coupling.at(block.index), coupled_position(b, q, rows.tendons));
    error[0] = coupled_position(a, q, rows.tendons) - p.value;
    T* J = jacobian_row(rows, block, 0);
    for (int i = 0; i < block.length; ++i) {
        const int j = rows.chain_dof[block.chain + i];
        J[i] = coupled_arm(w.model, a, j, rows.tendons) - p.slope * coupled_arm(w.model, b, j, rows.tendons);
    }
    rows.type[block.row] = RowType::free;
}
template <class T>
void coupling_row_adj(const World& w, const T* theta, const T* q, const RowBlock& block, Rows<T>& rows,
                      const T* error_bar, T* theta_bar, T* q_bar) {
    const Equality& e = w.model.equalities[block.index];
    const Coupled a = first_coupled(e), b = second_coupled(e);
    const T x = coupled_position(b, q, rows.tendons), value_bar = -error_bar[0];
    const CouplingCurve<T> p(theta + w.model.coupling.at(block.index), x);
    T slope_bar(0);
    for (int i = 0; i < block.length; ++i) {
        const int j = rows.chain_dof[block.chain + i];
        const T& J_bar = rows.J_bar[block.values + i];
        slope_bar -= J_bar * coupled_arm(w.model, b, j, rows.tendons);
        coupled_arm_adj(w.model, a, j, J_bar, rows.tendons_bar);
        coupled_arm_adj<T>(w.model, b, j, -p.slope * J_bar, rows.tendons_bar);
    }
    coupled_position_adj(a, error_bar[0], rows.tendons_bar, q_bar);
    T* c_bar = theta_bar + w.model.coupling.at(block.index);
    c_bar[0] += value_bar;
    if (!b.any()) return;
    coupled_position_adj<T>(b, value_bar * p.slope + slope_bar * p.bend, rows.tendons_bar, q_bar);
    T power(1);  // x^(k-1)
    for (int k = 1; k < coupling_terms; ++k) {
        c_bar[k] += value_bar * power * x + slope_bar * T(k) * power;
        power *= x;
    }
}

}  // namespace costate
