// What is optimized: a loss as a function of the inputs of a rollout, with its gradient.
#pragma once

#include <memory>
#include <vector>

#include "adjoint/batch/ranks.hpp"
#include "adjoint/batch/thread_pool.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"

namespace costate {

// The inputs of a rollout.
struct RolloutInputs {
    VecX<double> theta, x0, z;
};

class LossFunction {
public:
    virtual ~LossFunction() = default;
    // Infinite if a rollout diverges.
    virtual double value(const RolloutInputs& in) = 0;
    // At the inputs of the last `value`, which was finite.
    virtual void gradient(const RolloutInputs& in, Gradient& g) = 0;
    // Throws DivergenceError if a rollout of the last `value` diverged.
    virtual void complain() const = 0;
    // `value` of each of several inputs; then `gradient` and `complain` wait for the next `value`.
    virtual std::vector<double> values(const std::vector<RolloutInputs>& in) {
        std::vector<double> losses;
        for (const RolloutInputs& one : in)
            losses.push_back(value(one));
        return losses;
    }
};

// The loss of one rollout. Several `values` are computed by threads and ranks, each with rollouts of its own.
class RolloutLoss final : public LossFunction {
public:
    explicit RolloutLoss(Rollout<Simulation>& rollout, int threads = 1, Ranks* ranks = nullptr);
    ~RolloutLoss() override;
    double value(const RolloutInputs& in) override { return loss_of(rollout_, in); }
    std::vector<double> values(const std::vector<RolloutInputs>& in) override;
    void gradient(const RolloutInputs& in, Gradient& g) override { rollout_.backward(in.theta, in.z, g); }
    void complain() const override {
        if (!rollout_.divergence()) return;
        throw DivergenceError(rollout_.step().world().model, rollout_.divergence());
    }

private:
    struct Worker;
    static double loss_of(Rollout<Simulation>& rollout, const RolloutInputs& in) {
        const double loss = rollout.forward(in.theta, in.x0, in.z);
        return rollout.divergence() ? unlimited : loss;
    }

    Rollout<Simulation>& rollout_;
    const int threads_;
    OneRank alone_;
    Ranks& ranks_;
    std::vector<std::unique_ptr<Worker>> workers_;  // made by the first `values`
    OwnedThreadPool pool_;
};

}  // namespace costate
