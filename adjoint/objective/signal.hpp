// Signals: quantities of a rollout at every step that can be columns of a table. Written trajectories and
// recordings use the same names:
//
//   <joint>                             of a joint with one degree of freedom, rad or m
//   <joint>.x .y .z                     of a free joint, world axes, m
//   <joint>.qw .qx .qy .qz              of a spherical or free joint
//   d(<joint>), d(<joint>).x .y .z      their velocities, rad/s or m/s
//   d(<joint>).wx .wy .wz               rad/s, body axes
//   act(<actuator>)                     activation of an actuator that has one
//   u(<actuator>)                       control of the step
//   pose(<body>).x .y .z .qw ... .qz    of the body's frame in the world, m
//   site(<site>).x .y .z                of the site in the world, m
//   impulse(<shape>)                    sum of the normal impulses of the shape's contacts in the step, N s
//
// All signals refer to the beginning of a step, except controls and impulses, which refer to the step and do
// not exist at the end of a rollout.
#pragma once

#include <string>
#include <vector>

#include "solvers/world.hpp"

namespace costate {

enum class SignalKind {
    position,
    rotation,
    velocity,
    activation,
    control,
    body_position,
    body_rotation,
    site_position,
    impulse
};

// A number, or a rotation as a quaternion (w, x, y, z).
struct Signal {
    SignalKind kind;
    int index;  // first entry of q, v, the activations or u; or the body, site or shape
    // joint position or rotation: first entry of v; position of a body or site: x, y or z
    int component = 0;
    std::vector<std::string> names;  // names of its columns

    bool is_rotation() const { return kind == SignalKind::rotation || kind == SignalKind::body_rotation; }
    bool is_of_a_step() const { return kind == SignalKind::control || kind == SignalKind::impulse; }
    int width() const { return is_rotation() ? 4 : 1; }      // columns
    int dimension() const { return is_rotation() ? 3 : 1; }  // of its difference to another value
};

std::vector<Signal> state_signals(const Model& m);  // q, v, activations and u, in their order
std::vector<Signal> all_signals(const World& w);    // state signals, then poses, sites and impulses
std::vector<std::string> column_names(const std::vector<Signal>& signals);

}  // namespace costate
