// Forces of a resting or flowing medium on bodies, by MuJoCo's inertia model (MuJoCo documentation, "Fluid
// forces"). Each body is a box with edges b about its centre of mass. With the velocities w and u of the box
// relative to the medium, in its axes, density rho, viscosity mu, and d the mean of the edges, the moment n
// about its centre and the force f are
//
//   n_k = -pi mu d^3 w_k - rho/64 b_k (b_i^4 + b_j^4) |w_k| w_k
//   f_k = -3 pi mu d u_k - rho/2 b_i b_j |u_k| u_k
//
// with i, j the other two axes. They are explicit: evaluated at the beginning of a step.
#pragma once

#include <cmath>

#include "core/dynamics/wrenches.hpp"

namespace costate {

// (n, f) of a box with given half extents, m, at the relative velocity v; both in axes of the box.
template <class T>
Force<T> box_drag(const T& density, const T& viscosity, const Vec3<T>& half, const Motion<T>& v) {
    using std::abs;
    constexpr double pi = 3.14159265358979323846;
    const Vec3<T> b = T(2) * half;
    const T d = b.sum() / T(3);
    Force<T> F = Force<T>::zero();
    for (int k = 0; k < 3; ++k) {
        const T &b_i = b[(k + 1) % 3], &b_j = b[(k + 2) % 3], &w = v.ang[k], &u = v.lin[k];
        const T fourth = b_i * b_i * b_i * b_i + b_j * b_j * b_j * b_j;
        F.ang[k] = -T(pi) * viscosity * d * d * d * w - density / T(64) * b[k] * fourth * abs(w) * w;
        F.lin[k] = -T(3 * pi) * viscosity * d * u - T(0.5) * density * b_i * b_j * abs(u) * u;
    }
    return F;
}
// With F_bar = (n_bar, f_bar), the derivatives of each term by mu, rho, d, the edges, w and u in turn.
template <class T>
void box_drag_adj(const T& density, const T& viscosity, const Vec3<T>& half, const Motion<T>& v,
                  const Motion<T>& F_bar, T& density_bar, T& viscosity_bar, Vec3<T>& half_bar,
                  Force<T>& v_bar) {
    using std::abs;
    constexpr double pi = 3.14159265358979323846;
    const Vec3<T> b = T(2) * half;
    const T d = b.sum() / T(3);
    T d_bar(0);
    for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const T &w = v.ang[k], &u = v.lin[k], &n_bar = F_bar.ang[k], &f_bar = F_bar.lin[k];
        const T speed_w = abs(w), speed_u = abs(u);
        const T fourth = b[i] * b[i] * b[i] * b[i] + b[j] * b[j] * b[j] * b[j];
        const T drag_n = n_bar * speed_w * w / T(64), drag_f = T(0.5) * f_bar * speed_u * u;
        // viscous terms
        viscosity_bar -= T(pi) * (n_bar * d * d * d * w + T(3) * f_bar * d * u);
        d_bar -= T(3 * pi) * viscosity * (n_bar * d * d * w + f_bar * u);
        v_bar.ang[k] -= n_bar * (T(pi) * viscosity * d * d * d + density / T(32) * b[k] * fourth * speed_w);
        // quadratic terms
        density_bar -= drag_n * b[k] * fourth + drag_f * b[i] * b[j];
        half_bar[k] -= T(2) * density * drag_n * fourth;
        half_bar[i] -= T(2) * density * (T(4) * drag_n * b[k] * b[i] * b[i] * b[i] + drag_f * b[j]);
        half_bar[j] -= T(2) * density * (T(4) * drag_n * b[k] * b[j] * b[j] * b[j] + drag_f * b[i]);
        v_bar.lin[k] -= f_bar * (T(3 * pi) * viscosity * d + density * b[i] * b[j] * speed_u);
    }
    for (T& x : half_bar)
        x += T(2) * d_bar / T(3);
}

// A drag box in motion: its axes and its centre in the common frame, and its velocity relative to the medium,
// in its own axes.
template <class T> struct MovingBox {
    Mat3<T> R;
    Vec3<T> centre;
    Motion<T> v;
};
template <class T>
MovingBox<T> moving_box(const Model& m, const T* theta, const Kinematics<T>& k, const DragBox& box) {
    const Transform<T>& X = k.X[box.body];
    const Mat3<T> R = X.R * cast<T>(box.R);
    const Vec3<T> c = transform_point(X, load3(theta + m.com.at(box.body)));
    const Vec3<T> u = point_velocity(k.V[box.body], c) - load3(theta + m.wind.at(0));
    return {R, c, {R.transpose() * k.V[box.body].ang, R.transpose() * u}};
}

// The wrench of the medium on the body of drag box n, in the common frame.
template <class T> Force<T> medium_wrench(const Model& m, const T* theta, const Kinematics<T>& k, int n) {
    const MovingBox<T> box = moving_box(m, theta, k, m.drag_boxes[n]);
    const Force<T> F =
        box_drag(theta[m.density.at(0)], theta[m.viscosity.at(0)], load3(theta + m.drag_box.at(n)), box.v);
    const Force<T> W = point_force<T>(box.centre, box.R * F.lin);
    return {W.ang + box.R * F.ang, W.lin};
}
// A vector of the box turns with its body: for y = R x, X_bar.ang += y x y_bar; for x = R^T y, += R x_bar x y.
template <class T>
void medium_wrench_adj(const Model& m, const T* theta, const Kinematics<T>& k, int n, const Motion<T>& W_bar,
                       KinematicsBar<T>& bar, T* theta_bar) {
    const DragBox& drag_box = m.drag_boxes[n];
    const int body = drag_box.body, com = m.com.at(body), half = m.drag_box.at(n);
    const MovingBox<T> box = moving_box(m, theta, k, drag_box);
    const T &density = theta[m.density.at(0)], &viscosity = theta[m.viscosity.at(0)];
    const Vec3<T> half_extents = load3(theta + half);
    const Force<T> F = box_drag(density, viscosity, half_extents, box.v);
    Force<T>& X_bar = bar.X[body];
    // the wrench from the force and the moment
    const Vec3<T> f = box.R * F.lin, moment = box.R * F.ang;
    Vec3<T> centre_bar = Vec3<T>::Zero(), f_bar = Vec3<T>::Zero(), half_bar = Vec3<T>::Zero();
    point_force_adj(box.centre, f, W_bar, centre_bar, f_bar);
    X_bar.ang += f.cross(f_bar) + moment.cross(W_bar.ang);
    // force and moment
    Force<T> v_bar = Force<T>::zero();
    box_drag_adj<T>(density, viscosity, half_extents, box.v,
                    {box.R.transpose() * W_bar.ang, box.R.transpose() * f_bar}, theta_bar[m.density.at(0)],
                    theta_bar[m.viscosity.at(0)], half_bar, v_bar);
    add3(theta_bar + half, half_bar);
    // velocity of the box
    const Vec3<T> w = k.V[body].ang, u = box.R * box.v.lin, w_bar = box.R * v_bar.ang,
                  u_bar = box.R * v_bar.lin;
    X_bar.ang += w_bar.cross(w) + u_bar.cross(u);
    bar.V[body].ang += w_bar;
    point_velocity_adj(k.V[body], box.centre, u_bar, bar.V[body], centre_bar);
    add3<T>(theta_bar + m.wind.at(0), -u_bar);
    Vec3<T> com_bar = Vec3<T>::Zero();
    transform_point_adj(k.X[body], load3(theta + com), centre_bar, X_bar, com_bar);
    add3(theta_bar + com, com_bar);
}

// tau_j += S_j . W  on the path from the body of each drag box to the world
template <class T>
void medium_forces(const Model& m, const T* theta, const Kinematics<T>& k,
                   T* tau)  // (nv) N m or N
{
    for (size_t n = 0; n < m.drag_boxes.size(); ++n) {
        const Force<T> W = medium_wrench(m, theta, k, static_cast<int>(n));
        for (int j = m.bodies[m.drag_boxes[n].body].last_dof; j >= 0; j = m.dofs[j].parent)
            tau[j] += dot(k.S[j], W);
    }
}
// W_bar = sum_j tau_bar_j S_j,   S_bar_j += tau_bar_j W
template <class T>
void medium_forces_adj(const Model& m, const T* theta, const Kinematics<T>& k, const T* tau_bar,
                       KinematicsBar<T>& bar, T* theta_bar) {
    for (size_t n = 0; n < m.drag_boxes.size(); ++n) {
        const Force<T> W = medium_wrench(m, theta, k, static_cast<int>(n));
        Motion<T> W_bar = Motion<T>::zero();
        for (int j = m.bodies[m.drag_boxes[n].body].last_dof; j >= 0; j = m.dofs[j].parent) {
            W_bar += tau_bar[j] * k.S[j];
            bar.S[j] += tau_bar[j] * W;
        }
        medium_wrench_adj(m, theta, k, static_cast<int>(n), W_bar, bar, theta_bar);
    }
}

}  // namespace costate
