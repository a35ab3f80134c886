#include "core/model/actuator.hpp"

#include <array>
#include <cassert>

namespace costate {
namespace {

struct Row {
    ActuatorType type;
    ActuatorKind kind;
};

using Control = ControlMeaning;

const std::array<Row, 7> kinds{{
    {ActuatorType::motor, {"motor", Control::effort, true}},
    {ActuatorType::servo, {"servo", Control::position, true, {"kp"}, "kd"}},
    {ActuatorType::velocity, {"velocity", Control::velocity, true, {"kd"}}},
    {ActuatorType::general, {"general", Control::number, true, {"gain", "bias"}}},
    {ActuatorType::thruster, {"thruster", Control::effort, false}},
    {ActuatorType::dc_motor, {"dc_motor", Control::number, true, {"stall_torque", "no_load_speed"}}},
    {ActuatorType::muscle, {"muscle", Control::number, true}},
}};

const std::array<ActuatorQuantity, 6> quantities{{
    {"kp", 1, ParameterRange::nonnegative, &ActuatorSlices::kp, [](ActuatorSpec& s) { return &s.kp; }},
    {"kd", 1, ParameterRange::nonnegative, &ActuatorSlices::kd, [](ActuatorSpec& s) { return &s.kd; }},
    {"gain", 1, ParameterRange::any, &ActuatorSlices::gain, [](ActuatorSpec& s) { return &s.gain; }},
    {"bias", 3, ParameterRange::any, &ActuatorSlices::bias, [](ActuatorSpec& s) { return s.bias.data(); }},
    {"stall_torque", 1, ParameterRange::nonnegative, &ActuatorSlices::stall_torque,
     [](ActuatorSpec& s) { return &s.stall_torque; }},
    {"no_load_speed", 1, ParameterRange::positive, &ActuatorSlices::no_load_speed,
     [](ActuatorSpec& s) { return &s.no_load_speed; }},
}};

}  // namespace

std::span<const ActuatorQuantity> actuator_quantities() { return quantities; }

bool ActuatorKind::has(std::string_view quantity) const {
    for (const char* had : {needs[0], needs[1], may_have})
        if (had != nullptr && quantity == had) return true;
    return false;
}

const ActuatorKind& actuator_kind(ActuatorType type) {
    const Row& row = kinds[static_cast<size_t>(type)];
    assert(row.type == type);
    return row.kind;
}

std::vector<std::string> actuator_type_names() {
    std::vector<std::string> names;
    for (const Row& row : kinds)
        names.push_back(row.kind.name);
    return names;
}

const char* control_unit(ActuatorType type, bool on_sliding_joint) {
    const ActuatorKind& kind = actuator_kind(type);
    const bool linear = on_sliding_joint || !kind.on_joint;
    switch (kind.control) {
        case ControlMeaning::effort: return linear ? "N" : "N m";
        case ControlMeaning::position: return linear ? "m" : "rad";
        case ControlMeaning::velocity: return linear ? "m/s" : "rad/s";
        case ControlMeaning::number: break;
    }
    return "";
}

}  // namespace costate
