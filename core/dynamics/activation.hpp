// The step of activations (core/model/activation.hpp), explicit in time: forces read w, and the step ends in w+.
//
//   integrator     w+ = w + h c
//   filter         w+ = w + h (c - w)/T
//   exact_filter   w+ = w + (1 - exp(-h/T)) (c - w)
//
// then w+ is clamped to its limits. Sides of clamps are part of the step's branch hash; their derivatives are those of
// core/dynamics/actuation.hpp.
#pragma once

#include "core/dynamics/actuation.hpp"
#include "core/math/elementary.hpp"

namespace costate {

// Where the control and the next activation are in their limits.
struct ActivationSides {
    Side control = Side::within, range = Side::within;
};

// w+ before it is clamped. c: clamped control
template <class T>
T free_activation(const Activation& a, const T* theta, const T& h, const T& w, const T& c) {
    switch (a.type) {
        case ActivationType::integrator: break;
        case ActivationType::filter: return w + h * (c - w) / theta[a.time_constant];
        case ActivationType::exact_filter: return w + (T(1) - exp(-h / theta[a.time_constant])) * (c - w);
    }
    return w + h * c;
}
template <class T>
void free_activation_adj(const Activation& a, const T* theta, const T& h, const T& w, const T& c,
                         const T& next_bar, T* theta_bar, T& h_bar, T& w_bar, T& c_bar) {
    w_bar += next_bar;
    if (a.type == ActivationType::integrator) {
        h_bar += next_bar * c;
        c_bar += next_bar * h;
        return;
    }
    // w+ = w + share(x) (c - w),   x = h/T
    const T& time = theta[a.time_constant];
    const T x = h / time, left = a.type == ActivationType::filter ? T(1) : exp(-x),
            share = a.type == ActivationType::filter ? x : T(1) - left, x_bar = next_bar * (c - w) * left;
    w_bar -= next_bar * share;
    c_bar += next_bar * share;
    h_bar += x_bar / time;
    theta_bar[a.time_constant] -= x_bar * x / time;
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
        const T next = free_activation(a, theta, h, w[k], c);
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
        free_activation_adj(a, theta, h, w[k], c, w_next_bar[k], theta_bar, h_bar, w_bar[k],
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
