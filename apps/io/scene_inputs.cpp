#include "apps/io/scene_inputs.hpp"

#include "adjoint/objective/signal.hpp"
#include "apps/io/optimized_values.hpp"
#include "apps/io/trajectory.hpp"
#include "apps/io/usage_error.hpp"
#include "scenes/format/json.hpp"
#include "scenes/format/names.hpp"

namespace costate {

namespace {

void check_columns(const Scene& s, const ControlFile& file, const std::vector<std::string>& controls) {
    std::vector<std::string> known = trajectory_columns(s.world);
    known.insert(known.end(), controls.begin(), controls.end());
    for (const std::string& column : file.columns())
        if (std::find(known.begin(), known.end(), column) == known.end())
            throw UsageError(file.path().string() + ": the scene has no column '" + one_line(column) + "'" +
                             suggestion(column, known) + "; rename or remove it");
    if (std::none_of(controls.begin(), controls.end(), [&](const auto& c) { return file.has(c); }))
        throw UsageError(file.path().string() + ": has no column of a control" +
                         (controls.empty() ? ", and the scene has no actuators; leave out --controls"
                                           : "; name one " + controls[0]));
}

// The members of an object of the result, which must be those that the scene optimizes.
Node members(const Node& result, const char* key, const std::vector<std::string>& optimized) {
    const Node given = result[key];
    std::vector<std::string> names;
    for (const auto& [name, value] : given.members())
        names.push_back(name);
    for (const std::string& name : optimized)
        if (!given.has(name.c_str()))
            given.fail("does not have \"" + name + "\", which the scene optimizes",
                       "give the result of this scene" + suggestion(name, names));
    for (const std::string& name : names)
        if (std::find(optimized.begin(), optimized.end(), name) == optimized.end())
            given.fail(
                "has \"" + name + "\", which the scene does not optimize" + suggestion(name, optimized),
                "give the result of this scene");
    return given;
}

void start_controls(Scene& s, const Node& result) {
    std::vector<std::string> names;
    for (size_t n = 0; n < s.plan.channels().size(); ++n)
        if (s.plan.channels()[n].optimize) names.push_back(s.world.model.actuators[n].name);
    const Node given = members(result, "controls", names);
    for (size_t n = 0; n < s.plan.channels().size(); ++n) {
        const ControlChannel& c = s.plan.channels()[n];
        if (!c.optimize) continue;
        const Node control = given[s.world.model.actuators[n].name.c_str()], values = control["values"];
        const std::vector<double> z = values.numbers();
        if (static_cast<int>(z.size()) != c.size)
            values.fail(
                "has " + std::to_string(z.size()) + " values, but the scene " + std::to_string(c.size),
                "give the same \"steps\" and \"knots\", or name the file in \"initial\", which resamples");
        if (control.has("times") == c.per_step || (!c.per_step && control["times"].numbers() != c.times))
            control.fail("has other times than the scene",
                         "give the same \"steps\", or name the file in \"initial\", which resamples");
        std::copy(z.begin(), z.end(), s.z0.begin() + c.offset);
    }
}

}  // namespace

void drive(Scene& s, const ControlFile& file, Resampling how) {
    std::vector<std::string> columns;
    for (const Actuator& a : s.world.model.actuators)
        columns.push_back(control_column(a.name));
    check_columns(s, file, columns);
    const double h = s.world.settings.time_step;
    file.expect_rollout(s.steps, h);
    std::vector<double> times, values;
    for (int t = 0; t < s.steps; ++t)
        times.push_back(t * h);
    std::vector<ControlChannel> channels = s.plan.channels();
    for (size_t n = 0; n < channels.size(); ++n) {
        ControlChannel& c = channels[n];
        std::vector<double> own(s.z0.begin() + c.offset, s.z0.begin() + c.offset + c.size);
        if (file.has(columns[n])) {
            c.per_step = true;
            c.optimize = false;
            own = file.sample(columns[n], times, how);
        }
        values.insert(values.end(), own.begin(), own.end());
    }
    s.plan = ControlPlan(std::move(channels), s.steps, h);
    s.z0 = Eigen::Map<const VecX<double>>(values.data(), static_cast<Eigen::Index>(values.size()));
}

void start_from(Scene& s, const std::filesystem::path& file) {
    const Json document = read_json(file);
    const std::string name = file.string();
    const Node result(document, name);
    if (!result.is_object() || !result.has("controls") || !result.has("parameters") ||
        !result.has("initial_state"))
        result.fail("is not a result.json", "give one that costate optimize --out wrote");
    start_controls(s, result);
    std::vector<std::string> paths;
    const std::vector<int> numbers = optimized_numbers(s);
    for (const int i : numbers)
        paths.push_back(s.world.model.layout.element_name(i));
    const Node parameters = members(result, "parameters", paths);
    for (size_t k = 0; k < numbers.size(); ++k)
        s.theta[numbers[k]] = parameters[paths[k].c_str()].number();
    if (s.initial_state.empty()) return;
    const std::vector<std::string> columns = start_columns(s);
    const Node start = members(result, "initial_state", columns);
    for (size_t i = 0; i < columns.size(); ++i)
        s.x0[static_cast<Eigen::Index>(i)] = start[columns[i].c_str()].number();
}

}  // namespace costate
