#include "apps/cli/optimize/restarts.hpp"

#include <exception>
#include <mutex>
#include <thread>

#include "adjoint/batch/thread_pool.hpp"
#include "adjoint/expectation/environment_numbers.hpp"
#include "adjoint/optimize/augmented_lagrangian.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/optimize/session.hpp"
#include "apps/cli/shared_run.hpp"
#include "scenes/memory.hpp"

namespace costate {
namespace {

// What a rank knows of the runs.
struct Runs {
    OptimizeResult best;
    int index = -1;              // of the best run; -1: none
    std::vector<double> losses;  // of each run, or empty
    void add(int i, const OptimizeResult& r) {
        losses[static_cast<size_t>(i)] = r.final_loss;
        if (index >= 0 && !(is_better(r, best) || (!is_better(best, r) && i < index))) return;
        best = r;
        index = i;
    }
    void add(const Runs& other) {
        std::vector<double> all = losses;
        for (size_t i = 0; i < other.losses.size(); ++i)
            all[i] = std::min(all[i], other.losses[i]);
        if (other.index >= 0) add(other.index, other.best);
        losses = std::move(all);
    }
    template <class Archive> void transfer(Archive& a) {
        a(index, losses);
        best.transfer(a);
        a(best.stopped);
    }
};

// The variables of run `index`: the first run starts where the scene does, the others at even random distances, of
// standard deviation sigma in units of a variable's range, or 1 if it has none. The first method of cmaes draws by itself.
Variables started(const Variables& variables, const OptimizeSettings& settings, int index) {
    Variables moved = variables;
    if (index == 0 || methods_of(settings).front() == Method::cmaes) return moved;
    const EnvironmentNumbers random(settings.seed, index);
    VecX<double> y = variables.start();
    for (Eigen::Index k = 0; k < y.size(); ++k) {
        const double range = variables.upper()[k] - variables.lower()[k];
        const double half_width = std::sqrt(3.0) * settings.sigma * (range < unlimited ? range : 1);
        y[k] += half_width * random(EnvironmentNumbers::Of::start, static_cast<std::uint64_t>(k));
    }
    moved.start_at(y.cwiseMax(variables.lower()).cwiseMin(variables.upper()));
    return moved;
}

}  // namespace

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

OptimizeResult Restarts::run(const std::function<void(int iterations, int of, double best)>& progress) {
    Ranks& ranks = joined_ranks();
    std::vector<int> mine;
    for (int i = ranks.rank(); i < restarts_; i += ranks.size())
        mine.push_back(i);
    Runs runs;
    runs.losses.assign(static_cast<size_t>(restarts_), unlimited);
    std::vector<int> iterations(mine.size());
    const int workers = static_cast<int>(std::min<size_t>(threads_, std::max<size_t>(1, mine.size())));
    std::mutex mutex;
    std::exception_ptr error;
    double best = unlimited;
    const NotedSignals signals;
    const auto one = [&](size_t k) {
        OptimizeSettings settings = scene_.optimize;
        const Variables variables = started(variables_, settings, mine[k]);
        settings.seed += static_cast<unsigned>(mine[k]);
        Simulation simulation(scene_.world, scene_.objective);
        Rollout<Simulation> rollout(simulation, scene_.plan,
                                    has_gradients(settings) ? environment_schedule(scene_, workers)
                                                            : Schedule::forward_only(scene_.steps));
        Pauses pauses;
        pauses.interrupted = NotedSignals::arrived;
        pauses.progress = [&](const OptimizeResult& so_far) {
            const std::lock_guard lock(mutex);
            iterations[k] = so_far.iterations;
            best = std::min(best, so_far.final_loss);
            int all = 0;
            for (const int n : iterations)
                all += n;
            progress(all, static_cast<int>(mine.size()) * iterations_of(settings), best);
        };
        try {
            const OptimizeResult r = optimize(rollout, variables, scene_.constraints, settings, pauses);
            const std::lock_guard lock(mutex);
            runs.add(mine[k], r);
        } catch (const DivergenceError&) {
            if (mine[k] == 0) throw;  // the start of the scene
        }
    };
    OwnedThreadPool pool;
    pool.reset(new ThreadPool(workers));
    pool->run(static_cast<int>(mine.size()), [&](int, int k) {
        try {
            one(static_cast<size_t>(k));
        } catch (...) {
            const std::lock_guard lock(mutex);
            error = std::current_exception();
        }
    });
    if (error) std::rethrow_exception(error);
    add_up(ranks, runs);
    best_ = runs.index;
    losses_ = runs.losses;
    Simulation simulation(scene_.world, scene_.objective);
    Rollout<Simulation> rollout(simulation, scene_.plan, Schedule::forward_only(scene_.steps));
    runs.best.initial_loss = RolloutLoss(rollout).value(variables_.inputs(variables_.start()));
    return std::move(runs.best);
}

void Restarts::add_to(Report& report) const {
    report["restarts"] = restarts_;
    report["best_run"] = best_;
    report["best_seed"] = scene_.optimize.seed + static_cast<unsigned>(best_);
    report["restart_losses"] = Report::array();
    for (const double loss : losses_)
        report["restart_losses"].push_back(loss < unlimited ? Report(loss) : Report());
}

}  // namespace costate
