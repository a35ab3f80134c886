// The rows of a contact: unit forces F_r = (p x d, d) along the normal and the tangents d at the contact point
// p, then couples
//
//   F_3 = (rho n, 0),   F_4 = (rho' t1, 0),   F_5 = (rho' t2, 0)
//
// where rho = mu_torsional/mu and rho' = mu_rolling/mu are lengths. With these units all friction rows share
// one bound mu x_n, and the elliptic cone (x_t/mu)^2 + (n_t/mu_torsional)^2 + ... <= x_n^2 of forces x_t and
// couples n_t is the ball |x_T| <= mu x_n (MuJoCo documentation, "Friction cones").
#pragma once

#include "solvers/rows/row_blocks.hpp"

namespace costate {

// Arm rho of a row that is a couple.
template <class T> const T& couple_arm(const ContactPoint<T>& c, int row) {
    return row == 3 ? c.torsional_arm : c.rolling_arm;
}

// F_r about the origin of a's common frame, or of b's (on_b).
template <class T> Force<T> row_force(const ContactPoint<T>& c, int row, bool on_b) {
    if (row >= 3) return {couple_arm(c, row) * c.direction(row), Vec3<T>::Zero()};
    return point_force<T>(on_b ? Vec3<T>(c.geometry.point - c.to_b) : c.geometry.point, c.direction(row));
}

// Sets J, and for the friction rows the friction coefficient and the index of the normal row.
template <class T>
void contact_rows(const Kinematics<T>& k, const ContactPoint<T>& c, const RowBlock& block, Rows<T>& rows) {
    for (int r = 0; r < block.rows; ++r)
        force_row(k, rows, block, row_force(c, r, false), row_force(c, r, true),
                  jacobian_row(rows, block, r));
    for (int row = block.row + 1; row < block.row + block.rows; ++row) {
        rows.bound[row] = c.friction;
        rows.type[row] = RowType::friction;
        rows.normal[row] = block.row;
    }
}
// Input: rows.J_bar, rows.bound_bar. Adds to c_bar and bar.
template <class T>
void contact_rows_adj(const Kinematics<T>& k, const ContactPoint<T>& c, const RowBlock& block,
                      const Rows<T>& rows, ContactPointBar<T>& c_bar, KinematicsBar<T>& bar) {
    for (int r = 1; r < block.rows; ++r)
        c_bar.friction += rows.bound_bar[block.row + r];
    for (int r = 0; r < block.rows; ++r) {
        Motion<T> F_a_bar = Motion<T>::zero(), F_b_bar = Motion<T>::zero();
        force_row_adj(k, rows, block, row_force(c, r, false), row_force(c, r, true),
                      jacobian_row_bar(rows, block, r), bar, F_a_bar, F_b_bar);
        if (r >= 3) {
            const Vec3<T> couple_bar = F_a_bar.ang + F_b_bar.ang;
            c_bar.direction(r) += couple_arm(c, r) * couple_bar;
            (r == 3 ? c_bar.torsional_arm : c_bar.rolling_arm) += c.direction(r).dot(couple_bar);
            continue;
        }
        point_force_adj(c.geometry.point, c.direction(r), F_a_bar, c_bar.geometry.point, c_bar.direction(r));
        point_force_adj<T>(c.geometry.point - c.to_b, c.direction(r), F_b_bar, c_bar.geometry.point,
                           c_bar.direction(r));
    }
}

}  // namespace costate
