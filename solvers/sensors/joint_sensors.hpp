// Sensors of joints and actuators.
#pragma once

#include "solvers/sensors/sensors.hpp"

namespace costate {

template <class T> void joint_position(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Body& b = in.w.model.bodies[s.body];
    std::copy(in.x + b.q0, in.x + b.q0 + b.nq, y);
}
template <class T>
void joint_position_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                        const SensorBars<T>& bar) {
    const Body& b = in.w.model.bodies[s.body];
    const JointKind& kind = joint_kind(b.joint);
    for (int c = 0; c < kind.numbers; ++c)
        bar.x[b.v0 + c] += y_bar[c];
    if (kind.rotations > 0)
        add3(bar.x + b.v0 + kind.numbers,
             quaternion_numbers_bar(load_quaternion(in.x + b.q0 + kind.numbers), y_bar + kind.numbers));
}

template <class T> void joint_velocity(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Body& b = in.w.model.bodies[s.body];
    std::copy(in.v() + b.v0, in.v() + b.v0 + b.nv, y);
}
template <class T>
void joint_velocity_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                        const SensorBars<T>& bar) {
    const Body& b = in.w.model.bodies[s.body];
    for (int j = 0; j < b.nv; ++j)
        bar.x[in.w.nv() + b.v0 + j] += y_bar[j];
}

// The force f of an actuator before its gear, by its law at (q, v, u) (core/model/actuator.hpp). A step with
// implicit velocity gains applies the law at v+ instead.
template <class T> T actuator_law_force(const SensorInputs<T>& in, int n) {
    const Model& m = in.w.model;
    const Actuator& a = m.actuators[n];
    const Saturation side = saturation(m, in.theta, in.x, in.v(), in.u, n);
    if (side.force != Side::within) return in.theta[end_of(a.force, side.force)];
    const ActuatorLaw<T> law = actuator_law(a.type, m.actuator, in.theta, n);
    const T& gear = in.theta[m.actuator.gear.at(n)];
    const T f = law.gain * clamped_control(a, in.theta, side, in.u[n]);
    if (!a.on_joint) return f;
    return f + law.b0 + law.b1 * gear * driven_coordinate(m, in.theta, a, in.x) +
           law.b2 * gear * driven_velocity(m, in.theta, a, in.v());
}
template <class T>
void actuator_law_force_adj(const SensorInputs<T>& in, int n, const T& f_bar, const SensorBars<T>& bar) {
    const Model& m = in.w.model;
    const Actuator& a = m.actuators[n];
    const Saturation side = saturation(m, in.theta, in.x, in.v(), in.u, n);
    if (side.force != Side::within) return void(bar.theta[end_of(a.force, side.force)] += f_bar);
    const ActuatorLaw<T> law = actuator_law(a.type, m.actuator, in.theta, n);
    const T& gear = in.theta[m.actuator.gear.at(n)];
    const T control = clamped_control(a, in.theta, side, in.u[n]);
    (side.control == Side::within ? bar.u[n] : bar.theta[end_of(a.control, side.control)]) +=
        f_bar * law.gain;
    ActuatorLaw<T> law_bar{f_bar * control, T(0), T(0), T(0)};
    if (a.on_joint) {
        const T q = driven_coordinate(m, in.theta, a, in.x), v = driven_velocity(m, in.theta, a, in.v());
        law_bar.b0 = f_bar;
        law_bar.b1 = f_bar * gear * q;
        law_bar.b2 = f_bar * gear * v;
        bar.theta[m.actuator.gear.at(n)] += f_bar * (law.b1 * q + law.b2 * v);
        driven_coordinate_adj<T>(m, in.theta, a, in.x, f_bar * law.b1 * gear, bar.theta, bar.x);
        driven_velocity_adj<T>(m, in.theta, a, in.v(), f_bar * law.b2 * gear, bar.theta, bar.x + in.w.nv());
    }
    actuator_law_adj(a.type, m.actuator, in.theta, n, law_bar, bar.theta);
}

template <class T> void actuator_force(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = actuator_law_force(in, s.actuator);
}
template <class T>
void actuator_force_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                        const SensorBars<T>& bar) {
    actuator_law_force_adj(in, s.actuator, y_bar[0], bar);
}

// visit(n, coefficient) for the actuators that act on the joint of a body, with the index in theta of their
// tendon's coefficient, or -1.
template <class T, class Visit>
void for_each_actuator_of(const SensorInputs<T>& in, int body, const Visit& visit) {
    const Model& m = in.w.model;
    for (int n = 0; n < m.nu; ++n) {
        const Actuator& a = m.actuators[n];
        if (!a.on_joint) continue;
        if (a.tendon < 0 && a.body == body) visit(n, -1);
        if (a.tendon < 0) continue;
        const Tendon& tendon = m.tendons[a.tendon];
        for (size_t i = 0; i < tendon.joints.size(); ++i)
            if (tendon.joints[i].v == m.bodies[body].v0) visit(n, tendon.coefficients + static_cast<int>(i));
    }
}

// sum of c gear f over the actuators of the joint; c is the coefficient of a tendon, or 1
template <class T> void joint_effort(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = T(0);
    for_each_actuator_of(in, s.body, [&](int n, int c) {
        const T force = in.theta[in.w.model.actuator.gear.at(n)] * actuator_law_force(in, n);
        y[0] += c < 0 ? force : T(in.theta[c] * force);
    });
}
template <class T>
void joint_effort_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    for_each_actuator_of(in, s.body, [&](int n, int c) {
        const int gear = in.w.model.actuator.gear.at(n);
        const T f = actuator_law_force(in, n), force_bar = c < 0 ? y_bar[0] : T(y_bar[0] * in.theta[c]);
        if (c >= 0) bar.theta[c] += y_bar[0] * in.theta[gear] * f;
        bar.theta[gear] += force_bar * f;
        actuator_law_force_adj(in, n, T(force_bar * in.theta[gear]), bar);
    });
}

template <class T> void actuator_position(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Model& m = in.w.model;
    y[0] = in.theta[m.actuator.gear.at(s.actuator)] *
           driven_coordinate(m, in.theta, m.actuators[s.actuator], in.x);
}
template <class T>
void actuator_position_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                           const SensorBars<T>& bar) {
    const Model& m = in.w.model;
    const Actuator& a = m.actuators[s.actuator];
    const int gear = m.actuator.gear.at(s.actuator);
    bar.theta[gear] += y_bar[0] * driven_coordinate(m, in.theta, a, in.x);
    driven_coordinate_adj<T>(m, in.theta, a, in.x, y_bar[0] * in.theta[gear], bar.theta, bar.x);
}

template <class T> void actuator_velocity(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Model& m = in.w.model;
    y[0] = in.theta[m.actuator.gear.at(s.actuator)] *
           driven_velocity(m, in.theta, m.actuators[s.actuator], in.v());
}
template <class T>
void actuator_velocity_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                           const SensorBars<T>& bar) {
    const Model& m = in.w.model;
    const Actuator& a = m.actuators[s.actuator];
    const int gear = m.actuator.gear.at(s.actuator);
    bar.theta[gear] += y_bar[0] * driven_velocity(m, in.theta, a, in.v());
    driven_velocity_adj<T>(m, in.theta, a, in.v(), y_bar[0] * in.theta[gear], bar.theta, bar.x + in.w.nv());
}

}  // namespace costate
