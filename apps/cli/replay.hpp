// What led to a state that is not finite: the last steps before it, in a file from which `costate simulate
// --from` runs them again.
#pragma once

#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/scene.hpp"

namespace costate {

// Writes "<scene>-diverged.json" to the working directory: the scene's file, the parameters, the state a few
// steps before the rollout left the finite numbers, and the controls from there on. Then throws
// DivergenceError, which names the file too.
[[noreturn]] void report_divergence(const Scene& scene, const RolloutInputs& inputs,
                                    Rollout<Simulation>& rollout);

// The scene of such a file, with its state, parameters, controls and steps in place of its own; `options` as
// the rollout had them. Throws SceneError.
Scene load_replay(const std::filesystem::path& file, const ImportOptions& options);

}  // namespace costate
