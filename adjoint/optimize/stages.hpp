// Optimizations in a row, each from the best point of the one before. A stage with other parameters is an
// easier problem near the one that counts: softer contacts, a weaker gravity, wider limits (continuation;
// Allgower & Georg, Introduction to Numerical Continuation Methods, 1990). A stage with another method may find
// the basin in which a method with gradients then finds the minimum.
#pragma once

#include "adjoint/optimize/optimize.hpp"

namespace costate {

// Optimizes once, without stages.
using OptimizeOnce = std::function<OptimizeResult(const Variables&, const OptimizeSettings&, const Pauses&)>;

// Runs the stages of the settings and then the optimization that they precede. `max_loss_evaluations` and
// `max_gradient_evaluations` are those of all together, `target_loss` and `gradient_tolerance` those of the
// last. A stage in which the point so far diverges begins at the start of `variables`. The initial and the final
// loss are those of `loss` without stages, and `losses` those that were minimized, one stage after the other.
// A run that ends no better than it began, or is interrupted there, returns the start.
OptimizeResult in_stages(LossFunction& loss, const Variables& variables, const OptimizeSettings& settings,
                         const Pauses& pauses, const OptimizeOnce& optimize);

}  // namespace costate
