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
    return a.on_joint ? T(f + law.b0 + law.b1 * gear * in.x[a.q] + law.b2 * gear * in.v()[a.v]) : f;
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
        const T &q = in.x[a.q], &v = in.v()[a.v];
        law_bar.b0 = f_bar;
        law_bar.b1 = f_bar * gear * q;
        law_bar.b2 = f_bar * gear * v;
        bar.theta[m.actuator.gear.at(n)] += f_bar * (law.b1 * q + law.b2 * v);
        bar.x[a.v] += f_bar * law.b1 * gear;
        bar.x[in.w.nv() + a.v] += f_bar * law.b2 * gear;
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

template <class T> bool drives(const SensorInputs<T>& in, int actuator, int body) {
    const Actuator& a = in.w.model.actuators[actuator];
    return a.on_joint && a.body == body;
}

// sum of gear f over the actuators of the joint
template <class T> void joint_effort(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = T(0);
    for (int n = 0; n < in.w.nu(); ++n)
        if (drives(in, n, s.body))
            y[0] += in.theta[in.w.model.actuator.gear.at(n)] * actuator_law_force(in, n);
}
template <class T>
void joint_effort_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    for (int n = 0; n < in.w.nu(); ++n) {
        if (!drives(in, n, s.body)) continue;
        const int gear = in.w.model.actuator.gear.at(n);
        bar.theta[gear] += y_bar[0] * actuator_law_force(in, n);
        actuator_law_force_adj(in, n, T(y_bar[0] * in.theta[gear]), bar);
    }
}

template <class T> void actuator_position(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = in.theta[in.w.model.actuator.gear.at(s.actuator)] * in.x[in.w.model.actuators[s.actuator].q];
}
template <class T>
void actuator_position_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                           const SensorBars<T>& bar) {
    const Actuator& a = in.w.model.actuators[s.actuator];
    const int gear = in.w.model.actuator.gear.at(s.actuator);
    bar.theta[gear] += y_bar[0] * in.x[a.q];
    bar.x[a.v] += y_bar[0] * in.theta[gear];
}

template <class T> void actuator_velocity(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = in.theta[in.w.model.actuator.gear.at(s.actuator)] * in.v()[in.w.model.actuators[s.actuator].v];
}
template <class T>
void actuator_velocity_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                           const SensorBars<T>& bar) {
    const Actuator& a = in.w.model.actuators[s.actuator];
    const int gear = in.w.model.actuator.gear.at(s.actuator);
    bar.theta[gear] += y_bar[0] * in.v()[a.v];
    bar.x[in.w.nv() + a.v] += y_bar[0] * in.theta[gear];
}

}  // namespace costate
