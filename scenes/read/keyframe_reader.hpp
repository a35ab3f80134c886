// The keyframes of a model in JSON.
#pragma once

#include "scenes/format/json.hpp"
#include "scenes/format/keyframe.hpp"

namespace costate {

struct ModelInput;

std::vector<Keyframe> read_keyframes(const Node& list, const ModelInput& model);

// The one that an instance starts in: the one it names, else "home", else the first, if there are any.
const Keyframe* chosen_keyframe(const Node& instance, const std::vector<Keyframe>& keyframes);

}  // namespace costate
