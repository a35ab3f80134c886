// Trajectories read back from files that TrajectoryWriter wrote, in CSV or JSON, or that others wrote with
// its column names.
#pragma once

#include <filesystem>
#include <vector>

#include "scenes/scene.hpp"

namespace costate {

struct Trajectory {
    std::vector<double> times;           // s, increasing; none if the file has no rows
    std::vector<VecX<double>> states;    // (nx) q with unit quaternions, v
    std::vector<VecX<double>> controls;  // (nu)
    // velocities and controls are there too, and are not just zeros for want of columns
    bool complete = false;
};

// The columns may stand in any order; time and all coordinates must be there; velocities and controls all or
// none. Throws SceneError, one line that names the file, the line and the remedy.
Trajectory read_trajectory(const std::filesystem::path& file, const Scene& scene);

}  // namespace costate
