// States that a model gives names, for its instances to start in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/model/model.hpp"

namespace costate {

// Its joints' positions and velocities as entries of q and v, and controls of its actuators; what it does not
// name is as ever. A free joint's position is in the model's frame; of a keyframe in the world, in the
// world's.
struct Keyframe {
    std::string name;
    std::map<std::string, std::vector<double>> q, v;  // by joint
    std::map<std::string, double> controls;           // by actuator
};

// Sets what the keyframe names of q (nq) and v (nv).
void enter_keyframe(const Keyframe& keyframe, const Model& model, double* q, double* v);

}  // namespace costate
