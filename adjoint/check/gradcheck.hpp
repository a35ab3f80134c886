// Gradient of a rollout against central differences, and the order of its Taylor remainder.
//
// A stencil counts only if every step of its rollouts took the branches of the unperturbed one (branch_hash);
// the share that does not is `rejected`. Over 64 random components and 16 random directions of each kind of
// variable,
//   max_relative_error = |g - fd|_inf / |fd|_inf,
// or the absolute error where |fd|_inf < 1e-10 max(1, |loss|). The stencil's step is 1e-6 max(1, |x|) for
// controls and states, and a stencil is rejected by the branches at this step. Where the loss hardly moves,
// such a step drowns in round-off (one millisecond of one torque), so 10, 100 and 1000 times the step are
// tried too as far as branches allow. From how the estimates differ among themselves round-off (1/step) and
// truncation (step^2) are bounded, and the step with the least sum is taken; the gradient that is checked has
// no say in it. Parameters have many scales, so theirs is relative: derivatives by x = scale y, step 1e-6 in
// y, where scale is the largest magnitude in the parameter (0.01 if it is zero). The variables of parameters
// that an optimizer moves are checked by themselves too.
//
// Taylor: the slope of log |L(x + e d) - L(x) - e g.d| over log e on the window of four halvings that fits a
// line best, among remainders well above those at the smallest e, which are round-off; where no window is,
// the order is reported as 2 and at_roundoff is true.
#pragma once

#include <functional>
#include <stdexcept>

#include "adjoint/optimize/parameter_map.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"

namespace costate {

struct GradcheckOptions {
    int components = 64, directions = 16;
    double step = 1e-6;  // the smallest
    unsigned seed = 1;
    ParameterMap optimized;  // what an optimizer may move: checked by its variables too, as `optimized`
    std::function<void(int done, int total)> progress;  // stencils
};

struct GradcheckKind {
    double max_relative_error = 0;
    double taylor_order = 2;
    bool at_roundoff = true;
    double rejected = 0;  // share of the stencils
    int stencils = 0;
    std::string worst;  // name of the worst component
    bool checked() const {
        return stencils == 0 || rejected < 1;
    }  // false: every stencil was rejected, and the figures say nothing
};

struct GradcheckReport {
    double loss = 0;
    GradcheckKind controls, initial_state, parameters, optimized;
    GradcheckKind worst() const;  // the worst of each figure
    bool checked() const {
        return controls.checked() && initial_state.checked() && parameters.checked() && optimized.checked();
    }
};

// What to check where nothing is asked of a rollout: a linear function of its last state, with random weights
// for every dof's position (relative to q_end, where it is 0) and velocity.
Objective random_linear_objective(const World& w, const VecX<double>& q_end, unsigned seed);

// Throws DivergenceError if the unperturbed rollout leaves the finite numbers.
GradcheckReport gradcheck(Rollout<Simulation>& rollout, const VecX<double>& theta, const VecX<double>& x0,
                          const VecX<double>& z, const GradcheckOptions& options = {});

}  // namespace costate
