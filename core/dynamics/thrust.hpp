// Thrusters, for example rotors and jets. A thruster applies the force x = gear f at a point of its body
// along an axis, where f is its control clamped to the control and force limits, and the moment drag x about
// that axis.
#pragma once

#include "core/dynamics/actuation.hpp"

namespace costate {

// The force x, N
template <class T> T thrust_force(const Model& m, const T* theta, const Saturation& s, const T* ctrl, int n) {
    const Actuator& a = m.actuators[n];
    return theta[m.actuator.gear.at(n)] * (s.force == Side::within ? clamped_control(a, theta, s, ctrl[n])
                                                                   : theta[end_of(a.force, s.force)]);
}
template <class T>
void thrust_force_adj(const Model& m, const T* theta, const Saturation& s, const T* ctrl, int n,
                      const T& x_bar, T* theta_bar, T* ctrl_bar) {
    const Actuator& a = m.actuators[n];
    const T& gear = theta[m.actuator.gear.at(n)];
    if (s.force != Side::within) {
        theta_bar[m.actuator.gear.at(n)] += x_bar * theta[end_of(a.force, s.force)];
        theta_bar[end_of(a.force, s.force)] += x_bar * gear;
        return;
    }
    theta_bar[m.actuator.gear.at(n)] += x_bar * clamped_control(a, theta, s, ctrl[n]);
    (s.control == Side::within ? ctrl_bar[n] : theta_bar[end_of(a.control, s.control)]) += x_bar * gear;
}

// tau_j += S_j . x U  on the path from the body to the world,   U = (r x d + drag d, d),
// with axis d and point r in the common frame
template <class T>
void thrust(const Model& m, const T* theta, const Kinematics<T>& k, const Saturation* saturations,
            const T* ctrl,
            T* tau)  // (nv) N m or N
{
    for (int n = 0; n < m.nu; ++n) {
        const Actuator& a = m.actuators[n];
        if (a.type != ActuatorType::thruster) continue;
        const Transform<T>& X = k.X[a.body];
        const Vec3<T> d = rotate(X, cast<T>(a.axis)), r = transform_point(X, cast<T>(a.position));
        const T x = thrust_force(m, theta, saturations[n], ctrl, n);
        const Force<T> W{x * (r.cross(d) + T(a.drag) * d), x * d};
        for (int j = m.bodies[a.body].last_dof; j >= 0; j = m.dofs[j].parent)
            tau[j] += dot(k.S[j], W);
    }
}
// W_bar = sum_j tau_bar_j S_j = (w, u):
// S_bar_j += tau_bar_j W,   x_bar = W_bar . U,   d_bar = x (u + w x r + drag w),   r_bar = x d x w
template <class T>
void thrust_adj(const Model& m, const T* theta, const Kinematics<T>& k, const Saturation* saturations,
                const T* ctrl, const T* tau_bar, KinematicsBar<T>& bar, T* theta_bar, T* ctrl_bar) {
    for (int n = m.nu; n-- > 0;) {
        const Actuator& a = m.actuators[n];
        if (a.type != ActuatorType::thruster) continue;
        const Transform<T>& X = k.X[a.body];
        const Vec3<T> axis = cast<T>(a.axis), position = cast<T>(a.position);
        const Vec3<T> d = rotate(X, axis), r = transform_point(X, position);
        const T x = thrust_force(m, theta, saturations[n], ctrl, n), drag(a.drag);
        const Force<T> U{r.cross(d) + drag * d, d};
        Motion<T> W_bar = Motion<T>::zero();
        for (int j = m.bodies[a.body].last_dof; j >= 0; j = m.dofs[j].parent) {
            const size_t i = j;
            W_bar += tau_bar[j] * k.S[i];
            bar.S[i] += (tau_bar[j] * x) * U;
        }
        thrust_force_adj(m, theta, saturations[n], ctrl, n, dot(W_bar, U), theta_bar, ctrl_bar);
        Vec3<T> unused = Vec3<T>::Zero();
        rotate_adj(X, axis, Vec3<T>(x * (W_bar.lin + W_bar.ang.cross(r) + drag * W_bar.ang)), bar.X[a.body],
                   unused);
        transform_point_adj(X, position, Vec3<T>(x * d.cross(W_bar.ang)), bar.X[a.body], unused);
    }
}

}  // namespace costate
