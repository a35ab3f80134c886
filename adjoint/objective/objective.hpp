// Objectives: weighted terms of a rollout, each with its adjoint.
//
//   loss = sum over running terms of  sum_t h w l(x_t, u_t, impulses_t)  +  sum over final terms of  w l(x_N)
//
// A term looks at the state at the beginning of a step (its poses and velocities are in the step's scratch)
// and at the controls and contact impulses of the step. Impulse terms are sums of N s, without the factor h,
// and exist while running only.
#pragma once

#include "adjoint/objective/signal_values.hpp"
#include "adjoint/objective/term.hpp"

namespace costate {

// l of one term at step t. After `step` (running) or `observe` (final); u is nullptr at the end.
template <class T>
T term_value(const World& w, const Term& term, int t, const T* theta, const T* x, const T* u,
             const StepScratch<T>& s);

// Seeds the scratch's covectors of poses, velocities, inertias and impulses, and adds to theta_bar, x_bar (2
// nv) and u_bar (nu).
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

// Throws std::invalid_argument, saying which term is in the way, where the objective is neither a sum of
// squares nor one distance: a linear term, a negative weight.
void check_least_squares(const Objective& objective);
// The single numbers of the end that it is made of: loss = sum r_k^2, or its root. None where a term is
// running or recorded.
Objective residual_components(const Objective& objective);

}  // namespace costate
