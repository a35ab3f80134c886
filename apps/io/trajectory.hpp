// Trajectories as text, one row a state.
//
// Columns: time in s, then those of some signals of adjoint/objective/signal.hpp: unless others are chosen,
// the coordinates of every joint, then their velocities, then the controls. A row holds what is so at its
// time, and controls and impulses of the step that starts there; the last row repeats those before it.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "adjoint/rollout/simulation.hpp"

namespace costate {

class TrajectoryWriter {
public:
    enum class Format { csv, json };

    // Rows of every `every`-th of `steps` steps, and of the last state, of the simulation that the rollout
    // runs.
    TrajectoryWriter(std::FILE* out, Format format, const Simulation& simulation, std::vector<Signal> signals,
                     const double* theta, double time_step, int steps, int every = 1);

    // What a rollout shows its visitor: step, state (q, v), controls, or nullptr after the last step.
    void operator()(int t, const double* x, const double* u);

    void finish();  // after the last row
    int rows() const { return rows_; }

private:
    std::FILE* out_;
    Format format_;
    const Simulation& simulation_;
    std::vector<Signal> signals_;
    const double* theta_;
    double time_step_;
    int steps_, every_, rows_ = 0;
    std::vector<double> row_;  // a value of every column
    std::string line_;
};

}  // namespace costate
