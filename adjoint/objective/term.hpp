// The terms of objectives, as data. Values and adjoints are in adjoint/objective/objective.hpp.
#pragma once

#include <string>
#include <vector>

#include "adjoint/objective/recording.hpp"
#include "core/dynamics/queries.hpp"
#include "core/math/rotation.hpp"

namespace costate {

enum class TermKind {
    position,          // r = p - target: a point of a body in the world, m
    velocity,          // r = v - target: of a point of a body, world axes, m/s
    configuration,     // r = difference(target, q) over `dofs`, rad or m
    joint_velocity,    // r = v over `dofs`
    height,            // z of a point of a body, m
    effort,            // r = u over `controls`
    impulse,           // sum of the normal impulses of the contacts of `shape` (-1: all), N s
    centre_of_mass,    // r = c - target of `bodies`, m
    linear_momentum,   // r = p - target of `bodies`, kg m/s
    angular_momentum,  // r = L - target of `bodies`, about the origin of the world, kg m^2/s
    kinetic_energy,    // of `bodies`, J
    potential_energy,  // of `bodies` in gravity, J
    recording,         // r = differences of the signals of `recording` from their recorded values
    angular_velocity,  // r = omega - target of a body, world axes, rad/s
    orientation,       // r = the rotation vector from a target to a body's orientation, body axes, rad
};

// The subject of a term, which determines its keys in files.
enum class TermSubject { point, body, bodies, joints, actuators, shape, file };

// A kind of term, one row each. Values and adjoints are cases of adjoint/objective/objective.inl.
struct TermTraits {
    TermKind kind;
    const char* name;  // in files
    TermSubject subject;
    int numbers;              // size of r; 0: no residual, the value is linear; -1: depends on the term
    bool has_target = false;  // has "target" and "axes" with three numbers
    bool of_a_step = false;   // undefined in the final state, which no step follows
    bool per_second = true;   // running sums have the factor h
};

inline constexpr TermTraits term_traits[] = {
    {TermKind::position, "position", TermSubject::point, 3, true},
    {TermKind::velocity, "velocity", TermSubject::point, 3, true},
    {TermKind::configuration, "configuration", TermSubject::joints, -1},
    {TermKind::joint_velocity, "joint_velocity", TermSubject::joints, -1},
    {TermKind::height, "height", TermSubject::point, 0},
    {TermKind::effort, "effort", TermSubject::actuators, -1, false, true},
    {TermKind::impulse, "impulse", TermSubject::shape, 0, false, true, false},
    {TermKind::centre_of_mass, "centre_of_mass", TermSubject::bodies, 3, true},
    {TermKind::linear_momentum, "linear_momentum", TermSubject::bodies, 3, true},
    {TermKind::angular_momentum, "angular_momentum", TermSubject::bodies, 3, true},
    {TermKind::kinetic_energy, "kinetic_energy", TermSubject::bodies, 0},
    {TermKind::potential_energy, "potential_energy", TermSubject::bodies, 0},
    {TermKind::recording, "recording", TermSubject::file, -1},
    {TermKind::angular_velocity, "angular_velocity", TermSubject::body, 3, true},
    {TermKind::orientation, "orientation", TermSubject::body, 3},
};

constexpr const TermTraits& traits_of(TermKind kind) { return term_traits[static_cast<size_t>(kind)]; }

constexpr bool term_traits_are_in_order() {
    for (const TermTraits& row : term_traits)
        if (&traits_of(row.kind) != &row) return false;
    return true;
}
static_assert(term_traits_are_in_order());

// squared: |r|^2; distance: |r|, with derivative 0 at 0; component: r[component], for least squares
enum class TermNorm { squared, distance, component };

struct Term {
    std::string name;
    TermKind kind = TermKind::position;
    TermNorm norm = TermNorm::squared;
    bool running = false;  // false: final
    int component = 0;     // of r, for the norm `component`
    double weight = 1;
    int body = -1, shape = -1;
    int site = -1;                              // a site of `body`, whose position replaces `point`
    BodyRange bodies;                           // one tree, several, or all
    Vec3<double> point = Vec3<double>::Zero();  // in the body, m
    Vec3<double> target = Vec3<double>::Zero();
    Quaternion<double> orientation = Quaternion<double>::identity();  // in the world
    Vec3<double> axes = Vec3<double>::Ones();                         // factors of the three components of r
    std::vector<int> dofs, controls;
    VecX<double> q_target;  // (nq)
    Recording recording;
};

using Objective = std::vector<Term>;

}  // namespace costate
