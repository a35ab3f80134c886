// A recording: what some signals of a rollout should have been, at the beginning of every step and at the end.
#pragma once

#include "adjoint/signal.hpp"

namespace costate {

struct Recording {
    std::vector<Signal> signals;
    int width = 0;               // numbers at a time: the columns of all signals
    int dimension = 0;           // of the difference to them
    std::vector<double> values;  // (steps + 1 times) x width; where a term does not look, 0
    const double* at(int t) const { return values.data() + static_cast<size_t>(t) * static_cast<size_t>(width); }
};

// Differences of all signals to their recording at step t, each in its own unit (sum of dimensions).
template <class T>
VecX<T> recording_residual(const World& w, const Recording& rec, int t, const T* theta, const T* x, const T* u,
                           const StepScratch<T>& s) {
    VecX<T> r(rec.dimension);
    const double* value = rec.at(t);
    Eigen::Index k = 0;
    for (const Signal& signal : rec.signals) {
        signal_difference(w, signal, value, theta, x, u, s, r.data() + k);
        value += signal.width(), k += signal.dimension();
    }
    return r;
}
template <class T>
void recording_residual_adj(const World& w, const Recording& rec, int t, const T* theta, const T* x, StepScratch<T>& s,
                            const T* r_bar, T* theta_bar, T* x_bar, T* u_bar) {
    const double* value = rec.at(t);
    for (const Signal& signal : rec.signals) {
        signal_difference_adj(w, signal, value, theta, x, s, r_bar, theta_bar, x_bar, u_bar);
        value += signal.width(), r_bar += signal.dimension();
    }
}

// Rows of the signals' columns at times that increase, brought to the steps [first, last] of a rollout: numbers by straight lines
// between rows, rotations by the shortest turn at constant speed. The rows must cover these steps, to 1e-6 of a step.
Recording resample(std::vector<Signal> signals, const std::vector<double>& times, const std::vector<std::vector<double>>& rows,
                   int first, int last, double time_step);

}  // namespace costate
