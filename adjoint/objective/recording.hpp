// A recording: target values of some signals of a rollout, at the beginning of every step and at the end.
#pragma once

#include "adjoint/objective/signal.hpp"

namespace costate {

struct Recording {
    std::vector<Signal> signals;
    int width = 0;               // numbers per time: the columns of all signals
    int dimension = 0;           // of the difference to the signals
    std::vector<double> values;  // (steps + 1 times) x width; 0 at times that the term does not use
    const double* at(int t) const {
        return values.data() + static_cast<size_t>(t) * static_cast<size_t>(width);
    }
};

// Resamples rows of the signals' columns, at increasing times, at the steps [first, last] of a rollout:
// linear interpolation between rows; shortest rotation at constant speed for orientations. The rows must
// cover these steps, to 1e-6 of a step.
Recording resample(std::vector<Signal> signals, const std::vector<double>& times,
                   const std::vector<std::vector<double>>& rows, int first, int last, double time_step);

}  // namespace costate
