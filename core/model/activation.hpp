// Activations: states of actuators between the control c and the force law, which reads the activation w in the place
// of the control. A type is a row of the table in activation.cpp and a case of core/dynamics/activation.hpp.
//
//   integrator     w' = c
//   filter         w' = (c - w)/T            T: time constant, s
//   exact_filter   the same, solved over a step with c held constant
//   muscle         w' = (c - w)/T,  T = T_rise (1/2 + 3/2 w) if c > w, T_fall/(1/2 + 3/2 w) otherwise, with c and the w of T
//                  clamped to 0..1. With a switch width d > 0, T goes over from the second to the first value while
//                  c - w rises from -d/2 to d/2:
//                  T = T_2 + (T_1 - T_2) S((c - w)/d + 1/2),  S(x) = 6 x^5 - 15 x^4 + 10 x^3
//
// c is clamped to the control limits of the actuator, and w to limits of its own. (The integrator, filter,
// filterexact and muscle of MuJoCo, and its tausmooth.) Forces read w at the start of a step, or at its end if the
// actuator is early (MuJoCo's actearly).
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/model/parameters.hpp"

namespace costate {

enum class ActivationType { integrator, filter, exact_filter, muscle };

// The dynamics of an actuator to be added to a ModelBuilder.
struct ActivationSpec {
    ActivationType type = ActivationType::integrator;
    double times[2] = {0, 0};  // as ActivationKind::times, s
    double switch_width = 0;   // of a muscle; 0: T jumps
    bool early = false;
    double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
};

struct Activation {
    int actuator = 0;
    ActivationType type = ActivationType::integrator;
    int times[2] = {-1, -1};  // indices in theta of ActivationKind::times
    int switch_width = -1;    // index in theta, -1: T jumps
    bool early = false;       // forces read w+
    ParameterInterval range;
};

struct ActivationKind {
    const char* name;        // in files
    const char* times[2]{};  // names of its time constants in files and paths of parameters
};
const ActivationKind& activation_kind(ActivationType type);
std::vector<std::string> activation_type_names();

}  // namespace costate
