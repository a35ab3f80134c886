// Writes the law of an MJCF actuator with the keys of a scene.
#include <algorithm>

#include "scenes/import/mjcf/mjcf_actuator_law.hpp"

namespace costate {
namespace {

// Dynamics of MJCF and their names in a scene.
constexpr std::pair<const char*, const char*> dynamics_names[] = {{"integrator", "integrator"},
                                                                  {"filter", "filter"},
                                                                  {"filterexact", "exact_filter"},
                                                                  {"muscle", "muscle"}};

}  // namespace

void shift(MjcfActuatorLaw& law, double offset) {
    law.gain[0] += law.gain[1] * offset;
    law.bias[0] += law.bias[1] * offset;
}

void put_law(const MjcfActuatorLaw& law, Json& out) {
    const double gain = law.gain[0];
    const bool constant_gain = law.gain.segment<2>(1).isZero(0);
    Vec3<double> b = law.bias.head<3>();
    if (constant_gain && gain > 0 && b[1] == -gain && b[2] > 0) {
        out[damping_ratio_key] = b[2];
        b[2] = 0;
    }
    if (gain == 1 && constant_gain && b.isZero(0)) {
        out["type"] = "motor";
    } else if (gain > 0 && constant_gain && b[0] == 0 && b[1] == -gain && b[2] <= 0) {
        out["type"] = "servo";
        out["kp"] = gain;
        if (b[2] != 0) out["kd"] = -b[2];
    } else if (gain > 0 && constant_gain && b[0] == 0 && b[1] == 0 && b[2] == -gain) {
        out["type"] = "velocity";
        out["kd"] = gain;
    } else {
        out["type"] = "general";
        out["gain"] = gain;
        out["bias"] = to_json(b);
        if (!constant_gain) out["gain_slopes"] = {law.gain[1], law.gain[2]};
    }
}

void put_muscle(const MjcfAttributes& a, const MjcfActuatorLaw& law, double offset, Json& out) {
    std::pair<double, double> lengths{offset, offset + 1};
    bool given = false;
    if (const auto range = a.find("lengthrange")) {
        const std::vector<double> x = range->numbers(2, 2);
        given = x[0] != x[1];
        if (given) lengths = read_mjcf_range(*range);
    }
    if (!given) out[muscle_lengths_key] = true;
    const MjcfActuatorLaw::Numbers& p = law.gain;
    out["type"] = "muscle";
    Json& muscle = out["muscle"] = {{"force", std::max(p[2], 0.0)},
                                    {"length_range", {lengths.first - offset, lengths.second - offset}},
                                    {"range", {p[0], p[1]}},
                                    {"fpmax", law.passive ? p[7] : 0}};
    for (const int i : {4, 5, 6, 8})
        muscle[mjcf_muscle_numbers[i].first] = p[i];
    if (p[2] < 0) out[muscle_scale_key] = p[3];
}

void put_dynamics(const MjcfContext& context, const MjcfAttributes& a, const MjcfActuatorLaw& law,
                  Json& out) {
    for (const auto& [theirs, name] : dynamics_names) {
        if (law.dynamics != theirs) continue;
        Json& dynamics = out["dynamics"] = {{"type", name}};
        if (law.dynamics == "muscle") {
            dynamics["rise_time"] = law.time_constant;
            dynamics["fall_time"] = law.fall_time;
            if (law.switch_width > 0) dynamics["switch_width"] = law.switch_width;
        } else if (law.dynamics != "integrator") {
            dynamics["time_constant"] = law.time_constant;
        }
        if (law.early) dynamics["early"] = true;
        if (!law.always_limited && !is_limited(a, "actlimited", "actrange", context.compiler)) return;
        if (!a.has("actrange"))
            a.element().fail("limits its activation but has no \"actrange\"",
                             "add it or write actlimited=\"false\"");
        const auto [lower, upper] = read_mjcf_range(*a.find("actrange"));
        dynamics["limits"] = Json{lower, upper};
    }
}

}  // namespace costate
