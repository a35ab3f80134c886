#include <ctime>
#include <functional>
#include <memory>

#include "adjoint/rollout/rollout.hpp"
#include "apps/c_api/costate.h"
#include "apps/cli/bench.hpp"
#include "apps/io/output.hpp"
#include "apps/io/progress.hpp"
#include "solvers/step/step.hpp"

namespace costate {

namespace {

void check(int status) {
    if (status < 0) throw UsageError(costate_last_error());
}

struct FreeModel {
    void operator()(costate_model* m) const { costate_model_free(m); }
};
struct FreeBatch {
    void operator()(costate_batch* b) const { costate_batch_free(b); }
};
using ModelHandle = std::unique_ptr<costate_model, FreeModel>;
using BatchHandle = std::unique_ptr<costate_batch, FreeBatch>;

ModelHandle load_model(const std::string& path) {
    costate_model* m = nullptr;
    check(costate_model_load(path.c_str(), &m));
    return ModelHandle(m);
}

BatchHandle make_batch(const costate_model* model, int n_env, int threads, size_t* bytes) {
    costate_batch_options options{};
    options.n_env = n_env;
    options.n_threads = threads;
    costate_batch* b = nullptr;
    check(costate_batch_bytes(model, &options, bytes));
    check(costate_batch_create(model, &options, &b));
    return BatchHandle(b);
}

// Where all environments start, and what drives them; near what the scene says, each a little different.
struct Environments {
    int n;
    VecX<double> x;  // (n x nx)
    VecX<double> u;  // (steps x n x nu)
    Environments(const Scene& s, costate_batch* batch, int n_env)
        : n(n_env),
          x(n_env * s.world.nx()),
          u(s.steps * n_env * s.world.nu()) {
        const VecX<double> noise = VecX<double>::Constant(s.world.ndx(), 1e-3);
        std::vector<std::uint64_t> seeds(n);
        for (size_t e = 0; e < seeds.size(); ++e)
            seeds[e] = e;
        check(costate_batch_reset(batch, nullptr, seeds.size(), nullptr, s.x0.data(),
                                  static_cast<size_t>(s.x0.size()), noise.data(), seeds.data()));
        check(costate_batch_state(batch, x.data(), nullptr));
        double* at = u.data();
        for (int t = 0; t < s.steps; ++t)
            for (int e = 0; e < n; ++e, at += s.world.nu())
                s.plan.evaluate(s.z0.data(), t, at);
    }
};

// All environments step by step, as a program would that has the library in C++.
void step_plainly(const Scene& s, const Environments& environments, StepScratch<double>& scratch,
                  VecX<double>& x, VecX<double>& x_next) {
    const int nx = s.world.nx(), nu = s.world.nu();
    x = environments.x;
    for (int t = 0; t < s.steps; ++t, x.swap(x_next))
        for (int e = 0; e < environments.n; ++e)
            step(s.world, s.theta.data(), x.data() + e * nx,
                 environments.u.data() + (t * environments.n + e) * nu, scratch, x_next.data() + e * nx);
}

int step_batch(const Scene& s, const Environments& environments, costate_batch* batch) {
    int diverged = 0;
    for (int t = 0; t < s.steps; ++t) {
        const double* u = environments.u.data() + t * environments.n * s.world.nu();
        check(diverged = costate_batch_step(batch, nullptr, u, nullptr, nullptr));
    }
    return diverged;
}

void start(const Environments& environments, costate_batch* batch) {
    const size_t n = environments.n;
    check(costate_batch_reset(batch, nullptr, n, nullptr, environments.x.data(),
                              static_cast<size_t>(environments.x.size()), nullptr, nullptr));
}

}  // namespace

int bench_batch(const Arguments& a, int n_env, int threads, int repeat) {
    const Scene s = a.load();
    if (static_cast<std::int64_t>(s.steps) * n_env * std::max(1, s.world.nu()) > 100'000'000)
        throw UsageError("controls of " + std::to_string(s.steps) + " steps of " + std::to_string(n_env) +
                         " environments take too much memory; use --steps N");
    const ModelHandle model = load_model(a.scene());
    size_t bytes = 0;
    const BatchHandle one = make_batch(model.get(), n_env, 1, &bytes),
                      many = make_batch(model.get(), n_env, threads, &bytes);
    check(costate_batch_set_parameters(one.get(), s.theta.data(), static_cast<size_t>(s.theta.size())));
    check(costate_batch_set_parameters(many.get(), s.theta.data(), static_cast<size_t>(s.theta.size())));
    const Environments environments(s, one.get(), n_env);
    StepScratch<double> scratch(s.world);
    VecX<double> x, x_next(environments.x.size()), reached(environments.x.size());
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
        start(environments, one.get());
        time(
            alone, steps, [&] { diverged = step_batch(s, environments, one.get()); }, &alone_cpu);
        if (diverged > 0)
            throw UsageError(std::to_string(diverged) + " of " + std::to_string(n_env) +
                             " environments diverge");
        check(costate_batch_state(one.get(), reached.data(), nullptr));
        same = same && reached == x;
        start(environments, many.get());
        time(together, steps, [&] { step_batch(s, environments, many.get()); });
        check(costate_batch_state(many.get(), reached.data(), nullptr));
        same = same && reached == x;
        time(backward, n_env, [&] {
            check(costate_batch_backward(many.get(), 1, x.data(), environments.u.data(), nullptr, seed.data(),
                                         x_bar.data(), u_bar.data(), theta_bar.data(),
                                         static_cast<size_t>(theta_bar.size())));
        });
        speedup.us.push_back(alone.us.back() / together.us.back());
        if (progress.due()) progress.draw((k + 1.0) / repeat);
    }
    progress.finish();
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
                        {"boundary_cost", cost},
                        {"speedup", speedup.median()},
                        {"bytes", bytes},
                        {"same_bits", same}};
    if (a.json()) {
        std::fputs(to_text(report).c_str(), stdout);
        return same ? done : check_failed;
    }
    std::printf("%s: %d environments, %d steps, median of %d; environment steps a second\n\n", s.name.c_str(),
                n_env, s.steps, repeat);
    std::printf("a loop in C++             %10.0f\n", 1e6 / plain.median());
    std::printf("the C API, one thread     %10.0f  (its cost: %+.2f %% of processor time)\n",
                1e6 / alone.median(), 100 * cost);
    std::printf("the C API, %3d threads    %10.0f  (%.2f times that of one)\n", threads,
                1e6 / together.median(), speedup.median());
    std::printf("pulled back, %3d threads  %10.0f\n\n", threads, 1e6 / backward.median());
    std::printf("memory                    %zu bytes of the batch\n", bytes);
    std::printf("final states              %s\n", same ? "the same bits by all three" : "differ");
    return same ? done : check_failed;
}

}  // namespace costate
