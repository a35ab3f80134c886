// Importer of URDF, the robot descriptions of ROS (http://wiki.ros.org/urdf/XML).
//
// Links and joints: every link is a body; links on fixed joints stay bodies. A root link named "world"
// without contents is the world. Any other root floats if it has mass and is fixed otherwise;
// ImportOptions::base overrides this. A floating joint is free if its parent is fixed to the world; otherwise
// it becomes three prismatic joints <name>.x, .y, .z and a spherical joint.
//
// Actuators: revolute, continuous and prismatic joints with an effort limit above 0 get a motor (N m or N at
// the joint) with this control limit. A joint that mimics another gets a coupling instead. Velocity limits
// concern controllers and are ignored.
//
// Collisions: links of one robot do not collide with each other, as in Bullet and Gazebo. With
// ImportOptions::self_collision, all links collide except a link and its parent. Collision meshes become
// convex hulls with their vertices in the model; visual meshes stay files.
//
// Supported extensions: <capsule> and <plane> geometry, <joint_properties> instead of <dynamics>, and Bullet's
// <contact> with lateral_friction, spinning_friction, rolling_friction, restitution, stiffness, damping and
// inertia_scaling.
#pragma once

#include "scenes/import/import_options.hpp"
#include "scenes/import/imported_model.hpp"
#include "scenes/import/xml/xml.hpp"

namespace costate {

ImportedModel import_urdf(const XmlDocument& document, const ImportOptions& options, Warnings& warnings);

}  // namespace costate
