#include "scenes/read/reference_damping.hpp"

#include <cmath>

#include "core/dynamics/crba.hpp"
#include "core/dynamics/inverse_weights.hpp"
#include "core/dynamics/ltl.hpp"
#include "core/dynamics/spatial_tendon.hpp"

namespace costate {
namespace {

constexpr double least_inertia = 1e-15;  // MuJoCo's mjMINVAL

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

// The model at its reference configuration.
struct Reference {
    explicit Reference(const Model& model)
        : m(model),
          theta(m.layout.nominal()),
          inertia(VecX<double>::Zero(m.mass_matrix_size)),
          paths(m) {
        const VecX<double> q = m.neutral_configuration(), v = VecX<double>::Zero(m.nv);
        Kinematics<double> k(m);
        CrbaScratch<double> scratch(m);
        kinematics(m, theta.data(), q.data(), v.data(), k);
        crba(m, theta.data(), k, scratch, inertia.data());
        place_tendons(m, theta.data(), k, paths);
    }

    double diagonal(int dof) const { return inertia[m.dofs[dof].row + m.dofs[dof].depth]; }

    // Of the dofs that an actuator drives, before the gear
    std::map<int, double> moment_arms(const Actuator& a) const {
        std::map<int, double> arms;
        if (a.tendon < 0) {
            arms[a.v] = 1;
        } else if (const Tendon& tendon = m.tendons[a.tendon]; tendon.spatial()) {
            for (size_t i = 0; i < tendon.dofs.size(); ++i)
                arms[tendon.dofs[i]] = paths.arm[tendon.first_arm + static_cast<int>(i)];
        } else {
            for (size_t i = 0; i < tendon.joints.size(); ++i)
                arms[tendon.joints[i].v] += theta[tendon.coefficients + static_cast<int>(i)];
        }
        return arms;
    }

    // Sum of the inertias of the dofs that an actuator drives, each divided by the square of its moment arm
    double driven_inertia(int n) const {
        const double gear = theta[m.actuator.gear.at(n)];
        double sum = 0;
        for (const auto& [dof, arm] : moment_arms(m.actuators[n]))
            if (const double square = arm * arm * gear * gear; square > least_inertia)
                sum += diagonal(dof) / square;
        return sum;
    }

    // The length of the accelerations of all dofs by a unit force of an actuator
    double acceleration(int n) const {
        VecX<double> a = VecX<double>::Zero(m.nv), L = inertia;
        for (const auto& [dof, arm] : moment_arms(m.actuators[n]))
            a[dof] = arm * theta[m.actuator.gear.at(n)];
        ltl_factor_inplace(m, L.data());
        ltl_solve_inplace(m, L.data(), 0, m.nv, a.data());
        return a.norm();
    }

    const Model& m;
    const VecX<double> theta;
    VecX<double> inertia;  // mass matrix
    TendonPaths<double> paths;
};

// kv = 2 ratio sqrt(kp m): MuJoCo documentation, "dampratio" of position actuators
void put_gain(const Reference& reference, int n, double ratio, Json& actuator) {
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

void put_damping(const DampingRatios& ratios, const ModelInput& input, Json& model) {
    const Model m = model_of(input);
    const Reference reference(m);
    for (const auto& [n, ratio] : ratios.actuators)
        put_gain(reference, n, ratio, model["actuators"][n]);
    for (const auto& [n, scale] : ratios.muscles)  // MuJoCo documentation, "scale" of muscles
        model["actuators"][n]["muscle"]["force"] = scale / std::max(least_inertia, reference.acceleration(n));
    if (ratios.joints.empty()) return;
    const InverseWeights weights = inverse_weights(m, m.neutral_configuration());
    for_each_joint(model, [&](Json& joint) {
        const auto given = joint.contains("name") ? ratios.joints.find(joint["name"].get<std::string>())
                                                  : ratios.joints.end();
        if (given != ratios.joints.end()) put_spring(m, weights, given->second, joint);
    });
}

}  // namespace costate
