// The three rows of a contact: unit forces F_r = (p x d, d) along the normal and the tangents d at the
// contact point p.
#pragma once

#include "solvers/rows/row_blocks.hpp"

namespace costate {

// F_r about the origin of a's common frame, or of b's (on_b).
template <class T> Force<T> row_force(const ContactPoint<T>& c, int row, bool on_b) {
    return point_force<T>(on_b ? Vec3<T>(c.geometry.point - c.to_b) : c.geometry.point, c.direction(row));
}

// Sets J, and for the tangent rows the friction coefficient and the index of the normal row.
template <class T>
void contact_rows(const Kinematics<T>& k, const ContactPoint<T>& c, const RowBlock& block, Rows<T>& rows) {
    for (int r = 0; r < 3; ++r)
        force_row(k, rows, block, row_force(c, r, false), row_force(c, r, true),
                  jacobian_row(rows, block, r));
    const size_t row = block.row;
    rows.bound[row + 1] = rows.bound[row + 2] = c.friction;
    rows.type[row + 1] = rows.type[row + 2] = RowType::friction;
    rows.normal[row + 1] = rows.normal[row + 2] = block.row;
}
// Input: rows.J_bar, rows.bound_bar. Adds to c_bar and bar.
template <class T>
void contact_rows_adj(const Kinematics<T>& k, const ContactPoint<T>& c, const RowBlock& block,
                      const Rows<T>& rows, ContactPointBar<T>& c_bar, KinematicsBar<T>& bar) {
    const size_t row = block.row;
    c_bar.friction += rows.bound_bar[row + 1] + rows.bound_bar[row + 2];
    for (int r = 0; r < 3; ++r) {
        Motion<T> F_a_bar = Motion<T>::zero(), F_b_bar = Motion<T>::zero();
        force_row_adj(k, rows, block, row_force(c, r, false), row_force(c, r, true),
                      jacobian_row_bar(rows, block, r), bar, F_a_bar, F_b_bar);
        point_force_adj(c.geometry.point, c.direction(r), F_a_bar, c_bar.geometry.point, c_bar.direction(r));
        point_force_adj<T>(c.geometry.point - c.to_b, c.direction(r), F_b_bar, c_bar.geometry.point,
                           c_bar.direction(r));
    }
}

}  // namespace costate
