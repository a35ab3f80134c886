// Surfaces that move past their shapes, as those of conveyors and turntables (ShapeSpec::surface_motion). At a
// contact point p, the surface of a shape with origin o moves, relative to the shape, with
//
//   sigma = R v + R w x (p - o),   spin R w
//
// Friction acts on the difference of the two surfaces, a's minus b's: beta of a row along a tangent t gets
// t . sigma, and that of torsional friction rho n . spin. The normal row and rolling friction do not feel them
// (MuJoCo documentation, "surfacevel"). A soft row, which gets h b (J v) to damp its velocity, gets h b times
// these.
#pragma once

#include "solvers/rows/contact_rows.hpp"
#include "solvers/rows/soft_law.hpp"

namespace costate {

template <class T> bool surfaces_move(const World& w, const ContactPoint<T>& c) {
    if (w.shapes.moving_surfaces == 0) return false;
    const auto moves = [&](int shape) { return w.shapes.shapes[shape].moving_surface >= 0; };
    return moves(c.features.a) || moves(c.features.b);
}

// Motion of a shape's surface, relative to the shape, at the point p of its common frame. X: X_CS of the shape.
template <class T>
Motion<T> surface_motion(const World& w, const T* theta, int shape, const Transform<T>& X, const Vec3<T>& p) {
    const int n = w.shapes.shapes[shape].moving_surface;
    if (n < 0) return Motion<T>::zero();
    const Vec3<T> ang = X.R * load3(theta + w.shapes.surface_angular_velocity.at(n));
    return {ang, X.R * load3(theta + w.shapes.surface_velocity.at(n)) + ang.cross(p - X.p)};
}
template <class T>
void surface_motion_adj(const World& w, const T* theta, int shape, const Transform<T>& X, const Vec3<T>& p,
                        const Motion<T>& out_bar, T* theta_bar, Force<T>& X_bar, Vec3<T>& p_bar) {
    const int n = w.shapes.shapes[shape].moving_surface;
    if (n < 0) return;
    const int v = w.shapes.surface_velocity.at(n), spin = w.shapes.surface_angular_velocity.at(n);
    const Vec3<T> lin = X.R * load3(theta + v), ang = X.R * load3(theta + spin);
    const Vec3<T> ang_bar = out_bar.ang + (p - X.p).cross(out_bar.lin), arm_bar = out_bar.lin.cross(ang);
    add3<T>(theta_bar + v, X.R.transpose() * out_bar.lin);
    add3<T>(theta_bar + spin, X.R.transpose() * ang_bar);
    X_bar.ang += lin.cross(out_bar.lin) + ang.cross(ang_bar) - X.p.cross(arm_bar);
    X_bar.lin -= arm_bar;
    p_bar += arm_bar;
}

// The motion of a's surface minus that of b's at their contact, in the axes of the common frames.
template <class T>
Motion<T> surface_slip(const World& w, const T* theta, const ContactScratch<T>& s, const ContactPoint<T>& c) {
    const auto& [a, b] = std::pair(c.features.a, c.features.b);
    Motion<T> slip = surface_motion(w, theta, a, s.X_CS[a], c.geometry.point);
    slip -= surface_motion<T>(w, theta, b, s.X_CS[b], c.geometry.point - c.to_b);
    return slip;
}
template <class T>
void surface_slip_adj(const World& w, const T* theta, const Kinematics<T>& k, const ContactScratch<T>& s,
                      const ContactPoint<T>& c, const Motion<T>& out_bar, ContactPointBar<T>& c_bar,
                      KinematicsBar<T>& bar, T* theta_bar) {
    for (const auto& [shape, sign, to_it] :
         {std::tuple(c.features.a, 1, Vec3<T>(Vec3<T>::Zero())), std::tuple(c.features.b, -1, c.to_b)}) {
        Force<T> X_bar = Force<T>::zero();
        surface_motion_adj<T>(w, theta, shape, s.X_CS[shape], c.geometry.point - to_it, T(sign) * out_bar,
                              theta_bar, X_bar, c_bar.geometry.point);
        shape_pose_adj(w, theta, k, shape, s.X_CS[shape], X_bar, bar, theta_bar);
    }
}

// The velocity that a slip adds along direction i.
template <class T> T slip_along(const ContactPoint<T>& c, const Motion<T>& slip, int i) {
    if (i == 0 || i > 3) return T(0);
    return i == 3 ? T(c.torsional_arm * slip.ang.dot(c.geometry.normal)) : slip.lin.dot(c.direction(i));
}
template <class T>
void slip_along_adj(const ContactPoint<T>& c, const Motion<T>& slip, int i, const T& out_bar,
                    Motion<T>& slip_bar, ContactPointBar<T>& c_bar) {
    if (i == 0 || i > 3) return;
    const T arm = i == 3 ? c.torsional_arm : T(1);
    const Vec3<T>& of_slip = i == 3 ? slip.ang : slip.lin;
    (i == 3 ? slip_bar.ang : slip_bar.lin) += out_bar * arm * c.direction(i);
    c_bar.direction(i) += out_bar * arm * of_slip;
    if (i == 3) c_bar.torsional_arm += out_bar * of_slip.dot(c.direction(i));
}

// The same for row r
template <class T> T slip_along_row(const ContactPoint<T>& c, const Motion<T>& slip, int r) {
    if (!c.pyramid) return slip_along(c, slip, r);
    const PyramidEdge edge(r);
    return T(edge.sign) * c.friction * slip_along(c, slip, edge.k);
}
template <class T>
void slip_along_row_adj(const ContactPoint<T>& c, const Motion<T>& slip, int r, const T& out_bar,
                        Motion<T>& slip_bar, ContactPointBar<T>& c_bar) {
    if (!c.pyramid) return slip_along_adj(c, slip, r, out_bar, slip_bar, c_bar);
    const PyramidEdge edge(r);
    slip_along_adj<T>(c, slip, edge.k, T(edge.sign) * c.friction * out_bar, slip_bar, c_bar);
    c_bar.friction += T(edge.sign) * slip_along(c, slip, edge.k) * out_bar;
}

// The share of a slip in beta: 1, or h b of a soft row.
template <class T> T slip_share(const World& w, const T* theta, const RowBlock& block) {
    if (!block.soft.any()) return T(1);
    const T& h = w.h(theta);
    return h * soft_gains(soft_parameters(theta, block.soft), h).b;
}
template <class T>
void slip_share_adj(const World& w, const T* theta, const RowBlock& block, const T& out_bar, T* theta_bar) {
    if (!block.soft.any()) return;
    const T& h = w.h(theta);
    const SoftParameters<T> s = soft_parameters(theta, block.soft);
    SoftParameters<T> s_bar = SoftParameters<T>::Zero();
    T h_bar = soft_gains(s, h).b * out_bar;
    soft_gains_adj(s, h, {T(0), h * out_bar}, s_bar, h_bar);
    w.h(theta_bar) += h_bar;
    soft_parameters_adj(theta, block.soft, s_bar, theta_bar);
}

// Adds to beta of a contact's rows. Call after block_bias or soft_rows.
template <class T>
void moving_surface_rows(const World& w, const T* theta, const ContactScratch<T>& contacts,
                         const RowBlock& block, Rows<T>& rows) {
    const ContactPoint<T>& c = contacts.points[block.index];
    if (!surfaces_move(w, c)) return;
    const Motion<T> slip = surface_slip(w, theta, contacts, c);
    const T share = slip_share(w, theta, block);
    for (int r = 0; r < block.rows; ++r)
        rows.beta[block.row + r] += share * slip_along_row(c, slip, r);
}
// Input: rows.beta_bar. Adds to the covectors of the contact, of kinematics and of theta.
template <class T>
void moving_surface_rows_adj(const World& w, const T* theta, const Kinematics<T>& k,
                             ContactScratch<T>& contacts, const RowBlock& block, const Rows<T>& rows,
                             KinematicsBar<T>& bar, T* theta_bar) {
    const ContactPoint<T>& c = contacts.points[block.index];
    if (!surfaces_move(w, c)) return;
    const Motion<T> slip = surface_slip(w, theta, contacts, c);
    const T share = slip_share(w, theta, block);
    Motion<T> slip_bar = Motion<T>::zero();
    T share_bar(0);
    for (int r = 0; r < block.rows; ++r) {
        const T& beta_bar = rows.beta_bar[block.row + r];
        share_bar += beta_bar * slip_along_row(c, slip, r);
        slip_along_row_adj<T>(c, slip, r, share * beta_bar, slip_bar, contacts.points_bar[block.index]);
    }
    slip_share_adj(w, theta, block, share_bar, theta_bar);
    surface_slip_adj(w, theta, k, contacts, c, slip_bar, contacts.points_bar[block.index], bar, theta_bar);
}

}  // namespace costate
