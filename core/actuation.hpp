// Generalised forces that are not dynamics: springs, damping and actuators.
//
// Damping is implicit: it enters the step through the diagonal B (M + h B on the left-hand side), never through tau.
// A servo that is not saturated gives kp (ctrl - q) to tau and kd to B; a saturated one gives its limit to tau and nothing to
// B. Which of the two is decided at (q, v), and the case is part of the step's branch hash. At the limit itself the
// derivative is that of the unsaturated side.
#pragma once

#include "core/model.hpp"

namespace costate {

enum class Saturation : unsigned char { none, lower, upper };

// Which piece of its characteristic an actuator is on.
template <class T> Saturation saturation(const Model& m, const T* theta, const T* q, const T* v, const T* ctrl, int n) {
    const Actuator& a = m.actuators[static_cast<size_t>(n)];
    const T x = a.type == ActuatorType::motor ? ctrl[n] : theta[m.kp.at(n)] * (ctrl[n] - q[a.q]) - theta[m.kd.at(n)] * v[a.v];
    return value_of(x) < a.lower ? Saturation::lower : (value_of(x) > a.upper ? Saturation::upper : Saturation::none);
}

template <class T>
void actuation(const Model& m, const T* theta,
               const T* q,               // (nq)
               const T* v,               // (nv)
               const T* ctrl,            // (nu)
               Saturation* saturations,  // out (nu)
               T* tau,                   // out (nv) N m or N
               T* B)                     // out (nv) N m s/rad or N s/m
{
    for (int j = 0; j < m.nv; ++j) tau[j] = T(0), B[j] = theta[m.damping.at(j)];
    for (const Body& b : m.bodies)
        if (b.nv == 1) tau[b.v0] = theta[m.stiffness.at(b.v0)] * (theta[m.rest.at(b.v0)] - q[b.q0]);
    for (int n = 0; n < m.nu; ++n) {
        const Actuator& a = m.actuators[static_cast<size_t>(n)];
        const Saturation side = saturations[n] = saturation(m, theta, q, v, ctrl, n);
        const T limit = T(side == Saturation::lower ? a.lower : a.upper);
        if (a.type == ActuatorType::motor) {
            tau[a.v] += theta[m.gear.at(n)] * (side == Saturation::none ? ctrl[n] : limit);
        } else if (side == Saturation::none) {
            tau[a.v] += theta[m.kp.at(n)] * (ctrl[n] - q[a.q]);
            B[a.v] += theta[m.kd.at(n)];
        } else {
            tau[a.v] += limit;
        }
    }
}

template <class T>
void actuation_adj(const Model& m, const T* theta, const T* q, const T* ctrl, const Saturation* saturations, const T* tau_bar, const T* B_bar,
                   T* theta_bar, T* q_bar, T* ctrl_bar) {
    for (int n = m.nu; n-- > 0;) {
        const Actuator& a = m.actuators[static_cast<size_t>(n)];
        const Saturation side = saturations[n];
        if (a.type == ActuatorType::motor) {
            theta_bar[m.gear.at(n)] += tau_bar[a.v] * (side == Saturation::none ? ctrl[n] : T(side == Saturation::lower ? a.lower : a.upper));
            if (side == Saturation::none) ctrl_bar[n] += theta[m.gear.at(n)] * tau_bar[a.v];
        } else if (side == Saturation::none) {
            const T pull = theta[m.kp.at(n)] * tau_bar[a.v];
            theta_bar[m.kp.at(n)] += tau_bar[a.v] * (ctrl[n] - q[a.q]);
            theta_bar[m.kd.at(n)] += B_bar[a.v];
            ctrl_bar[n] += pull;
            q_bar[a.v] -= pull;
        }
    }
    for (const Body& b : m.bodies) {
        if (b.nv != 1) continue;
        const int j = b.v0;
        theta_bar[m.stiffness.at(j)] += tau_bar[j] * (theta[m.rest.at(j)] - q[b.q0]);
        theta_bar[m.rest.at(j)] += tau_bar[j] * theta[m.stiffness.at(j)];
        q_bar[j] -= tau_bar[j] * theta[m.stiffness.at(j)];
    }
    for (int j = 0; j < m.nv; ++j) theta_bar[m.damping.at(j)] += B_bar[j];
}

}  // namespace costate
