// Models of other files as parts of a model.
#pragma once

#include "scenes/import/mjcf/mjcf_model.hpp"

namespace costate {

// Adds the other model, or the body that the element names, to `out`, fixed at or moving from the frame of the
// attachment in the body `parent`. Names get its prefix and suffix. Tendons, actuators, equalities, sensors and pairs come
// along if all that they refer to does; keyframes, the floor, time step and gravity stay behind.
void attach_model(const ImportedModel& other, const MjcfAttachment& attachment, const std::string& parent,
                  ImportedModel& out);

}  // namespace costate
