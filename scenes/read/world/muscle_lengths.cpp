#include "scenes/read/world/muscle_lengths.hpp"

#include <cmath>

#include "scenes/read/world/driven_model.hpp"
#include "scenes/read/world/world_reader.hpp"
#include "solvers/step/step.hpp"

namespace costate {
namespace {

// The defaults of MuJoCo's mjLROpt: time step, total and watched time, and time in which velocities decay, s; length of the
// vector of accelerations; largest change of a settled length in the watched time, in units of the range.
constexpr double time_step = 0.01, total = 10, watched = 2, decay = 1, pull = 20, tolerance = 0.05;

// A scene of the bodies and constraints of a model alone, with a motor in the place of the actuator.
Json unloaded(const Json& model, size_t actuator) {
    Json out{{"name", "muscle"}, {"bodies", model.at("bodies")}};
    for (const char* key : {"tendons", "equalities"})
        if (model.contains(key)) out[key] = model[key];
    const auto unload = [](Json& part) {
        for (const char* key : {"damping", "stiffness", "dry_friction", "friction_solref", "friction_solimp",
                                "shapes", "visuals"})
            part.erase(key);
    };
    for (Json& body : out["bodies"]) {
        unload(body);
        if (body.contains("joint")) unload(body["joint"]);
        if (body.contains("joints"))
            for (Json& joint : body["joints"])
                unload(joint);
    }
    if (out.contains("tendons"))
        for (Json& tendon : out["tendons"])
            unload(tendon);
    Json motor{{"name", "motor"}, {"type", "motor"}};
    for (const char* key : {"joint", "tendon", "gear"})
        if (model["actuators"][actuator].contains(key)) motor[key] = model["actuators"][actuator][key];
    out["actuators"] = Json::array({motor});
    return {{"time_step", time_step},
            {"gravity", {0, 0, 0}},
            {"contact", {{"law", "mujoco"}}},
            {"models", Json::array({{{"name", "m"}, {"model", out}}})}};
}

// The least and the greatest length in the watched time, under a force of this sign
std::optional<std::pair<double, double>> watch(const WorldInput& input, double sign) {
    const World& w = input.world;
    const VecX<double> theta = w.model.layout.nominal();
    VecX<double> x = VecX<double>::Zero(w.nx()), next(w.nx());
    x.head(w.nq()) = input.q;
    StepScratch<double> scratch(w);
    std::pair<double, double> lengths{unlimited, -unlimited};
    const int steps = static_cast<int>(total / time_step),
              first = static_cast<int>((total - watched) / time_step);
    for (int t = 0; t < steps; ++t) {
        x.segment(w.nq(), w.nv()) *= std::exp(-time_step / decay);
        const DrivenModel at(w.model, theta, x.head(w.nq()));
        const double u = sign * pull / std::max(least_inertia, at.acceleration(0));
        if (t >= first) {
            lengths.first = std::min(lengths.first, at.length(0));
            lengths.second = std::max(lengths.second, at.length(0));
        }
        step(w, {theta.data(), x.data(), &u}, scratch, next.data());
        if (!next.allFinite()) return {};
        x.swap(next);
    }
    return lengths;
}

}  // namespace

std::optional<std::pair<double, double>> settled_lengths(const Json& model, size_t actuator) {
    const Json scene = unloaded(model, actuator);
    const std::string name = "lengths of a muscle";
    const WorldInput input = read_world(Node(scene, name), {}, {});
    const auto shortest = watch(input, -1), longest = watch(input, 1);
    if (!shortest || !longest) return {};
    const std::pair range{shortest->first, longest->second};
    const double largest = tolerance * (range.second - range.first);
    if (!(largest > 0) || shortest->second - shortest->first > largest ||
        longest->second - longest->first > largest)
        return {};
    return range;
}

}  // namespace costate
