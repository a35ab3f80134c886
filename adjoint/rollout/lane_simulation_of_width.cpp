// LaneSimulation for COSTATE_LANE_WIDTH lanes, compiled as solvers/step/lane_step_of_width.cpp is.
#include "adjoint/objective/objective.inl"
#include "adjoint/rollout/lane_simulation.hpp"
#include "core/math/lanes.hpp"
#include "solvers/complementarity/lane_solvers.hpp"
#include "solvers/pushes.hpp"

namespace costate {
namespace {

class LaneSimulationOfWidth final : public LaneSimulation {
    static constexpr int W = COSTATE_LANE_WIDTH;
    using T = Lanes<W>;

public:
    LaneSimulationOfWidth(const World& w, const Objective& objective, std::unique_ptr<LaneStep> step)
        : world_(w),
          objective_(objective),
          step_(std::move(step)),
          scratch_(*static_cast<StepScratch<T>*>(step_->scratch())),
          wrenches_(w.pushes.empty() ? 0 : 6 * w.model.bodies.size()),
          wrenches_bar_(wrenches_) {}

    int width() const override { return W; }
    void set_parameters(const double* const* theta) override { step_->set_parameters(theta); }

    bool run(int t, const double* x, const double* u, double* x_next, double* share) override try {
        if (!step_->step(x, u, x_next, wrenches_at(t))) return false;
        *lanes(share) = objective_value(world_, objective_, true, t, {theta(), lanes(x), lanes(u)}, scratch_);
        return true;
    } catch (const LanesPart&) {
        return false;
    }
    bool run_adj(int t, const double* x, const double* u, const double* x_next_bar, double* theta_bar,
                 double* x_bar, double* u_bar) override try {
        step_->clear_bars();
        objective_value_adj(world_, objective_, true, t, {theta(), lanes(x), lanes(u)}, T(1.0), scratch_,
                            {lanes(theta_bar), lanes(x_bar), lanes(u_bar)});
        std::fill(wrenches_bar_.begin(), wrenches_bar_.end(), T(0));
        if (!step_->pull_back(x, u, x_next_bar, theta_bar, x_bar, u_bar, wrenches_at(t),
                              numbers(wrenches_bar_)))
            return false;
        push_wrenches_adj(world_, t * world_.settings.time_step, wrenches_bar_.data(), lanes(theta_bar));
        return true;
    } catch (const LanesPart&) {
        return false;
    }

    bool finish(int t, const double* x, double* share) override try {
        if (!step_->observe(x)) return false;
        *lanes(share) =
            objective_value<T>(world_, objective_, false, t, {theta(), lanes(x), nullptr}, scratch_);
        return true;
    } catch (const LanesPart&) {
        return false;
    }
    bool finish_adj(int t, const double* x, double* theta_bar, double* x_bar) override try {
        if (!step_->observe(x)) return false;
        step_->clear_bars();
        objective_value_adj<T>(world_, objective_, false, t, {theta(), lanes(x), nullptr}, T(1.0), scratch_,
                               {lanes(theta_bar), lanes(x_bar), nullptr});
        return step_->observe_adj(x, theta_bar, x_bar);
    } catch (const LanesPart&) {
        return false;
    }

    std::uint64_t branches() const override { return step_->branches(); }

private:
    static const T* lanes(const double* x) { return reinterpret_cast<const T*>(x); }
    static T* lanes(double* x) { return reinterpret_cast<T*>(x); }
    static double* numbers(std::vector<T>& x) {
        return x.empty() ? nullptr : reinterpret_cast<double*>(x.data());
    }
    const T* theta() const { return lanes(step_->parameters()); }
    const double* wrenches_at(int t) {
        std::fill(wrenches_.begin(), wrenches_.end(), T(0));
        push_wrenches(world_, theta(), t * world_.settings.time_step, wrenches_.data());
        return numbers(wrenches_);
    }

    const World& world_;
    const Objective& objective_;
    std::unique_ptr<LaneStep> step_;
    StepScratch<T>& scratch_;
    std::vector<T> wrenches_, wrenches_bar_;  // (bodies x 6); empty without pushes
};

}  // namespace
}  // namespace costate

extern "C" costate::LaneSimulation* COSTATE_LANE_FACTORY(const costate::World& w,
                                                         const costate::Objective& objective,
                                                         costate::LaneStep* step) {
    return new costate::LaneSimulationOfWidth(w, objective, std::unique_ptr<costate::LaneStep>(step));
}
