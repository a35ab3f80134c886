// Importer of SDFormat, the models and worlds of Gazebo (http://sdformat.org/spec), read by libsdformat.
//
// Models: a link is a body. Joints make a tree of the links of a model; a joint that would close a loop becomes
// an equality. A link that no joint carries floats, unless its model is static: then it is fixed in the world.
// ImportOptions::base overrides this for the models that are not static. Names are those of SDFormat: "link" in
// the file of a model, "model::link" in a world.
//
// Joints of two axes become a chain of two, <name>.1 and <name>.2. Joints with an effort limit above 0 get a
// motor (N m or N at the joint) with this control limit. <mimic> couples two joints. Velocity limits concern
// controllers and are ignored, as are plugins, sensors and lights.
//
// Collisions: links of one model do not collide with each other unless <self_collide> says so; links of several
// models do.
//
// A world brings its gravity, its time step and its floor: planes that are fixed in it. Of <include>, only files
// are read, from where meshes are found (scenes/import/mesh/mesh_path.hpp).
#pragma once

#include <string>

#include "scenes/import/import_options.hpp"
#include "scenes/import/imported_model.hpp"
#include "scenes/import/xml/xml.hpp"

namespace costate {

// `text` is that of the document.
ImportedModel import_sdf(const XmlDocument& document, const std::string& text, const ImportOptions& options,
                         Warnings& warnings);

}  // namespace costate
