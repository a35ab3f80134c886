#include "adjoint/expectation/expected_loss.hpp"

#include <chrono>
#include <exception>
#include <thread>

namespace costate {
namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

double mean_loss(const EnvironmentSum& s) {
    return s.sum.total()[0] / static_cast<double>(s.sum.plan().environments);
}

Gradient mean_gradient(const EnvironmentSum& s, Eigen::Index controls, Eigen::Index tangent) {
    const std::vector<double>& total = s.sum.total();
    const VecX<double> mean =
        Eigen::Map<const VecX<double>>(total.data(), static_cast<Eigen::Index>(total.size())) /
        static_cast<double>(s.sum.plan().environments);
    return {mean.segment(1, controls), mean.segment(1 + controls, tangent),
            mean.tail(mean.size() - 1 - controls - tangent)};
}

// What a thread runs environments in.
struct ExpectedLoss::Worker {
    NoisySimulation simulation;
    Rollout<NoisySimulation> rollout;
    Gradient gradient;
    EnvironmentFailure failure;
    std::exception_ptr error;
    Worker(const World& w, const Objective& objective, const ControlPlan& plan, const Randomization& r,
           const Schedule& schedule)
        : simulation(w, objective, r),
          rollout(simulation, plan, schedule) {}
};

int ExpectedLoss::thread_count(const ExpectedLossOptions& o) {
    return o.threads > 0 ? o.threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ExpectedLoss::ExpectedLoss(const World& w, const Objective& objective, const ControlPlan& plan,
                           const Randomization& r, const Schedule& schedule,
                           const ExpectedLossOptions& options)
    : world_(w),
      plan_(plan),
      randomization_(r),
      options_(options),
      sum_plan_{r.environments},
      width_(options.gradients ? static_cast<size_t>(1 + plan.size() + w.ndx() + w.np()) : 1),
      ranks_(options.ranks ? *options.ranks : alone_) {
    const int threads = static_cast<int>(
        std::min<std::int64_t>(thread_count(options), std::max<std::int64_t>(1, r.environments)));
    for (int i = 0; i < threads; ++i)
        workers_.push_back(std::make_unique<Worker>(w, objective, plan, r, schedule));
    pool_.reset(new ThreadPool(threads));
    // four environments a thread, so that those that take longer keep no thread waiting for long
    const std::int64_t at_once =
        (std::max<std::int64_t>(64, 4 * threads) + SumPlan::block - 1) / SumPlan::block;
    const std::int64_t rows = std::min(at_once, sum_plan_.blocks()) * SumPlan::block;
    rows_.resize(static_cast<size_t>(rows) * width_);
}

ExpectedLoss::~ExpectedLoss() = default;

size_t ExpectedLoss::bytes() const {
    return rows_.size() * sizeof(double) + workers_.size() * workers_.front()->rollout.store().bytes();
}

void ExpectedLoss::run(Worker& worker, std::int64_t e, const RolloutInputs& shared, double* row) const {
    worker.simulation.set_environment(e);
    const RolloutInputs in = environment_inputs(world_, randomization_, e, shared);
    *row++ = worker.rollout.forward(in.theta, in.x0, in.z);
    if (worker.rollout.divergence())
        return worker.failure.add({e, DivergenceError(world_.model, worker.rollout.divergence()).what()});
    if (!options_.gradients) return;
    Gradient& g = worker.gradient;
    worker.rollout.backward(in.theta, in.z, g);
    if (worker.rollout.adjoint_divergence())
        return worker.failure.add({e, to_text(worker.rollout.adjoint_divergence(), world_.model)});
    pull_back_environment(world_, randomization_, e, shared, g);
    for (const VecX<double>* part : {&g.controls, &g.initial_state, &g.parameters})
        row = std::copy(part->begin(), part->end(), row);
}

EnvironmentSum ExpectedLoss::sum_of_blocks(const RolloutInputs& in, Range blocks) {
    EnvironmentSum out{PartialSum(sum_plan_, width_), {}, {}};
    const double begin = now();
    const auto at_once = static_cast<std::int64_t>(rows_.size() / width_) / SumPlan::block;
    const Range all = sum_plan_.environments_of(blocks);
    for (std::int64_t b = blocks.first; b < blocks.last && !out.failure; b += at_once) {
        const Range group{b, std::min(b + at_once, blocks.last)};
        const Range es = sum_plan_.environments_of(group);
        pool_->run(static_cast<int>(es.size()), [&](int thread, int i) {
            Worker& worker = *workers_[static_cast<size_t>(thread)];
            if (worker.error) return;
            try {
                run(worker, es.first + i, in, rows_.data() + static_cast<size_t>(i) * width_);
            } catch (...) {
                worker.error = std::current_exception();
            }
        });
        std::exception_ptr error;
        for (const std::unique_ptr<Worker>& worker : workers_) {
            if (worker->error) error = std::exchange(worker->error, nullptr);
            out.failure.add(std::exchange(worker->failure, {}));
        }
        if (error) std::rethrow_exception(error);
        const SumPlan of_group{es.size()};  // the same cuts: a group begins with a block
        for (std::int64_t k = 0; k < group.size() && !out.failure; ++k) {
            sum_block(rows_.data(), of_group, k, width_);
            out.sum.add(group.first + k, rows_.data() + static_cast<size_t>(k * SumPlan::block) * width_);
        }
        if (options_.between) options_.between(es.last - all.first, all.size());
    }
    out.times = {now() - begin, now() - begin, ranks_.rank()};
    return out;
}

double ExpectedLoss::value(const RolloutInputs& in) {
    total_ = sum_of_blocks(in, sum_plan_.share(ranks_.rank(), ranks_.size()));
    const double computed = now();
    times_.compute += total_.times.longest;
    ranks_.wait_for_all();
    const double waited = now();
    add_up(ranks_, total_);
    times_.wait += waited - computed;
    times_.reduce += now() - waited;
    const RankTimes &call = total_.times, &before = times_.ranks;
    if (before.sum == 0 || call.longest * before.sum > before.longest * call.sum) times_.ranks = call;
    return total_.failure ? unlimited : mean_loss(total_);
}

void ExpectedLoss::gradient(const RolloutInputs&, Gradient& g) {
    assert(options_.gradients);
    g = mean_gradient(total_, plan_.size(), world_.ndx());
}

void ExpectedLoss::complain() const {
    if (total_.failure)
        throw DivergenceError("environment " + std::to_string(total_.failure.environment) + ": " +
                              total_.failure.what);
}

}  // namespace costate
