// Named states of a model in which its instances may start.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/model/model.hpp"

namespace costate {

// Positions and velocities of joints as entries of q and v, activations and controls of actuators. Anything not named
// keeps its default. The position of a free joint is in the frame of the model, or of the world for a
// keyframe of the world.
struct Keyframe {
    std::string name;
    std::map<std::string, std::vector<double>> q, v;  // by joint
    std::map<std::string, double> activations;        // by actuator
    std::map<std::string, double> controls;           // by actuator
};

// Sets the entries of q (nq), v (nv) and the activations that the keyframe names.
void enter_keyframe(const Keyframe& keyframe, const Model& model, double* q, double* v, double* activations);

}  // namespace costate
