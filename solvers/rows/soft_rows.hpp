// Compliance and bias of the rows of a soft block (solvers/rows/soft_law.hpp). With J v+ = J v + h J a and
// lambda = h f, MuJoCo's equation of a row, J a + R f = a_ref, is that of the solvers:
//
//   J v+ + beta + R lambda = 0,   beta = (h b - 1) J v + h k d r,   R = c (1 - d)/d
//
// c is the inverse weight of the bodies or dofs, a constant. The error r of a row is its gap, 0 for friction,
// or the error of an equality; d is that of the block's error: the gap, or the length of an equality's
// errors. R of a contact's friction is divided by impratio. All edges of a pyramid have the error of the gap and
//
//   R = 2 mu^2 (1 + mu^2)/impratio c (1 - d)/d
//
// Connects and welds also count the acceleration by velocities: J a + dJ/dt v + R f = a_ref (equality_drift).
#pragma once

#include "solvers/rows/row_blocks.hpp"
#include "solvers/rows/soft_law.hpp"

namespace costate {

// c of row r of a block
template <class T>
double soft_scale(const World& w, const RowBlock& block, const ContactScratch<T>& contacts, int r) {
    const InverseWeights& weights = w.inverse_weights;
    const auto of_bodies = [&](int a, int b) {
        if (block.kind == RowKind::weld && r >= 3)
            return 4 * (weights.of_rotation(a) + weights.of_rotation(b));  // MuJoCo's error is half the angle
        return weights.of_translation(a) + weights.of_translation(b);
    };
    switch (block.kind) {
        case RowKind::contact: {
            const ContactPoint<T>& c = contacts.points[block.index];
            const double both = of_bodies(c.body_a, c.body_b);
            return r == 0 && !c.pyramid ? both : both / w.settings.impratio;
        }
        case RowKind::limit:
        case RowKind::ball_limit: return weights.dof[w.model.limits[block.index].v];
        case RowKind::tendon_limit: return weights.tendon[block.index];
        case RowKind::dry_friction: return weights.dof[block.last_a];
        case RowKind::coupling:
            if (const Equality& e = w.model.equalities[block.index]; e.of_tendons())
                return weights.tendon[e.length_a] + (e.length_b < 0 ? 0 : weights.tendon[e.length_b]);
            return weights.dof[block.last_a] + (block.last_b < 0 ? 0 : weights.dof[block.last_b]);
        case RowKind::connect:
        case RowKind::weld: {
            const Equality& e = w.model.equalities[block.index];
            return of_bodies(e.body_a, e.body_b);
        }
    }
    return 0;
}

template <class T>
const ContactPoint<T>* pyramid_of(const RowBlock& block, const ContactScratch<T>& contacts) {
    if (block.kind != RowKind::contact) return nullptr;
    const ContactPoint<T>& c = contacts.points[block.index];
    return c.pyramid ? &c : nullptr;
}

// R of row r over (1 - d)/d
template <class T>
T regularization_scale(const World& w, const RowBlock& block, const ContactScratch<T>& contacts, int r) {
    const T scale(soft_scale(w, block, contacts, r));
    const ContactPoint<T>* pyramid = pyramid_of(block, contacts);
    if (pyramid == nullptr) return scale;
    const T square = pyramid->friction * pyramid->friction;
    return scale * T(2) * square * (T(1) + square);
}
template <class T>
void regularization_scale_adj(const World& w, const RowBlock& block, int r, const T& scale_bar,
                              ContactScratch<T>& contacts) {
    const ContactPoint<T>* pyramid = pyramid_of(block, contacts);
    if (pyramid == nullptr) return;
    const T &mu = pyramid->friction, scale(soft_scale(w, block, contacts, r));
    contacts.points_bar[block.index].friction += scale_bar * scale * T(4) * mu * (T(1) + T(2) * mu * mu);
}

// The errors of a weld's rotation count half, as in MuJoCo.
inline double error_weight(const RowBlock& block, int r) {
    return block.kind == RowKind::weld && r >= 3 ? 0.5 : 1;
}

// r of the block: gap of a unilateral block; error (rows) of an equality
template <class T> T soft_error(const RowBlock& block, const T& gap, const T* error) {
    if (block.unilateral()) return gap;
    if (block.kind == RowKind::dry_friction) return T(0);
    if (block.rows == 1) return error[0];
    T sum(0);
    for (int r = 0; r < block.rows; ++r)
        sum += error_weight(block, r) * error_weight(block, r) * error[r] * error[r];
    return safe_sqrt(sum);
}
template <class T>
void soft_error_adj(const RowBlock& block, const T* error, const T& r_bar, T& gap_bar, T* error_bar) {
    if (block.unilateral()) {
        gap_bar += r_bar;
    } else if (block.rows == 1) {
        error_bar[0] += r_bar;
    } else {
        const T length = soft_error(block, T(0), error);
        if (value_of(length) == 0) return;
        for (int r = 0; r < block.rows; ++r)
            error_bar[r] += r_bar * error_weight(block, r) * error_weight(block, r) * error[r] / length;
    }
}

// Call after block_rows. gap: of a unilateral block; error (rows): of an equality. Sets v_before, R and beta.
template <class T>
void soft_rows(const World& w, const T* theta, const T* v, const ContactScratch<T>& contacts,
               const RowBlock& block, const T& gap, const T* error, Rows<T>& rows) {
    const SoftParameters<T> s = soft_parameters(theta, block.soft);
    const T& h = w.h(theta);
    const SoftGains<T> gains = soft_gains(s, h);
    const T d = impedance(s, soft_error(block, gap, error));
    const bool pyramid = pyramid_of(block, contacts) != nullptr;
    for (int r = 0; r < block.rows; ++r) {
        const T* J = jacobian_row(rows, block, r);
        T velocity(0), pull(0);
        for (int i = 0; i < block.length; ++i)
            velocity += J[i] * v[rows.chain_dof[block.chain + i]];
        if (block.unilateral() && (r == 0 || pyramid)) pull = gap;
        if (!block.unilateral() && block.kind != RowKind::dry_friction) pull = error[r];
        rows.v_before[block.row + r] = velocity;
        rows.R[block.row + r] = regularization_scale(w, block, contacts, r) * (T(1) - d) / d;
        rows.beta[block.row + r] = (h * gains.b - T(1)) * velocity + h * gains.k * d * pull;
    }
}
// Input: rows.R_bar and beta_bar. Adds to rows.J_bar, theta_bar, v_bar (nv), gap_bar and error_bar (rows), and to
// the covector of a pyramid's friction.
template <class T>
void soft_rows_adj(const World& w, const T* theta, const T* v, ContactScratch<T>& contacts,
                   const RowBlock& block, const T& gap, const T* error, Rows<T>& rows, T* theta_bar, T* v_bar,
                   T& gap_bar, T* error_bar) {
    const SoftParameters<T> s = soft_parameters(theta, block.soft);
    const T& h = w.h(theta);
    const SoftGains<T> gains = soft_gains(s, h);
    const T error_of_block = soft_error(block, gap, error), d = impedance(s, error_of_block);
    SoftParameters<T> s_bar = SoftParameters<T>::Zero();
    SoftGains<T> gains_bar{T(0), T(0)};
    T d_bar(0), h_bar(0), r_bar(0);
    const bool pyramid = pyramid_of(block, contacts) != nullptr;
    for (int r = 0; r < block.rows; ++r) {
        const T &beta_bar = rows.beta_bar[block.row + r], &velocity = rows.v_before[block.row + r];
        const bool of_gap = block.unilateral() && (r == 0 || pyramid),
                   of_error = !block.unilateral() && block.kind != RowKind::dry_friction;
        const T pull = of_gap ? gap : (of_error ? error[r] : T(0)), pull_bar = beta_bar * h * gains.k * d;
        if (of_gap) gap_bar += pull_bar;
        if (of_error) error_bar[r] += pull_bar;
        const T& R_bar = rows.R_bar[block.row + r];
        d_bar +=
            beta_bar * h * gains.k * pull - R_bar * regularization_scale(w, block, contacts, r) / (d * d);
        regularization_scale_adj<T>(w, block, r, R_bar * (T(1) - d) / d, contacts);
        gains_bar.b += beta_bar * h * velocity;
        gains_bar.k += beta_bar * h * d * pull;
        h_bar += beta_bar * (gains.b * velocity + gains.k * d * pull);
        const T velocity_bar = beta_bar * (h * gains.b - T(1));
        for (int i = 0; i < block.length; ++i) {
            const int j = rows.chain_dof[block.chain + i];
            const size_t entry = block.values + r * block.length + i;
            v_bar[j] += velocity_bar * rows.J[entry];
            rows.J_bar[entry] += velocity_bar * v[j];
        }
    }
    impedance_adj(s, error_of_block, d_bar, s_bar, r_bar);
    soft_error_adj(block, error, r_bar, gap_bar, error_bar);
    soft_gains_adj(s, h, gains_bar, s_bar, h_bar);
    w.h(theta_bar) += h_bar;
    soft_parameters_adj(theta, block.soft, s_bar, theta_bar);
}

}  // namespace costate
