// The loss of a rollout by terms.
#pragma once

#include "adjoint/optimize/optimize.hpp"

namespace costate {

// Name and share of the loss of every term, in their order; the second of two terms with the same name gets
// the suffix " 2". Runs the rollout. Throws DivergenceError.
std::vector<std::pair<std::string, double>> term_losses(Rollout<Simulation>& rollout,
                                                        const RolloutInputs& inputs);

}  // namespace costate
