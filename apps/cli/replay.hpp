// The last steps before a state that is not finite, in a file from which `costate simulate --from` runs them
// again.
#pragma once

#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/scene.hpp"

namespace costate {

// Writes "<scene>-diverged.json" to the working directory: the path of the scene, the parameters, the state a
// few steps before the first state that is not finite, and the controls from there on. Then throws
// DivergenceError, whose message names the file.
[[noreturn]] void report_divergence(const Scene& scene, const RolloutInputs& inputs,
                                    Rollout<Simulation>& rollout);

// The scene of such a file with the state, parameters, controls and steps of the file; `options` as in the
// diverged rollout. Throws SceneError.
Scene load_replay(const std::filesystem::path& file, const ImportOptions& options);

}  // namespace costate
