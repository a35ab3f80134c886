// What is optimized: a loss as a function of the inputs of a rollout, with its gradient.
#pragma once

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
};

// The loss of one rollout.
class RolloutLoss final : public LossFunction {
public:
    explicit RolloutLoss(Rollout<Simulation>& rollout) : rollout_(rollout) {}
    double value(const RolloutInputs& in) override {
        const double loss = rollout_.forward(in.theta, in.x0, in.z);
        return rollout_.divergence() ? unlimited : loss;
    }
    void gradient(const RolloutInputs& in, Gradient& g) override { rollout_.backward(in.theta, in.z, g); }
    void complain() const override {
        if (!rollout_.divergence()) return;
        throw DivergenceError(rollout_.step().world().model, rollout_.divergence());
    }

private:
    Rollout<Simulation>& rollout_;
};

}  // namespace costate
