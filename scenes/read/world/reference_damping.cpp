#include "scenes/read/world/reference_damping.hpp"

#include <cmath>

#include "core/dynamics/inverse_weights.hpp"
#include "scenes/read/world/driven_model.hpp"
#include "scenes/read/world/muscle_lengths.hpp"

namespace costate {
namespace {

template <class Use> void for_each_joint(Json& model, Use use) {
    for (Json& body : model["bodies"]) {
        if (body.contains("joint")) use(body["joint"]);
        if (body.contains("joints"))
            for (Json& joint : body["joints"])
                use(joint);
    }
}

Model model_of(const ModelInput& input) {
    ModelBuilder builder;
    for (const BodySpec& body : input.bodies)
        builder.add_body(body);
    for (const SiteSpec& site : input.sites)
        builder.add_site(site);
    for (const TendonSpec& tendon : input.tendons)
        builder.add_tendon(tendon);
    for (const ActuatorSpec& actuator : input.actuators)
        builder.add_actuator(actuator);
    return builder.build();
}

// kv = 2 ratio sqrt(kp m): MuJoCo documentation, "dampratio" of position actuators
void put_gain(const DrivenModel& reference, int n, double ratio, Json& actuator) {
    const bool servo = actuator["type"] == "servo";
    const double kp = actuator[servo ? "kp" : "gain"].get<double>(),
                 kv = 2 * ratio * std::sqrt(kp * reference.driven_inertia(n));
    if (servo)
        actuator["kd"] = kv;
    else
        actuator["bias"][2] = -kv;
}

// stiffness = m / (time ratio)^2, damping = 2 m / time, with m the inverse of the mean of the inverse inertias of the
// joint's dofs: MuJoCo documentation, "springdamper" of joints, and the standard form of "solref"
void put_spring(const Model& m, const InverseWeights& weights, const DampingRatios::Spring& given,
                Json& joint) {
    const Body& body = m.bodies[m.joint_index(joint["name"].get<std::string>())];
    if (body.nv == 0) return;
    double sum = 0;
    for (int j = body.v0; j < body.v0 + body.nv; ++j)
        sum += weights.dof[j];
    const double inertia = body.nv / std::max(least_inertia, sum), period = given.time * given.ratio;
    if (given.damper) joint["damping"] = 2 * inertia / std::max(least_inertia, given.time);
    if (given.spring) joint["stiffness"] = inertia / std::max(least_inertia, period * period);
}

}  // namespace

DampingRatios take_damping_ratios(Json& model) {
    DampingRatios out;
    for (size_t n = 0; model.contains("actuators") && n < model["actuators"].size(); ++n) {
        Json& actuator = model["actuators"][n];
        const auto take = [&](const char* key, std::vector<std::pair<int, double>>& to) {
            if (!actuator.contains(key)) return;
            to.emplace_back(static_cast<int>(n), actuator[key].get<double>());
            actuator.erase(key);
        };
        take(damping_ratio_key, out.actuators);
        take(muscle_scale_key, out.muscles);
        if (actuator.erase(muscle_lengths_key) > 0) out.lengths.push_back(static_cast<int>(n));
    }
    for_each_joint(model, [&](Json& joint) {
        if (!joint.contains(spring_damper_key)) return;
        const Json given = joint[spring_damper_key];
        out.joints[joint["name"].get<std::string>()] = {given[0].get<double>(), given[1].get<double>(),
                                                        given[2].get<bool>(), given[3].get<bool>()};
        joint.erase(spring_damper_key);
    });
    return out;
}

std::vector<int> put_damping(const DampingRatios& ratios, const ModelInput& input, Json& model) {
    const Model m = model_of(input);
    const DrivenModel reference(m, m.layout.nominal(), m.neutral_configuration());
    for (const auto& [n, ratio] : ratios.actuators)
        put_gain(reference, n, ratio, model["actuators"][n]);
    for (const auto& [n, scale] : ratios.muscles)  // MuJoCo documentation, "scale" of muscles
        model["actuators"][n]["muscle"]["force"] = scale / std::max(least_inertia, reference.acceleration(n));
    std::vector<int> unsettled;
    for (const int n : ratios.lengths) {
        Json& muscle = model["actuators"][n]["muscle"];
        if (const auto lengths = settled_lengths(model, static_cast<size_t>(n)))
            muscle["length_range"] = {lengths->first, lengths->second};
        else
            muscle["force"] = 0, unsettled.push_back(n);
    }
    if (ratios.joints.empty()) return unsettled;
    const InverseWeights weights = inverse_weights(m, m.neutral_configuration());
    for_each_joint(model, [&](Json& joint) {
        const auto given = joint.contains("name") ? ratios.joints.find(joint["name"].get<std::string>())
                                                  : ratios.joints.end();
        if (given != ratios.joints.end()) put_spring(m, weights, given->second, joint);
    });
    return unsettled;
}

}  // namespace costate
