#include "apps/io/gradient_report.hpp"

#include <cmath>

namespace costate {
namespace {

Report numbers(const VecX<double>& v) { return std::vector<double>(v.begin(), v.end()); }

}  // namespace

Report gradient_names(const Scene& s) {
    Report controls = Report::object();
    for (size_t n = 0; n < s.plan.channels().size(); ++n) {
        const ControlChannel& c = s.plan.channels()[n];
        Report& entry = controls[s.world.model.actuators[n].name];
        if (!c.per_step) entry["times"] = c.times;
        entry["size"] = c.size;
    }
    std::vector<std::string> parameters;
    for (int i = 0; i < s.theta.size(); ++i)
        parameters.push_back(s.world.model.layout.element_name(i));
    return {{"name", s.name},
            {"steps", s.steps},
            {"controls", controls},
            {"nv", s.world.nv()},
            {"parameters", parameters}};
}

double gradient_norm(const Gradient& g) {
    return std::sqrt(g.controls.squaredNorm() + g.initial_state.squaredNorm() + g.parameters.squaredNorm());
}

Report gradient_report(const Report& names, double loss, const Gradient& g) {
    Report result{{"name", names["name"]},
                  {"steps", names["steps"]},
                  {"loss", loss},
                  {"gradient_norm", gradient_norm(g)}};
    Report controls = Report::object();
    Eigen::Index at = 0;
    for (const auto& [actuator, of] : names["controls"].items()) {
        const auto size = of["size"].get<Eigen::Index>();
        Report& entry = controls[actuator];
        if (of.contains("times")) entry["times"] = of["times"];
        entry["values"] = numbers(g.controls.segment(at, size));
        at += size;
    }
    result["controls"] = controls;
    const auto nv = names["nv"].get<Eigen::Index>();
    result["initial_state"] = {{"position", numbers(g.initial_state.head(nv))},
                               {"velocity", numbers(g.initial_state.segment(nv, nv))}};
    Report parameters = Report::object();
    for (Eigen::Index i = 0; i < g.parameters.size(); ++i)
        parameters[names["parameters"][static_cast<size_t>(i)].get<std::string>()] = g.parameters[i];
    result["parameters"] = parameters;
    return result;
}

}  // namespace costate
