// Tendons of MJCF.
#pragma once

#include "scenes/import/mjcf/mjcf_model.hpp"

namespace costate {

// Writes the fixed tendons, and the spatial ones over sites and pulleys; warns of others, and of limits, dry
// friction and armature.
void read_tendons(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out);

bool has_tendon(const ImportedModel& model, const std::string& name);

// The attributes of a tendon by its name, if it has one
std::optional<MjcfAttributes> tendon_attributes(const MjcfContext& context, const std::string& name);

// MuJoCo's length of a tendon minus costate's: of a fixed one, costate's coordinates are 0 at the reference
// configuration.
double tendon_offset(const MjcfContext& context, const MjcfIndex& index, const std::string& name);

}  // namespace costate
