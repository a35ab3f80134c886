// Trajectories as text, one row per state.
//
// Columns: time in s, then signals of adjoint/objective/signal.hpp, then quantities of
// apps/io/quantities.hpp. By default these are the coordinates of every joint, then their velocities, then
// the controls. A row holds the state at its time, and controls and impulses of the step that starts there;
// the last row repeats the controls and impulses of the row before it. Quantities belong to the step, too.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "adjoint/rollout/simulation.hpp"
#include "apps/io/quantities.hpp"

namespace costate {

// A field of a CSV file, quoted if necessary.
std::string csv_field(const std::string& field);

// All columns that a trajectory may have, but the time.
std::vector<std::string> trajectory_columns(const World& w);

class TrajectoryWriter {
public:
    enum class Format { csv, json };

    // Writes rows for every `every`-th of `steps` steps and for the last state. `simulation` is that of the
    // rollout. quantities: indices among those of the world.
    TrajectoryWriter(std::FILE* out, Format format, const Simulation& simulation, std::vector<Signal> signals,
                     const double* theta, double time_step, int steps, int every = 1,
                     const std::vector<size_t>& quantities = {});

    // Visitor of a rollout: step, state (q, v), and controls (nullptr after the last step).
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
    std::vector<double> row_;  // one value per column
    Quantities quantities_;
    std::vector<double> of_quantities_;  // their numbers
    std::string line_;
};

}  // namespace costate
