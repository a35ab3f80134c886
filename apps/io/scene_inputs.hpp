// Inputs of a scene's rollout from files of earlier runs.
#pragma once

#include "scenes/read/task/control_file.hpp"
#include "scenes/scene.hpp"

namespace costate {

// Prescribes the controls of every step that the file has columns u(<actuator>) for; the others stay. Throws
// UsageError if a column belongs to nothing in the scene, or none is that of a control, and SceneError if the
// file does not last as long as the rollout.
void drive(Scene& scene, const ControlFile& file, Resampling how);

// Starts the optimization at the variables of a result.json. Throws SceneError unless it has exactly the
// controls, parameters and entries of the initial state that the scene optimizes, with as many values.
void start_from(Scene& scene, const std::filesystem::path& result);

}  // namespace costate
