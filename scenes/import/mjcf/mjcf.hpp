// MJCF, MuJoCo's format of models, read as MuJoCo's own compiler means it.
// Reference: https://mujoco.readthedocs.io/en/stable/XMLreference.html
//
// - Every <body> is a body with the file's frame; its joints are a chain, with a fixed joint back to that
// frame where the last one is
//   not at its origin. Coordinates are 0 at the file's pose: MuJoCo's less "ref". What acts on a joint is
//   shifted with it.
// - Two geoms meet where contype of one & conaffinity of the other is not 0. Every such pair of masks is a
// group of its own.
// - MuJoCo takes the larger friction and margin of two geoms, a scene the product and the sum: the square
// root and the half make
//   them the same between equals. Priority, softness, torsional and rolling friction have no counterpart.
// - Geoms that touch nothing are visuals of their body. Cameras, lights, textures and settings of MuJoCo's
// solver are passed over.
// - What <flag> of <option> disables is left out. Shapes that touch nothing, because contacts are disabled,
// stay shapes.
// - Files are read from the model's folder or below, meshes also from ImportOptions::search.
#pragma once

#include "scenes/import/import_options.hpp"
#include "scenes/import/imported_model.hpp"
#include "scenes/import/xml/xml.hpp"

namespace costate {

// What the file includes is read from its folder or below.
ImportedModel import_mjcf(const XmlDocument& document, const ImportOptions& options, Warnings& warnings);

}  // namespace costate
