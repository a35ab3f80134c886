// Actuators. A type is a row of the table in actuator.cpp and a case of actuator_law and its adjoint below;
// readers, `info`, plots and the viewer use the row.
//
// An actuator on a joint with an axis applies tau = gear f, at the length l = gear q and the velocity
// l' = gear v:
//   f = clamp(gain ctrl + b_0 + b_1 l + b_2 l', force limits),   ctrl clamped to the control limits first, or an
//                                                                activation (core/model/activation.hpp)
//   motor     f = ctrl                        N m or N before the gear
//   servo     f = kp (ctrl - l) - kd l'       ctrl in rad or m
//   velocity  f = kd (ctrl - l')              ctrl in rad/s or m/s
//   general   gain and bias as given          (MuJoCo's general actuator in its affine form), with the gain
//             gain + s_1 l + s_2 l' if it has slopes s
//   dc_motor  f = stall_torque (ctrl - l' / no_load_speed)    ctrl is the fraction of the rated voltage
//   muscle    core/model/muscle.hpp                           ctrl is the activation; f follows l and l' explicitly
// An actuator on a tendon has the tendon's length in place of q (core/dynamics/tendon.hpp, spatial_tendon.hpp).
// A thruster instead applies a force f = ctrl, N, at a point of its body along an axis
// (core/dynamics/thrust.hpp).
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>

#include "core/model/activation.hpp"
#include "core/model/muscle.hpp"

namespace costate {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

enum class ActuatorType { motor, servo, velocity, general, thruster, dc_motor, muscle };

// An actuator to be added to a ModelBuilder.
struct ActuatorSpec {
    std::string name;
    ActuatorType type = ActuatorType::motor;
    int body = -1;  // handle of the body whose joint it drives, or to which a thruster is attached
    double gear = 1, kp = 0, kd = 0;
    double gain = 0;
    Vec3<double> bias = Vec3<double>::Zero();
    std::optional<Eigen::Vector2d> gain_slopes = {};  // of a general one
    double stall_torque = 0, no_load_speed = 1;       // N m and rad/s before the gear, or N and m/s
    double control_lower = -unlimited, control_upper = unlimited;
    double force_lower = -unlimited, force_upper = unlimited;
    // of a thruster, in its body: unit vector of the force; point of application, m
    Vec3<double> axis = Vec3<double>::UnitZ(), position = Vec3<double>::Zero();
    // of a thruster: moment about the axis per unit of force, m; further moment per unit of force, m
    double drag = 0;
    Vec3<double> moment = Vec3<double>::Zero();
    int tendon = -1;  // handle of the tendon that it drives instead of a joint
    std::optional<ActivationSpec> activation = {};
    std::optional<MuscleSpec> muscle = {};  // of a muscle
};

struct Actuator {
    std::string name;
    ActuatorType type = ActuatorType::motor;
    bool on_joint = true;  // see ActuatorKind
    int body = 0;
    int q = 0, v = 0;  // of the joint it drives
    ParameterInterval control, force;
    // of a thruster
    Vec3<double> axis = Vec3<double>::UnitZ(), position = Vec3<double>::Zero();
    Vec3<double> moment = Vec3<double>::Zero();  // per unit of force, m, in its body
    int tendon = -1;                             // index of the tendon that it drives instead of a joint
    int gain_slopes = -1;                        // index in theta of the two slopes of its gain, -1: none
    int activation = -1;  // index of the activation that its law reads in the place of the control, -1: none
    int muscle = -1;      // index in theta of the numbers of a muscle, -1: none
};

// The parameters of all actuators, one slice per quantity. Every actuator has an entry in every slice;
// entries that its type does not use have no effect.
struct ActuatorSlices {
    ParameterSlice gear, kp, kd, gain, bias, stall_torque, no_load_speed;
};

// A quantity of the laws: its name in files and paths of parameters, and its members.
struct ActuatorQuantity {
    const char* name;
    int width;
    ParameterRange range;
    ParameterSlice ActuatorSlices::*slice;
    double* (*of)(ActuatorSpec&);  // (width)
};
std::span<const ActuatorQuantity> actuator_quantities();

// Meaning of a control: a force, a target position or velocity of the joint, or a number without fixed unit.
enum class ControlMeaning { effort, position, velocity, number };

struct ActuatorKind {
    const char* name;  // in files
    ControlMeaning control;
    bool on_joint;           // true: drives a joint with an axis; false: pushes its body
    const char* needs[2]{};  // quantities other than the gear that a file must give
    const char* may_have = nullptr;
    bool has(std::string_view quantity) const;
};
const ActuatorKind& actuator_kind(ActuatorType type);
std::vector<std::string> actuator_type_names();  // in the order of the enumerators

// "N m", "rad/s", ...; empty if the type has no fixed unit
const char* control_unit(ActuatorType type, bool on_sliding_joint);

// f = gain ctrl + b_0 + b_1 l + b_2 l'
template <class T> struct ActuatorLaw { T gain, b0, b1, b2; };

template <class T>
ActuatorLaw<T> actuator_law(ActuatorType type, const ActuatorSlices& at, const T* theta, int n) {
    const T &kp = theta[at.kp.at(n)], &kd = theta[at.kd.at(n)], *b = theta + at.bias.at(n);
    switch (type) {
        case ActuatorType::motor:
        case ActuatorType::thruster:
        case ActuatorType::muscle: break;
        case ActuatorType::servo: return {kp, T(0), -kp, -kd};
        case ActuatorType::velocity: return {kd, T(0), T(0), -kd};
        case ActuatorType::general: return {theta[at.gain.at(n)], b[0], b[1], b[2]};
        case ActuatorType::dc_motor: {
            const T &stall = theta[at.stall_torque.at(n)], &no_load = theta[at.no_load_speed.at(n)];
            return {stall, T(0), T(0), -stall / no_load};
        }
    }
    return {T(1), T(0), T(0), T(0)};
}
template <class T>
void actuator_law_adj(ActuatorType type, const ActuatorSlices& at, const T* theta, int n,
                      const ActuatorLaw<T>& bar, T* theta_bar) {
    T &kp = theta_bar[at.kp.at(n)], &kd = theta_bar[at.kd.at(n)], *b = theta_bar + at.bias.at(n);
    switch (type) {
        case ActuatorType::motor:
        case ActuatorType::thruster:
        case ActuatorType::muscle: break;
        case ActuatorType::servo:
            kp += bar.gain - bar.b1;
            kd -= bar.b2;
            break;
        case ActuatorType::velocity: kd += bar.gain - bar.b2; break;
        case ActuatorType::general:
            theta_bar[at.gain.at(n)] += bar.gain;
            b[0] += bar.b0;
            b[1] += bar.b1;
            b[2] += bar.b2;
            break;
        case ActuatorType::dc_motor: {
            const T &stall = theta[at.stall_torque.at(n)], &no_load = theta[at.no_load_speed.at(n)];
            theta_bar[at.stall_torque.at(n)] += bar.gain - bar.b2 / no_load;
            theta_bar[at.no_load_speed.at(n)] += bar.b2 * stall / (no_load * no_load);
            break;
        }
    }
}

// The law at a control, already clamped, and at l and l': the slopes of the gain s act as b_1 + s_1 ctrl and b_2 + s_2 ctrl;
// gain and b_0 of a muscle are those at l and l'.
template <class T>
ActuatorLaw<T> actuator_law_at(const Actuator& a, const ActuatorSlices& at, const T* theta, int n,
                               const T& control, const T& length, const T& rate) {
    ActuatorLaw<T> law = actuator_law(a.type, at, theta, n);
    if (a.muscle >= 0) {
        const MuscleForce<T> f = muscle_force(theta + a.muscle, length, rate);
        law.gain = f.active;
        law.b0 = f.passive;
    }
    if (a.gain_slopes < 0) return law;
    law.b1 += theta[a.gain_slopes] * control;
    law.b2 += theta[a.gain_slopes + 1] * control;
    return law;
}
template <class T>
void actuator_law_at_adj(const Actuator& a, const ActuatorSlices& at, const T* theta, int n, const T& control,
                         const T& length, const T& rate, const ActuatorLaw<T>& bar, T* theta_bar,
                         T& control_bar, T& length_bar, T& rate_bar) {
    actuator_law_adj(a.type, at, theta, n, bar, theta_bar);
    if (a.muscle >= 0)
        muscle_force_adj(theta + a.muscle, length, rate, {bar.gain, bar.b0}, theta_bar + a.muscle, length_bar,
                         rate_bar);
    if (a.gain_slopes < 0) return;
    control_bar += bar.b1 * theta[a.gain_slopes] + bar.b2 * theta[a.gain_slopes + 1];
    theta_bar[a.gain_slopes] += bar.b1 * control;
    theta_bar[a.gain_slopes + 1] += bar.b2 * control;
}

}  // namespace costate
