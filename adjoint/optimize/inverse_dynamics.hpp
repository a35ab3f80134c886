// Inverse dynamics through contact: the controls u of one step for which v+(x, u) is nearest to v*,
//
//   min |v+(u) - v*|^2   within the limits of the controls
//
// by Levenberg-Marquardt with the Jacobian of the step.
#pragma once

#include "core/math/linalg.hpp"
#include "solvers/world.hpp"

namespace costate {

struct InverseDynamics {
    VecX<double> u;      // (nu)
    double residual;     // |v+ - v*|
    int iterations = 0;  // number of Jacobians
};

// `start` (nu) is clamped to the limits; v_target is (nv). Ends when the residual is at most the tolerance.
InverseDynamics inverse_dynamics(const World& w, const VecX<double>& theta, const VecX<double>& x,
                                 const VecX<double>& v_target, const VecX<double>& start,
                                 double tolerance = 1e-5, int max_iterations = 20);

}  // namespace costate
