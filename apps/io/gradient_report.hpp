// Gradients in JSON, by the names of their numbers.
#pragma once

#include "adjoint/rollout/rollout.hpp"
#include "apps/io/output.hpp"
#include "scenes/scene.hpp"

namespace costate {

// The names of the numbers of a scene's gradient, with which it can be written without the scene.
Report gradient_names(const Scene& s);
// "name", "steps", "loss", "gradient_norm", "controls", "initial_state", "parameters"
Report gradient_report(const Report& names, double loss, const Gradient& g);
double gradient_norm(const Gradient& g);

}  // namespace costate
