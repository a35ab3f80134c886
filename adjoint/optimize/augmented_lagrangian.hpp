// Constrained optimization by an augmented Lagrangian (Powell, Hestenes, Rockafellar; Nocedal & Wright,
// Numerical Optimization, 2006, chapter 17; the rules of rounds: Birgin & Martinez, Practical Augmented
// Lagrangian Methods, 2014).
//
// For l <= r_t <= u at the steps t, with multipliers lambda_t per unit of time and the penalty mu, a round
// minimizes
//
//   loss + sum_t h mu/2 |e(r_t + lambda_t/mu)|^2,       e(y) = y - min(max(y, l), u)
//
// by any method, and then takes lambda_t <- mu e(r_t + lambda_t/mu). For one bound this is the form of Powell,
// Hestenes and Rockafellar without its part that does not depend on the variables; for l = u it is that of an
// equality. At an instant, in the final state and for impulses there is no factor h. lambda_t/mu is the `shift`
// of a term with bounds, so that all derivatives are those of terms.
//
// A round that does not reduce the largest change of lambda_t/mu, which is the violation together with the
// failure of complementarity, to a quarter of that before multiplies mu.
#pragma once

#include "adjoint/objective/constraint.hpp"
#include "adjoint/optimize/optimize.hpp"

namespace costate {

// Minimizes the loss under the constraints in rounds of the method of the settings, whose iterations and
// evaluations are those of all rounds. Stages precede them, each with rounds of its own. Of the ends of the rounds, the
// result has the one with the least loss among those that keep all constraints to their tolerances, otherwise the one with the least violation; its
// losses before and after are those without constraints, and its `losses` those that the rounds minimized. It
// can be interrupted, saved and resumed where the method can. Without constraints it is the method alone.
// `augmented`, if given, becomes the objective of the last round. Throws DivergenceError if the first rollout
// diverges.
OptimizeResult optimize(Rollout<Simulation>& rollout, const Variables& variables,
                        const Constraints& constraints, const OptimizeSettings& settings,
                        const Pauses& pauses, Objective* augmented = nullptr);

// The objective of the first round.
Objective augmented_objective(const Objective& objective, const Constraints& constraints);

// Why constraints cannot be kept while these parameters are optimized; empty if they can.
std::string why_no_constraints(const World& w, const ParameterMap& parameters);

}  // namespace costate
