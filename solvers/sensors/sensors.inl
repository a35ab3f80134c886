// Definitions of the templates of solvers/sensors/sensors.hpp, for the files that instantiate them.
#pragma once

#include "solvers/sensors/contact_sensors.hpp"
#include "solvers/sensors/distance_sensors.hpp"
#include "solvers/sensors/joint_sensors.hpp"
#include "solvers/sensors/relative_sensors.hpp"
#include "solvers/sensors/subtree_sensors.hpp"

namespace costate {

namespace {

template <class T> struct SensorFunctions {
    void (*value)(const SensorInputs<T>&, const Sensor&, T* y);
    void (*adjoint)(const SensorInputs<T>&, const Sensor&, const T* y_bar, const SensorBars<T>&);
};

template <class T>
constexpr SensorFunctions<T> sensor_functions[] = {
#define SENSOR(name, subject, size, reads, unit) {name<T>, name##_adj<T>},
#include "solvers/sensor_kinds.inc"
#undef SENSOR
};

template <class T> const SensorFunctions<T>& functions_of(SensorKind kind) {
    return sensor_functions<T>[static_cast<size_t>(kind)];
}

inline bool saturates(const Sensor& s) { return s.cutoff < unlimited && !ends_at_cutoff(s.kind); }

// y = the numbers of a sensor, those that saturate clamped to [-cutoff, cutoff]
template <class T> void sensor_numbers(const SensorInputs<T>& in, const Sensor& s, T* y) {
    functions_of<T>(s.kind).value(in, s, y);
    if (!saturates(s)) return;
    for (int i = 0; i < s.size; ++i)
        y[i] = std::clamp(y[i], T(-s.cutoff), T(s.cutoff));
}
template <class T>
void sensor_numbers_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                        const SensorBars<T>& bar) {
    constexpr int most_numbers = 7;  // of a free joint
    if (!saturates(s)) return functions_of<T>(s.kind).adjoint(in, s, y_bar, bar);
    T y[most_numbers] = {}, unclamped_bar[most_numbers] = {};
    functions_of<T>(s.kind).value(in, s, y);
    for (int i = 0; i < s.size; ++i)
        if (std::abs(value_of(y[i])) < s.cutoff) unclamped_bar[i] = y_bar[i];
    functions_of<T>(s.kind).adjoint(in, s, unclamped_bar, bar);
}

// What the force laws read; null if u is.
template <class T>
const T* inputs_of(const World& w, const T* theta, const T* x, const T* u, SensorScratch<T>& scratch) {
    if (u == nullptr) return u;
    return force_inputs(w.model, theta, w.h(theta), StateView<T>(w, x).activations, u, scratch.inputs.data());
}

}  // namespace

template <class T>
void sensor_values(const World& w, const std::vector<Sensor>& sensors, const StepInputs<T>& of_step,
                   const StepScratch<T>& s, SensorScratch<T>& scratch, T* y) {
    const T *theta = of_step.theta, *x = of_step.x, *u = of_step.u;
    const SensorInputs<T> in{w, theta, x, inputs_of(w, theta, x, u, scratch), s, scratch};
    if (reads_step(sensors)) {
        body_accelerations(w, theta, in.v(), s, scratch);
        joint_wrenches(in, scratch);
    }
    for (const Sensor& sensor : sensors)
        sensor_numbers(in, sensor, y + sensor.offset);
}

template <class T>
void sensor_values_adj(const World& w, const std::vector<Sensor>& sensors, const StepInputs<T>& of_step,
                       StepScratch<T>& s, SensorScratch<T>& scratch, const T* y_bar,
                       const StepInputBars<T>& step_bar) {
    const T *theta = of_step.theta, *x = of_step.x, *u = of_step.u;
    T *theta_bar = step_bar.theta, *x_bar = step_bar.x, *u_bar = step_bar.u;
    const SensorInputs<T> in{w, theta, x, inputs_of(w, theta, x, u, scratch), s, scratch};
    const bool activated = in.u != u;
    std::ranges::fill(scratch.inputs_bar, T(0));
    const SensorBars<T> bar{s, scratch, theta_bar, x_bar, activated ? scratch.inputs_bar.data() : u_bar};
    std::fill(scratch.A_bar.begin(), scratch.A_bar.end(), Force<T>::zero());
    std::fill(scratch.F_bar.begin(), scratch.F_bar.end(), Motion<T>::zero());
    for (const Sensor& sensor : sensors)
        sensor_numbers_adj(in, sensor, y_bar + sensor.offset, bar);
    if (reads_step(sensors)) {
        joint_wrenches_adj(in, bar);
        body_accelerations_adj(w, theta, in.v(), s, scratch, theta_bar, x_bar + w.nv());
    }
    if (activated)
        force_inputs_adj(w.model, theta, w.h(theta), StateView<T>(w, x).activations, u, bar.u, theta_bar,
                         w.h(theta_bar), x_bar + 2 * w.nv(), u_bar);
}

#define COSTATE_INSTANTIATE_SENSORS(T)                                                                       \
    template void sensor_values(const World&, const std::vector<Sensor>&, const StepInputs<T>&,              \
                                const StepScratch<T>&, SensorScratch<T>&, T*);                               \
    template void sensor_values_adj(const World&, const std::vector<Sensor>&, const StepInputs<T>&,          \
                                    StepScratch<T>&, SensorScratch<T>&, const T*, const StepInputBars<T>&);

}  // namespace costate
