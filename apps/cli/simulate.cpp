#include "adjoint/checkpoints/schedule.hpp"
#include "adjoint/expectation/environment.hpp"
#include "adjoint/optimize/term_losses.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/replay.hpp"
#include "apps/cli/solver_record.hpp"
#include "apps/io/output.hpp"
#include "apps/io/progress.hpp"
#include "apps/io/scene_inputs.hpp"
#include "apps/io/trajectory.hpp"
#include "scenes/format/names.hpp"
#include "solvers/step/jacobian.hpp"

namespace costate {

namespace {

using Format = TrajectoryWriter::Format;

Format format_of(const std::string& out) {
    if (out == "-" || out.ends_with(".csv")) return Format::csv;
    if (out.ends_with(".json")) return Format::json;
    throw UsageError("--out takes a name ending in .csv or .json, or - for CSV on stdout, not '" + out + "'");
}

struct Columns {
    std::vector<Signal> signals;
    std::vector<size_t> quantities;
};

// State and controls, or the signals and quantities whose columns match the comma-separated patterns; all
// components of a rotation are kept together.
Columns columns_to_write(const World& w, const std::optional<std::string>& patterns) {
    if (!patterns) return {state_signals(w.model), {}};
    std::vector<Signal> all = all_signals(w);
    const std::vector<std::string> outputs = Quantities(w).names();
    Columns chosen;
    std::vector<bool> wanted(all.size()), wanted_outputs(outputs.size());
    for (size_t begin = 0, end = 0; begin <= patterns->size(); begin = end + 1) {
        end = std::min(patterns->find(',', begin), patterns->size());
        const std::string pattern = patterns->substr(begin, end - begin);
        bool found = false;
        for (size_t i = 0; i < all.size(); ++i)
            for (const std::string& name : all[i].names)
                if (matches(pattern, name)) wanted[i] = found = true;
        for (size_t i = 0; i < outputs.size(); ++i)
            if (matches(pattern, outputs[i])) wanted_outputs[i] = found = true;
        if (!found) {
            std::vector<std::string> names = column_names(all);
            names.insert(names.end(), outputs.begin(), outputs.end());
            throw UsageError("--columns: there is no column '" + pattern + "'" + suggestion(pattern, names));
        }
    }
    for (size_t i = 0; i < all.size(); ++i)
        if (wanted[i]) chosen.signals.push_back(std::move(all[i]));
    for (size_t i = 0; i < outputs.size(); ++i)
        if (wanted_outputs[i]) chosen.quantities.push_back(i);
    return chosen;
}

// The scene, driven by the controls of a file if one is given.
Scene chosen_scene(const Arguments& a) {
    const std::optional<std::string> from = a.text("from"), controls = a.text("controls"),
                                     how = a.text("interpolation");
    if (how && !controls) throw UsageError("--interpolation requires --controls FILE");
    if (from && controls) throw UsageError("--from includes the controls: leave out --controls");
    if (from) return load_replay(*from, a.import_options());
    const std::vector<std::string>& names = resampling_names();
    const auto it = std::find(names.begin(), names.end(), how.value_or("hold"));
    if (it == names.end()) throw UsageError("--interpolation takes hold or linear, not '" + *how + "'");
    Scene scene = a.load();
    if (controls) drive(scene, ControlFile(*controls), static_cast<Resampling>(it - names.begin()));
    return scene;
}

// The rollout of environment e of a scene with a "batch": with its start, its parameters and its control noise.
void choose_environment(const Arguments& a, Scene& s) {
    if (!a.text("environment")) return;
    if (s.batch.environments == 0)
        throw UsageError("--environment requires a scene with a \"batch\"; " + s.file.string() + " has none");
    const std::int64_t e = a.integer("environment", 0, 0, 1'000'000'000);
    const RolloutInputs in = environment_inputs(s.world, s.batch, e, {s.theta, s.x0, s.z0});
    s.theta = in.theta;
    s.x0 = in.x0;
    if (s.batch.controls.size() == 0) return;
    ControlChannel channel;
    channel.per_step = true;
    ControlPlan by_step(std::vector<ControlChannel>(static_cast<size_t>(s.world.nu()), channel), s.steps,
                        s.world.settings.time_step);
    VecX<double> z(by_step.size()), u(s.world.nu()), noisy(u);
    for (int t = 0; t < s.steps; ++t) {
        s.plan.evaluate(s.z0.data(), t, u.data());
        noisy_control(s.batch, EnvironmentNumbers(s.batch.seed, e), t, u, noisy.data());
        for (int n = 0; n < s.world.nu(); ++n)
            z[by_step.channels()[static_cast<size_t>(n)].offset + t] = noisy[n];
    }
    s.plan = std::move(by_step);
    s.z0 = std::move(z);
}

// The Jacobian of step t from x under u, in tangent coordinates: of the state after it, by the state before it, by the
// controls and by the parameters.
Report step_jacobian_report(const Scene& s, int t, const double* x, const double* u) {
    StepScratch<double> scratch(s.world);
    StepJacobian J(s.world), by_adjoints(s.world);
    StepJacobian::Matrix by_theta;
    PushesOfSteps pushes(s.world);
    const double* wrenches = pushes.at(t, s.theta.data());
    VecX<double> x_next(s.world.nx());
    step(s.world, {s.theta.data(), x, u, wrenches}, scratch, x_next.data());
    step_jacobian(s.world, s.theta.data(), x, u, scratch, J, wrenches);
    step_jacobian_by_adjoints(s.world, s.theta.data(), x, u, scratch, by_adjoints, &by_theta, wrenches);
    const auto rows = [](const StepJacobian::Matrix& m) {
        Report all = Report::array();
        for (Eigen::Index r = 0; r < m.rows(); ++r)
            all.push_back(std::vector<double>(m.row(r).begin(), m.row(r).end()));
        return all;
    };
    Report parameters = Report::object();
    for (Eigen::Index i = 0; i < by_theta.cols(); ++i)
        parameters[s.world.model.layout.element_name(static_cast<int>(i))] =
            std::vector<double>(by_theta.col(i).begin(), by_theta.col(i).end());
    return {{"name", s.name},
            {"step", t},
            {"state", std::vector<double>(x, x + s.world.nx())},
            {"controls", std::vector<double>(u, u + s.world.nu())},
            {"by_state", rows(J.by_x)},
            {"by_controls", rows(J.by_u)},
            {"by_parameters", parameters}};
}

// The loss of each term.
Report terms_report(const TermShares& terms) {
    Report losses = Report::object();
    for (const TermCourse& term : terms.courses())
        losses[term.name] = term.loss;
    return losses;
}

int simulate(const Arguments& a) {
    const std::optional<std::string> out = a.text("out");
    const Format format = out ? format_of(*out) : Format::csv;
    const bool to_stdout = out == "-";
    if (to_stdout && a.json()) throw UsageError("--out - and --json both write to stdout; leave one out");
    const int every = a.integer("every", 1, 1);
    const std::optional<std::string> from = a.text("from"), jacobian = a.text("jacobian");
    Scene scene = chosen_scene(a);
    choose_environment(a, scene);
    if (jacobian) check_file(*jacobian);
    const double time_step = scene.theta[scene.world.time_step.offset];
    const Columns columns = columns_to_write(scene.world, a.text("columns"));

    Simulation simulation(scene.world, scene.objective);
    // No gradient is computed: a few checkpoints suffice, from which report_divergence finds the last steps.
    Rollout<Simulation> rollout(simulation, scene.plan, Schedule::binomial(scene.steps, 100));
    std::optional<OutputFiles> files;
    std::optional<TrajectoryWriter> writer;
    if ((out && !to_stdout) || jacobian) files.emplace();
    if (out) {
        writer.emplace(to_stdout ? stdout : files->open(*out), format, simulation, columns.signals,
                       scene.theta.data(), time_step, scene.steps, every, columns.quantities);
    }
    double loss = 0, seconds = 0;
    SolverRecord solver;
    TermShares terms(simulation, scene.theta.data());
    std::string jacobian_text;
    {
        Progress progress("simulate " + scene.name);
        loss = rollout.forward(scene.theta, scene.x0, scene.z0, [&](int t, const double* x, const double* u) {
            if (writer) (*writer)(t, x, u);
            terms(t, x, u);
            if (t < scene.steps) solver.add(scene.world, simulation.scratch());
            if (jacobian && t == scene.steps - 1)
                jacobian_text = to_text(step_jacobian_report(scene, t, x, u));
            if (files) OutputFiles::check_interrupted();
            if (progress.due()) progress.draw(static_cast<double>(t) / scene.steps);
        });
        seconds = progress.finish();
    }
    if (rollout.divergence() && from) throw DivergenceError(scene.world.model, rollout.divergence());
    if (rollout.divergence()) report_divergence(scene, {scene.theta, scene.x0, scene.z0}, rollout);
    if (writer) writer->finish();
    if (jacobian) files->write(*jacobian, jacobian_text);
    if (files) files->commit();
    if (to_stdout) return done;

    const Report report{{"name", scene.name},
                        {"steps", scene.steps},
                        {"duration", scene.steps * time_step},
                        {"loss", loss},
                        {"terms", terms_report(terms)},
                        {"solver", solver.report()},
                        {"seconds", seconds},
                        {"steps_per_second", scene.steps / seconds},
                        {"out", out ? Report(*out) : Report()}};
    if (a.json()) {
        std::fputs(to_text(report).c_str(), stdout);
        return done;
    }
    std::printf("%s: %d steps, %.6g s simulated in %.3g s (%.3g steps/s), loss %.10g\n", scene.name.c_str(),
                scene.steps, scene.steps * time_step, seconds, scene.steps / seconds, loss);
    if (terms.courses().size() > 1)
        for (const TermCourse& term : terms.courses())
            std::printf("  %-20s %.10g\n", term.name.c_str(), term.loss);
    if (solver.notable(scene.world))
        std::printf("%d steps with unsolved contacts, largest residual %.3g m/s\n", solver.unconverged,
                    solver.residual);
    if (out) std::printf("%d rows in %s\n", writer->rows(), out->c_str());
    return done;
}

}  // namespace

const Command simulate_command{
    "simulate",
    "run a rollout of a scene and write its trajectory as CSV or JSON",
    "costate simulate throw --out throw.csv",
    {diverged},
    {{"out", "FILE",
      "write the states to FILE (.csv or .json), or - for CSV on stdout; default: print only a summary", "o"},
     {"from", "FILE", "replay the last steps of a diverged rollout, instead of SCENE"},
     {"controls", "FILE",
      "controls of every step from the columns u(ACTUATOR) of a CSV file, or from a result.json; the others "
      "stay "
      "those of the scene"},
     {"interpolation", "HOW",
      "between the rows of --controls: hold keeps the earlier value (default), linear follows a straight "
      "line"},
     {"environment", "E",
      "the rollout of environment E of a \"batch\", counted from 0, instead of the one without randomness"},
     {"jacobian", "FILE",
      "write the Jacobian of the last step to FILE as JSON: rows of positions and velocities in tangent "
      "coordinates"},
     {"every", "K", "write every K-th state and the last (default 1)"},
     {"columns", "LIST",
      "comma-separated patterns of columns: state and controls (default), pose(BODY).*, velocity(BODY).*, "
      "site(SITE).*, site_velocity(SITE).*, force(ACTUATOR), effort(JOINT), contact(BODY).*, impulse(SHAPE), "
      "energy.*, sensor(SENSOR)*"}},
    simulate,
    Operand::scene,
    "from"};

}  // namespace costate
