// Activations: states of actuators between the control c and the force law, which reads the activation w in the place
// of the control. A type is a row of the table in activation.cpp and a case of core/dynamics/activation.hpp.
//
//   integrator     w' = c
//   filter         w' = (c - w)/T            T: time constant, s
//   exact_filter   the same, solved over a step with c held constant
//
// c is clamped to the control limits of the actuator, and w to limits of its own. (The integrator, filter and
// filterexact of MuJoCo.)
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/model/parameters.hpp"

namespace costate {

enum class ActivationType { integrator, filter, exact_filter };

// The dynamics of an actuator to be added to a ModelBuilder.
struct ActivationSpec {
    ActivationType type = ActivationType::integrator;
    double time_constant = 0;  // of a filter, s
    double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
};

struct Activation {
    int actuator = 0;
    ActivationType type = ActivationType::integrator;
    int time_constant = -1;  // index in theta, -1: none
    ParameterInterval range;
};

struct ActivationKind {
    const char* name;  // in files
    bool has_time_constant;
};
const ActivationKind& activation_kind(ActivationType type);
std::vector<std::string> activation_type_names();

}  // namespace costate
