// The rollout of a scene during a call, and the caller of the call.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>

#include "adjoint/expectation/expected_loss.hpp"
#include "adjoint/optimize/optimize.hpp"
#include "adjoint/optimize/own_cost.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "apps/c_api/model.hpp"
#include "scenes/memory.hpp"

namespace costate::c_api {

// The caller during a call: asked whether to end it, and told how many time steps of all that are expected are done,
// each at most every 20 ms.
class Caller {
public:
    explicit Caller(const costate_interrupt* interrupt, const costate_progress* progress = nullptr)
        : interrupt_(interrupt && interrupt->ask ? *interrupt : costate_interrupt{}),
          progress_(progress && progress->report ? *progress : costate_progress{}) {}
    void expect(std::uint64_t steps) {
        expected_ = steps;
        done_ = 0;
    }
    void note(std::uint64_t steps = 1) {
        done_ = std::min(done_ + steps, expected_);
        check();
    }
    void check() {
        constexpr std::chrono::milliseconds pause(20);
        if (!interrupt_.ask && !progress_.report) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < pause) return;
        last_ = now;
        if (interrupt_.ask && interrupt_.ask(interrupt_.data) != 0)
            throw Failure(COSTATE_INTERRUPTED, "interrupted");
        if (progress_.report && expected_ > 0 && progress_.report(progress_.data, done_, expected_) != 0)
            throw Failure(COSTATE_INTERRUPTED, "ended by the function that is told of progress");
    }
    // At the end of the call, which has written its outputs.
    void finish() const {
        if (progress_.report) progress_.report(progress_.data, expected_, expected_);
    }

private:
    const costate_interrupt interrupt_;
    const costate_progress progress_;
    std::uint64_t expected_ = 0, done_ = 0;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The rollout of a scene with the parameters that the model has now, for one call.
class SceneRun {
public:
    // pulls_back: if not, `rollout_` keeps no states for a backward pass
    SceneRun(const costate_model* handle, bool pulls_back, const costate_interrupt* interrupt = nullptr,
             const costate_progress* progress = nullptr)
        : model_(models().get(handle)),
          caller_(interrupt, progress),
          variables_(scene().world, scene().plan, scene().parameters, scene().initial_state,
                     {*model_->parameters(), scene().x0, scene().z0}),
          simulation_(scene().world, scene().objective),
          rollout_(simulation_, scene().plan,
                   pulls_back ? checkpoint_schedule(scene()) : Schedule::forward_only(scene().steps)) {
        check_result("a variable of the parameters", variables_.start());
    }
    const Scene& scene() const { return model_->scene; }
    const Variables& variables() const { return variables_; }
    Caller& caller() { return caller_; }
    Rollout<Simulation>& rollout() { return rollout_; }

    // Runs one rollout with the variables y (n); visits every step with its state and controls.
    template <class Visit> double forward(const double* y, const Visit& visit) {
        set(y);
        const double loss = rollout_.forward(inputs_.theta, inputs_.x0, inputs_.z,
                                             [&](int t, const double* x, const double* u) {
                                                 caller_.note();
                                                 visit(t, x, u);
                                             });
        if (rollout_.divergence()) throw DivergenceError(scene().world.model, rollout_.divergence());
        return loss;
    }
    // What `out` asks for at out.y (n).
    void evaluate(const costate_scene_run& out) {
        const bool pulls_back = out.gradient != nullptr, stores = out.states || out.controls;
        set(out.y);
        Gradient g;
        double loss = 0;
        const auto environments =
            static_cast<std::uint64_t>(std::max(std::int64_t{1}, scene().batch.environments));
        const std::unique_ptr<LossFunction> other = other_loss(out.cost, pulls_back);
        caller_.expect(sweep() * (environments * (pulls_back ? 2 : 1) + (other && stores ? 1 : 0)));
        if (other) {
            loss = other->value(inputs_);
            other->complain();
            if (pulls_back) other->gradient(inputs_, g);
        }
        if (!other || stores) {
            const double of_rollout =
                forward(out.y, [&](int t, const double* x, const double* u) { store(t, x, u, out); });
            if (!other) {
                loss = of_rollout;
                if (pulls_back)
                    rollout_.backward(inputs_.theta, inputs_.z, g,
                                      [&](int, const double*, const double*) { caller_.note(); });
            }
        }
        if (pulls_back) {
            const VecX<double> pulled_back = variables_.pull_back(y_, g);
            check_result("the gradient", pulled_back);
            write(pulled_back, out.gradient);
        }
        if (out.loss) *out.loss = loss;
        caller_.finish();
    }
    // The states and controls of out at out.y (n).
    void store_rollout(const costate_scene_run& out) {
        forward(out.y, [&](int t, const double* x, const double* u) { store(t, x, u, out); });
    }

    // What is not the loss of one rollout: the mean of a "batch", on all cores, or the objective plus a cost of
    // the caller; otherwise null.
    std::unique_ptr<LossFunction> other_loss(const costate_cost* cost, bool gradients) {
        const Scene& s = scene();
        if (cost) return with_cost(*cost);
        if (s.batch.environments == 0) return nullptr;
        ExpectedLossOptions o;
        o.threads = 0;
        o.gradients = gradients;
        const std::uint64_t steps = sweep() * (gradients ? 2 : 1);  // of one environment
        o.between = [this, steps, before = std::int64_t{0}](const EnvironmentProgress& now) mutable {
            // a call after another begins again
            const std::int64_t more = now.done < before ? now.done : now.done - before;
            before = now.done;
            caller_.note(static_cast<std::uint64_t>(more) * steps);
        };
        return std::make_unique<ExpectedLoss>(
            s.world, s.objective, s.plan, s.batch,
            environment_schedule(
                s, std::int64_t{ExpectedLoss::thread_count(o)} * ExpectedLoss::group_size(s.batch, o)),
            o);
    }

private:
    // Calls of `note` in one pass of a rollout, forward or backward.
    std::uint64_t sweep() const { return static_cast<std::uint64_t>(scene().steps) + 1; }
    std::unique_ptr<LossFunction> with_cost(const costate_cost& cost) {
        if (!cost.evaluate) throw Failure(COSTATE_BAD_ARGUMENT, "cost.evaluate is null");
        if (scene().batch.environments > 0)
            throw Failure(COSTATE_BAD_ARGUMENT,
                          "a cost of the caller is of one rollout, but the scene has a \"batch\"");
        const auto evaluate = [cost](const double* states, const double* controls, double* states_bar,
                                     double* controls_bar) {
            double value = 0;
            if (cost.evaluate(cost.data, states, controls, &value, states_bar, controls_bar) != 0)
                throw Failure(COSTATE_INTERRUPTED, "ended by the cost of the caller");
            return value;
        };
        return std::make_unique<OwnCostLoss>(scene().world, scene().objective, scene().plan,
                                             checkpoint_schedule(scene()), evaluate,
                                             [this] { caller_.note(); });
    }
    void store(int t, const double* x, const double* u, const costate_scene_run& out) const {
        const World& w = scene().world;
        if (out.states) std::copy_n(x, w.nx(), out.states + static_cast<size_t>(t) * w.nx());
        if (out.controls && u) std::copy_n(u, w.nu(), out.controls + static_cast<size_t>(t) * w.nu());
    }
    void set(const double* y) {
        check_finite("y", y, variables_.size());
        y_ = Eigen::Map<const VecX<double>>(y, variables_.size());
        inputs_ = variables_.inputs(y_);
        check_parameters(*model_, inputs_.theta.data());
    }

    const std::shared_ptr<SharedModel> model_;
    Caller caller_;
    const Variables variables_;
    Simulation simulation_;
    Rollout<Simulation> rollout_;
    VecX<double> y_;
    RolloutInputs inputs_;
};

// A call on a scene, whose divergence has a status of its own.
template <class Call> int with_scene(const char* function, const Call& call) noexcept {
    return guarded(function, [&]() -> int {
        try {
            return call();
        } catch (const DivergenceError& e) {
            throw Failure(COSTATE_DIVERGED, e.what());
        } catch (const OwnCostError& e) {
            throw Failure(COSTATE_DIVERGED, e.what());
        }
    });
}

}  // namespace costate::c_api
