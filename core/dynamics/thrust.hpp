// Thrusters, for example rotors and jets. A thruster applies the force x = gear f at a point of its body
// along an axis, where f is its control clamped to the control and force limits, and a moment in proportion to
// x. Without an axis (zero) it applies the moment alone.
#pragma once

#include "core/dynamics/actuation.hpp"

namespace costate {

// The force x, N
template <class T>
T thrust_force(const Model& m, const T* theta, const Saturation<T>& s, const T* ctrl, int n) {
    const Actuator& a = m.actuators[n];
    return theta[m.actuator.gear.at(n)] *
           hold_in_range(a.force, s.force, theta, clamped_control(a, theta, s, ctrl[n]));
}
template <class T>
void thrust_force_adj(const Model& m, const T* theta, const Saturation<T>& s, const T* ctrl, int n,
                      const T& x_bar, T* theta_bar, T* ctrl_bar) {
    const Actuator& a = m.actuators[n];
    const T f = hold_in_range(a.force, s.force, theta, clamped_control(a, theta, s, ctrl[n]));
    T control_bar(0);
    theta_bar[m.actuator.gear.at(n)] += x_bar * f;
    hold_in_range_adj(a.force, s.force, T(x_bar * theta[m.actuator.gear.at(n)]), theta_bar, control_bar);
    hold_in_range_adj(a.control, s.control, control_bar, theta_bar, ctrl_bar[n]);
}

// The wrench U = (r x d + mu, d) of a unit force, with axis d, moment mu per force and point r in the common
// frame. X: pose of the body.
template <class T> Force<T> unit_thrust(const Actuator& a, const Transform<T>& X) {
    const Vec3<T> d = rotate(X, cast<T>(a.axis)), r = transform_point(X, cast<T>(a.position));
    return {r.cross(d) + rotate(X, cast<T>(a.moment)), d};
}
// With U_bar = (w, u):   d_bar = u + w x r,   mu_bar = w,   r_bar = d x w
template <class T>
void unit_thrust_adj(const Actuator& a, const Transform<T>& X, const Motion<T>& U_bar, Force<T>& X_bar) {
    const Vec3<T> axis = cast<T>(a.axis), position = cast<T>(a.position);
    const Vec3<T> d = rotate(X, axis), r = transform_point(X, position);
    Vec3<T> unused = Vec3<T>::Zero();
    rotate_adj(X, axis, Vec3<T>(U_bar.lin + U_bar.ang.cross(r)), X_bar, unused);
    rotate_adj(X, cast<T>(a.moment), U_bar.ang, X_bar, unused);
    transform_point_adj(X, position, Vec3<T>(d.cross(U_bar.ang)), X_bar, unused);
}

// tau_j += S_j . x U  on the path from the body to the world
template <class T>
void thrust(const Model& m, const T* theta, const Kinematics<T>& k, const Saturation<T>* saturations,
            const T* ctrl,
            T* tau)  // (nv) N m or N
{
    for (int n = 0; n < m.nu; ++n) {
        const Actuator& a = m.actuators[n];
        if (a.type != ActuatorType::thruster) continue;
        const Force<T> W = thrust_force(m, theta, saturations[n], ctrl, n) * unit_thrust(a, k.X[a.body]);
        for (int j = m.bodies[a.body].last_dof; j >= 0; j = m.dofs[j].parent)
            tau[j] += dot(k.S[j], W);
    }
}
// W_bar = sum_j tau_bar_j S_j:   S_bar_j += tau_bar_j W,   x_bar = W_bar . U,   U_bar = x W_bar
template <class T>
void thrust_adj(const Model& m, const T* theta, const Kinematics<T>& k, const Saturation<T>* saturations,
                const T* ctrl, const T* tau_bar, KinematicsBar<T>& bar, T* theta_bar, T* ctrl_bar) {
    for (int n = m.nu; n-- > 0;) {
        const Actuator& a = m.actuators[n];
        if (a.type != ActuatorType::thruster) continue;
        const Force<T> U = unit_thrust(a, k.X[a.body]);
        const T x = thrust_force(m, theta, saturations[n], ctrl, n);
        Motion<T> W_bar = Motion<T>::zero();
        for (int j = m.bodies[a.body].last_dof; j >= 0; j = m.dofs[j].parent) {
            const size_t i = j;
            W_bar += tau_bar[j] * k.S[i];
            bar.S[i] += (tau_bar[j] * x) * U;
        }
        thrust_force_adj(m, theta, saturations[n], ctrl, n, dot(W_bar, U), theta_bar, ctrl_bar);
        unit_thrust_adj<T>(a, k.X[a.body], x * W_bar, bar.X[a.body]);
    }
}

}  // namespace costate
