#include "apps/cli/optimize/restarts.hpp"

#include "apps/cli/optimize/session.hpp"
#include "apps/cli/shared_run.hpp"
#include "apps/io/progress.hpp"
#include "scenes/memory.hpp"

namespace costate {

int chosen_restarts(const Arguments& a, const Scene& s) {
    if (!a.text("restarts")) return 1;
    const int restarts = a.integer("restarts", 1, 1, 100'000);
    if (s.optimize.method == Method::receding_horizon)
        throw UsageError("--restarts is for optimizations of a whole rollout: choose another --method");
    if (a.text("save") || a.text("resume"))
        throw UsageError("--restarts has no single run that could be saved: leave out --save and --resume");
    if (s.batch.environments > 0)
        throw UsageError("--restarts is for one rollout, but " + s.file.string() +
                         " has a \"batch\", which threads and ranks share: leave it out");
    return restarts;
}

Restarted run_restarts(const Scene& scene, const Variables& variables, int restarts, int threads) {
    Progress progress("optimize " + scene.name);
    const NotedSignals signals;
    const Schedule schedule = has_gradients(scene.optimize)
                                  ? environment_schedule(scene, std::min(threads, restarts))
                                  : Schedule::forward_only(scene.steps);
    return optimize_from_starts(
        {scene.world, scene.objective, scene.constraints, scene.plan, variables, schedule}, scene.optimize,
        {restarts, threads, &joined_ranks()},
        {[&](int iterations, int of, double best) {
             if (joined_ranks().rank() > 0 || !progress.due()) return;
             char note[32];
             std::snprintf(note, sizeof note, "loss %.4g", best);
             progress.draw(static_cast<double>(iterations) / of, note);
         },
         NotedSignals::arrived});
}

void add_restarts(const Scene& scene, const Restarted& found, Report& report) {
    report["restarts"] = found.losses.size();
    report["best_run"] = found.index;
    report["best_seed"] = scene.optimize.seed + static_cast<unsigned>(found.index);
    report["restart_losses"] = Report::array();
    for (const double loss : found.losses)
        report["restart_losses"].push_back(loss < unlimited ? Report(loss) : Report());
}

}  // namespace costate
