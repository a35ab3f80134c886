// Importer of MJCF, the model format of MuJoCo, with the semantics of MuJoCo's compiler.
// Reference: https://mujoco.readthedocs.io/en/stable/XMLreference.html
//
// Bodies and joints: every <body> is a body with the file's frame. Its joints are a chain. A fixed joint
// leads back to the body's frame if the last joint is not at its origin. Coordinates are 0 at the file's
// pose: MuJoCo's minus "ref". Limits, springs and actuators are shifted accordingly.
//
// Collisions: two geoms collide if (contype of one & conaffinity of the other) != 0. Every such pair of masks
// becomes a group. Geoms that collide with nothing are visuals. If contacts are disabled, shapes stay shapes.
//
// Friction: MuJoCo takes the maximum over two geoms, costate the product. The importer uses the square root,
// which agrees for equal geoms. Margins of two geoms are added, as in MuJoCo since 3.5.
//
// Ignored without a warning: cameras, lights, textures, solver settings. What <flag> of <option> disables is
// left out. Files are found as scenes/import/mesh/mesh_path.hpp says.
#pragma once

#include "scenes/import/import_options.hpp"
#include "scenes/import/imported_model.hpp"
#include "scenes/import/xml/xml.hpp"

namespace costate {

// Included files must be in the model's folder or below.
ImportedModel import_mjcf(const XmlDocument& document, const ImportOptions& options, Warnings& warnings);

}  // namespace costate
