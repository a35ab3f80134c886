// The values of signals at a step, their differences from a recording, and adjoints.
#pragma once

#include "adjoint/objective/recording.hpp"
#include "core/dynamics/queries.hpp"
#include "solvers/step/observation.hpp"

namespace costate {

// The value of a scalar signal, and of a rotation. Call after `step`, or after `observe` at the end.
template <class T>
T signal_number(const World& w, const Signal& c, const T* theta, const T* x, const T* u,
                const StepScratch<T>& s) {
    switch (c.kind) {
        case SignalKind::position: return x[c.index];
        case SignalKind::velocity: return x[w.nq() + c.index];
        case SignalKind::activation: return x[w.nq() + w.nv() + c.index];
        case SignalKind::control: return u[c.index];
        case SignalKind::body_position: return s.kinematics.world_position(w.model, c.index)[c.component];
        case SignalKind::site_position:
            return site_pose(w.model, theta, s.kinematics, c.index).p[c.component];
        case SignalKind::impulse: return normal_impulse(s, c.index);
        case SignalKind::rotation:
        case SignalKind::body_rotation: break;
    }
    return T(0);
}
template <class T> Quaternion<T> signal_rotation(const Signal& c, const T* x, const StepScratch<T>& s) {
    if (c.kind == SignalKind::rotation) return load_quaternion(x + c.index);
    return orientation(s.kinematics.X[c.index]);
}

// The difference of a signal from a value: a number, or the shortest rotation vector from the value to the
// signal, in body axes, rad.
template <class T>
void signal_difference(const World& w, const Signal& c,
                       const double* value,  // (width)
                       const StepInputs<T>& in, const StepScratch<T>& s,
                       T* r)  // out (dimension)
{
    if (!c.is_rotation()) return void(*r = signal_number(w, c, in.theta, in.x, in.u, s) - T(*value));
    const Quaternion<T> from{T(value[0]), cast<T>(load3(value + 1))};
    const Vec3<T> turn = quaternion_difference(from, signal_rotation(c, in.x, s));
    r[0] = turn.x();
    r[1] = turn.y();
    r[2] = turn.z();
}
// Adds to the scratch's covectors of poses and impulses, and to those of the inputs.
template <class T>
void signal_difference_adj(const World& w, const Signal& c, const double* value, const StepInputs<T>& in,
                           StepScratch<T>& s, const T* r_bar, const StepInputBars<T>& bar) {
    const size_t body = c.index;
    Vec3<T> y_bar = Vec3<T>::Zero(), none = Vec3<T>::Zero();
    if (c.is_rotation()) {
        const Quaternion<T> from{T(value[0]), cast<T>(load3(value + 1))};
        quaternion_difference_adj(from, signal_rotation(c, in.x, s), load3(r_bar), none, y_bar);
    }
    switch (c.kind) {
        case SignalKind::position: bar.x[c.component] += *r_bar; break;
        case SignalKind::rotation: add3(bar.x + c.component, y_bar); break;
        case SignalKind::velocity: bar.x[w.nv() + c.index] += *r_bar; break;
        case SignalKind::activation: bar.x[2 * w.nv() + c.index] += *r_bar; break;
        case SignalKind::control: bar.u[c.index] += *r_bar; break;
        case SignalKind::body_position:
            y_bar[c.component] = *r_bar;
            transform_point_adj<T>(s.kinematics.X[body], Vec3<T>::Zero(), y_bar, s.bar.X[body], none);
            break;
        case SignalKind::body_rotation: orientation_adj(s.kinematics.X[body], y_bar, s.bar.X[body]); break;
        case SignalKind::site_position: {
            const size_t carrier = w.model.sites[body].body;
            const int at = w.model.site_position.at(c.index);
            y_bar[c.component] = *r_bar;
            transform_point_adj<T>(s.kinematics.X[carrier], load3(in.theta + at), y_bar, s.bar.X[carrier],
                                   none);
            add3(bar.theta + at, none);
            break;
        }
        case SignalKind::impulse: normal_impulse_adj(s, c.index, *r_bar); break;
    }
}

// Differences of all signals from the recording at step t, each in its own unit (sum of dimensions).
template <class T>
VecX<T> recording_residual(const World& w, const Recording& rec, int t, const StepInputs<T>& in,
                           const StepScratch<T>& s) {
    VecX<T> r(rec.dimension);
    const double* value = rec.at(t);
    Eigen::Index k = 0;
    for (const Signal& signal : rec.signals) {
        signal_difference(w, signal, value, in, s, r.data() + k);
        value += signal.width();
        k += signal.dimension();
    }
    return r;
}
template <class T>
void recording_residual_adj(const World& w, const Recording& rec, int t, const StepInputs<T>& in,
                            StepScratch<T>& s, const T* r_bar, const StepInputBars<T>& bar) {
    const double* value = rec.at(t);
    for (const Signal& signal : rec.signals) {
        signal_difference_adj(w, signal, value, in, s, r_bar, bar);
        value += signal.width();
        r_bar += signal.dimension();
    }
}

}  // namespace costate
