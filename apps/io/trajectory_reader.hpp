// Reads trajectories from CSV or JSON files with the column names of TrajectoryWriter.
#pragma once

#include <filesystem>
#include <vector>

#include "scenes/scene.hpp"

namespace costate {

struct Trajectory {
    std::vector<double> times;           // s, increasing; empty if the file has no rows
    std::vector<VecX<double>> states;    // (nx) q with unit quaternions, v
    std::vector<VecX<double>> controls;  // (nu)
    // true if the file has velocities and controls; otherwise they are zeros
    bool complete = false;
};

// The columns may be in any order. Time and all coordinates are required; velocities and controls must be
// complete or absent. Throws SceneError with file, line and remedy.
Trajectory read_trajectory(const std::filesystem::path& file, const Scene& scene);

}  // namespace costate
