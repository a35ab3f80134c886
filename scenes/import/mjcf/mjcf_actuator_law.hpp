// The law of an MJCF actuator.
//
// All have the affine law f = gain ctrl + b_0 + b_1 l + b_2 l', whose gain may be affine, too, or read an activation in
// the place of ctrl; shortcuts (motor, position, velocity, damper, intvelocity, cylinder) and defaults set parts of it, or
// that of a muscle, whatever the kind of the actuator.
#pragma once

#include "scenes/import/mjcf/mjcf_model.hpp"

namespace costate {

// f = (gain_0 + gain_1 l + gain_2 l') ctrl + bias_0 + bias_1 l + bias_2 l', or that of a muscle
struct MjcfActuatorLaw {
    using Numbers = Eigen::Matrix<double, 10, 1>;
    Numbers gain = Numbers::Unit(0), bias = Numbers::Zero();  // of a muscle in MuJoCo's order
    bool affine_gain = false, affine_bias = false;
    bool muscle = false, passive = false;  // passive: a muscle resists when it is long
    std::string dynamics = "none";         // MuJoCo's word
    double time_constant = 1;              // of a filter, or of the rise of a muscle, s
    double fall_time = 0;                  // of a muscle, s
    double switch_width = 0;               // of a muscle: "tausmooth"
    bool always_limited = false;           // the activation
    bool early = false;                    // forces read the next activation
    std::string unlike_dynamics, unlike;   // what makes the law another one; empty: nothing
};

// The numbers of a muscle in MuJoCo's order: attributes of <muscle>, and their defaults. The first is two numbers
// wide.
inline constexpr std::pair<const char*, double> mjcf_muscle_numbers[] = {
    {"range", 0.75}, {"", 1.05},    {"force", -1},  {"scale", 200}, {"lmin", 0.5},
    {"lmax", 1.6},   {"vmax", 1.5}, {"fpmax", 1.3}, {"fvmax", 1.2}};

// The parts of the law that each layer of defaults, and the element itself, sets.
MjcfActuatorLaw law_of(const MjcfAttributes& a);

// True if costate supports the law of the actuator; warns if not.
bool has_counterpart(const MjcfContext& context, const MjcfAttributes& a, const MjcfActuatorLaw& law);

// Makes a law in MuJoCo's length one in costate's, which is 0 at the reference. offset: the difference
void shift(MjcfActuatorLaw& law, double offset);

// Writes the law with the keys of a scene.
void put_law(const MjcfActuatorLaw& law, Json& out);
// Writes a muscle. offset: its length in MuJoCo less that in costate
void put_muscle(const MjcfAttributes& a, const MjcfActuatorLaw& law, double offset, Json& out);
// Writes the dynamics of the activation.
void put_dynamics(const MjcfContext& context, const MjcfAttributes& a, const MjcfActuatorLaw& law, Json& out);

}  // namespace costate
