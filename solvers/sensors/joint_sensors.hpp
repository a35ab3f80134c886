// Sensors of joints, tendons and actuators.
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

// The active piece of an actuator at (q, v, u).
template <class T> Saturation<T> saturation_now(const SensorInputs<T>& in, int n) {
    const Model& m = in.w.model;
    const Actuator& a = m.actuators[n];
    return saturation<T>(m, in.theta, drive_length(m, in.theta, in.k(), a, in.x),
                         drive_rate(m, in.theta, in.k(), a, in.v()), in.u, n);
}

// The force f of an actuator before its gear, by its law at (q, v, u) (core/model/actuator.hpp). A step with
// implicit velocity gains applies the law at v+ instead.
template <class T> T actuator_law_force(const SensorInputs<T>& in, int n) {
    const Model& m = in.w.model;
    const Actuator& a = m.actuators[n];
    const Saturation<T> side = saturation_now(in, n);
    const T control = clamped_control(a, in.theta, side, in.u[n]);
    const T& gear = in.theta[m.actuator.gear.at(n)];
    T q(0), v(0);
    if (a.on_joint) {
        q = drive_length(m, in.theta, in.k(), a, in.x);
        v = drive_rate(m, in.theta, in.k(), a, in.v());
    }
    const T length = gear * q, rate = gear * v;
    const ActuatorLaw<T> law = actuator_law_at(a, m.actuator, in.theta, n, control, length, rate);
    T f = law.gain * control;
    if (a.on_joint) f = f + law.b0 + law.b1 * gear * q + law.b2 * gear * v;
    return hold_in_range(a.force, side.force, in.theta, f);
}
template <class T>
void actuator_law_force_adj(const SensorInputs<T>& in, int n, const T& held_bar, const SensorBars<T>& bar) {
    const Model& m = in.w.model;
    const Actuator& a = m.actuators[n];
    const Saturation<T> side = saturation_now(in, n);
    T f_bar(0);
    hold_in_range_adj(a.force, side.force, held_bar, bar.theta, f_bar);
    if (!any(side.force.within())) return;
    const T control = clamped_control(a, in.theta, side, in.u[n]);
    const T& gear = in.theta[m.actuator.gear.at(n)];
    T q(0), v(0);
    if (a.on_joint) {
        q = drive_length(m, in.theta, in.k(), a, in.x);
        v = drive_rate(m, in.theta, in.k(), a, in.v());
    }
    const T length = gear * q, rate = gear * v;
    const ActuatorLaw<T> law = actuator_law_at(a, m.actuator, in.theta, n, control, length, rate);
    T control_bar = f_bar * law.gain;
    ActuatorLaw<T> law_bar{f_bar * control, T(0), T(0), T(0)};
    if (a.on_joint) {
        law_bar.b0 = f_bar;
        law_bar.b1 = f_bar * gear * q;
        law_bar.b2 = f_bar * gear * v;
        bar.theta[m.actuator.gear.at(n)] += f_bar * (law.b1 * q + law.b2 * v);
        drive_length_adj<T>(m, in.theta, in.k(), a, in.x, f_bar * law.b1 * gear, bar.s.bar, bar.theta, bar.x);
        drive_rate_adj<T>(m, in.theta, in.k(), a, in.v(), f_bar * law.b2 * gear, bar.s.bar, bar.theta,
                          bar.x + in.w.nv());
    }
    T length_bar(0), rate_bar(0);
    actuator_law_at_adj(a, m.actuator, in.theta, n, control, length, rate, law_bar, bar.theta, control_bar,
                        length_bar, rate_bar);
    hold_in_range_adj(a.control, side.control, control_bar, bar.theta, bar.u[n]);
    if (a.muscle < 0) return;
    bar.theta[m.actuator.gear.at(n)] += length_bar * q + rate_bar * v;
    drive_length_adj<T>(m, in.theta, in.k(), a, in.x, length_bar * gear, bar.s.bar, bar.theta, bar.x);
    drive_rate_adj<T>(m, in.theta, in.k(), a, in.v(), rate_bar * gear, bar.s.bar, bar.theta,
                      bar.x + in.w.nv());
}

template <class T> void actuator_force(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = actuator_law_force(in, s.actuator);
}
template <class T>
void actuator_force_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                        const SensorBars<T>& bar) {
    actuator_law_force_adj(in, s.actuator, y_bar[0], bar);
}

// visit(n, coefficient) for the actuators that act on the joint of a body directly or by a fixed tendon, with the
// index in theta of their tendon's coefficient, or -1.
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

// visit(n, tendon) for the actuators that act on a dof by a spatial tendon.
template <class Visit> void for_each_path_on(const Model& m, int dof, const Visit& visit) {
    for (int n = 0; n < m.nu; ++n)
        if (const Actuator& a = m.actuators[n];
            m.drives_path(a) && std::ranges::binary_search(m.tendons[a.tendon].dofs, dof))
            visit(n, m.tendons[a.tendon]);
}

// sum of c gear f over the actuators of the joint; c is the coefficient or moment arm of a tendon, or 1
template <class T> void joint_effort(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = T(0);
    for_each_actuator_of(in, s.body, [&](int n, int c) {
        const T force = in.theta[in.w.model.actuator.gear.at(n)] * actuator_law_force(in, n);
        y[0] += c < 0 ? force : T(in.theta[c] * force);
    });
    const Model& m = in.w.model;
    const int dof = m.bodies[s.body].v0;
    for_each_path_on(m, dof, [&](int n, const Tendon& tendon) {
        y[0] += path_arm(m, in.theta, in.k(), tendon, dof) * in.theta[m.actuator.gear.at(n)] *
                actuator_law_force(in, n);
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
    const Model& m = in.w.model;
    const int dof = m.bodies[s.body].v0;
    for_each_path_on(m, dof, [&](int n, const Tendon& tendon) {
        const int gear = m.actuator.gear.at(n);
        const T f = actuator_law_force(in, n), arm_bar = y_bar[0] * in.theta[gear] * f,
                force_bar = y_bar[0] * path_arm(m, in.theta, in.k(), tendon, dof);
        path_arm_adj(m, in.theta, in.k(), tendon, dof, arm_bar, bar.s.bar, bar.theta);
        bar.theta[gear] += force_bar * f;
        actuator_law_force_adj(in, n, T(force_bar * in.theta[gear]), bar);
    });
}

// k (q_rest - q) - d v
template <class T> void joint_passive_force(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Model& m = in.w.model;
    const Body& b = m.bodies[s.body];
    y[0] = in.theta[m.stiffness.at(b.v0)] * (in.theta[m.rest.at(b.v0)] - in.x[b.q0]) -
           in.theta[m.damping.at(b.v0)] * in.v()[b.v0];
}
template <class T>
void joint_passive_force_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                             const SensorBars<T>& bar) {
    const Model& m = in.w.model;
    const Body& b = m.bodies[s.body];
    const int k = m.stiffness.at(b.v0), rest = m.rest.at(b.v0), d = m.damping.at(b.v0);
    bar.theta[k] += y_bar[0] * (in.theta[rest] - in.x[b.q0]);
    bar.theta[rest] += y_bar[0] * in.theta[k];
    bar.x[b.v0] -= y_bar[0] * in.theta[k];
    bar.theta[d] -= y_bar[0] * in.v()[b.v0];
    bar.x[in.w.nv() + b.v0] -= y_bar[0] * in.theta[d];
}

// visit(row) for the rows of the limits of a joint.
template <class T, class Visit>
void for_each_limit_row(const SensorInputs<T>& in, int body, const Visit& visit) {
    for (const RowBlock& block : in.s.rows.blocks)
        if (block.kind == RowKind::limit && in.w.model.limits[block.index].body == body) visit(block.row);
}

// sum lambda / h
template <class T> void joint_limit_force(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = T(0);
    for_each_limit_row(in, s.body, [&](int row) { y[0] += in.s.impulses.lambda[row] / in.w.h(in.theta); });
}
template <class T>
void joint_limit_force_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                           const SensorBars<T>& bar) {
    const T& h = in.w.h(in.theta);
    for_each_limit_row(in, s.body, [&](int row) {
        bar.s.impulses.lambda_bar[row] += y_bar[0] / h;
        in.w.h(bar.theta) -= y_bar[0] * in.s.impulses.lambda[row] / (h * h);
    });
}

// visit(row, i) for the constraint rows that act on a dof; J is rows.J[i].
template <class T, class Visit> void for_each_row_on(const Rows<T>& rows, int dof, const Visit& visit) {
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        for (int i = 0; i < length; ++i)
            if (dofs[i] == dof) visit(row, values + i);
    });
}

// sum J lambda / h
template <class T> void joint_constraint_force(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = T(0);
    for_each_row_on(in.s.rows, in.w.model.bodies[s.body].v0, [&](int row, int i) {
        y[0] += in.s.rows.J[i] * in.s.impulses.lambda[row] / in.w.h(in.theta);
    });
}
template <class T>
void joint_constraint_force_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                                const SensorBars<T>& bar) {
    const T& h = in.w.h(in.theta);
    for_each_row_on(in.s.rows, in.w.model.bodies[s.body].v0, [&](int row, int i) {
        const T &J = in.s.rows.J[i], &lambda = in.s.impulses.lambda[row];
        bar.s.impulses.lambda_bar[row] += y_bar[0] * J / h;
        bar.s.rows.J_bar[i] += y_bar[0] * lambda / h;
        in.w.h(bar.theta) -= y_bar[0] * J * lambda / (h * h);
    });
}

// An actuator whose length and rate are those of the tendon.
inline Actuator drive_of_tendon(const Sensor& s) {
    Actuator a;
    a.tendon = s.tendon;
    return a;
}
template <class T> void tendon_length(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = drive_length(in.w.model, in.theta, in.k(), drive_of_tendon(s), in.x);
}
template <class T>
void tendon_length_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    drive_length_adj<T>(in.w.model, in.theta, in.k(), drive_of_tendon(s), in.x, y_bar[0], bar.s.bar,
                        bar.theta, bar.x);
}
template <class T> void tendon_velocity(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = drive_rate(in.w.model, in.theta, in.k(), drive_of_tendon(s), in.v());
}
template <class T>
void tendon_velocity_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                         const SensorBars<T>& bar) {
    drive_rate_adj<T>(in.w.model, in.theta, in.k(), drive_of_tendon(s), in.v(), y_bar[0], bar.s.bar,
                      bar.theta, bar.x + in.w.nv());
}

// visit(row) for the rows of the limits of a tendon.
template <class T, class Visit>
void for_each_tendon_limit_row(const SensorInputs<T>& in, int tendon, const Visit& visit) {
    for (const RowBlock& block : in.s.rows.blocks)
        if (block.kind == RowKind::tendon_limit && in.w.model.measured_tendons[block.index].tendon == tendon)
            visit(block.row);
}
// sum lambda / h
template <class T> void tendon_limit_force(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = T(0);
    for_each_tendon_limit_row(in, s.tendon,
                              [&](int row) { y[0] += in.s.impulses.lambda[row] / in.w.h(in.theta); });
}
template <class T>
void tendon_limit_force_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                            const SensorBars<T>& bar) {
    const T& h = in.w.h(in.theta);
    for_each_tendon_limit_row(in, s.tendon, [&](int row) {
        bar.s.impulses.lambda_bar[row] += y_bar[0] / h;
        in.w.h(bar.theta) -= y_bar[0] * in.s.impulses.lambda[row] / (h * h);
    });
}

template <class T> void actuator_position(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Model& m = in.w.model;
    y[0] = in.theta[m.actuator.gear.at(s.actuator)] *
           drive_length(m, in.theta, in.k(), m.actuators[s.actuator], in.x);
}
template <class T>
void actuator_position_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                           const SensorBars<T>& bar) {
    const Model& m = in.w.model;
    const Actuator& a = m.actuators[s.actuator];
    const int gear = m.actuator.gear.at(s.actuator);
    bar.theta[gear] += y_bar[0] * drive_length(m, in.theta, in.k(), a, in.x);
    drive_length_adj<T>(m, in.theta, in.k(), a, in.x, y_bar[0] * in.theta[gear], bar.s.bar, bar.theta, bar.x);
}

template <class T> void actuator_velocity(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Model& m = in.w.model;
    y[0] = in.theta[m.actuator.gear.at(s.actuator)] *
           drive_rate(m, in.theta, in.k(), m.actuators[s.actuator], in.v());
}
template <class T>
void actuator_velocity_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                           const SensorBars<T>& bar) {
    const Model& m = in.w.model;
    const Actuator& a = m.actuators[s.actuator];
    const int gear = m.actuator.gear.at(s.actuator);
    bar.theta[gear] += y_bar[0] * drive_rate(m, in.theta, in.k(), a, in.v());
    drive_rate_adj<T>(m, in.theta, in.k(), a, in.v(), y_bar[0] * in.theta[gear], bar.s.bar, bar.theta,
                      bar.x + in.w.nv());
}

}  // namespace costate
