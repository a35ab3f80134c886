// The terms of objectives, as data. Values and adjoints are in adjoint/objective/objective.hpp.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "adjoint/objective/recording.hpp"
#include "core/dynamics/queries.hpp"
#include "core/math/rotation.hpp"
#include "solvers/sensor.hpp"

namespace costate {

enum class TermKind {
    position,          // r = p - target: a point of a body in the world, m
    velocity,          // r = v - target: of a point of a body, world axes, m/s
    configuration,     // r = difference(target, q) over `dofs`, rad or m
    joint_velocity,    // r = v over `dofs`
    height,            // r = z of a point of a body, m
    effort,            // r = u over `controls`
    impulse,           // r = sum of the normal impulses of the contacts of `shape` (-1: all), N s
    centre_of_mass,    // r = c - target of `bodies`, m
    linear_momentum,   // r = p - target of `bodies`, kg m/s
    angular_momentum,  // r = L - target of `bodies`, about the origin of the world, kg m^2/s
    kinetic_energy,    // r = that of `bodies`, J
    potential_energy,  // r = that of `bodies` in gravity, J
    recording,         // r = differences of the signals of `recording` from their recorded values
    angular_velocity,  // r = omega - target of a body, world axes, rad/s
    orientation,       // r = the rotation vector from a target to the axes of a body or site, their axes, rad
    sensor,            // r = the numbers of a sensor of the world
    power,             // r = f v of `controls`: the force of the actuator's law times its velocity, W
    // r = (v_x, v_y)/sqrt(1 + exp(z/clearance)) of a point of a body, m/s: its speed along level ground, the
    // less the higher it is. A foot that is to move has to lift. (Kim et al., Contact-Implicit Model Predictive
    // Control, 2024)
    clearance,
    symmetry,  // r = u over `controls` - mirror o (u over `partners`)
};

// The subject of a term, which determines its keys in files.
enum class TermSubject { point, body, bodies, joints, actuators, shape, file, sensor };

// A kind of term, one row each. Values and adjoints are cases of adjoint/objective/objective.inl.
struct TermTraits {
    TermKind kind;
    const char* name;  // in files
    const char* unit;  // of r; empty if it depends on the term
    TermSubject subject;
    int numbers;              // size of r; -1: depends on the term
    bool has_target = false;  // has "target" and "axes" with three numbers
    bool of_a_step = false;   // undefined in the final state, which no step follows
    bool per_second = true;   // running sums have the factor h
    bool linear = false;      // the standard norm is linear
};

inline constexpr TermTraits term_traits[] = {
    {TermKind::position, "position", "m", TermSubject::point, 3, true},
    {TermKind::velocity, "velocity", "m/s", TermSubject::point, 3, true},
    {TermKind::configuration, "configuration", "", TermSubject::joints, -1},
    {TermKind::joint_velocity, "joint_velocity", "", TermSubject::joints, -1},
    {TermKind::height, "height", "m", TermSubject::point, 1, false, false, true, true},
    {TermKind::effort, "effort", "", TermSubject::actuators, -1, false, true},
    {TermKind::impulse, "impulse", "N s", TermSubject::shape, 1, false, true, false, true},
    {TermKind::centre_of_mass, "centre_of_mass", "m", TermSubject::bodies, 3, true},
    {TermKind::linear_momentum, "linear_momentum", "kg m/s", TermSubject::bodies, 3, true},
    {TermKind::angular_momentum, "angular_momentum", "kg m\u00b2/s", TermSubject::bodies, 3, true},
    {TermKind::kinetic_energy, "kinetic_energy", "J", TermSubject::bodies, 1, false, false, true, true},
    {TermKind::potential_energy, "potential_energy", "J", TermSubject::bodies, 1, false, false, true, true},
    {TermKind::recording, "recording", "", TermSubject::file, -1},
    {TermKind::angular_velocity, "angular_velocity", "rad/s", TermSubject::body, 3, true},
    {TermKind::orientation, "orientation", "", TermSubject::body, 3},
    {TermKind::sensor, "sensor", "", TermSubject::sensor, -1},
    {TermKind::power, "power", "W", TermSubject::actuators, -1, false, true, true, true},
    {TermKind::clearance, "clearance", "", TermSubject::point, 2},
    {TermKind::symmetry, "symmetry", "", TermSubject::actuators, -1, false, true},
};

constexpr const TermTraits& traits_of(TermKind kind) { return term_traits[static_cast<size_t>(kind)]; }

constexpr bool term_traits_are_in_order() {
    for (const TermTraits& row : term_traits)
        if (&traits_of(row.kind) != &row) return false;
    return true;
}
static_assert(term_traits_are_in_order());

// What a term makes of its residual r:
//
//   standard   linear or squared: that of the kind
//   squared    |r|^2
//   distance   |r|, with derivative 0 at 0
//   linear     sum r_k
//   huber      sum of r_k^2 where |r_k| <= d, and of 2 d |r_k| - d^2 beyond     (Huber 1964; d: `threshold`)
//   component  r[component], for least squares
enum class TermNorm { standard, squared, distance, linear, huber, component };

struct Term {
    std::string name;
    TermKind kind = TermKind::position;
    TermNorm norm = TermNorm::standard;
    double threshold = 1;  // of the norm `huber`, in the unit of r
    int component = 0;     // of r, for the norm `component`
    bool length = false;   // |r| replaces r, with derivative 0 at 0
    // (size of r, after `length`) bounds, or empty: the excess max(0, lower - r, r - upper) replaces r
    VecX<double> lower, upper;
    // (size of r, after `length`) is added to r before its bounds, or empty: the multipliers of a constraint,
    // divided by its penalty
    Samples shift;
    bool running = false;                                  // false: final
    int first = 0, end = std::numeric_limits<int>::max();  // a running term counts at the steps [first, end)
    bool instant = false;                                  // a running term without the factor h
    double weight = 1;
    int body = -1, shape = -1;
    int site = -1;                              // a site of `body`, whose position replaces `point`
    BodyRange bodies;                           // one tree, several, or all
    Vec3<double> point = Vec3<double>::Zero();  // in the body, m
    Vec3<double> target = Vec3<double>::Zero();
    Quaternion<double> orientation = Quaternion<double>::identity();  // in the world
    Vec3<double> axes = Vec3<double>::Ones();                         // factors of the three components of r
    double clearance = 0.03;                                          // of the kind `clearance`, m
    std::vector<int> dofs, controls;
    std::vector<int> partners;  // (controls) of the kind `symmetry`
    VecX<double> mirror;        // (controls) their factors
    VecX<double> q_target;      // (nq)
    // If not empty, replaces `target` and `q_target`, and is subtracted from the numbers of other kinds.
    Samples reference;
    std::vector<Sensor> sensors;  // with offsets in the numbers of all
    VecX<double> factors;         // of the numbers of a sensor, or empty: 1
    Recording recording;

    bool bounded() const { return lower.size() > 0; }
};

inline TermNorm norm_of(const Term& term) {
    if (term.norm != TermNorm::standard) return term.norm;
    return traits_of(term.kind).linear ? TermNorm::linear : TermNorm::squared;
}
// The number of its scalar residuals.
int residual_size(const Term& term);
// True if the term counts at step t, or in the final state.
inline bool counts(const Term& term, bool running, int t) {
    return term.running == running && (!running || (term.first <= t && t < term.end));
}
// True if the term has the factor h.
inline bool is_integral(const Term& term) {
    return term.running && !term.instant && traits_of(term.kind).per_second;
}

using Objective = std::vector<Term>;

}  // namespace costate
