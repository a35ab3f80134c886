// What a time step reads, and the covectors of it.
#pragma once

namespace costate {

template <class T> struct StepInputs {
    const T* theta;  // (np)
    const T* x;      // (nx) q, v, activations, and the data of a warm start
    const T* u;      // (nu); null after the last step
    // (bodies x 6) external force, N, at the centre of mass, and torque, N m, world axes; null: none
    const T* wrenches = nullptr;
};

// Adjoints add to these.
template <class T> struct StepInputBars {
    T* theta;               // (np)
    T* x;                   // (ndx)
    T* u;                   // (nu); null after the last step
    T* wrenches = nullptr;  // (bodies x 6), or null
};

}  // namespace costate
