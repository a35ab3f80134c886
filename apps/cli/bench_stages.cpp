// costate bench SCENE --stages: the share of each stage of a step, and how many pairs of shapes, contacts, rows
// and contact problems a step has, along the scene's rollout.
#include <algorithm>
#include <ctime>

#include "apps/cli/bench.hpp"
#include "apps/io/output.hpp"
#include "solvers/step/observation.hpp"

namespace costate {

namespace {

// Sums over the steps of a rollout.
struct Counts {
    double pairs = 0, found = 0, pushing = 0, rows = 0;
    void add(const StepScratch<double>& s) {
        pairs += s.contacts.detection.pairs_tried;
        found += static_cast<double>(s.contacts.points.size());
        rows += s.rows.count;
        for (int n = 0; n < static_cast<int>(s.contacts.points.size()); ++n)
            pushing += contact_normal_impulse(s, n) > 0;
    }
};

}  // namespace

int bench_stages(const Arguments& a, int repeat) {
    const Scene s = a.load();
    StepScratch<double> scratch(s.world);
    VecX<double> x, u(s.world.nu()), x_next(s.world.nx());
    const auto run = [&](const auto& after_step) {
        x = s.x0;
        for (int t = 0; t < s.steps; ++t, x.swap(x_next)) {
            s.plan.evaluate(s.z0.data(), t, u.data());
            step(s.world, {s.theta.data(), x.data(), u.data()}, scratch, x_next.data());
            after_step();
        }
    };
    Counts counts;
    run([&] { counts.add(scratch); });  // untimed; allocates all memory
    Times wall, processor;
    for (int k = 0; k < repeat; ++k) {
        const Stopwatch watch;
        const std::clock_t begin = std::clock();
        run([] {});
        wall.us.push_back(1e6 * watch.seconds() / s.steps);
        processor.us.push_back(1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / s.steps);
    }
    StageClock clock;
    scratch.clock = &clock;
    for (int k = 0; k < repeat; ++k)
        run([] {});
    double total = 0;
    for (const double seconds : clock.seconds)
        total += seconds;
    Report shares = Report::object();
    for (size_t i = 0; i < stage_names.size(); ++i)
        shares[stage_names[i]] = clock.seconds[i] / total;
    const double n = s.steps, problems = clock.entered[static_cast<size_t>(Stage::impulses)] / (n * repeat);
    const Report report{{"name", s.name},
                        {"steps", s.steps},
                        {"repeat", repeat},
                        {"step_us", wall.median()},
                        {"processor", {{"step_us", processor.median()}}},
                        {"shares", shares},
                        {"pairs_tried", counts.pairs / n},
                        {"contacts_found", counts.found / n},
                        {"contacts_pushing", counts.pushing / n},
                        {"rows", counts.rows / n},
                        {"problems_solved", problems}};
    if (a.json()) {
        std::fputs(to_text(report).c_str(), stdout);
        return done;
    }
    std::printf("%s: %d steps, median of %d\n\n", s.name.c_str(), s.steps, repeat);
    std::printf("step             %8.2f us, %.2f of the processor\n\n", wall.median(), processor.median());
    for (size_t i = 0; i < stage_names.size(); ++i)
        std::printf("%-16s %8.1f %%\n", stage_names[i], 100 * clock.seconds[i] / total);
    std::printf(
        "\nin a step, on average: %.1f pairs of shapes compared, %.1f contacts found of which %.1f push, "
        "%.1f rows, %.2f problems solved\n",
        counts.pairs / n, counts.found / n, counts.pushing / n, counts.rows / n, problems);
    return done;
}

}  // namespace costate
