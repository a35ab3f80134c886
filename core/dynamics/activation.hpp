// The step of activations (core/model/activation.hpp), explicit in time: forces read w, and the step ends in w+.
//
//   integrator     w+ = w + h c
//   filter         w+ = w + h (c - w)/T
//   exact_filter   w+ = w + (1 - exp(-h/T)) (c - w)
//   muscle         w+ = w + h (c - w)/T(w)
//
// then w+ is clamped to its limits. Sides of clamps are part of the step's branch hash; their derivatives are those of
// core/dynamics/actuation.hpp.
#pragma once

#include "core/dynamics/actuation.hpp"
#include "core/math/elementary.hpp"

namespace costate {

// The sides on which the step of an activation is.
struct ActivationSides {
    Side control = Side::within,
         range = Side::within;  // of the control and the next activation in their limits
    // of a muscle: of both in 0..1, and whether the activation rises
    Side unit_control = Side::within, unit_activation = Side::within;
    bool rises = false;
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
    MuscleRate(const Activation& a, const T* theta, const T& w, const T& control, const ActivationSides& at)
        : c(clamped_to_unit(control, at.unit_control)),
          factor(T(0.5) + T(1.5) * clamped_to_unit(w, at.unit_activation)),
          time(at.rises ? theta[a.times[0]] * factor : theta[a.times[1]] / factor),
          rate((c - w) / time) {}
};

// Notes the sides of a muscle.
template <class T> void note_muscle(const Activation& a, const T& w, const T& c, ActivationSides& at) {
    if (a.type != ActivationType::muscle) return;
    at.unit_control = side_of_unit(value_of(c));
    at.unit_activation = side_of_unit(value_of(w));
    at.rises = value_of(clamped_to_unit(c, at.unit_control)) > value_of(w);
}

// w+ before it is clamped. c: clamped control
template <class T>
T free_activation(const Activation& a, const T* theta, const T& h, const T& w, const T& c,
                  const ActivationSides& at) {
    switch (a.type) {
        case ActivationType::integrator: break;
        case ActivationType::filter: return w + h * (c - w) / theta[a.times[0]];
        case ActivationType::exact_filter: return w + (T(1) - exp(-h / theta[a.times[0]])) * (c - w);
        case ActivationType::muscle: return w + h * MuscleRate<T>(a, theta, w, c, at).rate;
    }
    return w + h * c;
}
template <class T>
void free_activation_adj(const Activation& a, const T* theta, const T& h, const T& w, const T& c,
                         const ActivationSides& at, const T& next_bar, T* theta_bar, T& h_bar, T& w_bar,
                         T& c_bar) {
    w_bar += next_bar;
    if (a.type == ActivationType::integrator) {
        h_bar += next_bar * c;
        c_bar += next_bar * h;
        return;
    }
    if (a.type == ActivationType::muscle) {
        const MuscleRate<T> m(a, theta, w, c, at);
        const T rate_bar = next_bar * h, time_bar = -(rate_bar * m.rate / m.time);
        h_bar += next_bar * m.rate;
        w_bar -= rate_bar / m.time;
        if (at.unit_control == Side::within) c_bar += rate_bar / m.time;
        theta_bar[a.times[at.rises ? 0 : 1]] += at.rises ? T(time_bar * m.factor) : T(time_bar / m.factor);
        // T = T_rise factor, or T_fall/factor
        if (at.unit_activation == Side::within)
            w_bar += T(at.rises ? 1.5 : -1.5) * time_bar * m.time / m.factor;
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

// The activations after a step of length h.
template <class T>
void step_activations(const Model& m, const T* theta, const T& h,
                      const T* w,              // (activations)
                      const T* ctrl,           // (nu)
                      ActivationSides* sides,  // out (activations)
                      T* w_next)               // out (activations)
{
    for (size_t k = 0; k < m.activations.size(); ++k) {
        const Activation& a = m.activations[k];
        const ParameterInterval& limits = m.actuators[a.actuator].control;
        const T& given = ctrl[a.actuator];
        sides[k].control = side_of(value_of(given), limits, theta);
        const T& c = sides[k].control == Side::within ? given : theta[end_of(limits, sides[k].control)];
        note_muscle(a, w[k], c, sides[k]);
        const T next = free_activation(a, theta, h, w[k], c, sides[k]);
        sides[k].range = side_of(value_of(next), a.range, theta);
        w_next[k] = sides[k].range == Side::within ? next : theta[end_of(a.range, sides[k].range)];
    }
}
template <class T>
void step_activations_adj(const Model& m, const T* theta, const T& h, const T* w, const T* ctrl,
                          const ActivationSides* sides, const T* w_next_bar, T* theta_bar, T& h_bar, T* w_bar,
                          T* ctrl_bar) {
    for (size_t k = m.activations.size(); k-- > 0;) {
        const Activation& a = m.activations[k];
        if (sides[k].range != Side::within) {
            theta_bar[end_of(a.range, sides[k].range)] += w_next_bar[k];
            continue;
        }
        const bool within = sides[k].control == Side::within;
        const int end = within ? 0 : end_of(m.actuators[a.actuator].control, sides[k].control);
        const T c = within ? ctrl[a.actuator] : theta[end];
        free_activation_adj(a, theta, h, w[k], c, sides[k], w_next_bar[k], theta_bar, h_bar, w_bar[k],
                            within ? ctrl_bar[a.actuator] : theta_bar[end]);
    }
}

// What the force laws read (nu): the activation of an actuator that has one, otherwise its control. Uses `room` (nu) only
// if there are activations.
template <class T> const T* force_inputs(const Model& m, const T* w, const T* ctrl, T* room) {
    if (m.activations.empty()) return ctrl;
    for (int n = 0; n < m.nu; ++n)
        room[n] = m.actuators[n].activation < 0 ? ctrl[n] : w[m.actuators[n].activation];
    return room;
}
template <class T> void force_inputs_adj(const Model& m, const T* inputs_bar, T* w_bar, T* ctrl_bar) {
    for (int n = 0; n < m.nu; ++n)
        (m.actuators[n].activation < 0 ? ctrl_bar[n] : w_bar[m.actuators[n].activation]) += inputs_bar[n];
}

}  // namespace costate
