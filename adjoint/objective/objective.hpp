// Objectives: weighted terms of a rollout, each with its adjoint.
//
//   loss = sum over running terms of  sum_t h w l(x_t, u_t, impulses_t)  +  sum over final terms of  w l(x_N)
//
// A term depends on the state at the beginning of a step (whose poses and velocities are in the step's
// scratch) and on the controls and contact impulses of the step. Impulse terms are sums in N s, without the
// factor h, and are always running terms.
#pragma once

#include "adjoint/objective/signal_values.hpp"
#include "adjoint/objective/term.hpp"

namespace costate {

// l of one term at step t. Call after `step` (running) or `observe` (final); u is nullptr at the end.
template <class T>
T term_value(const World& w, const Term& term, int t, const T* theta, const T* x, const T* u,
             const StepScratch<T>& s);

// Adds to the scratch's covectors of poses, velocities, inertias and impulses, and to theta_bar, x_bar (2 nv)
// and u_bar (nu).
template <class T>
void term_value_adj(const World& w, const Term& term, int t, const T* theta, const T* x, const T* u,
                    const T& value_bar, StepScratch<T>& s, T* theta_bar, T* x_bar, T* u_bar);

// w h l or w l, summed over the running or the final terms
template <class T>
T objective_value(const World& w, const Objective& objective, bool running, int t, const T* theta, const T* x,
                  const T* u, const StepScratch<T>& s);
template <class T>
void objective_value_adj(const World& w, const Objective& objective, bool running, int t, const T* theta,
                         const T* x, const T* u, const T& value_bar, StepScratch<T>& s, T* theta_bar,
                         T* x_bar, T* u_bar);

// Throws std::invalid_argument, naming the term, unless the objective is a sum of squares or a single final
// distance.
void check_least_squares(const Objective& objective);
// The scalar residuals of the final state: loss = sum r_k^2, or its root. Empty if a term is running or a
// recording.
Objective residual_components(const Objective& objective);

}  // namespace costate
