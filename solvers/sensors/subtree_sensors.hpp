// Sensors of a body and all that it carries, or of the world.
#pragma once

#include "solvers/sensors/sensors.hpp"

namespace costate {

template <class T> void centre_of_mass(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Vec3<T> c = centre_of_mass(in.w.model, in.k(), s.bodies);
    std::copy(c.data(), c.data() + 3, y);
}
template <class T>
void centre_of_mass_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                        const SensorBars<T>& bar) {
    centre_of_mass_adj(in.w.model, in.k(), s.bodies, load3(y_bar), bar.s.bar);
}

// P/m; without mass the velocity of the first body's origin
template <class T> void centre_of_mass_velocity(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const T mass = total_mass(in.k(), s.bodies);
    Vec3<T> v = Vec3<T>::Zero();
    if (value_of(mass) != 0)
        v = momentum(in.w.model, in.k(), s.bodies).lin / mass;
    else if (s.bodies.begin < s.bodies.end)
        v = point_velocity(in.k().V[s.bodies.begin], in.k().X[s.bodies.begin].p);
    std::copy(v.data(), v.data() + 3, y);
}
template <class T>
void centre_of_mass_velocity_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                                 const SensorBars<T>& bar) {
    const T mass = total_mass(in.k(), s.bodies);
    if (value_of(mass) == 0) {
        if (s.bodies.begin == s.bodies.end) return;
        const Transform<T>& X = in.k().X[s.bodies.begin];
        Vec3<T> p_bar = Vec3<T>::Zero(), none = p_bar;
        point_velocity_adj(in.k().V[s.bodies.begin], X.p, load3(y_bar), bar.s.bar.V[s.bodies.begin], p_bar);
        return transform_point_adj<T>(X, none, p_bar, bar.s.bar.X[s.bodies.begin], none);
    }
    const Vec3<T> P_bar = load3(y_bar) / mass;
    const T mass_bar = -P_bar.dot(momentum(in.w.model, in.k(), s.bodies).lin) / mass;
    momentum_adj<T>(in.w.model, in.k(), s.bodies, {Vec3<T>::Zero(), P_bar}, bar.s.bar);
    for (int i = s.bodies.begin; i < s.bodies.end; ++i)
        bar.s.bar.I[i].m += mass_bar;
}

template <class T> void linear_momentum(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Vec3<T> P = momentum(in.w.model, in.k(), s.bodies).lin;
    std::copy(P.data(), P.data() + 3, y);
}
template <class T>
void linear_momentum_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                         const SensorBars<T>& bar) {
    momentum_adj<T>(in.w.model, in.k(), s.bodies, {Vec3<T>::Zero(), load3(y_bar)}, bar.s.bar);
}

// L - c x P, where L is about the origin of the world
template <class T> void angular_momentum(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Force<T> M = momentum(in.w.model, in.k(), s.bodies);
    const Vec3<T> L = M.ang - centre_of_mass(in.w.model, in.k(), s.bodies).cross(M.lin);
    std::copy(L.data(), L.data() + 3, y);
}
template <class T>
void angular_momentum_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                          const SensorBars<T>& bar) {
    const Vec3<T> L_bar = load3(y_bar), P = momentum(in.w.model, in.k(), s.bodies).lin,
                  c = centre_of_mass(in.w.model, in.k(), s.bodies);
    momentum_adj<T>(in.w.model, in.k(), s.bodies, {L_bar, c.cross(L_bar)}, bar.s.bar);
    centre_of_mass_adj<T>(in.w.model, in.k(), s.bodies, L_bar.cross(P), bar.s.bar);
}

template <class T> void kinetic_energy(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = kinetic_energy(in.k(), s.bodies);
}
template <class T>
void kinetic_energy_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                        const SensorBars<T>& bar) {
    kinetic_energy_adj(in.k(), s.bodies, y_bar[0], bar.s.bar);
}

template <class T> void potential_energy(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = potential_energy(in.w.model, in.theta, in.k(), s.bodies);
}
template <class T>
void potential_energy_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                          const SensorBars<T>& bar) {
    potential_energy_adj(in.w.model, in.theta, in.k(), s.bodies, y_bar[0], bar.s.bar, bar.theta);
}

}  // namespace costate
