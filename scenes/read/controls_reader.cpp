#include "core/dynamics/spatial_tendon.hpp"
#include "scenes/format/names.hpp"
#include "scenes/read/task_reader.hpp"

namespace costate {
namespace {

inline constexpr std::int64_t max_decision_variables = 200'000'000;  // 1.6 GB
// in all channels together; a knot is a time and a value
inline constexpr size_t max_knots = 10'000'000;

// A channel and the values of its decision variables: one for all steps, or one per knot.
struct Channel {
    ControlChannel channel;
    std::vector<double> values;
};

Channel held(double value) { return {{false, {0}, false, 0, 0}, {value}}; }

// The control of an actuator that no entry of "controls" names.
double neutral_control(const Model& model, int actuator, const VecX<double>& x0,
                       const std::vector<std::optional<double>>& start) {
    const Actuator& a = model.actuators[actuator];
    if (const auto& given = start[actuator]) return *given;
    const bool holds_position = actuator_kind(a.type).control == ControlMeaning::position;
    if (!holds_position) return 0;
    const VecX<double> theta = model.layout.nominal();
    const double gear = theta[model.actuator.gear.at(actuator)];
    if (!model.drives_path(a)) return gear * driven_coordinate(model, theta.data(), a, x0.data());
    Kinematics<double> k(model);
    const VecX<double> at_rest = VecX<double>::Zero(model.nv);
    kinematics(model, theta.data(), x0.data(), at_rest.data(), k);
    return gear * path_length(model, theta.data(), k, model.tendons[a.tendon]);
}

Channel read_schedule(const Node& schedule) {
    Channel c = held(0);
    c.channel.times.clear();
    c.values.clear();
    for (const Node& knot : schedule.items()) {
        const std::vector<Node> pair = knot.items(2);
        const double time = pair[0].number();
        if (!c.channel.times.empty() && !(time > c.channel.times.back()))
            pair[0].fail("is not later than the previous knot", "sort the knots by time");
        c.channel.times.push_back(time);
        c.values.push_back(pair[1].number());
    }
    if (c.values.empty()) schedule.fail("has no knots", "write [[time, value], ...]");
    return c;
}

// "per_step", "held", or {"knots": n}: n knots spread evenly over the rollout.
Channel read_optimized(const Node& node, double value, double duration) {
    Channel c = held(value);
    c.channel.optimize = true;
    if (node.is_object()) {
        node.expect_keys("knots");
        const int knots = static_cast<int>(node["knots"].integer(2, 1'000'000));
        c.channel.times.clear();
        for (int k = 0; k < knots; ++k)
            c.channel.times.push_back(duration * k / (knots - 1));
        c.values.assign(knots, value);
    } else {
        c.channel.per_step = node.choice({"per_step", "held"}) == 0;
    }
    return c;
}

Channel read_channel(const Node& node, double neutral, double duration) {
    const double value = node.number_or("initial", neutral);
    if (const auto schedule = node.find("schedule")) {
        node.forbid({"initial", "optimize"}, "a schedule prescribes all values");
        return read_schedule(*schedule);
    }
    if (const auto optimize = node.find("optimize")) return read_optimized(*optimize, value, duration);
    return held(value);
}

}  // namespace

ControlInput read_controls(const Node& scene, const World& world, const VecX<double>& x0,
                           const std::vector<std::optional<double>>& start, int steps) {
    const Model& model = world.model;
    const double h = world.settings.time_step;
    std::vector<Channel> channels;
    for (int n = 0; n < model.nu; ++n)
        channels.push_back(held(neutral_control(model, n, x0, start)));

    const std::vector<std::string> names = names_of(model.actuators, &Actuator::name);
    std::vector<bool> given(names.size());
    size_t knots = 0;
    if (const auto controls = scene.find("controls"))
        for (const Node& control : controls->items()) {
            control.expect_keys("control");
            for (const Node& pattern : control["actuators"].items())
                for (const int n : resolve(pattern, pattern.text(), "actuator", names)) {
                    const size_t i = n;
                    if (given[i])
                        pattern.fail("actuator \"" + names[i] + "\" is controlled twice",
                                     "name it in one place");
                    given[i] = true;
                    channels[i] = read_channel(control, neutral_control(model, n, x0, start), steps * h);
                    knots += channels[i].values.size();
                    if (knots > max_knots) control.fail("makes more than 10000000 knots", "use fewer");
                }
        }

    std::vector<ControlChannel> plan;
    std::int64_t size = 0;
    for (const Channel& c : channels) {
        plan.push_back(c.channel);
        size += c.channel.per_step ? steps : static_cast<std::int64_t>(c.values.size());
    }
    if (size > max_decision_variables)
        scene["controls"].fail(std::to_string(size) + " decision variables are more than " +
                                   std::to_string(max_decision_variables),
                               "use knots or fewer steps");
    ControlInput input{ControlPlan(std::move(plan), steps, h), VecX<double>(size)};
    for (size_t n = 0; n < channels.size(); ++n) {
        const ControlChannel& c = input.plan.channels()[n];
        for (int k = 0; k < c.size; ++k)
            input.z0[c.offset + k] = channels[n].values[c.per_step ? 0 : static_cast<size_t>(k)];
    }
    return input;
}

}  // namespace costate
