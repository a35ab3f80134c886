// The keyframes of a model in JSON.
#pragma once

#include "scenes/format/json.hpp"
#include "scenes/format/keyframe.hpp"

namespace costate {

struct ModelInput;

std::vector<Keyframe> read_keyframes(const Node& list, const ModelInput& model);

// The keyframe in which an instance starts: the named one, otherwise "home", otherwise the first. Null if the
// model has none.
const Keyframe* chosen_keyframe(const Node& instance, const std::vector<Keyframe>& keyframes);

}  // namespace costate
