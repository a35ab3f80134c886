#include "adjoint/gradcheck.hpp"
#include "apps/command.hpp"
#include "apps/output.hpp"
#include "apps/progress.hpp"
#include "apps/replay.hpp"
#include "apps/trajectory.hpp"
#include "scenes/names.hpp"

namespace costate {

namespace {

using Format = TrajectoryWriter::Format;

Format format_of(const std::string& out) {
    if (out == "-" || out.ends_with(".csv")) return Format::csv;
    if (out.ends_with(".json")) return Format::json;
    throw UsageError("--out takes a name that ends in .csv or .json, or - for CSV on stdout, not '" + out + "'");
}

// The sites that a pattern fits.
std::vector<int> sites_of(const Model& m, const std::string& pattern) {
    std::vector<int> found;
    for (size_t i = 0; i < m.sites.size(); ++i)
        if (matches(pattern, m.sites[i].name)) found.push_back(static_cast<int>(i));
    if (found.empty())
        throw UsageError("--sites: no site is named '" + pattern + "'" + suggestion(pattern, names_of(m.sites, &Site::name)));
    return found;
}

int simulate(const Arguments& a) {
    const std::optional<std::string> out = a.text("out");
    const Format format = out ? format_of(*out) : Format::csv;
    const bool to_stdout = out == "-";
    if (to_stdout && a.json()) throw UsageError("--out - and --json both want stdout");
    const int every = a.integer("every", 1, 1);
    const std::optional<std::string> from = a.text("from");
    const Scene scene = from ? load_replay(*from, a.import_options()) : a.load();
    const std::optional<std::string> pattern = a.text("sites");
    if (pattern && !out) throw UsageError("--sites adds columns to a trajectory: name it by --out");
    const std::vector<int> sites = pattern ? sites_of(scene.world.model, *pattern) : std::vector<int>{};
    const double time_step = scene.theta[scene.world.time_step.offset];

    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    std::optional<OutputFiles> files;
    std::optional<TrajectoryWriter> writer;
    if (out) {
        if (!to_stdout) files.emplace();
        writer.emplace(to_stdout ? stdout : files->open(*out), format, scene.world.model, time_step, scene.steps, every, sites,
                       scene.theta.data());
    }
    double loss = 0, seconds = 0;
    {
        Progress progress("simulate " + scene.name);
        loss = rollout.forward(scene.theta, scene.x0, scene.z0, [&](int t, const double* x, const double* u) {
            if (writer) (*writer)(t, x, u);
            if (files) OutputFiles::check_interrupted();
            if (progress.due()) progress.draw(static_cast<double>(t) / scene.steps);
        });
        seconds = progress.seconds();
    }
    if (rollout.divergence() && from) throw DivergenceError(scene.world.model, rollout.divergence());
    if (rollout.divergence()) report_divergence(scene, {scene.theta, scene.x0, scene.z0}, rollout);
    if (writer) writer->finish();
    if (files) files->commit();
    if (to_stdout) return done;

    const Report report{{"name", scene.name},
                        {"steps", scene.steps},
                        {"duration", scene.steps * time_step},
                        {"loss", loss},
                        {"seconds", seconds},
                        {"steps_per_second", scene.steps / seconds},
                        {"out", out ? Report(*out) : Report()}};
    if (a.json()) {
        std::fputs(to_text(report).c_str(), stdout);
        return done;
    }
    std::printf("%s: %d steps, %.6g s simulated in %.3g s (%.3g steps/s), loss %.10g\n", scene.name.c_str(), scene.steps,
                scene.steps * time_step, seconds, scene.steps / seconds, loss);
    if (out) std::printf("%d rows in %s\n", writer->rows(), out->c_str());
    return done;
}

}  // namespace

const Command simulate_command{
    "simulate",
    "run a scene forwards, to a trajectory in CSV or JSON",
    {{"out", "FILE", "write the states to FILE.csv or FILE.json, or - for CSV on stdout; without it, a summary alone", "o"},
     {"from", "FILE", "run again what a diverged rollout left behind, in place of SCENE"},
     {"every", "K", "write every K-th state and the last (default 1)"},
     {"sites", "NAME", "write also where sites are in the world; * in the name stands for any characters"}},
    simulate};

}  // namespace costate
