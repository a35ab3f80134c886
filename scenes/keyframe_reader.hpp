// States that a model gives names, for its instances to start in.
#pragma once

#include <map>

#include "scenes/json.hpp"

namespace costate {

struct ModelInput;

// Its joints' positions and velocities as entries of q and v, and controls of its actuators; what it does not name is as ever.
// A free joint's position is in the model's frame.
struct Keyframe {
    std::string name;
    std::map<std::string, std::vector<double>> q, v;  // by joint
    std::map<std::string, double> controls;           // by actuator
};

std::vector<Keyframe> read_keyframes(const Node& list, const ModelInput& model);

// The one that an instance starts in: the one it names, else "home", else the first, if there are any.
const Keyframe* chosen_keyframe(const Node& instance, const std::vector<Keyframe>& keyframes);

}  // namespace costate
