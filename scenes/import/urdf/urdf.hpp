// URDF, the robot descriptions of ROS (http://wiki.ros.org/urdf/XML), as the JSON value of a model.
//
// - Every link is a body and every joint the joint that carries it; links on fixed joints stay bodies. A root
// link named "world"
//   that holds nothing is the world. Any other root floats if it has mass, else it is fixed;
//   ImportOptions::base overrules.
// - Revolute, continuous and prismatic joints with an effort limit above 0 get a motor (N m or N at the
// joint) whose control is
//   limited to it. A joint that mimics another gets an equality that couples the two, and no motor. Velocity
//   limits are for controllers and are left out.
// - A floating joint is free where all before it is fixed, else three prismatic joints <name>.x, .y, .z and a
// spherical one.
// - Links of one robot do not touch each other, as they do not in Bullet and Gazebo, unless
// ImportOptions::self_collision
//   asks for it; then all may but a link and the one that carries it.
// - A mesh that is collided with is its convex hull, its vertices in the model; a mesh that is only seen is
// named by its file.
// - Beyond the specification, as others write it: <capsule> and <plane> geometry, <contact> with
// lateral_friction and restitution,
//   <joint_properties> for <dynamics>.
#pragma once

#include "scenes/import/import_options.hpp"
#include "scenes/import/imported_model.hpp"
#include "scenes/import/xml/xml.hpp"

namespace costate {

ImportedModel import_urdf(const XmlDocument& document, const ImportOptions& options, Warnings& warnings);

}  // namespace costate
