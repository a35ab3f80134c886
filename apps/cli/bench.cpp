#include <algorithm>
#include <cmath>
#include <ctime>

#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/bench.hpp"
#include "apps/cli/checkpointing.hpp"
#include "apps/cli/memory_use.hpp"
#include "apps/cli/replay.hpp"
#include "apps/cli/solver_record.hpp"
#include "apps/io/output.hpp"
#include "apps/io/progress.hpp"

namespace costate {

namespace {

#ifdef __clang__
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "gcc " __VERSION__;
#endif

// The steps without the objective, as `backward` replays them.
void replay(Simulation& simulation, const Scene& s, VecX<double>& x, VecX<double>& u, VecX<double>& x_next) {
    x = s.x0;
    for (int t = 0; t < s.steps; ++t, x.swap(x_next)) {
        s.plan.evaluate(s.z0.data(), t, u.data());
        simulation.run(t, s.theta.data(), x.data(), u.data(), x_next.data());
    }
}

// Bytes on the heap by purpose.
struct Owners {
    std::int64_t model, scratch, checkpoints, controls, gradients;
    Owners(const Scene& s, const Gradient& g, size_t checkpoint_bytes, std::int64_t of_scene,
           std::int64_t of_rollout) {
        std::int64_t numbers = s.z0.size();
        for (const ControlChannel& c : s.plan.channels())
            numbers += static_cast<std::int64_t>(c.times.size());
        controls = 8 * numbers;
        gradients = 8 * (g.controls.size() + g.initial_state.size() + g.parameters.size());
        checkpoints = static_cast<std::int64_t>(checkpoint_bytes);
        model = of_scene - controls;
        scratch = of_rollout - checkpoints - gradients;
    }
};

int bench(const Arguments& a) {
    const int repeat = a.integer("repeat", 5, 1, 100000);
    if (a.text("batch"))
        return bench_batch(a, a.integer("batch", 1, 1, 1 << 20), a.integer("threads", 1, 1, 1024), repeat);
    if (a.text("jacobian")) return bench_jacobian(a, repeat + 1);
    if (a.text("stages")) return bench_stages(a, repeat);
    if (a.text("threads")) throw UsageError("--threads requires --batch; add --batch N");
    const std::int64_t heap_before = heap_bytes();
    const Scene s = a.load();
    const std::int64_t heap_with_scene = heap_bytes();
    const Checkpointing checkpointing = chosen_checkpointing(a, s);
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, checkpointing.schedule, checkpointing.disk);
    Gradient g;
    VecX<double> x(s.world.nx()), u(s.world.nu()), x_next(s.world.nx());

    // Untimed first run: records the solver and allocates all memory.
    SolverRecord solver;
    int sweeps = 0;
    rollout.forward(s.theta, s.x0, s.z0, [&](int t, const double*, const double*) {
        if (t == s.steps) return;
        solver.add(simulation.world(), simulation.scratch());
        sweeps = std::max(sweeps, solver_sweeps(simulation.scratch()));
    });
    if (rollout.divergence()) report_divergence(s, {s.theta, s.x0, s.z0}, rollout);
    rollout.backward(s.theta, s.z0, g);
    const std::int64_t evaluations = rollout.evaluations().forward;
    const DiskTraffic traffic = rollout.store().traffic();
    const Owners owners(s, g, rollout.store().bytes(), heap_with_scene - heap_before,
                        heap_bytes() - heap_with_scene);
    const double gradient_norm =
        std::sqrt(g.controls.squaredNorm() + g.initial_state.squaredNorm() + g.parameters.squaredNorm());

    Times forward, backward, replayed, forward_cpu, backward_cpu, replayed_cpu;  // cpu: processor time
    {
        Progress progress("bench " + s.name);
        const auto time = [&](Times& times, Times& cpu, const auto& work) {
            const Stopwatch watch;
            const std::clock_t begin = std::clock();
            work();
            times.us.push_back(1e6 * watch.seconds() / s.steps);
            cpu.us.push_back(1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / s.steps);
        };
        for (int k = 0; k < repeat; ++k) {
            time(forward, forward_cpu, [&] { rollout.forward(s.theta, s.x0, s.z0); });
            time(backward, backward_cpu, [&] { rollout.backward(s.theta, s.z0, g); });
            time(replayed, replayed_cpu, [&] { replay(simulation, s, x, u, x_next); });
            if (progress.due()) progress.draw((k + 1.0) / repeat);
        }
    }
    const size_t bytes = rollout.store().bytes_per_checkpoint();
    const Report report{{"name", s.name},
                        {"steps", s.steps},
                        {"repeat", repeat},
                        {"forward_us", forward.median()},
                        {"backward_us", backward.median()},
                        {"replay_us", replayed.median()},
                        {"minimum",
                         {{"forward_us", forward.minimum()},
                          {"backward_us", backward.minimum()},
                          {"replay_us", replayed.minimum()}}},
                        {"bytes_per_checkpoint", bytes},
                        {"checkpoint_bytes", rollout.store().bytes()},
                        {"forward_evaluations", evaluations},
                        {"disk", to_report(traffic)},
                        {"memory",
                         {{"model", owners.model},
                          {"scratch", owners.scratch},
                          {"checkpoints", owners.checkpoints},
                          {"controls", owners.controls},
                          {"gradients", owners.gradients}}},
                        {"peak_rss_mb", peak_rss_mb()},
                        {"sweeps", sweeps},
                        {"processor",
                         {{"forward_us", forward_cpu.median()},
                          {"backward_us", backward_cpu.median()},
                          {"replay_us", replayed_cpu.median()}}},
                        {"residual", solver.residual},
                        {"unconverged_steps", solver.unconverged},
                        {"gradient_norm", gradient_norm},
                        {"native", COSTATE_NATIVE == 1},
                        {"compiler", compiler}};
    if (a.json()) {
        std::fputs(to_text(report).c_str(), stdout);
        return done;
    }
    std::printf("%s: %d steps, median (minimum) of %d\n\n", s.name.c_str(), s.steps, repeat);
    const auto print = [](const char* name, const Times& wall, const Times& cpu, const char* end) {
        std::printf("%-16s %8.2f us/step  (%.2f), %.2f of the processor%s", name, wall.median(),
                    wall.minimum(), cpu.median(), end);
    };
    print("forward", forward, forward_cpu, "\n");
    print("replay + adjoint", backward, backward_cpu, "\n");
    print("replay", replayed, replayed_cpu, "\n\n");
    std::printf("checkpoints      %zu bytes, %zu each\n", rollout.store().bytes(), bytes);
    if (traffic.states_written > 0)
        std::printf("on disk          %lld states written, %lld read; compressed by a factor of %.2f\n",
                    static_cast<long long>(traffic.states_written),
                    static_cast<long long>(traffic.states_read), traffic.ratio());
    const auto kb = [](std::int64_t n) { return 1e-3 * static_cast<double>(n); };
    std::printf(
        "memory           model %.0f kB, scratch %.0f kB, checkpoints %.0f kB, controls %.0f kB, gradients "
        "%.0f kB\n",
        kb(owners.model), kb(owners.scratch), kb(owners.checkpoints), kb(owners.controls),
        kb(owners.gradients));
    std::printf("                 peak of the process %.1f MB\n", peak_rss_mb());
    std::printf("evaluations      %.2f forward evaluations per step\n",
                static_cast<double>(evaluations) / s.steps);
    std::printf("solver           at most %d sweeps, residual %.3g m/s\n", sweeps, solver.residual);
    std::printf("gradient norm    %.10g\n", gradient_norm);
    std::printf("built with %s, for %s\n", compiler, COSTATE_NATIVE == 1 ? "this machine" : "any machine");
    return done;
}

}  // namespace

const Command bench_command{
    "bench",
    "time forward and backward steps; report memory by purpose and the solver residual",
    "costate bench go1_stand",
    {diverged},
    {{"repeat", "K", "number of repetitions; medians are reported (default 5)"},
     {"batch", "N", "time a batch of N environments instead, compared with a loop of steps"},
     {"threads", "M", "threads of the batch (default 1)"},
     {"jacobian", nullptr,
      "time the Jacobian of a step instead, compared with central differences and Ridders' method"},
     {"stages", nullptr,
      "report the share of each stage of a step, the pairs of shapes compared, contacts and rows"},
     memory_option,
     slots_option,
     disk_option,
     disk_space_option,
     compress_option},
    bench};

}  // namespace costate
