// Passive and actuator forces: springs, damping and actuators of joints.
//
// Damping is implicit: it enters the step through the diagonal B (M + h B on the left-hand side), not through
// tau. The velocity gain of an actuator that resists motion (b_2 <= 0) and is not saturated is implicit, too.
// A saturated actuator contributes its limit to tau and nothing to B. Saturation is decided at (q, v)
// (core/dynamics/range.hpp). Spatial tendons and actuators on them follow the kinematics
// (core/dynamics/spatial_tendon.hpp).
#pragma once

#include "core/dynamics/joint_spring.hpp"
#include "core/dynamics/kinematics.hpp"
#include "core/dynamics/range.hpp"
#include "core/dynamics/tendon.hpp"

namespace costate {

// The active piece of an actuator's piecewise characteristic. The limits of a control do not apply to an activation,
// which is what `ctrl` holds for an actuator that has one.
template <class T> struct Saturation {
    RangeSides<T> control, force;
    // b_2 <= 0, no muscle and not on a tendon, whose velocity couples dofs; matters only if the force is within its
    // limits
    bool implicit = true;
    MusclePiece muscle = {};  // the pieces of its curves
};

template <class T>
T clamped_control(const Actuator& a, const T* theta, const Saturation<T>& s, const T& ctrl) {
    return hold_in_range(a.control, s.control, theta, ctrl);
}

// Coordinate, velocity and force of what an actuator drives, before the gear: a joint or a fixed tendon.
template <class T> T driven_coordinate(const Model& m, const T* theta, const Actuator& a, const T* q) {
    return a.tendon < 0 ? q[a.q] : tendon_length(m.tendons[a.tendon], theta, q);
}
template <class T>
void driven_coordinate_adj(const Model& m, const T* theta, const Actuator& a, const T* q, const T& bar,
                           T* theta_bar, T* q_bar) {
    if (a.tendon < 0)
        q_bar[a.v] += bar;
    else
        tendon_length_adj(m.tendons[a.tendon], theta, q, bar, theta_bar, q_bar);
}
template <class T> T driven_velocity(const Model& m, const T* theta, const Actuator& a, const T* v) {
    return a.tendon < 0 ? v[a.v] : tendon_velocity(m.tendons[a.tendon], theta, v);
}
template <class T>
void driven_velocity_adj(const Model& m, const T* theta, const Actuator& a, const T* v, const T& bar,
                         T* theta_bar, T* v_bar) {
    if (a.tendon < 0)
        v_bar[a.v] += bar;
    else
        tendon_velocity_adj(m.tendons[a.tendon], theta, v, bar, theta_bar, v_bar);
}
template <class T> void drive(const Model& m, const T* theta, const Actuator& a, const T& force, T* tau) {
    if (a.tendon < 0)
        tau[a.v] += force;
    else
        pull_tendon(m.tendons[a.tendon], theta, force, tau);
}
template <class T>
void drive_adj(const Model& m, const T* theta, const Actuator& a, const T& force, const T* tau_bar,
               T* theta_bar, T& force_bar) {
    if (a.tendon < 0)
        force_bar += tau_bar[a.v];
    else
        pull_tendon_adj(m.tendons[a.tendon], theta, force, tau_bar, theta_bar, force_bar);
}

// coordinate, velocity: of what the actuator drives
template <class T>
Saturation<T> saturation(const Model& m, const T* theta, const T& coordinate, const T& velocity,
                         const T* ctrl, int n) {
    const Actuator& a = m.actuators[n];
    const T& gear = theta[m.actuator.gear.at(n)];
    Saturation<T> s;
    if (a.activation < 0) s.control = range_sides(value_of(ctrl[n]), a.control, theta);
    const T control = clamped_control(a, theta, s, ctrl[n]);
    const T length = gear * coordinate, rate = gear * velocity;
    const ActuatorLaw<T> law = actuator_law_at(a, m.actuator, theta, n, control, length, rate);
    const T f = law.gain * control + law.b0 + law.b1 * gear * coordinate + law.b2 * gear * velocity;
    s.force = range_sides(value_of(f), a.force, theta);
    if (a.muscle >= 0) s.muscle = muscle_piece(theta + a.muscle, length, rate);
    s.implicit = a.tendon < 0 && a.muscle < 0 && value_of(law.b2) <= 0;
    return s;
}

// What an actuator applies: the force gear f without the part that is implicit, and the implicit damping.
template <class T> struct ActuatorOutput { T force, damping; };

template <class T>
ActuatorOutput<T> actuator_output(const Model& m, const T* theta, const T& coordinate, const T& velocity,
                                  const T* ctrl, const Saturation<T>& s, int n) {
    const Actuator& a = m.actuators[n];
    const T control = clamped_control(a, theta, s, ctrl[n]);
    const T& gear = theta[m.actuator.gear.at(n)];
    const ActuatorLaw<T> law =
        actuator_law_at<T>(a, m.actuator, theta, n, control, gear * coordinate, gear * velocity);
    T f = law.gain * control + law.b0 + law.b1 * gear * coordinate, damping(0);
    if (s.implicit)
        damping = where(s.force.within(), T(-(law.b2 * gear * gear)), T(0));
    else
        f += law.b2 * gear * velocity;
    return {gear * hold_in_range(a.force, s.force, theta, f), damping};
}
template <class T>
void actuator_output_adj(const Model& m, const T* theta, const T& coordinate, const T& velocity,
                         const T* ctrl, const Saturation<T>& s, int n, const ActuatorOutput<T>& bar,
                         T* theta_bar, T& coordinate_bar, T& velocity_bar, T* ctrl_bar) {
    const Actuator& a = m.actuators[n];
    const T control = clamped_control(a, theta, s, ctrl[n]);
    const T& gear = theta[m.actuator.gear.at(n)];
    const T length = gear * coordinate, speed = gear * velocity;
    const ActuatorLaw<T> law = actuator_law_at(a, m.actuator, theta, n, control, length, speed);
    T& gear_bar = theta_bar[m.actuator.gear.at(n)];
    const T f = law.gain * control + law.b0 + law.b1 * length;  // without b_2
    T f_bar(0), control_bar(0);
    hold_in_range_adj(a.force, s.force, T(gear * bar.force), theta_bar, f_bar);
    gear_bar += bar.force * hold_in_range(a.force, s.force, theta, f) + f_bar * law.b1 * coordinate;
    if (!any(s.force.within())) return;
    ActuatorLaw<T> law_bar{f_bar * control, f_bar, f_bar * length, T(0)};
    coordinate_bar += f_bar * law.b1 * gear;
    control_bar += f_bar * law.gain;
    if (s.implicit) {
        const T damping_bar = where(s.force.within(), bar.damping, T(0));
        law_bar.b2 = -damping_bar * gear * gear;
        gear_bar -= T(2) * damping_bar * law.b2 * gear;
    } else {
        law_bar.b2 = f_bar * speed;
        gear_bar += T(2) * where(s.force.within(), bar.force, T(0)) * law.b2 * speed;
        velocity_bar += f_bar * law.b2 * gear;
    }
    T length_bar(0), speed_bar(0);
    actuator_law_at_adj(a, m.actuator, theta, n, control, length, speed, law_bar, theta_bar, control_bar,
                        length_bar, speed_bar);
    hold_in_range_adj(a.control, s.control, control_bar, theta_bar, ctrl_bar[n]);
    if (a.muscle < 0) return;
    coordinate_bar += length_bar * gear;
    velocity_bar += speed_bar * gear;
    gear_bar += length_bar * coordinate + speed_bar * velocity;
}

// Adds an actuator of a joint or a fixed tendon to tau and B of its dofs.
template <class T>
void actuator_force(const Model& m, const T* theta, const T* q, const T* v, const T* ctrl,
                    const Saturation<T>& s, int n, T* tau, T* B) {
    const Actuator& a = m.actuators[n];
    const ActuatorOutput<T> out = actuator_output<T>(m, theta, driven_coordinate(m, theta, a, q),
                                                     driven_velocity(m, theta, a, v), ctrl, s, n);
    drive(m, theta, a, out.force, tau);
    if (a.tendon < 0) B[a.v] += out.damping;
}
template <class T>
void actuator_force_adj(const Model& m, const T* theta, const T* q, const T* v, const T* ctrl,
                        const Saturation<T>& s, int n, const T* tau_bar, const T* B_bar, T* theta_bar,
                        T* q_bar, T* v_bar, T* ctrl_bar) {
    const Actuator& a = m.actuators[n];
    const T coordinate = driven_coordinate(m, theta, a, q), velocity = driven_velocity(m, theta, a, v);
    ActuatorOutput<T> bar{T(0), a.tendon < 0 ? B_bar[a.v] : T(0)};
    drive_adj<T>(m, theta, a, actuator_output(m, theta, coordinate, velocity, ctrl, s, n).force, tau_bar,
                 theta_bar, bar.force);
    T coordinate_bar(0), velocity_bar(0);
    actuator_output_adj(m, theta, coordinate, velocity, ctrl, s, n, bar, theta_bar, coordinate_bar,
                        velocity_bar, ctrl_bar);
    if (!any(s.force.within())) return;
    driven_coordinate_adj(m, theta, a, q, coordinate_bar, theta_bar, q_bar);
    if (!s.implicit) driven_velocity_adj(m, theta, a, v, velocity_bar, theta_bar, v_bar);
}

// Forces of joints, of fixed tendons and of the actuators on both.
template <class T>
void actuation(const Model& m, const T* theta,
               const T* q,                  // (nq)
               const T* v,                  // (nv)
               const T* ctrl,               // (nu)
               Saturation<T>* saturations,  // out (nu)
               T* tau,                      // out (nv) N m or N
               T* B)                        // out (nv) N m s/rad or N s/m
{
    for (int j = 0; j < m.nv; ++j) {
        tau[j] = T(0);
        B[j] = theta[m.damping.at(j)];
    }
    for (const Body& b : m.bodies)
        spring_force(m, theta, b, q, tau);
    for (size_t i = 0; i < m.tendons.size(); ++i)
        if (!m.tendons[i].spatial()) passive_tendon(m, theta, q, v, static_cast<int>(i), tau);
    for (int n = 0; n < m.nu; ++n) {
        const Actuator& a = m.actuators[n];
        if (m.drives_path(a)) continue;
        saturations[n] = saturation<T>(m, theta, driven_coordinate(m, theta, a, q),
                                       driven_velocity(m, theta, a, v), ctrl, n);
        if (a.on_joint) actuator_force(m, theta, q, v, ctrl, saturations[n], n, tau, B);
    }
}

template <class T>
void actuation_adj(const Model& m, const T* theta, const T* q, const T* v, const T* ctrl,
                   const Saturation<T>* saturations, const T* tau_bar, const T* B_bar, T* theta_bar, T* q_bar,
                   T* v_bar, T* ctrl_bar) {
    for (int n = m.nu; n-- > 0;)
        if (m.actuators[n].on_joint && !m.drives_path(m.actuators[n]))
            actuator_force_adj(m, theta, q, v, ctrl, saturations[n], n, tau_bar, B_bar, theta_bar, q_bar,
                               v_bar, ctrl_bar);
    for (size_t i = 0; i < m.tendons.size(); ++i)
        if (!m.tendons[i].spatial())
            passive_tendon_adj(m, theta, q, v, static_cast<int>(i), tau_bar, theta_bar, q_bar, v_bar);
    for (const Body& b : m.bodies)
        spring_force_adj(m, theta, b, q, tau_bar, theta_bar, q_bar);
    for (int j = 0; j < m.nv; ++j)
        theta_bar[m.damping.at(j)] += B_bar[j];
}

}  // namespace costate
