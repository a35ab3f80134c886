// MJCF, MuJoCo's format of models, read as MuJoCo's own compiler means it.
// Reference: https://mujoco.readthedocs.io/en/stable/XMLreference.html
#pragma once

#include "scenes/import.hpp"
#include "scenes/xml.hpp"

namespace costate {

// What the file includes is read from its folder or below.
ImportedModel import_mjcf(const XmlDocument& document, const ImportOptions& options, Warnings& warnings);

}  // namespace costate
