#include "apps/report.hpp"

namespace costate {

namespace {

const char* unit_of_control(const Model& m, const Actuator& a) {
    const bool slides = m.bodies[static_cast<size_t>(a.body)].joint == JointType::prismatic;
    switch (a.type) {
        case ActuatorType::motor: return slides ? "N" : "N m";
        case ActuatorType::servo: return slides ? "m" : "rad";
        case ActuatorType::velocity: return slides ? "m/s" : "rad/s";
        case ActuatorType::general: break;
    }
    return "";
}

// A control over time, at every step but at most a thousand of them.
Curve control_curve(const Scene& s, const VecX<double>& z, int actuator, const std::string& label, const char* colour) {
    Curve curve{label, {}, {}, colour};
    VecX<double> u(s.world.nu());
    const double h = s.theta[s.world.time_step.at(0)];
    const int stride = (s.steps - 1) / 1000 + 1;
    for (int t = 0; t < s.steps; t += stride) {
        s.plan.evaluate(z.data(), t, u.data());
        curve.x.push_back(t * h), curve.y.push_back(u[actuator]);
    }
    return curve;
}

// A name as part of a file's.
std::string file_name(std::string name) {
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-') c = '_';
    return name;
}

}  // namespace

std::vector<NamedPlot> optimisation_plots(const Optimisation& o) {
    const Scene& s = o.scene;
    std::vector<NamedPlot> plots{{"loss", loss_curve("Loss of " + s.name, o.result.losses, o.loss_unit)}};
    Curve gradient{"gradient", {o.result.gradient_iterations.begin(), o.result.gradient_iterations.end()}, o.result.gradient_norms};
    plots.push_back({"gradient", {"Gradient of the loss by all variables", "iteration", "norm, " + (o.loss_unit.empty() ? "loss" : o.loss_unit) + " per unit of the variables", {gradient}, true}});
    for (size_t n = 0; n < s.plan.channels().size(); ++n) {
        if (!s.plan.channels()[n].optimise) continue;
        const Actuator& a = s.world.model.actuators[n];
        const std::string unit = unit_of_control(s.world.model, a);
        Plot plot{a.name, "time, s", "control" + (unit.empty() ? "" : ", " + unit), {}};
        plot.curves.push_back(control_curve(s, o.start.z, static_cast<int>(n), "before", "#8c8c8c"));
        plot.curves.push_back(control_curve(s, o.best.z, static_cast<int>(n), "after", "#0072b2"));
        plots.push_back({"control_" + file_name(a.name), std::move(plot)});
    }
    return plots;
}

}  // namespace costate
