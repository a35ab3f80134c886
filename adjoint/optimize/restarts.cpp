#include "adjoint/optimize/restarts.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>

#include "adjoint/batch/environment_numbers.hpp"
#include "adjoint/batch/thread_pool.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"

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

// The variables of run `index`. The first method of cmaes draws by itself.
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

// The runs of this process and how far they are.
class OwnRuns {
public:
    OwnRuns(const RestartProblem& problem, const OptimizeSettings& settings, int restarts, const Ranks& ranks,
            const RestartPauses& pauses)
        : problem_(problem),
          settings_(settings),
          pauses_(pauses) {
        for (int i = ranks.rank(); i < restarts; i += ranks.size())
            numbers_.push_back(i);
        iterations_.resize(numbers_.size());
        runs_.losses.assign(static_cast<size_t>(restarts), unlimited);
    }
    Runs run(int threads) {
        const int count = static_cast<int>(numbers_.size());
        OwnedThreadPool pool(new ThreadPool(std::clamp(threads, 1, std::max(1, count))));
        pool->set_idle([this] { guard([this] { ask(); }); });
        pool->run(count, [this](int thread, int k) { guard([&] { optimize_one(thread, k); }); });
        if (error_) std::rethrow_exception(error_);
        return std::move(runs_);
    }

private:
    // Keeps the first exception, which ends all runs.
    template <class Work> void guard(const Work& work) {
        try {
            work();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!error_) error_ = std::current_exception();
            ends_ = true;
        }
    }
    // Called by the calling thread.
    void ask() {
        if (ends_) return;
        if (pauses_.progress) {
            int done = 0;
            double best = 0;
            {
                const std::lock_guard lock(mutex_);
                done = std::accumulate(iterations_.begin(), iterations_.end(), 0);
                best = best_;
            }
            pauses_.progress(done, static_cast<int>(numbers_.size()) * iterations_of(settings_), best);
        }
        if (pauses_.interrupted && pauses_.interrupted()) ends_ = true;
    }
    void optimize_one(int thread, int k) {
        if (ends_ && k > 0) return;  // the first one has a result even if it is ended at once
        const int number = numbers_[static_cast<size_t>(k)];
        OptimizeSettings settings = settings_;
        const Variables variables = started(problem_.variables, settings, number);
        settings.seed += static_cast<unsigned>(number);
        Simulation simulation(problem_.world, problem_.objective);
        Rollout<Simulation> rollout(simulation, problem_.plan, problem_.schedule);
        Pauses pauses;
        pauses.interrupted = [this] { return ends_.load(); };
        pauses.progress = [&](const OptimizeResult& so_far) {
            {
                const std::lock_guard lock(mutex_);
                iterations_[static_cast<size_t>(k)] = so_far.iterations;
                best_ = std::min(best_, so_far.final_loss);
            }
            if (thread == 0) ask();
        };
        try {
            const OptimizeResult r = optimize(rollout, variables, problem_.constraints, settings, pauses);
            const std::lock_guard lock(mutex_);
            runs_.add(number, r);
        } catch (const DivergenceError&) {
            if (number == 0) throw;
        }
    }

    const RestartProblem& problem_;
    const OptimizeSettings& settings_;
    const RestartPauses& pauses_;
    std::vector<int> numbers_;
    std::mutex mutex_;  // of the members below
    std::vector<int> iterations_;
    double best_ = unlimited;
    Runs runs_;
    std::exception_ptr error_;
    std::atomic<bool> ends_{false};
};

}  // namespace

Restarted optimize_from_starts(const RestartProblem& problem, const OptimizeSettings& settings,
                               const RestartSettings& restarts, const RestartPauses& pauses) {
    OneRank alone;
    Ranks& ranks = restarts.ranks ? *restarts.ranks : alone;
    Runs runs = OwnRuns(problem, settings, restarts.restarts, ranks, pauses).run(restarts.threads);
    add_up(ranks, runs);
    Simulation simulation(problem.world, problem.objective);
    Rollout<Simulation> rollout(simulation, problem.plan, Schedule::forward_only(problem.schedule.steps()));
    runs.best.initial_loss = RolloutLoss(rollout).value(problem.variables.inputs(problem.variables.start()));
    return {std::move(runs.best), runs.index, std::move(runs.losses)};
}

}  // namespace costate
