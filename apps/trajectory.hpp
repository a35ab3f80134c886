// Trajectories as text, one row a state.
//
// Columns: time in s; the coordinates of every joint, then their velocities, then the controls:
//   revolute, prismatic   <joint>                       d(<joint>)                     rad or m, per s
//   spherical             <joint>.qw .qx .qy .qz        d(<joint>).wx .wy .wz          rad/s, body axes
//   free                  <joint>.x .y .z .qw ... .qz   d(<joint>).x .y .z .wx ... .wz  m, world axes; rad/s, body axes
//   control               u(<actuator>)
//   site, if asked for    site(<site>).x .y .z                                         m, world axes
// A row holds the state at its time and the controls of the step that starts there; the last row repeats those before it.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "core/kinematics.hpp"

namespace costate {

std::vector<std::string> trajectory_columns(const Model& m, const std::vector<int>& sites = {});

class TrajectoryWriter {
public:
    enum class Format { csv, json };

    // Rows of every `every`-th of `steps` steps, and of the last state. Sites need theta, which must outlive the writer.
    TrajectoryWriter(std::FILE* out, Format format, const Model& m, double time_step, int steps, int every = 1,
                     std::vector<int> sites = {}, const double* theta = nullptr);

    // What a rollout shows its visitor: step, state (q, v), controls, or nullptr after the last step.
    void operator()(int t, const double* x, const double* u);

    void finish();  // after the last row
    int rows() const { return rows_; }

private:
    std::FILE* out_;
    Format format_;
    const Model& model_;
    std::vector<int> sites_;
    const double* theta_;
    Kinematics<double> kinematics_;
    double time_step_;
    int steps_, every_, rows_ = 0;
    std::vector<double> controls_;
    std::string line_;
};

}  // namespace costate
