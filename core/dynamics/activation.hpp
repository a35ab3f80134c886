// The step of activations (core/model/activation.hpp), explicit in time:
//
//   integrator     w+ = w + h c
//   filter         w+ = w + h (c - w)/T
//   exact_filter   w+ = w + (1 - exp(-h/T)) (c - w)
//   muscle         w+ = w + h (c - w)/T(c, w)
//
// then w+ is clamped to its limits. Derivatives of clamps are those of core/dynamics/range.hpp.
#pragma once

#include "core/dynamics/actuation.hpp"
#include "core/math/elementary.hpp"

namespace costate {

// Which time constant a muscle has: that of its fall, that of its rise, or one between both.
enum class MuscleTime : unsigned char { fall, rise, between };

// The sides on which the step of an activation is.
template <class T> struct ActivationSides {
    RangeSides<T> control, range;  // of the control and of the next activation in their limits
    // of a muscle: of both in 0..1, and its time constant
    Side unit_control = Side::within, unit_activation = Side::within;
    MuscleTime time = MuscleTime::fall;
};

template <class X> Side side_of_unit(const X& x) {
    return x < X(0) ? Side::lower : x > X(1) ? Side::upper : Side::within;
}
template <class T> T clamped_to_unit(const T& x, Side side) {
    return side == Side::within ? x : side == Side::lower ? T(0) : T(1);
}

// The rate of a muscle's activation: w' = (c - w)/T
template <class T> struct MuscleRate {
    T c, factor, time, rate;
    T x, rise, fall;  // between both time constants: the argument of S, and both
    MuscleRate(const Activation& a, const T* theta, const T& w, const T& control,
               const ActivationSides<T>& at)
        : c(clamped_to_unit(control, at.unit_control)),
          factor(T(0.5) + T(1.5) * clamped_to_unit(w, at.unit_activation)),
          time(at.time == MuscleTime::rise ? theta[a.times[0]] * factor : theta[a.times[1]] / factor),
          rate(0),
          x(0),
          rise(0),
          fall(0) {
        if (at.time == MuscleTime::between) {
            x = (c - w) / theta[a.switch_width] + T(0.5);
            rise = theta[a.times[0]] * factor;
            fall = time;
            time = fall + (rise - fall) * share();
        }
        rate = (c - w) / time;
    }
    T share() const { return x * x * x * (T(10) + x * (T(6) * x - T(15))); }  // S
    T share_slope() const { return T(30) * x * x * (x - T(1)) * (x - T(1)); }
};

// Notes the sides of a muscle.
template <class T>
void note_muscle(const Activation& a, const T* theta, const T& w, const T& c, ActivationSides<T>& at) {
    if (a.type != ActivationType::muscle) return;
    at.unit_control = side_of_unit(value_of(c));
    at.unit_activation = side_of_unit(value_of(w));
    const T rest = clamped_to_unit(c, at.unit_control) - w,
            half = a.switch_width < 0 ? T(0) : T(T(0.5) * theta[a.switch_width]), other_half = -half;
    at.time = value_of(rest) > value_of(half)         ? MuscleTime::rise
              : value_of(rest) > value_of(other_half) ? MuscleTime::between
                                                      : MuscleTime::fall;
}

template <class T>
T muscle_rate(const Activation& a, const T* theta, const T& w, const T& c, const ActivationSides<T>& at) {
    return MuscleRate<T>(a, theta, w, c, at).rate;
}
template <class T>
void muscle_rate_adj(const Activation& a, const T* theta, const T& w, const T& c,
                     const ActivationSides<T>& at, const T& rate_bar, T* theta_bar, T& w_bar, T& c_bar) {
    const MuscleRate<T> m(a, theta, w, c, at);
    const T time_bar = -(rate_bar * m.rate / m.time);
    T rest_bar = rate_bar / m.time;  // of c - w
    T rise_bar = at.time == MuscleTime::rise ? time_bar : T(0),
      fall_bar = at.time == MuscleTime::fall ? time_bar : T(0);
    if (at.time == MuscleTime::between) {
        // x = (c - w)/d + 1/2
        const T x_bar = time_bar * (m.rise - m.fall) * m.share_slope(), &d = theta[a.switch_width];
        rise_bar = time_bar * m.share();
        fall_bar = time_bar - rise_bar;
        rest_bar += x_bar / d;
        theta_bar[a.switch_width] -= x_bar * (m.c - w) / (d * d);
    }
    w_bar -= rest_bar;
    if (at.unit_control == Side::within) c_bar += rest_bar;
    // rise = T_rise factor,   fall = T_fall/factor
    const T &T_rise = theta[a.times[0]], &T_fall = theta[a.times[1]];
    theta_bar[a.times[0]] += rise_bar * m.factor;
    theta_bar[a.times[1]] += fall_bar / m.factor;
    if (at.unit_activation == Side::within)
        w_bar += T(1.5) * (rise_bar * T_rise - fall_bar * T_fall / (m.factor * m.factor));
}

// w+ before it is clamped. c: clamped control
template <class T>
T free_activation(const Activation& a, const T* theta, const T& h, const T& w, const T& c,
                  const ActivationSides<T>& at) {
    switch (a.type) {
        case ActivationType::integrator: break;
        case ActivationType::filter: return w + h * (c - w) / theta[a.times[0]];
        case ActivationType::exact_filter: return w + (T(1) - exp(-h / theta[a.times[0]])) * (c - w);
        case ActivationType::muscle: return w + h * muscle_rate(a, theta, w, c, at);
    }
    return w + h * c;
}
template <class T>
void free_activation_adj(const Activation& a, const T* theta, const T& h, const T& w, const T& c,
                         const ActivationSides<T>& at, const T& next_bar, T* theta_bar, T& h_bar, T& w_bar,
                         T& c_bar) {
    w_bar += next_bar;
    if (a.type == ActivationType::integrator) {
        h_bar += next_bar * c;
        c_bar += next_bar * h;
        return;
    }
    if (a.type == ActivationType::muscle) {
        h_bar += next_bar * muscle_rate(a, theta, w, c, at);
        muscle_rate_adj(a, theta, w, c, at, T(next_bar * h), theta_bar, w_bar, c_bar);
        return;
    }
    // w+ = w + share(x) (c - w),   x = h/T
    const T& time = theta[a.times[0]];
    const T x = h / time, left = a.type == ActivationType::filter ? T(1) : exp(-x),
            share = a.type == ActivationType::filter ? x : T(1) - left, x_bar = next_bar * (c - w) * left;
    w_bar -= next_bar * share;
    c_bar += next_bar * share;
    h_bar += x_bar / time;
    theta_bar[a.times[0]] -= x_bar * x / time;
}

// The activation k after a step of length h. w, ctrl: its own
template <class T>
T next_activation(const Model& m, const T* theta, const T& h, int k, const T& w, const T& ctrl,
                  ActivationSides<T>& sides) {  // out
    const Activation& a = m.activations[k];
    const ParameterInterval& limits = m.actuators[a.actuator].control;
    sides.control = range_sides(value_of(ctrl), limits, theta);
    const T c = hold_in_range(limits, sides.control, theta, ctrl);
    note_muscle(a, theta, w, c, sides);
    const T next = free_activation(a, theta, h, w, c, sides);
    sides.range = range_sides(value_of(next), a.range, theta);
    return hold_in_range(a.range, sides.range, theta, next);
}
template <class T>
void next_activation_adj(const Model& m, const T* theta, const T& h, int k, const T& w, const T& ctrl,
                         const ActivationSides<T>& sides, const T& next_bar, T* theta_bar, T& h_bar, T& w_bar,
                         T& ctrl_bar) {
    const Activation& a = m.activations[k];
    const ParameterInterval& limits = m.actuators[a.actuator].control;
    const T c = hold_in_range(limits, sides.control, theta, ctrl);
    T free_bar(0), c_bar(0);
    hold_in_range_adj(a.range, sides.range, next_bar, theta_bar, free_bar);
    if (!any(sides.range.within())) return;
    free_activation_adj(a, theta, h, w, c, sides, free_bar, theta_bar, h_bar, w_bar, c_bar);
    hold_in_range_adj(limits, sides.control, c_bar, theta_bar, ctrl_bar);
}

// The activations after a step of length h.
template <class T>
void step_activations(const Model& m, const T* theta, const T& h,
                      const T* w,                 // (activations)
                      const T* ctrl,              // (nu)
                      ActivationSides<T>* sides,  // out (activations)
                      T* w_next)                  // out (activations)
{
    for (int k = 0; k < static_cast<int>(m.activations.size()); ++k)
        w_next[k] = next_activation(m, theta, h, k, w[k], ctrl[m.activations[k].actuator], sides[k]);
}
template <class T>
void step_activations_adj(const Model& m, const T* theta, const T& h, const T* w, const T* ctrl,
                          const ActivationSides<T>* sides, const T* w_next_bar, T* theta_bar, T& h_bar,
                          T* w_bar, T* ctrl_bar) {
    for (int k = static_cast<int>(m.activations.size()); k-- > 0;) {
        const int n = m.activations[k].actuator;
        next_activation_adj(m, theta, h, k, w[k], ctrl[n], sides[k], w_next_bar[k], theta_bar, h_bar,
                            w_bar[k], ctrl_bar[n]);
    }
}

// What the force laws read (nu): the activation of an actuator that has one, after the step if it is early, otherwise its
// control. Uses `room` (nu) only if there are activations.
template <class T>
const T* force_inputs(const Model& m, const T* theta, const T& h, const T* w, const T* ctrl, T* room) {
    if (m.activations.empty()) return ctrl;
    ActivationSides<T> unused;
    for (int n = 0; n < m.nu; ++n) {
        const int k = m.actuators[n].activation;
        room[n] = k < 0                    ? ctrl[n]
                  : m.activations[k].early ? next_activation(m, theta, h, k, w[k], ctrl[n], unused)
                                           : w[k];
    }
    return room;
}
template <class T>
void force_inputs_adj(const Model& m, const T* theta, const T& h, const T* w, const T* ctrl,
                      const T* inputs_bar, T* theta_bar, T& h_bar, T* w_bar, T* ctrl_bar) {
    for (int n = 0; n < m.nu; ++n) {
        const int k = m.actuators[n].activation;
        if (k < 0) {
            ctrl_bar[n] += inputs_bar[n];
        } else if (m.activations[k].early) {
            ActivationSides<T> sides;
            next_activation(m, theta, h, k, w[k], ctrl[n], sides);
            next_activation_adj(m, theta, h, k, w[k], ctrl[n], sides, inputs_bar[n], theta_bar, h_bar,
                                w_bar[k], ctrl_bar[n]);
        } else {
            w_bar[k] += inputs_bar[n];
        }
    }
}

}  // namespace costate
