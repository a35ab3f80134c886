#include <exception>

#include "adjoint/optimize/loss_function.hpp"

namespace costate {
namespace {

// The losses that some ranks have computed, by the number of their inputs.
struct Losses {
    std::vector<int> numbers;
    std::vector<double> losses;
    void add(const Losses& other) {
        numbers.insert(numbers.end(), other.numbers.begin(), other.numbers.end());
        losses.insert(losses.end(), other.losses.begin(), other.losses.end());
    }
    template <class Archive> void transfer(Archive& a) { a(numbers, losses); }
};

}  // namespace

// What a thread runs rollouts in. No gradient follows, so one checkpoint is enough.
struct RolloutLoss::Worker {
    Simulation simulation;
    Rollout<Simulation> rollout;
    std::exception_ptr error;
    explicit Worker(Rollout<Simulation>& like)
        : simulation(like.step().world(), like.step().objective()),
          rollout(simulation, like.plan(), Schedule::forward_only(like.steps())) {}
};

RolloutLoss::RolloutLoss(Rollout<Simulation>& rollout, int threads, Ranks* ranks)
    : rollout_(rollout),
      threads_(threads),
      ranks_(ranks ? *ranks : alone_) {}

RolloutLoss::~RolloutLoss() = default;

std::vector<double> RolloutLoss::values(const std::vector<RolloutInputs>& in) {
    Losses all;
    for (int i = ranks_.rank(); i < static_cast<int>(in.size()); i += ranks_.size())
        all.numbers.push_back(i);
    all.losses.resize(all.numbers.size());
    if (!pool_) {
        const int workers = std::clamp(static_cast<int>(all.numbers.size()), 1, threads_);
        for (int i = 0; i < workers; ++i)
            workers_.push_back(std::make_unique<Worker>(rollout_));
        pool_.reset(new ThreadPool(workers));
    }
    pool_->run(static_cast<int>(all.numbers.size()), [&](int thread, int i) {
        Worker& worker = *workers_[thread];
        try {
            all.losses[i] = loss_of(worker.rollout, in[all.numbers[i]]);
        } catch (...) {
            worker.error = std::current_exception();
        }
    });
    for (const std::unique_ptr<Worker>& worker : workers_)
        if (worker->error) std::rethrow_exception(std::exchange(worker->error, nullptr));
    add_up(ranks_, all);
    std::vector<double> losses(in.size());
    for (size_t k = 0; k < all.numbers.size(); ++k)
        losses[all.numbers[k]] = all.losses[k];
    return losses;
}

}  // namespace costate
