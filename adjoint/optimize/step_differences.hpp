// The Jacobian of a step by central differences, for comparison with the exact one.
#pragma once

#include "solvers/step/jacobian.hpp"

namespace costate {

// J.by_x and J.by_u from two steps for each column, displaced by e along it. Overwrites the scratch.
void step_jacobian_by_differences(const World& w, const double* theta, const double* x, const double* u,
                                  const double* wrenches, double e, StepScratch<double>& s, StepJacobian& J);

}  // namespace costate
