// Compares the gradient of a rollout with central differences, at the ends of the ranges of parameters one-sided, and
// computes the order of its Taylor remainder.
//
// A stencil is valid only if every step of its rollouts takes the branches of the unperturbed rollout
// (branch_hash); `rejected` is the fraction of invalid stencils. For 64 random components and 16 random
// directions of each kind of variable,
//   max_relative_error = |g - fd|_inf / |fd|_inf,
// or the absolute error if |fd|_inf < 1e-10 max(1, |loss|) or below the round-off and truncation of the differences.
//
// For controls and states the step is 1e-6 max(1, |x|), and a stencil is rejected by its branches at this
// step. If the loss hardly depends on a variable (one torque for one millisecond), round-off dominates at
// this step. Therefore 10, 100 and 1000 times the step are also tried, as far as branches allow. Differences
// among the estimates bound round-off (1/step) and truncation (step^2), and the step with the least sum is
// used. This choice does not depend on the gradient under test. Parameters have different scales: derivatives
// are with respect to y, x = scale y, with step 1e-6 in y, where scale is the largest magnitude in the
// parameter (0.01 if it is zero). Variables of optimized parameters are checked separately, too.
//
// Taylor order: the slope of log |L(x + e d) - L(x) - e g.d| over log e on the window of four halvings that
// fits a line best, among remainders well above round-off (the remainders at the smallest e). If there is no
// such window, the order is reported as 2 and at_roundoff is true.
#pragma once

#include <functional>
#include <stdexcept>

#include "adjoint/optimize/parameter_map.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"

namespace costate {

struct GradcheckOptions {
    int components = 64, directions = 16;
    double step = 1e-6;  // the smallest step
    unsigned seed = 1;
    ParameterMap optimized;  // optimized parameters, whose variables are checked, too (`optimized`)
    std::function<void(int done, int total)> progress;  // numbers of stencils
};

struct GradcheckKind {
    double max_relative_error = 0;
    double taylor_order = 2;
    bool at_roundoff = true;
    double rejected = 0;  // fraction of the stencils
    int stencils = 0;
    std::string worst;  // name of the worst component
    bool checked() const {
        return stencils == 0 || rejected < 1;
    }  // false: all stencils were rejected, and the other members have no meaning
};

struct GradcheckReport {
    double loss = 0;
    GradcheckKind controls, initial_state, parameters, optimized;
    GradcheckKind worst() const;  // the worst of each figure
    bool checked() const {
        return controls.checked() && initial_state.checked() && parameters.checked() && optimized.checked();
    }
};

// An objective for scenes without one: a linear function of the final state, with random weights for every
// dof's position (relative to q_end) and velocity.
Objective random_linear_objective(const World& w, const VecX<double>& q_end, unsigned seed);

// Throws DivergenceError if the unperturbed rollout diverges.
GradcheckReport gradcheck(Rollout<Simulation>& rollout, const VecX<double>& theta, const VecX<double>& x0,
                          const VecX<double>& z, const GradcheckOptions& options = {});

}  // namespace costate
