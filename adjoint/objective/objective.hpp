// Objectives: weighted terms of a rollout, each with its adjoint.
//
//   loss = sum over running terms of  sum_t h w l(x_t, u_t, impulses_t)  +  sum over final terms of  w l(x_N)
//
// A term depends on the state at the beginning of a step (whose poses and velocities are in the step's
// scratch) and on the controls and contact impulses of the step. Impulse terms are sums in N s, without the
// factor h, and are always running terms. A running term may count at some of the steps; at a single instant,
// it has no factor h.
#pragma once

#include "adjoint/objective/signal_values.hpp"
#include "adjoint/objective/term.hpp"

namespace costate {

// l of one term at step t. Call after `step` (running) or `observe` (final).
template <class T>
T term_value(const World& w, const Term& term, int t, const StepInputs<T>& in, const StepScratch<T>& s);

// Adds to the scratch's covectors (poses, velocities, inertias, impulses, contacts, v_next) and to those of the inputs.
template <class T>
void term_value_adj(const World& w, const Term& term, int t, const StepInputs<T>& in, const T& value_bar,
                    StepScratch<T>& s, const StepInputBars<T>& bar);

// The term's share of the loss at step t, or of the final state: w h l or w l; 0 if it does not count there.
template <class T>
T term_share(const World& w, const Term& term, bool running, int t, const StepInputs<T>& in,
             const StepScratch<T>& s);

// The sum of the shares of all terms.
template <class T>
T objective_value(const World& w, const Objective& objective, bool running, int t, const StepInputs<T>& in,
                  const StepScratch<T>& s);
template <class T>
void objective_value_adj(const World& w, const Objective& objective, bool running, int t,
                         const StepInputs<T>& in, const T& value_bar, StepScratch<T>& s,
                         const StepInputBars<T>& bar);

// Throws std::invalid_argument, naming the term, unless the objective is a sum of squares or a single final
// distance.
void check_least_squares(const Objective& objective);
// The scalar residuals of the final state: loss = sum r_k^2, or its root. Empty if a term is running, a
// recording or has the norm `huber`.
Objective residual_components(const Objective& objective);

}  // namespace costate
