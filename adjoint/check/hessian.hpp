// Second derivatives of a rollout's loss by the backward pass on dual numbers: step_adj, instantiated for
// Dual, gives the derivative of the gradient along a direction, exact to round-off.
#pragma once

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"

namespace costate {

// H d for the Hessian H of the loss with respect to (controls, initial state, parameters) together; d has the
// same three parts. Derivatives with respect to the initial state are those with respect to a tangent at x0,
// evaluated at 0, so H is symmetric. Also computes the first derivatives if `gradient` is not null. Takes
// about three times the time of a gradient, and stores all states twice. Throws std::invalid_argument if the
// world has pushes.
Gradient hessian_vector_product(const World& w, const Objective& objective, const ControlPlan& plan,
                                int steps, const VecX<double>& theta, const VecX<double>& x0,
                                const VecX<double>& z, const Gradient& direction,
                                Gradient* gradient = nullptr);

}  // namespace costate
