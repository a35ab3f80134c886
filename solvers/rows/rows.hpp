// Constraint rows of a step: their Jacobian, bias and compliance, and the bounds of their impulses.
#pragma once

#include <limits>
#include <stdexcept>
#include <string>

#include "solvers/rows/contact_rows.hpp"
#include "solvers/rows/equality_rows.hpp"
#include "solvers/rows/joint_rows.hpp"
#include "solvers/rows/moving_surfaces.hpp"
#include "solvers/rows/soft_rows.hpp"
#include "solvers/rows/tendon_rows.hpp"

namespace costate {

// The softness of a contact: of its pair; else of the shape with the higher priority, or the mean by the shapes' weights.
inline SoftElements soft_elements(const ShapeSet& set, int a, int b) {
    const Shape &first = set.shapes[a], &second = set.shapes[b];
    SoftElements e;
    if (const int pair = set.own_pair(a, b); pair >= 0) {
        e.add(set.pair_softness, pair);
        return e;
    }
    if (first.priority >= second.priority) e.add(set.softness, a);
    if (second.priority >= first.priority) e.add(set.softness, b);
    const double sum = first.mixing_weight + second.mixing_weight;
    e.weight = sum > 0 ? first.mixing_weight / sum : 0.5;
    return e;
}

// The blocks of the step: every detected contact, the ends of joint ranges within reach, dry friction,
// equalities. None waits. Soft contacts and limits take part only where they overlap.
template <class T>
void find_blocks(const World& w, const T* theta, const StateView<T>& x, const ContactScratch<T>& contacts,
                 Rows<T>& rows) {
    const Model& m = w.model;
    const T *q = x.q, *v = x.v;
    const Value<T> h = value_of(w.h(theta));
    const auto add = [&](RowKind kind, size_t index, int count, int last_a, int last_b) -> RowBlock& {
        RowBlock block;
        block.kind = kind;
        block.index = static_cast<int>(index);
        block.rows = count;
        block.last_a = last_a;
        block.last_b = last_b;
        return rows.found.emplace_back(block);
    };
    const auto last_dof = [&](int body) { return body < 0 ? -1 : m.bodies[body].last_dof; };
    const auto near = [&](const T& gap, const Value<T>& approach) {
        if (m.soft) return bits_of(gap < T(0));  // no force before the range ends
        return bits_of(value_of(gap) < larger(Value<T>(w.settings.margin), Value<T>(2 * h * approach)));
    };
    rows.found.clear();
    rows.contact_row.resize(contacts.points.size());
    for (size_t c = 0; c < contacts.points.size(); ++c) {
        const ContactPoint<T>& point = contacts.points[c];
        LaneBits lanes = contacts.lanes[c];
        if (m.soft) lanes &= bits_of(point.geometry.gap < T(0));  // no force before the surfaces overlap
        if (lanes == 0) continue;
        RowBlock& block =
            add(RowKind::contact, c, point.rows(), last_dof(point.body_a), last_dof(point.body_b));
        block.lanes = lanes;
        for (const int shape : {point.features.a, point.features.b})
            block.springs.add(w.shapes.stiffness, w.shapes.damping, w.shapes.shapes[shape].spring);
        if (m.soft) block.soft = soft_elements(w.shapes, point.features.a, point.features.b);
    }
    for (size_t n = 0; n < m.limits.size(); ++n) {
        const JointLimit& l = m.limits[n];
        if (l.ball) {
            const Vec3<Value<T>> n_axis = normalise<Value<T>>(values(ball_rotation(l, q)));
            const Value<T> approach = n_axis.x() * value_of(v[l.v]) + n_axis.y() * value_of(v[l.v + 1]) +
                                      n_axis.z() * value_of(v[l.v + 2]);
            const T gap = ball_gap(l, theta, q);
            if (const LaneBits lanes = near(gap, approach); lanes != 0) {
                RowBlock& block = add(RowKind::ball_limit, n, 1, l.v + 2, -1);
                block.lanes = lanes;
                block.springs.add(m.limit_stiffness, m.limit_damping, l.spring);
                if (m.soft) block.soft.add(m.limit_softness, static_cast<int>(n));
            }
            continue;
        }
        for (const int side : {1, -1}) {
            if ((side > 0 ? l.range.lower : l.range.upper) < 0) continue;
            const T gap = limit_gap(l, theta, q, side);
            const LaneBits lanes = near(gap, -side * value_of(v[l.v]));
            if (lanes == 0) continue;
            RowBlock& block = add(RowKind::limit, n, 1, l.v, -1);
            block.lanes = lanes;
            block.side = side;
            block.springs.add(m.limit_stiffness, m.limit_damping, l.spring);
            if (m.soft) block.soft.add(m.limit_softness, static_cast<int>(n));
        }
    }
    for (size_t n = 0; n < m.measured_tendons.size(); ++n)
        for (const int side : {1, -1}) {
            const MeasuredTendon& l = m.measured_tendons[n];
            if (l.dofs.empty() || (side > 0 ? l.range.lower : l.range.upper) < 0) continue;
            const T gap = tendon_gap(m, theta, rows.tendons, static_cast<int>(n), side);
            const LaneBits lanes = near(gap, -side * limit_rate(l, rows.tendons, v));
            if (lanes == 0) continue;
            RowBlock& block = add(RowKind::tendon_limit, n, 1, l.dofs.back(), -1);
            block.lanes = lanes;
            block.side = side;
            if (m.soft) block.soft.add(m.tendon_limit_softness, static_cast<int>(n));
        }
    for (size_t n = 0; n < m.dry_dofs.size(); ++n) {
        RowBlock& block = add(RowKind::dry_friction, n, 1, m.dry_dofs[n], -1);
        if (m.soft) block.soft.add(m.dry_softness, static_cast<int>(n));
    }
    for (size_t n = 0; n < m.equalities.size(); ++n) {
        const Equality& e = m.equalities[n];
        switch (e.type) {
            case EqualityType::connect:
                add(RowKind::connect, n, 3, last_dof(e.body_a), last_dof(e.body_b));
                break;
            case EqualityType::weld: add(RowKind::weld, n, 6, last_dof(e.body_a), last_dof(e.body_b)); break;
            case EqualityType::coupling:
                if (e.of_tendons())
                    add(RowKind::coupling, n, 1, m.measured_tendons[e.length_a].dofs.front(), -1);
                else
                    add(RowKind::coupling, n, 1, e.v_a, e.v_b);
                break;
        }
        if (m.soft) rows.found.back().soft.add(m.equality_softness, static_cast<int>(n));
    }
    rows.waits.assign(rows.found.size(), 0);
}

// Gap, m or rad, and restitution of a unilateral block's first row.
template <class T>
T block_gap(const World& w, const T* theta, const RowBlock& block, const T* q,
            const ContactScratch<T>& contacts, const Rows<T>& rows) {
    if (block.kind == RowKind::contact) return contacts.points[block.index].geometry.gap;
    if (block.kind == RowKind::tendon_limit)
        return tendon_gap(w.model, theta, rows.tendons, block.index, block.side);
    const JointLimit& l = w.model.limits[block.index];
    return block.kind == RowKind::limit ? limit_gap(l, theta, q, block.side) : ball_gap(l, theta, q);
}
// The gap of a unilateral block, 0 for others.
template <class T>
T unilateral_gap(const World& w, const T* theta, const RowBlock& block, const T* q,
                 const ContactScratch<T>& contacts, const Rows<T>& rows) {
    return block.unilateral() ? block_gap(w, theta, block, q, contacts, rows) : T(0);
}
template <class T>
void unilateral_gap_adj(const World& w, const RowBlock& block, const T* q, const T& gap_bar,
                        ContactScratch<T>& contacts, Rows<T>& rows, T* theta_bar, T* q_bar) {
    if (block.kind == RowKind::contact) {
        contacts.points_bar[block.index].geometry.gap += gap_bar;
    } else if (block.kind == RowKind::tendon_limit) {
        tendon_gap_adj(w.model, block.index, block.side, gap_bar, rows.tendons_bar, theta_bar);
    } else if (block.unilateral()) {
        const JointLimit& l = w.model.limits[block.index];
        if (block.kind == RowKind::limit)
            limit_gap_adj(l, block.side, gap_bar, theta_bar, q_bar);
        else
            ball_gap_adj(l, q, gap_bar, theta_bar, q_bar);
    }
}
template <class T> T block_restitution(const RowBlock& block, const ContactScratch<T>& contacts) {
    return block.kind == RowKind::contact ? contacts.points[block.index].restitution : T(0);
}

template <class T>
BiasInputs<T> bias_inputs(const World& w, const T* theta, const T& gap, const T& v, const T& v_free,
                          const T& restitution, const T& erp) {
    return {gap, v, v_free, restitution, erp, theta[w.slop.at(0)], theta[w.recovery_speed.at(0)], w.h(theta)};
}

// Covectors of the inputs of rows.
template <class T> struct RowBars {
    T* theta;   // (np)
    T *q, *v;   // (nv)
    T* v_free;  // (nv)
    KinematicsBar<T>& kinematics;
};

// True if a block's impact is inside the step, in all lanes or none.
template <class T> bool is_located(const RowBlock& block) {
    return where_case<T>(block.bias, [](BiasCase it) { return it == BiasCase::located; });
}

// Bias and compliance of a unilateral block's first row. Call after block_rows.
template <class T>
void block_bias(const World& w, const T* theta, const StateView<T>& x, const T* v_free,
                const ContactScratch<T>& contacts, RowBlock& block, Rows<T>& rows) {
    const size_t row = block.row;
    // 1 velocity along the row
    const auto along = [&](const T* velocity) {
        T sum(0);
        for (int i = 0; i < block.length; ++i)
            sum += rows.J[block.values + i] * velocity[rows.chain_dof[block.chain + i]];
        return sum;
    };
    const T& v_before = rows.v_before[row] = along(x.v);
    // 2 compliance
    const RowCompliance<T> c = row_compliance(w, theta, block.springs);
    rows.R[row] = c.R;
    // 3 bias
    const T gap = block_gap(w, theta, block, x.q, contacts, rows);
    block.bias = bias_cases(w, theta, block.springs.any(), gap, v_before, block.lanes);
    const bool located = is_located<T>(block);
    const Condition<T> position = where_case<T>(block.bias, by_position);
    rows.located = rows.located || located;
    rows.recovers = rows.recovers || any(position);
    const BiasInputs<T> in = bias_inputs(w, theta, gap, v_before, located ? along(v_free) : T(0),
                                         block_restitution(block, contacts), c.erp);
    T bias(0);
    for_each_case<T>(block.bias, [&](BiasCase which, const Condition<T>& here) {
        bias = where(here, row_bias(which, in), bias);
    });
    rows.recovery[row] = where(position, bias, T(0));
    rows.beta[row] = where(position, T(0), bias);
}
// Input: rows.beta_bar, recovery_bar, R_bar and time_bar. Adds to rows.J_bar and to the covectors of theta,
// q, v and v_free.
template <class T>
void block_bias_adj(const World& w, const T* theta, const StateView<T>& x, const T* v_free,
                    const RowBlock& block, ContactScratch<T>& contacts, Rows<T>& rows,
                    const RowBars<T>& bar) {
    const T erp = row_compliance(w, theta, block.springs).erp;
    const size_t row = block.row;
    // 3 bias
    T v_along(0);
    const bool located = is_located<T>(block);
    for (int i = 0; located && i < block.length; ++i)
        v_along += rows.J[block.values + i] * v_free[rows.chain_dof[block.chain + i]];
    const BiasInputs<T> in =
        bias_inputs(w, theta, block_gap(w, theta, block, x.q, contacts, rows), rows.v_before[row], v_along,
                    block_restitution(block, contacts), erp);
    BiasInputs<T> in_bar = BiasInputs<T>::zero();
    if (located) impact_time_adj(in.gap, in.v, rows.time_bar[row], in_bar.gap, in_bar.v);
    const T bias_bar =
        where(where_case<T>(block.bias, by_position), rows.recovery_bar[row], rows.beta_bar[row]);
    for_each_case<T>(block.bias, [&](BiasCase which, const Condition<T>& here) {
        NoBar none;
        BiasInputs<T> part = BiasInputs<T>::zero();
        row_bias_adj(which, in, bias_bar, none, part);
        for (T BiasInputs<T>::*input : BiasInputs<T>::members)
            in_bar.*input += where(here, part.*input, T(0));
    });
    bar.theta[w.slop.at(0)] += in_bar.slop;
    bar.theta[w.recovery_speed.at(0)] += in_bar.recovery_speed;
    w.h(bar.theta) += in_bar.h;
    if (block.kind == RowKind::contact) contacts.points_bar[block.index].restitution += in_bar.restitution;
    unilateral_gap_adj(w, block, x.q, in_bar.gap, contacts, rows, bar.theta, bar.q);
    // 2 compliance
    row_compliance_adj(w, theta, block.springs, RowCompliance<T>{rows.R_bar[row], in_bar.erp}, bar.theta);
    // 1 velocity along the row
    for (int i = 0; i < block.length; ++i) {
        const int j = rows.chain_dof[block.chain + i];
        bar.v[j] += in_bar.v * rows.J[block.values + i];
        rows.J_bar[block.values + i] += in_bar.v * x.v[j];
        if (!located) continue;
        bar.v_free[j] += in_bar.v_free * rows.J[block.values + i];
        rows.J_bar[block.values + i] += in_bar.v_free * v_free[j];
    }
}

// An equality removes its error in position (solvers/step/recovery.hpp): the share erp per step, but no
// faster than recovery_speed. Its rows have beta = 0 and recovery = erp error/h.
template <class T>
void equality_bias(const World& w, const T* theta, const T* error, RowBlock& block, Rows<T>& rows) {
    const T& fastest = theta[w.recovery_speed.at(0)];
    block.capped = 0;
    rows.recovers = rows.recovers || block.kind != RowKind::dry_friction;
    for (int r = 0; r < block.rows; ++r) {
        T& recovery = rows.recovery[block.row + r];
        recovery = theta[w.erp.at(0)] * error[r] / w.h(theta);
        if (magnitude(value_of(recovery)) <= value_of(fastest)) continue;
        recovery = value_of(recovery) > 0 ? fastest : -fastest;
        block.capped = static_cast<unsigned char>(block.capped | 1 << r);
    }
}
template <class T>
void equality_bias_adj(const World& w, const T* theta, const RowBlock& block, const T* error,
                       const Rows<T>& rows, T* theta_bar, T* error_bar) {
    const T &h = w.h(theta), &erp = theta[w.erp.at(0)];
    for (int r = 0; r < block.rows; ++r) {
        const T& recovery_bar = rows.recovery_bar[block.row + r];
        if (block.capped >> r & 1) {
            theta_bar[w.recovery_speed.at(0)] += error[r] > T(0) ? recovery_bar : -recovery_bar;
            continue;
        }
        error_bar[r] += recovery_bar * erp / h;
        theta_bar[w.erp.at(0)] += recovery_bar * error[r] / h;
        w.h(theta_bar) -= recovery_bar * erp * error[r] / (h * h);
    }
}

// 1.2 Jacobian and bounds of a block; for an equality also its error (rows).
template <class T>
void block_rows(const World& w, const T* theta, const T* q, const Kinematics<T>& k,
                const ContactScratch<T>& contacts, const RowBlock& block, Rows<T>& rows, T* error) {
    const size_t index = block.index;
    switch (block.kind) {
        case RowKind::contact: contact_rows(k, contacts.points[index], block, rows); break;
        case RowKind::limit: *jacobian_row(rows, block, 0) = T(block.side); break;
        case RowKind::ball_limit: ball_limit_row(w.model.limits[index], q, block, rows); break;
        case RowKind::tendon_limit: tendon_limit_row(w.model, block, rows); break;
        case RowKind::dry_friction: dry_friction_row(w, theta, block, rows); break;
        case RowKind::coupling: coupling_row(w, theta, q, block, rows, error); break;
        case RowKind::connect:
        case RowKind::weld: equality_rows(w, theta, k, block, rows, error); break;
    }
}
template <class T>
void block_rows_adj(const World& w, const T* theta, const T* q, const Kinematics<T>& k,
                    ContactScratch<T>& contacts, const RowBlock& block, Rows<T>& rows, const T* error_bar,
                    const RowBars<T>& bar) {
    const size_t index = block.index;
    switch (block.kind) {
        case RowKind::contact:
            contact_rows_adj(k, contacts.points[index], block, rows, contacts.points_bar[index],
                             bar.kinematics);
            break;
        case RowKind::limit: break;  // constant
        case RowKind::ball_limit: ball_limit_row_adj(w.model.limits[index], q, block, rows, bar.q); break;
        case RowKind::tendon_limit: tendon_limit_row_adj(w.model, block, rows); break;
        case RowKind::dry_friction: dry_friction_row_adj(w, theta, block, rows, bar.theta); break;
        case RowKind::coupling:
            coupling_row_adj(w, theta, q, block, rows, error_bar, bar.theta, bar.q);
            break;
        case RowKind::connect:
        case RowKind::weld:
            equality_rows_adj(w, theta, k, block, rows, error_bar, bar.kinematics, bar.theta);
            break;
    }
}

// Rows without effect, and an empty J. compliance: of all rows.
template <class T> void clear_rows(const T& compliance, Rows<T>& rows) {
    const size_t n = rows.count;
    for (auto* zeros : {&rows.beta, &rows.v_before, &rows.bound, &rows.recovery, &rows.error})
        zeros->assign(n, T(0));
    rows.type.assign(n, RowType::unilateral);
    rows.normal.resize(n);
    rows.dropped.assign(n, 0);
    rows.lanes.resize(n);
    rows.R.assign(n, compliance);
    rows.chain_dof.clear();
    rows.chain_sign.clear();
    rows.J.clear();
}

// Zeroes the rows of a block in lanes that do not have it. Their impulses are then 0, and they take no part.
template <class T> void mask_rows(const RowBlock& block, Rows<T>& rows) {
    std::fill_n(rows.lanes.begin() + block.row, block.rows, block.lanes);
    if (block.lanes == all_lanes<T>) return;
    const Condition<T> here = lanes_in<T>(block.lanes);
    for (int r = block.row; r < block.row + block.rows; ++r)
        for (T* x : {&rows.beta[r], &rows.recovery[r], &rows.error[r]})
            *x = where(here, *x, T(0));
    for (int i = block.values; i < block.values + block.rows * block.length; ++i)
        rows.J[i] = where(here, rows.J[i], T(0));
}

// The lanes that have rows.
template <class T> LaneBits lanes_with_rows(const Rows<T>& rows) {
    LaneBits some = 0;
    for (const RowBlock& block : rows.blocks)
        some |= block.lanes;
    return some;
}

// Lanes with different rows are in one island: islands are solved and pulled back by themselves.
template <class T> void check_lanes(const Model& m, const Rows<T>& rows) {
    if constexpr (is_lanes<T>)
        if (m.trees.size() > 1)
            for (const RowBlock& block : rows.blocks)
                if (block.lanes != all_lanes<T>) throw LanesPart();
}

// Call after find_blocks, and hold_back_blocks if blocks may wait.
template <class T>
void make_rows(const World& w, const T* theta, const StateView<T>& x,
               const T* v_free,  // (nv)
               const Kinematics<T>& k, const ContactScratch<T>& contacts, Rows<T>& rows) {
    rows.located = false;
    rows.recovers = false;
    // 1.1 islands
    sort_into_islands(w.model, w.settings.max_dense_rows, rows);
    check_lanes(w.model, rows);
    clear_rows(theta[w.compliance.at(0)], rows);
    for (RowBlock& block : rows.blocks) {
        append_chain(w.model, block, rows);
        if (rows.J.size() + static_cast<size_t>(block.rows * block.length) > std::numeric_limits<int>::max())
            throw std::length_error(
                "a step met " + std::to_string(contacts.points.size()) +
                " contacts, more than it can number; use fewer bodies, or keep them from overlapping");
        block.values = static_cast<int>(rows.J.size());
        rows.J.resize(rows.J.size() + static_cast<size_t>(block.rows * block.length), T(0));
        T* error = rows.error.data() + block.row;
        // 1.2 Jacobian, bounds, errors
        block_rows(w, theta, x.q, k, contacts, block, rows, error);
        // 1.3 bias, and the compliance of springs
        if (block.soft.any()) {
            soft_rows(w, theta, x.v, contacts, block, unilateral_gap(w, theta, block, x.q, contacts, rows),
                      error, rows);
            if (block.joins()) equality_drift(w, theta, x.v, k, block, &rows.beta[block.row]);
        } else if (block.unilateral()) {
            block_bias(w, theta, x, v_free, contacts, block, rows);
        } else {
            equality_bias(w, theta, error, block, rows);
        }
        if (block.kind == RowKind::contact) moving_surface_rows(w, theta, contacts, block, rows);
        mask_rows(block, rows);
    }
}
// From rows.J_bar, beta_bar, R_bar and bound_bar: adds to the bars of contacts, kinematics, q, v and theta.
template <class T>
void make_rows_adj(const World& w, const T* theta, const StateView<T>& x, const T* v_free,
                   const Kinematics<T>& k, ContactScratch<T>& contacts, Rows<T>& rows,
                   const RowBars<T>& bar) {
    for (const RowBlock& block : rows.blocks) {
        T error_bar[max_equality_rows];
        std::fill(error_bar, error_bar + max_equality_rows, T(0));
        // 1.3 bias, and the compliance of springs
        if (block.kind == RowKind::contact)
            moving_surface_rows_adj(w, theta, k, contacts, block, rows, bar.kinematics, bar.theta);
        const T* error = rows.error.data() + block.row;
        if (block.soft.any()) {
            T gap_bar(0);
            if (block.joins())
                equality_drift_adj(w, theta, x.v, k, block, &rows.beta_bar[block.row], bar.kinematics,
                                   bar.theta, bar.v);
            soft_rows_adj(w, theta, x.v, contacts, block,
                          unilateral_gap(w, theta, block, x.q, contacts, rows), error, rows, bar.theta, bar.v,
                          gap_bar, error_bar);
            unilateral_gap_adj(w, block, x.q, gap_bar, contacts, rows, bar.theta, bar.q);
        } else if (block.unilateral()) {
            block_bias_adj(w, theta, x, v_free, block, contacts, rows, bar);
        } else {
            equality_bias_adj(w, theta, block, error, rows, bar.theta, error_bar);
        }
        for (int r = block.unilateral() ? 1 : 0; r < block.rows && !block.soft.any(); ++r)
            bar.theta[w.compliance.at(0)] += rows.R_bar[block.row + r];
        // 1.2 Jacobian, bounds, errors
        block_rows_adj(w, theta, x.q, k, contacts, block, rows, error_bar, bar);
        // 1.1 islands: discrete, no derivative
    }
}

}  // namespace costate
