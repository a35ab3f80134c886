// A recording: what some signals of a rollout should have been, at the beginning of every step and at the
// end.
#pragma once

#include "adjoint/objective/signal.hpp"

namespace costate {

struct Recording {
    std::vector<Signal> signals;
    int width = 0;               // numbers at a time: the columns of all signals
    int dimension = 0;           // of the difference to them
    std::vector<double> values;  // (steps + 1 times) x width; where a term does not look, 0
    const double* at(int t) const {
        return values.data() + static_cast<size_t>(t) * static_cast<size_t>(width);
    }
};

// Rows of the signals' columns at times that increase, brought to the steps [first, last] of a rollout:
// numbers by straight lines between rows, rotations by the shortest turn at constant speed. The rows must
// cover these steps, to 1e-6 of a step.
Recording resample(std::vector<Signal> signals, const std::vector<double>& times,
                   const std::vector<std::vector<double>>& rows, int first, int last, double time_step);

}  // namespace costate
