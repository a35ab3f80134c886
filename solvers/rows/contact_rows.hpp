// The directions of a contact: unit forces F_i = (p x d, d) along the normal and the tangents d at the contact point
// p, then couples
//
//   F_3 = (rho n, 0),   F_4 = (rho' t1, 0),   F_5 = (rho' t2, 0)
//
// where rho = mu_torsional/mu and rho' = mu_rolling/mu are lengths. With these units all friction shares
// one bound mu x_n, and the elliptic cone (x_t/mu)^2 + (n_t/mu_torsional)^2 + ... <= x_n^2 of forces x_t and
// couples n_t is the ball |x_T| <= mu x_n (MuJoCo documentation, "Friction cones").
//
// A contact has a row for each direction. A pyramid has instead two for each direction k but the normal, its edges
// F_0 + mu F_k and F_0 - mu F_k, with impulses that only push.
#pragma once

#include "solvers/rows/row_blocks.hpp"

namespace costate {

// Arm rho of a direction that is a couple.
template <class T> const T& couple_arm(const ContactPoint<T>& c, int i) {
    return i == 3 ? c.torsional_arm : c.rolling_arm;
}

// F_i about the origin of a's common frame, or of b's (on_b).
template <class T> Force<T> direction_force(const ContactPoint<T>& c, int i, bool on_b) {
    if (i >= 3) return {couple_arm(c, i) * c.direction(i), Vec3<T>::Zero()};
    return point_force<T>(on_b ? Vec3<T>(c.geometry.point - c.to_b) : c.geometry.point, c.direction(i));
}
// From the covectors of F_i on a and on b. Adds to c_bar.
template <class T>
void direction_force_adj(const ContactPoint<T>& c, int i, const Motion<T>& F_a_bar, const Motion<T>& F_b_bar,
                         ContactPointBar<T>& c_bar) {
    if (i >= 3) {
        const Vec3<T> couple_bar = F_a_bar.ang + F_b_bar.ang;
        c_bar.direction(i) += couple_arm(c, i) * couple_bar;
        (i == 3 ? c_bar.torsional_arm : c_bar.rolling_arm) += c.direction(i).dot(couple_bar);
        return;
    }
    point_force_adj(c.geometry.point, c.direction(i), F_a_bar, c_bar.geometry.point, c_bar.direction(i));
    point_force_adj<T>(c.geometry.point - c.to_b, c.direction(i), F_b_bar, c_bar.geometry.point,
                       c_bar.direction(i));
}

// Row r of a pyramid: F_0 + sign mu F_k
struct PyramidEdge {
    int k, sign;
    explicit PyramidEdge(int r) : k(1 + r / 2), sign(r % 2 == 0 ? 1 : -1) {}
};

// The force of row r for a unit impulse.
template <class T> Force<T> row_force(const ContactPoint<T>& c, int r, bool on_b) {
    if (!c.pyramid) return direction_force(c, r, on_b);
    const PyramidEdge edge(r);
    return direction_force(c, 0, on_b) + T(edge.sign) * c.friction * direction_force(c, edge.k, on_b);
}
template <class T>
void row_force_adj(const ContactPoint<T>& c, int r, const Motion<T>& F_a_bar, const Motion<T>& F_b_bar,
                   ContactPointBar<T>& c_bar) {
    if (!c.pyramid) return direction_force_adj(c, r, F_a_bar, F_b_bar, c_bar);
    const PyramidEdge edge(r);
    const T slope = T(edge.sign) * c.friction;
    direction_force_adj(c, 0, F_a_bar, F_b_bar, c_bar);
    direction_force_adj<T>(c, edge.k, slope * F_a_bar, slope * F_b_bar, c_bar);
    c_bar.friction += T(edge.sign) * (dot(F_a_bar, direction_force(c, edge.k, false)) +
                                      dot(F_b_bar, direction_force(c, edge.k, true)));
}

// The impulse of a contact along direction i, N s, from those of its rows: lambda_i; of a pyramid the sum over its
// edges along the normal, and mu times the difference of two edges along other directions.
template <class T> T impulse_along(const ContactPoint<T>& c, const T* lambda, int i) {
    if (!c.pyramid) return lambda[i];
    if (i > 0) return c.friction * (lambda[2 * i - 2] - lambda[2 * i - 1]);
    return std::accumulate(lambda, lambda + c.rows(), T(0));
}
template <class T>
void impulse_along_adj(const ContactPoint<T>& c, const T* lambda, int i, const T& x_bar, T* lambda_bar,
                       ContactPointBar<T>& c_bar) {
    if (!c.pyramid) {
        lambda_bar[i] += x_bar;
    } else if (i > 0) {
        lambda_bar[2 * i - 2] += c.friction * x_bar;
        lambda_bar[2 * i - 1] -= c.friction * x_bar;
        c_bar.friction += (lambda[2 * i - 2] - lambda[2 * i - 1]) * x_bar;
    } else {
        for (int r = 0; r < c.rows(); ++r)
            lambda_bar[r] += x_bar;
    }
}

// Sets J, and for friction rows the friction coefficient and the index of the normal row.
template <class T>
void contact_rows(const Kinematics<T>& k, const ContactPoint<T>& c, const RowBlock& block, Rows<T>& rows) {
    for (int r = 0; r < block.rows; ++r)
        force_row(k, rows, block, row_force(c, r, false), row_force(c, r, true),
                  jacobian_row(rows, block, r));
    if (c.pyramid) return;
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
    for (int r = 1; r < block.rows && !c.pyramid; ++r)
        c_bar.friction += rows.bound_bar[block.row + r];
    for (int r = 0; r < block.rows; ++r) {
        Motion<T> F_a_bar = Motion<T>::zero(), F_b_bar = Motion<T>::zero();
        force_row_adj(k, rows, block, row_force(c, r, false), row_force(c, r, true),
                      jacobian_row_bar(rows, block, r), bar, F_a_bar, F_b_bar);
        row_force_adj(c, r, F_a_bar, F_b_bar, c_bar);
    }
}

}  // namespace costate
