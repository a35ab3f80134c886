// The values y of a world's sensors at a step, and their adjoint.
//
// Call after `step`. If no sensor reads the step, `observe` suffices; if none reads the control, u may be
// null. The functions of the kinds (solvers/sensor_kinds.inc) have in common the arguments SensorInputs and
// SensorBars; y is the part of the vector of outputs that belongs to the sensor.
#pragma once

#include <algorithm>

#include "solvers/step/step.hpp"

namespace costate {

// What several sensors read, in the common frame of each tree, and its covectors.
template <class T> struct SensorScratch {
    std::vector<T> a;                   // (nv) (v+ - v)/h
    std::vector<Motion<T>> A;           // (bodies) spatial accelerations, less gravity
    std::vector<Force<T>> F;            // (bodies) wrench of the parent on the body
    std::vector<Force<T>> A_bar;        // (bodies)
    std::vector<Motion<T>> F_bar;       // (bodies)
    std::vector<T> inputs, inputs_bar;  // (nu) of force laws, if there are activations
    explicit SensorScratch(const World& w)
        : a(w.nv()),
          A(w.model.bodies.size()),
          F(A.size()),
          A_bar(A.size()),
          F_bar(A.size()),
          inputs(w.na() > 0 ? w.nu() : 0),
          inputs_bar(inputs.size()) {}
};

template <class T> struct SensorInputs {
    const World& w;
    const T *theta, *x, *u;  // (np), (nx), (nu) controls, or activations in their place
    const StepScratch<T>& s;
    const SensorScratch<T>& scratch;

    const T* v() const { return x + w.nq(); }
    const Kinematics<T>& k() const { return s.kinematics; }
};
// Covectors to add to. Those of poses, impulses and contacts are the seeds of step_adj.
template <class T> struct SensorBars {
    StepScratch<T>& s;
    SensorScratch<T>& scratch;
    T *theta, *x, *u;  // (np), (2 nv), (nu) as SensorInputs::u
};

// True if one of the sensors reads the step.
inline bool reads_step(const std::vector<Sensor>& sensors) {
    return std::ranges::any_of(sensors,
                               [](const Sensor& s) { return traits_of(s.kind).reads == SensorReads::step; });
}

// The numbers of some sensors, each at its offset in y.
template <class T>
void sensor_values(const World& w, const std::vector<Sensor>& sensors, const StepInputs<T>& of_step,
                   const StepScratch<T>& s, SensorScratch<T>& scratch,
                   T* y);  // out
// Call between clear_bars and step_adj. Adds to the scratch's covectors, and to those of the arguments.
template <class T>
void sensor_values_adj(const World& w, const std::vector<Sensor>& sensors, const StepInputs<T>& of_step,
                       StepScratch<T>& s, SensorScratch<T>& scratch, const T* y_bar,
                       const StepInputBars<T>& step_bar);  // +=

// y (ny) of all sensors of the world
template <class T>
void sensor_values(const World& w, const StepInputs<T>& of_step, const StepScratch<T>& s,
                   SensorScratch<T>& scratch, T* y) {
    sensor_values(w, w.sensors, of_step, s, scratch, y);
}
template <class T>
void sensor_values_adj(const World& w, const StepInputs<T>& of_step, StepScratch<T>& s,
                       SensorScratch<T>& scratch, const T* y_bar, const StepInputBars<T>& step_bar) {
    sensor_values_adj(w, w.sensors, of_step, s, scratch, y_bar, step_bar);
}

}  // namespace costate
