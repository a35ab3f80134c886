// The joints of a body. Joint types that the core does not have become chains of its joints: massless bodies,
// and the body itself at the end.
#pragma once

#include "core/model/model.hpp"
#include "scenes/format/json.hpp"

namespace costate {

// The links that carry a body, from the parent on: each link is the parent of the next, and the last one is
// the body itself. They follow from the "joint" or the "joints" of `body`; a body without either is fixed.
// `body_name` is the name of the last link; the others are <body>.1, <body>.2, ... The joints of a joint with
// several links (such as universal) are <joint>.1, <joint>.2, ...
std::vector<BodySpec> read_joints(const Node& body, const std::string& body_name, bool at_world);

// The state of a joint. Position: a number for one dof, otherwise an object with "position" (m, world axes) and an
// orientation; velocity: a number, or "linear" (m/s, world axes) and "angular" (rad/s, body axes). Entries of q (nq)
// and v (nv) that the value does not give keep their values.
void read_joint_position(const Node& value, const JointKind& kind, double* q);
void read_joint_velocity(const Node& value, const JointKind& kind, double* v);

// The first body on the path from `body` to the world, `body` included, that moves relative to its parent; -1
// if there is none.
int moving_body(const std::vector<BodySpec>& bodies, int body);

// Lower and upper end
std::pair<double, double> read_range(const Node& node);

// The given vector, normalized.
Vec3<double> read_direction(const Node& node);

// Stiffness (above 0) and damping of a compliant limit or surface under these keys; without them, unlimited
// and 0.
std::pair<double, double> read_spring(const Node& node, const char* stiffness, const char* damping);

// Softness by MuJoCo's law from two optional keys; defaults as in MuJoCo.
Softness read_softness(const Node& node, const char* solref, const char* solimp);

}  // namespace costate
