#include "apps/viewer/report.hpp"

#include <algorithm>

#include "adjoint/optimize/term_losses.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/io/trajectory.hpp"
#include "apps/viewer/page.hpp"
#include "scenes/format/error.hpp"
#include "scenes/format/files.hpp"

namespace costate {

namespace {

constexpr size_t max_figures = 24;  // in a grid

std::string number(double x) { return print("%.8g", x); }

std::string row(const std::string& name, const std::vector<std::string>& cells, const char* kind = "td") {
    std::string out = "<tr><th>" + html(name) + "</th>";
    for (const std::string& cell : cells)
        out += std::string("<") + kind + ">" + html(cell) + "</" + kind + ">";
    return out + "</tr>\n";
}

// Numbers in one table cell: a single number, or count and range.
std::string range(const VecX<double>& z) {
    if (z.size() == 0) return "";
    if (z.size() == 1 || z.minCoeff() == z.maxCoeff()) return number(z[0]);
    return number(z.minCoeff()) + " to " + number(z.maxCoeff());
}

// A table of the optimized variables with their values before and after.
std::string variables_table(const Optimization& o) {
    const Scene& s = o.scene;
    std::string out =
        "<div class=\"scroll\"><table>\n" + row("variable", {"numbers", "before", "after"}, "th");
    for (size_t n = 0; n < s.plan.channels().size(); ++n) {
        const ControlChannel& c = s.plan.channels()[n];
        if (!c.optimize) continue;
        const std::string how = c.per_step ? " (every step)" : (c.size > 1 ? " (knots)" : " (held)");
        out += row("control " + s.world.model.actuators[n].name,
                   {std::to_string(c.size) + how, range(o.start.z.segment(c.offset, c.size)),
                    range(o.best.z.segment(c.offset, c.size))});
    }
    for (const ParameterVariable& p : s.parameters) {
        const bool body = p.scale == ParameterScale::log_cholesky;  // only the mass is shown
        const int i = body ? s.world.model.mass.at(p.index) : p.index;
        out += row(s.world.model.layout.element_name(i) + (body ? ", and the rest of its inertia" : ""),
                   {std::to_string(p.size()), number(o.start.theta[i]), number(o.best.theta[i])});
    }
    if (!s.initial_state.empty()) {
        const std::vector<std::string> columns = column_names(state_signals(s.world.model));
        for (int i = 0; i < s.world.nq() + s.world.nv(); ++i)
            if (o.start.x0[i] != o.best.x0[i])
                out += row("initial " + columns[i], {"1", number(o.start.x0[i]), number(o.best.x0[i])});
    }
    return out + "</table></div>\n";
}

std::string result_table(const Optimization& o) {
    const OptimizeResult& r = o.result;
    const std::string unit = o.loss_unit.empty() ? "" : " " + o.loss_unit;
    return "<table>\n" + row("loss before", {number(r.initial_loss) + unit}) +
           row("loss after", {number(r.final_loss) + unit}) +
           row("iterations", {std::to_string(r.iterations) + " of " + o.method + " (" + r.stopped + ")"}) +
           row("evaluations", {std::to_string(r.loss_evaluations) + " losses, " +
                               std::to_string(r.gradient_evaluations) + " gradients"}) +
           row("time", {print("%.3g s", r.seconds)}) + "</table>\n";
}

// The share of the loss of every term before and after.
std::string terms_table(const Optimization& o, Rollout<Simulation>& rollout) {
    const auto before = term_losses(rollout, o.start), after = term_losses(rollout, o.best);
    std::string out = "<table>\n" + row("term of the loss", {"before", "after"}, "th");
    for (size_t i = 0; i < before.size(); ++i)
        out += row(before[i].first, {number(before[i].second), number(after[i].second)});
    return out + "</table>\n";
}

// The largest violation of every constraint.
std::string constraints_table(const Optimization& o) {
    const std::vector<Violation>& all = o.result.violations;
    if (all.empty()) return "";
    std::string out = "<table>\n" + row("constraint", {"largest violation", "at", "tolerance", ""}, "th");
    for (size_t i = 0; i < all.size(); ++i)
        out += row(o.scene.constraints[i].name,
                   {number(all[i].largest), number(all[i].step * o.scene.world.settings.time_step) + " s",
                    number(all[i].tolerance), all[i].met() ? "met" : "not met"});
    return out + "</table>\n";
}

std::string settings_table(const Optimization& o) {
    const Scene& s = o.scene;
    const Settings& w = s.world.settings;
    const OptimizeSettings& m = s.optimize;
    std::string limits =
        std::to_string(m.iterations) + " iterations, " + std::to_string(m.max_loss_evaluations) + " losses";
    if (!s.constraints.empty()) limits += ", " + std::to_string(m.rounds) + " rounds";
    if (m.target_loss > -unlimited) limits += ", loss of " + number(m.target_loss);
    return "<table>\n" + row("scene", {s.file.string()}) +
           row("steps",
               {std::to_string(s.steps) + " of " + number(s.theta[s.world.time_step.at(0)]) + " s"}) +
           row("contact solver", {std::to_string(w.sweeps) + " sweeps, compliance " +
                                  number(s.theta[s.world.compliance.at(0)]) + " /kg, erp " +
                                  number(s.theta[s.world.erp.at(0)])}) +
           row("optimizer", {o.method + ", learning rate " + number(m.learning_rate) +
                             (m.square ? ", of half the squared loss" : "")}) +
           row("at most", {limits}) + row("costate", {COSTATE_VERSION_TEXT}) +
#ifdef __clang__
           row("compiler", {"clang " __clang_version__}) +
#else
           row("compiler", {"gcc " __VERSION__}) +
#endif
           row("Eigen", {print("%d.%d.%d", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)}) +
           "</table>\n";
}

// The text of the scene file, if it is there and not too long.
std::string source_of(const Scene& s) {
    std::string text;
    try {
        text = read_file(s.file);
    } catch (const SceneError&) {
    }
    if (text.empty() || text.size() > 200'000) return "";
    return "<details><summary>" + html(s.file.filename().string()) + "</summary><pre>" + html(text) +
           "</pre></details>\n";
}

std::string figure(const Plot& plot) { return "<figure>" + plot_svg(plot) + "</figure>\n"; }

// Plots in a grid.
std::string figures(const std::vector<Plot>& plots, const std::string& what) {
    std::string out = "<div class=\"grid\">";
    for (size_t i = 0; i < std::min(plots.size(), max_figures); ++i)
        out += figure(plots[i]);
    out += "</div>\n";
    if (plots.size() <= max_figures) return out;
    return out + "<p>" + std::to_string(plots.size() - max_figures) + " more " + what +
           " are not drawn.</p>\n";
}

}  // namespace

bool have_viewer() { return true; }

std::string optimization_report(const Optimization& o, Rollout<Simulation>& rollout) {
    const Scene& s = o.scene;
    constexpr int max_frames = 2000;
    std::vector<FrameSequence> sequences{frames_of_rollout(s, rollout, o.start, "before", {}, max_frames),
                                         frames_of_rollout(s, rollout, o.best, "after", {}, max_frames)};
    std::string before = "<h1>" + html(s.name) + "</h1>\n<p>" + html(s.description) + "</p>\n" +
                         result_table(o) + terms_table(o, rollout) + constraints_table(o) +
                         "<h2>Before and after</h2>\n";
    std::string after = "<h2>Loss and gradient</h2>\n";
    for (const NamedPlot& named : optimization_plots(o))
        after += figure(named.plot);
    after += "<h2>Loss by term</h2>\n" + figures(term_plots(o, rollout), "terms");
    const std::vector<Plot> controls = control_plots(o);
    if (!controls.empty()) after += "<h2>Controls</h2>\n" + figures(controls, "controls");
    after += "<h2>Optimized variables</h2>\n" + variables_table(o) + "<h2>Settings and versions</h2>\n" +
             settings_table(o) + "<h2>Command</h2>\n<pre>" + html(o.command) + "</pre>\n" + source_of(s);
    return document_page(s.name + ", optimized", before, s, sequences, after);
}

}  // namespace costate
