// The joints of a body. Those that the core does not know are made of those that it does: a chain of bodies
// without mass that ends with the body itself.
#pragma once

#include "core/model/model.hpp"
#include "scenes/format/json.hpp"

namespace costate {

// The links that carry a body, parents first, the body itself last; the parent of each is the one before it.
// Of the "joint" or the "joints" of `body`; without either it is fixed. `body_name` is the last link's, the
// others are <body>.1, <body>.2, ... A joint of several links (universal, cylindrical, planar) names theirs
// <joint>.1, <joint>.2, ...
std::vector<BodySpec> read_joints(const Node& body, const std::string& body_name, bool at_world);

// The nearest body on the way from one of `bodies` to the world, itself included, that moves against its
// parent; -1: none.
int moving_body(const std::vector<BodySpec>& bodies, int body);

// Lower and upper end
std::pair<double, double> read_range(const Node& node);

// A unit vector along the one given.
Vec3<double> read_direction(const Node& node);

// Stiffness, above 0, and damping of what gives, by the names of their keys; unlimited and 0 without.
std::pair<double, double> read_spring(const Node& node, const char* stiffness, const char* damping);

}  // namespace costate
