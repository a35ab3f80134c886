#include "adjoint/checkpoints/control_gradient_file.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/batch_gradient.hpp"
#include "apps/cli/checkpointing.hpp"
#include "apps/cli/replay.hpp"
#include "apps/cli/run_saver.hpp"
#include "apps/cli/shared_run.hpp"
#include "apps/cli/solver_record.hpp"
#include "apps/io/gradient_report.hpp"
#include "apps/io/terminal.hpp"

namespace costate {

namespace {

struct LargestAdjoint {
    double norm = -1;
    int step = 0;
};

// The state of an unfinished gradient that a process needs to resume it.
struct Run {
    Rollout<Simulation>& rollout;
    Gradient gradient;
    LargestAdjoint largest;
    SolverRecord solver;  // of the forward sweep
    template <class Archive> void transfer(Archive& a) {
        rollout.transfer(a);
        gradient.transfer(a);
        a(largest);
        solver.transfer(a);
    }
};

// Restores a run of the same scene and options from the bytes of load_run.
void restore(Run& run, const std::vector<char>& saved, const std::filesystem::path& file, const Scene& s) {
    const auto fail = [&](const std::string& why) {
        throw std::runtime_error("cannot resume '" + file.string() + "': " + why + "; start the run again");
    };
    ArchiveReader reader(saved);
    try {
        run.transfer(reader);
    } catch (const std::runtime_error& e) {
        fail(e.what());
    }
    if (!reader.at_end()) fail("the file is longer than a run of this scene");
    const Gradient& g = run.gradient;
    if (run.rollout.in_backward() &&
        (g.controls.size() != s.z0.size() || g.parameters.size() != s.theta.size()))
        fail("its gradient does not belong to this scene");
}

// A checksum of everything that the result depends on.
std::uint32_t identity(const Scene& s, const Checkpointing& c, const AdjointLimits& limits, bool by_step) {
    ArchiveWriter all;
    add_identity(all, s);
    all(std::string(c.schedule.name()));
    all(c.schedule.slots());
    all(c.schedule.disk_slots());
    all(c.schedule.kept());
    all(c.disk.compressed);
    all(limits.clip);
    all(limits.horizon);
    all(by_step);
    return checksum(all.bytes.data(), all.bytes.size());
}

void save(RunSaver& saver, Run& run, ControlGradientFile* by_step) {
    saver.save([&] {
        if (by_step != nullptr) by_step->flush();
        ArchiveWriter writer;
        run.transfer(writer);
        return std::move(writer.bytes);
    });
}

Scene load_with_loss(const Arguments& a) {
    Scene s = a.load(joined_ranks().rank() > 0);
    if (s.objective.empty())
        throw UsageError(s.file.string() +
                         " has no objective and therefore no loss: name the model in a scene with an "
                         "\"objective\", or check gradients with costate gradcheck");
    choose_environments(a, s);
    check_batch_options(a, s,
                        {"by-step", "slots", "keep", "disk", "disk-space", "compress", "save", "save-every",
                         "resume", "clip", "horizon"});
    return s;
}

int gradient(const Arguments& a) {
    const std::optional<std::string> out = a.text("out"), by_step = a.text("by-step"),
                                     resume = a.text("resume");
    const std::optional<std::string> save_to = a.text("save") ? a.text("save") : resume;
    AdjointLimits limits;
    limits.horizon = a.integer("horizon", 0, 1);
    if (const auto clip = a.nonnegative("clip")) limits.clip = *clip;
    const double every = a.nonnegative("save-every").value_or(30);
    if (a.text("save-every") && !save_to) throw UsageError("--save-every requires --save FILE");
    if (save_to && !have_checksums())
        throw UsageError(
            "this build does not support saved runs: install zlib1g-dev, configure and build again");
    const Scene s = together([&] { return load_with_loss(a); });
    if (s.batch.environments > 0) return batch_gradient(a, s);
    if (by_step && s.world.nu() == 0) throw UsageError("--by-step: " + s.name + " has no controls");
    for (const auto& file : {out, by_step, save_to})
        if (file) check_file(*file);
    OutputFiles files;  // defers signals until the locks are released
    std::optional<RunLock> lock, checkpoint_lock;
    if (save_to) lock.emplace(*save_to);
    Checkpointing how = chosen_checkpointing(a, s);
    if (save_to && how.schedule.disk_slots() > 0) {
        how.disk.file =
            how.disk.directory / (std::filesystem::path(*save_to).filename().string() + ".checkpoints");
        how.disk.resume = resume.has_value();
        checkpoint_lock.emplace(how.disk.file);
    }
    const std::uint32_t of = save_to ? identity(s, how, limits, by_step.has_value()) : 0;
    const std::vector<char> saved = resume ? load_run(*resume, of) : std::vector<char>();

    Simulations simulations(s, how.schedule);
    Rollout<Simulation> rollout(simulations.each, s.plan, how.schedule, how.disk);
    rollout.limits = limits;
    Run run{rollout, {}, {}, {}};
    std::optional<ControlGradientFile> sink;
    if (by_step) sink.emplace(*by_step, s.steps, s.world.nu(), save_to.has_value(), resume.has_value());
    std::optional<RunSaver> saver;
    if (save_to) saver.emplace(*save_to, of, every);
    if (resume) restore(run, saved, *resume, s);

    Progress progress("gradient " + s.name);
    const auto total = static_cast<double>(how.schedule.forward_evaluations() + s.steps);
    const auto share = [&] {
        const Evaluations& so_far = rollout.evaluations();
        return static_cast<double>(so_far.forward + so_far.backward) / total;
    };
    const auto between_steps = [&](int t) {
        if (saver && saver->due()) save(*saver, run, sink ? &*sink : nullptr);
        if (t % 16 != 0) return;
        try {
            OutputFiles::check_interrupted();
        } catch (const Interrupted&) {
            if (saver) {
                save(*saver, run, sink ? &*sink : nullptr);
                progress.finish();
                tell(Message::error, "interrupted at " + std::to_string(static_cast<int>(100 * share())) +
                                         " %; go on with --resume " + *save_to);
            }
            throw;
        }
        if (progress.due()) progress.draw(share());
    };
    const auto forward_visit = [&](int t, const double*, const double*) {
        if (t < s.steps) run.solver.add(s.world, rollout.step().scratch());
        between_steps(t);
    };
    const auto backward_visit = [&](int t, const double* x_bar, const double* u_bar) {
        const double norm = Eigen::Map<const VecX<double>>(x_bar, s.world.ndx()).norm();
        if (norm > run.largest.norm) run.largest = {norm, t};
        if (sink && u_bar != nullptr) sink->row(t, u_bar);
        between_steps(t);
    };
    if (!resume)
        rollout.forward(s.theta, s.x0, s.z0, forward_visit);
    else if (rollout.in_forward())
        rollout.resume_forward(s.theta, s.z0, forward_visit);
    if (rollout.divergence()) report_divergence(s, {s.theta, s.x0, s.z0}, rollout);
    if (rollout.in_backward())
        rollout.resume_backward(s.theta, s.z0, run.gradient, backward_visit);
    else
        rollout.backward(s.theta, s.z0, run.gradient, backward_visit);
    if (rollout.adjoint_divergence())
        throw DivergenceError(to_text(rollout.adjoint_divergence(), s.world.model));

    const Gradient& g = run.gradient;
    const DiskTraffic traffic = rollout.store().traffic();
    const double norm = gradient_norm(g);
    const double seconds = progress.finish();
    Report report{{"name", s.name},
                  {"steps", s.steps},
                  {"loss", rollout.loss()},
                  {"gradient_norm", norm},
                  {"largest_adjoint", {{"norm", run.largest.norm}, {"step", run.largest.step}}},
                  {"solver", run.solver.report()},
                  {"schedule", how.schedule.name()},
                  {"forward_evaluations", rollout.evaluations().forward},
                  {"checkpoint_bytes", rollout.store().bytes()},
                  {"disk", to_report(traffic)},
                  {"seconds", seconds}};
    if (out) {
        files.write(*out, to_text(gradient_report(gradient_names(s), rollout.loss(), g)));
        files.commit();
    }
    if (sink) sink->finish();
    if (save_to) {
        std::error_code ignored;
        for (const std::filesystem::path& done_with : {std::filesystem::path(*save_to), how.disk.file})
            if (!done_with.empty()) std::filesystem::remove(done_with, ignored);
    }
    if (a.json()) {
        std::fputs(to_text(report).c_str(), stdout);
        return done;
    }
    std::printf("%s: %d steps, loss %.10g, gradient norm %.10g, in %.3g s\n", s.name.c_str(), s.steps,
                rollout.loss(), norm, seconds);
    std::printf("largest norm of the adjoint: %.4g, at the beginning of step %d\n", run.largest.norm,
                run.largest.step);
    if (run.solver.notable(s.world))
        std::printf("%d steps with unsolved contacts, largest residual %.3g m/s\n", run.solver.unconverged,
                    run.solver.residual);
    std::printf("%lld forward evaluations (%s), %zu bytes of checkpoints\n",
                static_cast<long long>(rollout.evaluations().forward), how.schedule.name(),
                rollout.store().bytes());
    if (traffic.states_written > 0)
        std::printf("%lld states on disk, %lld bytes, compressed by a factor of %.2f\n",
                    static_cast<long long>(traffic.states_written),
                    static_cast<long long>(traffic.bytes_written), traffic.ratio());
    return done;
}

}  // namespace

const Command gradient_command{
    "gradient",
    "compute one gradient of a scene's loss, for rollouts of any length and for any number of environments",
    "costate gradient throw --out gradient.json",
    {diverged},
    {{"out", "FILE", "write the gradients of controls, initial state and parameters to FILE as JSON", "o"},
     {"by-step", "FILE",
      "stream the gradient of the controls of every step to FILE.npy, a NumPy array (steps, actuators)"},
     memory_option,
     slots_option,
     keep_option,
     disk_option,
     disk_space_option,
     compress_option,
     {"save", "FILE",
      "save the run to FILE at intervals; with --disk also its checkpoints, as DIR/FILE.checkpoints"},
     save_every_option,
     resume_option,
     {"clip", "X", "scale adjoints with a norm above X to X"},
     {"horizon", "K", "truncate the adjoint: set it to 0 every K steps, counted from the end"},
     environments_option,
     threads_option,
     {"shard", "I/N",
      "compute part I of N (1 to N) of the gradient of a \"batch\", and write it to the --out FILE, for "
      "costate merge"}},
    gradient,
    Operand::scene,
    nullptr,
    true};

}  // namespace costate
