#include "adjoint/optimize/optimize.hpp"
#include "adjoint/objective/objective.hpp"
#include "adjoint/optimize/term_losses.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/batch_loss.hpp"
#include "apps/cli/optimize/closed_loop.hpp"
#include "apps/cli/optimize/constraints.hpp"
#include "apps/cli/optimize/restarts.hpp"
#include "apps/cli/optimize/session.hpp"
#include "apps/cli/optimize/setup.hpp"
#include "apps/cli/optimize/stationary.hpp"
#include "apps/cli/replay.hpp"
#include "apps/cli/shared_run.hpp"
#include "apps/cli/solver_record.hpp"
#include "apps/figures/strobe_svg.hpp"
#include "apps/io/controller.hpp"
#include "apps/io/optimized_values.hpp"
#include "apps/io/output.hpp"
#include "apps/io/scene_inputs.hpp"
#include "apps/io/terminal.hpp"
#include "apps/io/trajectory.hpp"
#include "apps/viewer/report.hpp"
#include "apps/viewer/screenshot.hpp"
#include "scenes/memory.hpp"

namespace costate {

namespace {

// The unit of a loss that is one final term; empty if it has none of its own.
std::string loss_unit(const Objective& objective) {
    if (objective.size() != 1 || objective[0].running || objective[0].weight != 1) return "";
    const TermNorm norm = norm_of(objective[0]);
    const std::string unit = traits_of(objective[0].kind).unit;
    if (unit.empty() || norm == TermNorm::huber) return "";
    if (norm != TermNorm::squared) return unit;
    return (unit.find_first_of(" /") == std::string::npos ? unit : "(" + unit + ")") + "\u00b2";
}

// Writes the trajectory of a rollout as CSV to an open file.
void write_trajectory(std::FILE* out, Rollout<Simulation>& rollout, const Scene& s, const RolloutInputs& in) {
    TrajectoryWriter writer(out, TrajectoryWriter::Format::csv, rollout.step(), state_signals(s.world.model),
                            in.theta.data(), in.theta[s.world.time_step.offset], s.steps);
    rollout.forward(in.theta, in.x0, in.z, writer);
    if (rollout.divergence()) throw DivergenceError(s.world.model, rollout.divergence());
}

// The solver's record of the rollout with the optimized variables.
SolverRecord solver_record(Rollout<Simulation>& rollout, const RolloutInputs& best) {
    SolverRecord record;
    rollout.forward(best.theta, best.x0, best.z, [&](int t, const double*, const double*) {
        if (t < rollout.steps()) record.add(rollout.step().world(), rollout.step().scratch());
    });
    return record;
}

void warn_of_unconverged(const World& w, const SolverRecord& solver) {
    if (!solver.notable(w)) return;
    const char* remedy = "raise \"compliance\" in \"contact\", or shorten \"time_step\"";
    if (solver_kind(w.settings.solver).sweeps)
        remedy = "raise \"sweeps\" in \"solver\", or set its \"type\" to \"lcp\"";
    char residual[32];
    std::snprintf(residual, sizeof residual, "%.3g m/s; ", solver.residual);
    tell(Message::warning, std::to_string(solver.unconverged) +
                               " steps of the optimized rollout have unsolved contacts, with velocity "
                               "errors up to " +
                               residual + remedy);
}

bool has_cmaes(const Scene& s) { return std::ranges::count(methods_of(s.optimize), Method::cmaes) > 0; }

// The names of methods in a row, each once.
std::string names_of(const std::vector<Method>& methods) {
    std::vector<std::string> names;
    for (const Method method : methods)
        if (const std::string& name = method_names()[static_cast<size_t>(method)];
            std::ranges::find(names, name) == names.end())
            names.push_back(name);
    std::string all = names[0];
    for (size_t i = 1; i < names.size(); ++i)
        all += ", " + names[i];
    return all;
}

// True for the methods whose sweeps give a feedback law.
bool has_feedback(const Scene& s) {
    return s.optimize.method == Method::ilqr || s.optimize.method == Method::multiple_shooting;
}

void write_results(const std::filesystem::path& directory, Rollout<Simulation>& rollout, const Scene& s,
                   const Variables& variables, const Objective& minimized, const RolloutInputs& start,
                   const OptimizeResult& r, Report report) {
    const RolloutInputs best = variables.inputs(r.y);
    const std::string unit = loss_unit(s.objective);
    char losses[96];
    std::snprintf(losses, sizeof losses, ": %.3g to %.3g", r.initial_loss, r.final_loss);
    // of what was minimized
    const std::string of = !r.rounds.empty()            ? "augmented"
                           : !s.optimize.stages.empty() ? "of each stage"
                                                        : unit;
    report["time_step"] = s.world.settings.time_step;
    report["initial_state"] = initial_values(s, best);
    report["controls"] = control_values(s, best);
    OutputFiles files;
    files.make_directory(directory);
    files.write(directory / "result.json", to_text(report));
    files.write(directory / "loss.svg",
                plot_svg(loss_curve(s.name + losses + (unit.empty() ? "" : " " + unit), r.losses, of)));
    StrobeFigure figure(s);
    figure.add("before", rollout, start);
    figure.add("after", rollout, best);
    files.write(directory / "motion.svg", figure.svg());
    write_trajectory(files.open(directory / "before.csv"), rollout, s, start);
    write_trajectory(files.open(directory / "after.csv"), rollout, s, best);
    if (has_feedback(s)) try {
            const Feedback law = feedback(s.world, minimized, s.plan, variables, r.y, s.steps);
            files.write(directory / "controller.json", to_text(controller_report(s, law)));
        } catch (const FeedbackError& e) {
            tell(Message::warning, std::string("no controller.json: ") + e.what());
        }
    files.commit();
}

// Writes each plot as SVG and CSV, and as PNG if a browser is installed.
void write_plots(const std::filesystem::path& directory, const Optimization& o,
                 Rollout<Simulation>& rollout) {
    OutputFiles files;
    files.make_directory(directory);
    std::vector<std::string> names, drawings;
    const auto write = [&](const std::string& name, const std::string& svg, const std::string& csv) {
        files.write(directory / (name + ".svg"), svg);
        files.write(directory / (name + ".csv"), csv);
        names.push_back(name);
        drawings.push_back(svg);
    };
    for (const auto& [name, plot] : optimization_plots(o))
        write(name, plot_svg(plot), plot_csv(plot));
    const std::vector<Plot> terms = term_plots(o, rollout), controls = control_plots(o);
    write("terms", sheet_svg("Loss of " + o.scene.name + " by term", terms), sheet_csv(terms));
    if (!controls.empty())
        write("controls", sheet_svg("Controls of " + o.scene.name, controls), sheet_csv(controls));
    if (can_screenshot()) {
        Progress progress("plots of " + o.scene.name);
        const auto wait = [&] {
            if (progress.due()) progress.draw(0, "Chromium draws " + std::to_string(names.size()));
        };
        const std::vector<std::string> images = rasterize(drawings, 3, wait);
        for (size_t i = 0; i < names.size(); ++i)
            files.write(directory / (names[i] + ".png"), images[i]);
    }
    files.commit();
}

void write_report(const std::filesystem::path& file, const Optimization& o, Rollout<Simulation>& rollout) {
    OutputFiles files;
    files.write(file, optimization_report(o, rollout));
    files.commit();
}

// Says if the run was interrupted, could not begin or does not keep its constraints (fault).
int exit_code(const OptimizeResult& r, const OptimizeSession& session, const std::string& fault) {
    if (r.stopped == "interrupted") {
        const std::string more = session.file() ? "; go on with --resume " + *session.file() : "";
        tell(Message::error, "interrupted after " + std::to_string(r.iterations) +
                                 " iterations; the results are the best so far" + more);
        return interrupted;
    }
    if (fault.empty()) return done;
    tell(Message::error, fault);
    return check_failed;
}

// The loss of the scene's one rollout, or its mean over environments, and the end of its run.
OptimizeResult run(const Arguments& a, const Scene& scene, const Variables& variables,
                   OptimizeSession& session, Rollout<Simulation>& rollout, std::optional<BatchLoss>& batch,
                   Objective& minimized) {
    Progress progress("optimize " + scene.name);
    double iterations = 0;
    std::string note;
    const bool first = joined_ranks().rank() == 0;
    const auto draw = [&](double part, const std::string& more = {}) {
        if (first && progress.due())
            progress.draw((iterations + part) / iterations_of(scene.optimize),
                          note + (more.empty() || note.empty() ? "" : ", ") + more);
    };
    const auto show = [&](const OptimizeResult& so_far) {
        char text[32];
        std::snprintf(text, sizeof text, "loss %.4g", so_far.final_loss);
        note = text;
        iterations = so_far.iterations;
        draw(0);
    };
    OptimizeSettings settings = scene.optimize;
    settings.ranks = &joined_ranks();
    if (scene.batch.environments == 0) {
        if (has_cmaes(scene)) settings.threads = thread_count(a);
        return session.run(show, [&](const Pauses& pauses) {
            return optimize(rollout, variables, scene.constraints, settings, pauses, &minimized);
        });
    }
    batch.emplace(a, scene, has_gradients(scene.optimize), first && progress.shown(), draw);
    return session.run(
        show, [&](const Pauses& pauses) { return optimize(batch->loss(), variables, settings, pauses); });
}

// A result that only the summary tells of is lost, and may have taken long.
void note_unkept(const Arguments& a) {
    for (const char* kept : {"out", "report", "plots"})
        if (a.text(kept)) return;
    if (!a.json()) tell(Message::note, "the optimized values are not kept; --out DIR writes them");
}

// What all ranks must agree on besides the scene.
std::vector<char> options_of(const OptimizeSetup& setup) {
    ArchiveWriter options;
    add_identity(options, setup.scene.optimize);
    options(setup.restarts);
    return std::move(options.bytes);
}

int optimize(const Arguments& a) {
    const std::optional<std::string> out = a.text("out"), page = a.text("report"), plots = a.text("plots");
    OptimizeSetup setup = together([&] { return set_up_optimization(a); });
    const Scene& scene = setup.scene;
    agree_on_scene(scene, options_of(setup));
    const RolloutInputs start{scene.theta, scene.x0, scene.z0};
    const Variables variables(scene.world, scene.plan, scene.parameters, scene.initial_state, start);
    if (wants_plant(a)) return control_plant(a, scene, variables);
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, checkpoint_schedule(scene));
    std::optional<OptimizeSession> session;
    together([&] {
        session.emplace(a, scene);
        return true;
    });
    session->share();
    std::optional<BatchLoss> batch;
    std::optional<Restarted> restarted;
    OptimizeResult r;
    Objective minimized = scene.objective;
    try {
        if (setup.restarts > 1) {
            restarted = run_restarts(scene, variables, setup.restarts, thread_count(a));
            r = restarted->best;
        } else {
            r = run(a, scene, variables, *session, rollout, batch, minimized);
        }
    } catch (const DivergenceError&) {
        if (batch) throw;
        report_divergence(scene, start, rollout);
    }
    if (joined_ranks().rank() > 0) return done;
    const RolloutInputs best = variables.inputs(r.y);
    const SolverRecord solver = solver_record(rollout, best);
    const auto terms = [&](const RolloutInputs& inputs) {
        Report values = Report::object();
        for (const auto& [name, loss] : term_losses(rollout, inputs))
            values[name] = loss;
        return values;
    };
    Report report{{"name", scene.name},
                  {"method", method_names()[static_cast<size_t>(scene.optimize.method)]},
                  {"steps", scene.steps},
                  {"variables", variables.size()},
                  {"initial_loss", r.initial_loss},
                  {"final_loss", r.final_loss},
                  {"iterations", r.iterations},
                  {"loss_evaluations", r.loss_evaluations},
                  {"gradient_evaluations", r.gradient_evaluations},
                  {"seconds", r.seconds},
                  {"stopped", r.stopped},
                  {"solver", solver.report()},
                  {"terms", {{"before", terms(start)}, {"after", terms(best)}}},
                  {"parameters", parameter_values(scene, best)},
                  {"losses", r.losses},
                  {"loss_seconds", r.loss_seconds}};
    if (batch) batch->add_to(report);
    if (restarted) add_restarts(scene, *restarted, report);
    if (!scene.constraints.empty()) report["constraints"] = constraint_report(scene, r);
    warn_of_unconverged(scene.world, solver);
    if (out) write_results(*out, rollout, scene, variables, minimized, start, r, report);
    Optimization story{scene,
                       start,
                       best,
                       r,
                       report["method"].get<std::string>(),
                       a.line(),
                       loss_unit(scene.objective),
                       std::move(setup.others),
                       {}};
    if (setup.landscape_points > 0)
        story.landscape = landscape(rollout, scene, variables, r.y, setup.landscape_points, story.loss_unit);
    if (plots) write_plots(*plots, story, rollout);
    if (page) write_report(*page, story, rollout);
    session->finish(r);
    std::string fault = why_stationary(scene, variables, rollout, r);
    if (fault.empty()) fault = why_infeasible(scene, r);
    if (a.json()) {
        std::fputs(to_text(report).c_str(), stdout);
        return exit_code(r, *session, fault);
    }
    std::printf("%s: loss %.6g -> %.6g in %d iterations of %s (%s)\n", scene.name.c_str(), r.initial_loss,
                r.final_loss, r.iterations, names_of(methods_of(scene.optimize)).c_str(), r.stopped.c_str());
    std::printf("%d variables; %d losses and %d gradients evaluated in %.3g s\n", variables.size(),
                r.loss_evaluations, r.gradient_evaluations, r.seconds);
    if (batch) std::printf("%s\n", batch->text().c_str());
    for (const std::string& line : constraint_lines(scene, r))
        std::printf("%s\n", line.c_str());
    if (restarted)
        std::printf("best of %d runs: run %d, seed %u\n", setup.restarts, report["best_run"].get<int>(),
                    report["best_seed"].get<unsigned>());
    for (const auto& [path, value] : report["parameters"].items())
        std::printf("%s = %s\n", path.c_str(), value.dump().c_str());
    if (out)
        std::printf("result.json, %sloss.svg, motion.svg, before.csv and after.csv in %s\n",
                    has_feedback(scene) ? "controller.json, " : "", out->c_str());
    if (plots)
        std::printf("plots as SVG and CSV%s in %s\n",
                    can_screenshot() ? " and PNG" : " (for PNG install Chromium)", plots->c_str());
    if (page) std::printf("report in %s; open it in a browser\n", page->c_str());
    if (fault.empty()) note_unkept(a);
    return exit_code(r, *session, fault);
}

}  // namespace

namespace {

std::vector<Option> with_loop_options(std::vector<Option> options) {
    const std::vector<Option> more = loop_options();
    options.insert(options.end(), more.begin(), more.end());
    return options;
}

}  // namespace

const Command optimize_command{
    "optimize",
    "run a scene's optimization and write result.json, plots and trajectories",
    "costate optimize throw --out out --report throw.html",
    {check_failed, diverged, interrupted},
    with_loop_options(
        {{"method", "NAME",
          "gradient_descent, momentum, adam, lbfgs, gauss_newton, ilqr, multiple_shooting, receding_horizon "
          "or "
          "cmaes, instead of the scene's"},
         {"iterations", "N", "largest number of iterations, instead of the scene's"},
         {"losses", "N", "largest number of evaluations of the loss, instead of the scene's"},
         {"seed", "N", "random seed of cmaes or --noise"},
         {"sigma", "X",
          "initial standard deviation of a variable, in units of its range if it is bounded (cmaes only)"},
         {"knots", "N", "replace per-step controls by N knots"},
         {"from", "FILE", "start at the variables of an earlier run, from its result.json"},
         memory_option,
         environments_option,
         threads_option,
         restarts_option,
         save_run_option,
         save_every_option,
         resume_option,
         {"out", "DIR",
          "write result.json, loss.svg, motion.svg, before.csv and after.csv to DIR, and after ilqr and "
          "multiple_shooting the feedback law controller.json",
          "o"},
         {"report", "FILE", "write an HTML page with results, plots, and the scene before and after in 3-D"},
         {"plots", "DIR",
          "plot loss, its terms, gradient and controls as SVG, CSV, and PNG (if Chromium is installed)"},
         {"compare", "FILE",
          "add the loss of an earlier run, from its result.json; may be given several times"},
         {"landscape", "N", "plot the loss at N points on the line through the start and the best point"}}),
    optimize,
    Operand::scene,
    nullptr,
    true};

}  // namespace costate
