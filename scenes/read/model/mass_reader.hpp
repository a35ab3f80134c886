// The mass of a body and the box by which a medium drags it.
#pragma once

#include "core/model/model.hpp"
#include "scenes/format/json.hpp"

namespace costate {

// "mass", "com" and "inertia" of a body.
MassProperties<double> read_mass(const Node& body);

// "drag_box" of a body with spec.mass: half extents and axes, by default those of the box of even density with
// the same mass and inertia.
void read_drag_box(const Node& body, BodySpec& spec);

}  // namespace costate
