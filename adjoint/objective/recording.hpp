// A recording: target values of some signals of a rollout, at the beginning of every step and at the end.
// Samples: any numbers at these times.
#pragma once

#include <algorithm>

#include "adjoint/objective/signal.hpp"

namespace costate {

struct Samples {
    int width = 0;  // numbers per time; 0: no samples
    std::vector<double>
        values;  // (steps + 1 times) x width, 0 at times that are not used; the last row holds after them
    bool empty() const { return width == 0; }
    const double* at(int t) const {
        const auto row = static_cast<size_t>(width);
        return values.data() + std::min(static_cast<size_t>(t) * row, values.size() - row);
    }
};

struct Recording : Samples {  // the columns of all signals
    std::vector<Signal> signals;
    int dimension = 0;  // of the difference to the signals
};

// Resamples rows of the signals' columns, at increasing times, at the steps [first, last] of a rollout:
// linear interpolation between rows; shortest rotation at constant speed for orientations. The rows must
// cover these steps, to 1e-6 of a step.
Recording resample(std::vector<Signal> signals, const std::vector<double>& times,
                   const std::vector<std::vector<double>>& rows, int first, int last, double time_step);
// The same for columns of numbers, whose first and last rows hold before and after their times.
Samples resample(const std::vector<double>& times, const std::vector<std::vector<double>>& rows, int first,
                 int last, double time_step);

}  // namespace costate
