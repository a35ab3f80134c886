// Objectives: weighted terms of a rollout, each with its adjoint.
//
//   loss = sum over running terms of  sum_t h w l(x_t, u_t, impulses_t)  +  sum over final terms of  w l(x_N)
//
// A term looks at the state at the beginning of a step (its poses and velocities are in the step's scratch) and at the
// controls and contact impulses of the step. Impulse terms are sums of N s, without the factor h, and exist while running only.
#pragma once

#include <string>
#include <vector>

#include "adjoint/recording.hpp"

namespace costate {

enum class TermKind {
    position,       // r = p - target: a point of a body in the world, m
    velocity,       // r = v - target: of a point of a body, world axes, m/s
    configuration,  // r = difference(target, q) over `dofs`, rad or m
    joint_velocity, // r = v over `dofs`
    height,         // z of a point of a body, m: linear, norm is not used
    effort,         // r = u over `controls`
    impulse,        // sum of the normal impulses of the contacts of `shape` (-1: all), N s: linear, norm is not used
    centre_of_mass,     // r = c - target of `bodies`, m
    linear_momentum,    // r = p - target of `bodies`, kg m/s
    angular_momentum,   // r = L - target of `bodies`, about the origin of the world, kg m^2/s
    kinetic_energy,     // of `bodies`, J: linear, norm is not used
    potential_energy,   // of `bodies` in gravity, J: linear, norm is not used
    recording,          // r = differences of `recording`'s signals to what was recorded for the step
};
// |r|^2; |r|, whose derivative at 0 is 0; or r[component], of which least squares are made
enum class TermNorm { squared, distance, component };

struct Term {
    std::string name;
    TermKind kind = TermKind::position;
    TermNorm norm = TermNorm::squared;
    bool running = false;  // else final
    int component = 0;     // of r, where the norm is that
    double weight = 1;
    int body = -1, shape = -1;
    int site = -1;                               // of `body`: its place, a parameter, instead of `point`
    BodyRange bodies;                            // a tree, several, or all
    Vec3<double> point = Vec3<double>::Zero();   // in the body, m
    Vec3<double> target = Vec3<double>::Zero();
    Vec3<double> axes = Vec3<double>::Ones();    // multiplies the three components of r
    std::vector<int> dofs, controls;
    VecX<double> q_target;                       // (nq)
    Recording recording;
};

using Objective = std::vector<Term>;

// l of one term at step t. After `step` (running) or `observe` (final); u is nullptr at the end.
template <class T>
T term_value(const World& w, const Term& term, int t, const T* theta, const T* x, const T* u, const StepScratch<T>& s);

// Seeds the scratch's covectors of poses, velocities, inertias and impulses, and adds to theta_bar, x_bar (2 nv) and u_bar (nu).
template <class T>
void term_value_adj(const World& w, const Term& term, int t, const T* theta, const T* x, const T* u, const T& value_bar,
                    StepScratch<T>& s, T* theta_bar, T* x_bar, T* u_bar);

// w h l or w l, summed over the running or the final terms
template <class T>
T objective_value(const World& w, const Objective& objective, bool running, int t, const T* theta, const T* x, const T* u,
                  const StepScratch<T>& s);
template <class T>
void objective_value_adj(const World& w, const Objective& objective, bool running, int t, const T* theta, const T* x, const T* u,
                         const T& value_bar, StepScratch<T>& s, T* theta_bar, T* x_bar, T* u_bar);

// Throws std::invalid_argument, saying which term is in the way, where the objective is neither a sum of squares nor one distance:
// a linear term, a negative weight.
void check_least_squares(const Objective& objective);
// The single numbers of the end that it is made of: loss = sum r_k^2, or its root. None where a term is running or recorded.
Objective residual_components(const Objective& objective);

}  // namespace costate
