#include <nlohmann/json.hpp>

#include "adjoint/optimize/optimize.hpp"
#include "adjoint/optimize/term_losses.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/io/usage_error.hpp"
#include "apps/viewer/report.hpp"
#include "scenes/format/files.hpp"

namespace costate {

namespace {

// A control over time, at up to a thousand steps.
Curve control_curve(const Scene& s, const VecX<double>& z, int actuator, const std::string& label,
                    const char* colour) {
    Curve curve{label, {}, {}, colour};
    VecX<double> u(s.world.nu());
    const double h = s.theta[s.world.time_step.at(0)];
    const int stride = (s.steps - 1) / 1000 + 1;
    for (int t = 0; t < s.steps; t += stride) {
        s.plan.evaluate(z.data(), t, u.data());
        curve.x.push_back(t * h);
        curve.y.push_back(u[actuator]);
    }
    return curve;
}

// Losses of this run and of the compared runs, by iteration or by seconds.
Plot loss_plot(const Optimization& o, bool by_seconds) {
    const bool rounds = !o.result.rounds.empty();  // each minimizes a loss of its own
    Plot plot = loss_curve((rounds ? "Augmented loss of " : "Loss of ") + o.scene.name +
                               (by_seconds ? " by time" : " by iteration"),
                           o.result.losses, rounds ? "" : o.loss_unit);
    plot.curves[0].label = o.method;
    for (const Comparison& other : o.others) {
        Plot one = loss_curve("", other.losses, "");
        if (by_seconds) one.curves[0].x = other.seconds;
        one.curves[0].label = other.label;
        one.curves[0].colour = curve_colour(plot.curves.size());
        plot.curves.push_back(std::move(one.curves[0]));
    }
    plot.log_x = !o.others.empty();  // gradient-free methods take hundreds of times as many iterations
    if (by_seconds) {
        plot.curves[0].x = o.result.loss_seconds;
        plot.x_label = "time, s";
        plot.whole_x = false;
    }
    return plot;
}

}  // namespace

Comparison read_comparison(const std::filesystem::path& file) {
    const std::string text = read_file(file, "give the result.json of an earlier run");
    try {
        const nlohmann::json result = nlohmann::json::parse(text);
        Comparison out{result.at("method").get<std::string>(), {}, {}};
        for (const auto& [key, to] :
             {std::pair("losses", &out.losses), std::pair("loss_seconds", &out.seconds)})
            for (const nlohmann::json& x : result.at(key))
                to->push_back(x.is_null() ? INFINITY : x.get<double>());
        if (out.losses.size() == out.seconds.size()) return out;
    } catch (const nlohmann::json::exception&) {
    }
    throw UsageError(file.string() + " is not a result.json of costate optimize: write one with --out");
}

Plot landscape(Rollout<Simulation>& rollout, const Scene& scene, const Variables& variables,
               const VecX<double>& best, int points, const std::string& loss_unit) {
    const bool one = variables.size() == 1;
    std::string x_label = "position on the line from the start (0) to the best point (1)";
    if (one && !scene.parameters.empty())
        x_label = scene.world.model.layout.element_name(scene.parameters[0].index);
    Plot plot{
        "Loss landscape of " + scene.name, x_label, "loss" + (loss_unit.empty() ? "" : ", " + loss_unit), {}};
    Curve curve{"loss", {}, {}};
    for (int k = 0; k < points; ++k) {
        const double share = -0.5 + 2.5 * k / (points - 1);
        const VecX<double> y = variables.start() + share * (best - variables.start());
        if ((y.array() < variables.lower().array()).any() || (y.array() > variables.upper().array()).any())
            continue;
        const RolloutInputs in = variables.inputs(y);
        const double loss = rollout.forward(in.theta, in.x0, in.z);
        curve.x.push_back(one ? (scene.parameters.empty() ? y[0] : in.theta[scene.parameters[0].index])
                              : share);
        curve.y.push_back(rollout.divergence() ? INFINITY : loss);
    }
    plot.curves.push_back(std::move(curve));
    plot.linear_y = true;
    return plot;
}

std::vector<NamedPlot> optimization_plots(const Optimization& o) {
    std::vector<NamedPlot> plots{{"loss", loss_plot(o, false)}, {"loss_seconds", loss_plot(o, true)}};
    if (o.landscape) plots.push_back({"landscape", *o.landscape});
    Curve gradient{"gradient",
                   {o.result.gradient_iterations.begin(), o.result.gradient_iterations.end()},
                   o.result.gradient_norms};
    if (!gradient.y.empty())
        plots.push_back(
            {"gradient",
             {"Gradient of the loss with respect to all variables",
              "iteration",
              "norm, " + (o.loss_unit.empty() ? "loss" : o.loss_unit) + " per unit of the variables",
              {gradient},
              true}});
    return plots;
}

std::vector<Plot> control_plots(const Optimization& o) {
    const Scene& s = o.scene;
    std::vector<Plot> plots;
    for (size_t n = 0; n < s.plan.channels().size(); ++n) {
        if (!s.plan.channels()[n].optimize) continue;
        const Actuator& a = s.world.model.actuators[n];
        const std::string unit = control_unit(a.type, s.world.model.slides(a));
        Plot plot{a.name, "time, s", "control" + (unit.empty() ? "" : ", " + unit), {}};
        plot.curves.push_back(control_curve(s, o.start.z, static_cast<int>(n), "before", before_colour));
        plot.curves.push_back(control_curve(s, o.best.z, static_cast<int>(n), "after", after_colour));
        plots.push_back(std::move(plot));
    }
    return plots;
}

std::vector<Plot> term_plots(const Optimization& o, Rollout<Simulation>& rollout) {
    const int every = (o.scene.steps - 1) / 500 + 1;
    const TermShares before = term_shares(rollout, o.start, every),
                     after = term_shares(rollout, o.best, every);
    std::vector<Plot> plots;
    for (size_t i = 0; i < before.courses().size(); ++i) {
        Plot plot{before.courses()[i].name, "time, s", "loss so far", {}};
        for (const auto& [shares, label, in, colour] :
             {std::tuple(&before, "before", &o.start, before_colour),
              {&after, "after", &o.best, after_colour}}) {
            Curve curve{label, {}, shares->courses()[i].sums, colour};
            for (const int t : shares->noted())
                curve.x.push_back(t * in->theta[o.scene.world.time_step.at(0)]);
            plot.curves.push_back(std::move(curve));
        }
        plot.linear_y = true;
        plots.push_back(std::move(plot));
    }
    return plots;
}

}  // namespace costate
