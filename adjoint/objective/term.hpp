// What an objective is made of, as data. Values and adjoints: adjoint/objective/objective.hpp.
#pragma once

#include <string>
#include <vector>

#include "adjoint/objective/recording.hpp"
#include "core/dynamics/queries.hpp"

namespace costate {

enum class TermKind {
    position,        // r = p - target: a point of a body in the world, m
    velocity,        // r = v - target: of a point of a body, world axes, m/s
    configuration,   // r = difference(target, q) over `dofs`, rad or m
    joint_velocity,  // r = v over `dofs`
    height,          // z of a point of a body, m: linear, norm is not used
    effort,          // r = u over `controls`
    // sum of the normal impulses of the contacts of `shape` (-1: all), N s: linear, norm is not used
    impulse,
    centre_of_mass,    // r = c - target of `bodies`, m
    linear_momentum,   // r = p - target of `bodies`, kg m/s
    angular_momentum,  // r = L - target of `bodies`, about the origin of the world, kg m^2/s
    kinetic_energy,    // of `bodies`, J: linear, norm is not used
    potential_energy,  // of `bodies` in gravity, J: linear, norm is not used
    recording,         // r = differences of `recording`'s signals to what was recorded for the step
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
    int site = -1;                              // of `body`: its place, a parameter, instead of `point`
    BodyRange bodies;                           // a tree, several, or all
    Vec3<double> point = Vec3<double>::Zero();  // in the body, m
    Vec3<double> target = Vec3<double>::Zero();
    Vec3<double> axes = Vec3<double>::Ones();  // multiplies the three components of r
    std::vector<int> dofs, controls;
    VecX<double> q_target;  // (nq)
    Recording recording;
};

using Objective = std::vector<Term>;

}  // namespace costate
