// The mean loss over the environments of a scene, and its gradient: E(theta, x0, z) = 1/N sum over e of the loss of
// environment e. The bits depend neither on threads nor on ranks: what is summed follows adjoint/batch/sum_plan.hpp.
#pragma once

#include <functional>
#include <memory>

#include "adjoint/batch/ranks.hpp"
#include "adjoint/batch/sum_plan.hpp"
#include "adjoint/batch/thread_pool.hpp"
#include "adjoint/expectation/environment_group.hpp"

namespace costate {

// How long ranks have computed, s.
struct RankTimes {
    double sum = 0, longest = 0;
    int slowest = 0;  // the rank with the longest time
    void add(const RankTimes& other) {
        sum += other.sum;
        if (other.longest <= longest) return;
        longest = other.longest;
        slowest = other.slowest;
    }
    template <class Archive> void transfer(Archive& a) { a(sum, longest, slowest); }
};

// Some blocks of the sum over environments of (loss), or of (loss, gradient by z, by x0's tangent, by theta, and the
// squares of the loss and of the lengths of these three).
struct EnvironmentSum {
    PartialSum sum;
    EnvironmentFailure failure;  // then the sum is not complete
    RankTimes times;
    // Throws std::invalid_argument if a block is in both.
    void add(const EnvironmentSum& other) {
        failure.add(other.failure);
        times.add(other.times);
        if (!failure) sum.add(other.sum);
    }
    template <class Archive> void transfer(Archive& a) {
        sum.transfer(a);
        failure.transfer(a);
        times.transfer(a);
    }
};

// Mean loss and gradient of a complete sum with gradients, of a scene with so many variables of controls.
double mean_loss(const EnvironmentSum& s);
Gradient mean_gradient(const EnvironmentSum& s, Eigen::Index controls, Eigen::Index tangent);

// How far mean loss and gradient are from those of infinitely many environments: standard errors, of a gradient the root of
// the mean square length of its error. NaN for one environment.
struct StandardErrors {
    double loss, controls, initial_state, parameters;
};
StandardErrors standard_errors(const EnvironmentSum& s, Eigen::Index controls, Eigen::Index tangent);

// How far a call is, on all ranks.
struct EnvironmentProgress {
    std::int64_t done = 0, of = 0;
    int behind = -1;  // the rank that is far behind the others, or -1
};

struct ExpectedLossOptions {
    int threads = 1;         // 0: one a core
    bool gradients = true;   // false: only `value` is called
    Ranks* ranks = nullptr;  // that share the environments; null: none but this process
    // called by the calling thread between groups of environments; what it throws ends the call
    std::function<void(const EnvironmentProgress&)> between = {};
    // whether rank 0 gives the progress of all ranks, and not only its own; the same on all ranks
    bool follow = false;
};

// The time of a process, s, since the ExpectedLoss was made.
struct ExpectedLossTimes {
    double compute = 0, wait = 0, reduce = 0;  // until all ranks have computed; of the sum over ranks
    RankTimes ranks;                           // of the call whose slowest rank was furthest behind the mean
};

class ExpectedLoss final : public LossFunction {
public:
    // All references must outlive it. Each thread has the checkpoints of the schedule, in memory, of `group_size`
    // environments.
    ExpectedLoss(const World& w, const Objective& objective, const ControlPlan& plan, const Randomization& r,
                 const Schedule& schedule, const ExpectedLossOptions& options);
    ~ExpectedLoss() override;
    ExpectedLoss(const ExpectedLoss&) = delete;
    ExpectedLoss& operator=(const ExpectedLoss&) = delete;

    // Infinite if a rollout diverges; with gradients also if one is not finite.
    double value(const RolloutInputs& in) override;
    // The blocks of all inputs are shared by the ranks together, and there is one sum over ranks.
    std::vector<double> values(const std::vector<RolloutInputs>& in) override;
    void gradient(const RolloutInputs& in, Gradient& g) override;
    void complain() const override;

    // The sum over these blocks, by this process alone; it ends at the first failure.
    EnvironmentSum sum_of_blocks(const RolloutInputs& in, Range blocks) {
        return sum_of_blocks(in, blocks,
                             [&](std::int64_t done, std::int64_t of) { note_progress(done, of); });
    }

    const EnvironmentSum& total() const { return total_; }  // of the last `value`
    const SumPlan& sum_plan() const { return sum_plan_; }
    const ExpectedLossTimes& times() const { return times_; }
    int threads() const { return static_cast<int>(workers_.size()); }
    LaneUse lane_use() const;  // of all calls in this process
    // What it holds, whatever the number of environments, but for the workspace of a step of each thread.
    size_t bytes() const;
    static int thread_count(const ExpectedLossOptions& o);
    // How many environments a thread runs together.
    static int group_size(const Randomization& r, const ExpectedLossOptions& o);

private:
    struct Worker;
    struct Part {  // of what a call computes
        size_t input;
        Range blocks;
    };
    std::vector<Part> parts_of(int rank, size_t inputs) const;
    void begin_call(size_t inputs);
    template <class T> void add_up_timed(T& part);
    EnvironmentSum sum_of_blocks(const RolloutInputs& in, Range blocks,
                                 const std::function<void(std::int64_t done, std::int64_t of)>& note);
    EnvironmentProgress progress(std::int64_t done, std::int64_t of) const;
    void note_progress(std::int64_t done, std::int64_t of) const;
    void follow_others() const;

    const World& world_;
    const ControlPlan& plan_;
    const ExpectedLossOptions options_;
    const SumPlan sum_plan_;
    const size_t width_;  // numbers of an environment
    const int group_;
    std::vector<std::unique_ptr<Worker>> workers_;
    OwnedThreadPool pool_;
    std::vector<double> rows_;  // (environments at a time x width)
    OneRank alone_;
    Ranks& ranks_;
    std::vector<std::int64_t> shares_;  // (ranks) environments in this call, once for each input
    EnvironmentSum total_;
    ExpectedLossTimes times_;
};

}  // namespace costate
