// Second derivatives of a rollout's loss: the reverse sweep on dual numbers. The same step_adj, instantiated
// for Dual, turns a direction into the derivative of the gradient along it, exact to round-off.
#pragma once

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"

namespace costate {

// H d for the Hessian H of the loss by (controls, initial state, parameters) together, d given by the same
// three parts. The initial state is x0 retracted by a tangent, of which the derivatives are taken at 0, so
// that H is symmetric. `gradient`, where asked for, gets the first derivatives on the way. Costs about three
// times the gradient; keeps every state, twice.
Gradient hessian_vector_product(const World& w, const Objective& objective, const ControlPlan& plan,
                                int steps, const VecX<double>& theta, const VecX<double>& x0,
                                const VecX<double>& z, const Gradient& direction,
                                Gradient* gradient = nullptr);

}  // namespace costate
