#include <ctime>
#include <functional>

#include "adjoint/batch/batch.hpp"
#include "adjoint/batch/thread_pool.hpp"
#include "apps/cli/bench.hpp"
#include "apps/io/output.hpp"
#include "apps/io/progress.hpp"

namespace costate {

namespace {

// Where all environments start, and what drives them; near what the scene says, each a little different.
struct Environments {
    int n;
    VecX<double> x;  // (n x nx)
    VecX<double> u;  // (steps x n x nu)
    Environments(const Scene& s, int n_env)
        : n(n_env),
          x(s.x0.replicate(n_env, 1)),
          u(s.steps * n_env * s.world.nu()) {
        const VecX<double> noise = VecX<double>::Constant(s.world.ndx(), 1e-3);
        for (int e = 0; e < n; ++e)
            perturb_state(s.world, noise.data(), static_cast<std::uint64_t>(e), x.data() + e * s.world.nx());
        double* at = u.data();
        for (int t = 0; t < s.steps; ++t)
            for (int e = 0; e < n; ++e, at += s.world.nu())
                s.plan.evaluate(s.z0.data(), t, at);
    }
};

// All environments one by one, by calls of `step`.
void step_plainly(const Scene& s, const Environments& environments, StepScratch<double>& scratch,
                  VecX<double>& x, VecX<double>& x_next) {
    const int nx = s.world.nx(), nu = s.world.nu();
    x = environments.x;
    for (int t = 0; t < s.steps; ++t, x.swap(x_next))
        for (int e = 0; e < environments.n; ++e)
            step(s.world,
                 {s.theta.data(), x.data() + e * nx, environments.u.data() + (t * environments.n + e) * nu},
                 scratch, x_next.data() + e * nx);
}

int step_batch(const Scene& s, const Environments& environments, Batch& batch) {
    int diverged = 0;
    for (int t = 0; t < s.steps; ++t)
        diverged = batch.step(nullptr, environments.u.data() + t * environments.n * s.world.nu(), nullptr);
    return diverged;
}

void start(const Environments& environments, Batch& batch) {
    batch.reset(nullptr, batch.n_env(), [&](size_t e, double* x) {
        std::copy_n(environments.x.data() + e * batch.nx(), batch.nx(), x);
    });
}

bool reached(const Batch& batch, const VecX<double>& x) { return std::ranges::equal(batch.states(), x); }

}  // namespace

int bench_batch(const Arguments& a, int n_env, int threads, int repeat) {
    const Scene s = a.load();
    if (static_cast<std::int64_t>(s.steps) * n_env * std::max(1, s.world.nu()) > 100'000'000)
        throw UsageError("controls of " + std::to_string(s.steps) + " steps of " + std::to_string(n_env) +
                         " environments take too much memory; use --steps N");
    const BatchOptions options{.n_env = n_env, .threads = threads};
    Batch one(s.world, s.theta, s.x0, {.n_env = n_env}), many(s.world, s.theta, s.x0, options);
    const Environments environments(s, n_env);
    StepScratch<double> scratch(s.world);
    VecX<double> x, x_next(environments.x.size());
    VecX<double> x_bar(n_env * s.world.ndx()), u_bar(n_env * s.world.nu()), theta_bar(s.world.np());
    const VecX<double> seed = VecX<double>::Ones(n_env * s.world.ndx());

    Times plain, alone, together, backward, plain_cpu, alone_cpu, speedup;
    Progress progress("bench " + s.name);
    const double steps = static_cast<double>(s.steps) * n_env;
    const auto time = [&](Times& times, double count, const std::function<void()>& work,
                          Times* cpu = nullptr) {
        const std::clock_t begin = std::clock();
        const Stopwatch watch;
        work();
        times.us.push_back(1e6 * watch.seconds() / count);
        if (cpu) cpu->us.push_back(1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / count);
    };
    bool same = true;
    for (int k = 0; k < repeat; ++k) {
        int diverged = 0;
        time(
            plain, steps, [&] { step_plainly(s, environments, scratch, x, x_next); }, &plain_cpu);
        start(environments, one);
        time(
            alone, steps, [&] { diverged = step_batch(s, environments, one); }, &alone_cpu);
        if (diverged > 0)
            throw UsageError(std::to_string(diverged) + " of " + std::to_string(n_env) +
                             " environments diverge");
        same = same && reached(one, x);
        start(environments, many);
        time(together, steps, [&] { step_batch(s, environments, many); });
        same = same && reached(many, x);
        time(backward, n_env, [&] {
            many.backward(1, x.data(), environments.u.data(), nullptr, seed.data(), x_bar.data(),
                          u_bar.data(), theta_bar.data());
        });
        speedup.us.push_back(alone.us.back() / together.us.back());
        if (progress.due()) progress.draw((k + 1.0) / repeat);
    }
    progress.finish();
    const size_t bytes = Batch::bytes(s.world, options);
    // of processor time, where other programs count least
    const double cost = alone_cpu.minimum() / plain_cpu.minimum() - 1;
    const Report report{{"name", s.name},
                        {"batch", n_env},
                        {"threads", threads},
                        {"steps", s.steps},
                        {"repeat", repeat},
                        {"steps_per_second", 1e6 / together.median()},
                        {"steps_per_second_one_thread", 1e6 / alone.median()},
                        {"steps_per_second_in_cpp", 1e6 / plain.median()},
                        {"steps_back_per_second", 1e6 / backward.median()},
                        {"batch_cost", cost},
                        {"speedup", speedup.median()},
                        {"bytes", bytes},
                        {"same_bits", same}};
    if (a.json()) {
        std::fputs(to_text(report).c_str(), stdout);
        return same ? done : check_failed;
    }
    std::printf("%s: %d environments, %d steps, median of %d; environment steps a second\n\n", s.name.c_str(),
                n_env, s.steps, repeat);
    std::printf("a loop of steps           %10.0f\n", 1e6 / plain.median());
    std::printf("a batch, one thread       %10.0f  (its cost: %+.2f %% of processor time)\n",
                1e6 / alone.median(), 100 * cost);
    std::printf("a batch, %3d threads      %10.0f  (%.2f times that of one)\n", threads,
                1e6 / together.median(), speedup.median());
    std::printf("pulled back, %3d threads  %10.0f\n\n", threads, 1e6 / backward.median());
    std::printf("memory                    %zu bytes of the batch\n", bytes);
    std::printf("final states              %s\n", same ? "the same bits by all three" : "differ");
    return same ? done : check_failed;
}

}  // namespace costate
