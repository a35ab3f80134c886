#include "core/dynamics/spatial_tendon.hpp"
#include "scenes/format/names.hpp"
#include "scenes/read/task/control_file.hpp"
#include "scenes/read/task/task_reader.hpp"

namespace costate {
namespace {

inline constexpr std::int64_t max_decision_variables = 200'000'000;  // 1.6 GB
// in all channels together; a knot is a time and a value
inline constexpr size_t max_knots = 10'000'000;

// A channel and the values of its decision variables: a single one for all, one per knot, or one per step.
struct Channel {
    ControlChannel channel;
    std::vector<double> values;
};

struct Timing {
    int steps;
    double time_step;
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

// The times at which the values of a channel apply, s.
std::vector<double> value_times(const ControlChannel& c, const Timing& timing) {
    if (!c.per_step) return c.times;
    std::vector<double> times;
    for (int t = 0; t < timing.steps; ++t)
        times.push_back(t * timing.time_step);
    return times;
}

std::vector<double> read_file(const Node& node, const std::string& actuator, const ControlChannel& c,
                              const Timing& timing) {
    node.expect_keys("control_values");
    const ControlFile file(find_file(node["file"], node.folder()));
    const std::string column = node.text_or("column", control_column(actuator));
    if (!file.has(column))
        (node.has("column") ? node["column"] : node["file"])
            .fail("has no column \"" + column + "\"" + suggestion(column, file.columns()),
                  "name it in \"column\"");
    const auto how = node.find("interpolation");
    file.expect_rollout(timing.steps, timing.time_step);
    return file.sample(column, value_times(c, timing),
                       how ? static_cast<Resampling>(how->choice(resampling_names())) : Resampling::hold);
}

std::vector<double> read_list(const Node& node, const ControlChannel& c, const Timing& timing) {
    const size_t count = c.per_step ? static_cast<size_t>(timing.steps) : c.times.size();
    std::vector<double> values = node.numbers();
    if (values.size() != count)
        node.fail("has " + std::to_string(values.size()) + " numbers for " + std::to_string(count) +
                      (c.per_step ? " steps" : " knots"),
                  "write one for each, or name a file, which is resampled");
    return values;
}

Channel read_channel(const Node& node, const std::string& actuator, double neutral, const Timing& timing) {
    if (const auto schedule = node.find("schedule")) {
        node.forbid({"initial", "optimize"}, "a schedule prescribes all values");
        return read_schedule(*schedule);
    }
    const auto initial = node.find("initial"), optimize = node.find("optimize");
    const bool several = initial && (initial->is_array() || initial->is_object());
    const double value = initial && !several ? initial->number() : neutral;
    Channel c = optimize ? read_optimized(*optimize, value, timing.steps * timing.time_step) : held(value);
    if (!several) return c;
    if (!optimize) c.channel.per_step = true;
    if (c.channel.per_step && timing.steps > max_decision_variables)
        initial->fail("is too long for " + std::to_string(timing.steps) + " steps", "use fewer steps");
    c.values = initial->is_array() ? read_list(*initial, c.channel, timing)
                                   : read_file(*initial, actuator, c.channel, timing);
    return c;
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
                    channels[i] =
                        read_channel(control, names[i], neutral_control(model, n, x0, start), {steps, h});
                    if (!channels[i].channel.per_step) knots += channels[i].values.size();
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
        const std::vector<double>& values = channels[n].values;
        for (int k = 0; k < c.size; ++k)
            input.z0[c.offset + k] = values[values.size() == 1 ? 0 : static_cast<size_t>(k)];
    }
    return input;
}

}  // namespace costate
