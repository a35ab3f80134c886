// A cost of the caller's own, of all states and controls of a rollout, beside the objective of a scene.
#pragma once

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "adjoint/optimize/loss_function.hpp"
#include "adjoint/optimize/optimize_settings.hpp"
#include "adjoint/rollout/seeded_simulation.hpp"

namespace costate {

// Returns the cost of states (steps + 1 x nx) and controls (steps x nu). Unless they are null, it adds its gradients to
// states_bar (steps + 1 x ndx, in tangent vectors) and controls_bar (steps x nu), which are zero.
using OwnCost = std::function<double(const double* states, const double* controls, double* states_bar,
                                     double* controls_bar)>;

// The own cost of the start of an optimization is not finite.
struct OwnCostError : std::runtime_error {
    OwnCostError() : std::runtime_error("the cost of the caller is not finite") {}
};

// The loss of one rollout and an own cost. It stores all states and controls, and their gradients.
class OwnCostLoss final : public LossFunction {
public:
    // The references must outlive it. `between` is called before each time step; what it throws ends the call.
    OwnCostLoss(const World& w, const Objective& objective, const ControlPlan& plan, const Schedule& schedule,
                OwnCost cost, std::function<void()> between = {})
        : simulation_(w, objective),
          rollout_(simulation_, plan, schedule),
          cost_(std::move(cost)),
          between_(std::move(between)),
          states_(rows(schedule.steps() + 1, w.nx())),
          controls_(rows(schedule.steps(), w.nu())),
          states_bar_(rows(schedule.steps() + 1, w.ndx())),
          controls_bar_(controls_.size()) {}

    // Infinite also if the cost is not finite.
    double value(const RolloutInputs& in) override {
        const auto store = [&](int t, const double* x, const double* u) {
            std::copy_n(x, simulation_.nx(), states_.data() + rows(t, simulation_.nx()));
            if (u) std::copy_n(u, simulation_.nu(), controls_.data() + rows(t, simulation_.nu()));
            if (between_) between_();
        };
        const double loss = rollout_.forward(in.theta, in.x0, in.z, store);
        if (rollout_.divergence()) return unlimited;
        const double cost = cost_(states_.data(), controls_.data(), nullptr, nullptr);
        is_finite_ = std::isfinite(cost);
        return is_finite_ ? loss + cost : unlimited;
    }
    void gradient(const RolloutInputs& in, Gradient& g) override {
        std::fill(states_bar_.begin(), states_bar_.end(), 0.0);
        std::fill(controls_bar_.begin(), controls_bar_.end(), 0.0);
        cost_(states_.data(), controls_.data(), states_bar_.data(), controls_bar_.data());
        simulation_.set_seeds(states_bar_.data(), controls_bar_.data());
        rollout_.backward(in.theta, in.z, g, [&](int, const double*, const double*) {
            if (between_) between_();
        });
    }
    void complain() const override {
        if (rollout_.divergence()) throw DivergenceError(simulation_.world().model, rollout_.divergence());
        if (!is_finite_) throw OwnCostError();
    }

private:
    static size_t rows(int n, int width) { return static_cast<size_t>(n) * static_cast<size_t>(width); }

    SeededSimulation simulation_;
    Rollout<SeededSimulation> rollout_;
    const OwnCost cost_;
    const std::function<void()> between_;
    std::vector<double> states_, controls_, states_bar_, controls_bar_;  // shaped as the cost's arguments
    bool is_finite_ = true;                                              // the cost of the last `value`
};

}  // namespace costate
