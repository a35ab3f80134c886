#include "adjoint/optimize/closed_loop.hpp"

#include <ctime>
#include <functional>

#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "adjoint/rollout/state.hpp"
#include "core/math/random.hpp"

namespace costate {
namespace {

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The controls u (nu) at the plant's step `substep` within the planner's step t, in state x (own_nx).
using Correct = std::function<void(int t, int substep, const VecX<double>& x, VecX<double>& u)>;

// The plant in its present state.
class Machine {
public:
    Machine(const Plant& plant, const VecX<double>& x0)
        : plant_(plant),
          scratch_(plant.world),
          pushes_(plant.world),
          x_(VecX<double>::Zero(plant.world.nx())),
          next_(x_) {
        x_.head(size()) = x0.head(size());
    }
    VecX<double> state() const { return x_.head(size()); }
    // Applies the controls u of the planner's step t, which `correct` may change at later steps of the plant.
    void apply(int t, VecX<double> u, const Correct& correct) {
        const World& w = plant_.world;
        for (int k = 0; k < plant_.substeps; ++k, x_.swap(next_)) {
            if (correct && k > 0) correct(t, k, state(), u);
            step(w,
                 {plant_.theta.data(), x_.data(), u.data(),
                  pushes_.at(t * plant_.substeps + k, plant_.theta.data())},
                 scratch_, next_.data());
            if (!next_.allFinite())
                throw DivergenceError("the plant diverged in step " + std::to_string(t) +
                                      " of the controller; shorten its \"time_step\", or change the start");
        }
    }

private:
    Eigen::Index size() const { return plant_.world.own_nx(); }
    const Plant& plant_;
    StepScratch<double> scratch_;
    PushesOfSteps pushes_;
    VecX<double> x_, next_;
};

using Choose = std::function<VecX<double>(int t, const LoopRun& so_far)>;

LoopRun run(const World& w, const Objective& objective, const VecX<double>& theta, const Plant& plant,
            const VecX<double>& x0, int steps, const Choose& choose, const Correct& correct = {}) {
    Machine machine(plant, x0);
    Simulation judge(w, objective);
    VecX<double> x = VecX<double>::Zero(w.nx()), unused(w.nx());
    const Eigen::Index size = w.own_nx();
    LoopRun out{Eigen::MatrixXd(size, steps + 1), Eigen::MatrixXd(w.nu(), steps), 0, {}};
    for (int t = 0; t < steps; ++t) {
        out.states.col(t) = x.head(size) = machine.state();
        out.controls.col(t) = choose(t, out);
        const VecX<double> u = out.controls.col(t);
        out.loss += judge.run(t, theta.data(), x.data(), u.data(), unused.data());
        machine.apply(t, u, correct);
    }
    out.states.col(steps) = x.head(size) = machine.state();
    out.loss += judge.finish(steps, theta.data(), x.data());
    return out;
}

}  // namespace

LoopRun run_plant(const World& w, const Objective& objective, const VecX<double>& theta, const Plant& plant,
                  const VecX<double>& x0, const Eigen::MatrixXd& U) {
    return run(w, objective, theta, plant, x0, static_cast<int>(U.cols()),
               [&](int t, const LoopRun&) -> VecX<double> { return U.col(t); });
}

LoopRun run_loop(const World& w, const Objective& objective, const VecX<double>& theta,
                 const TrajectorySettings& limits, const Plant& plant, const VecX<double>& x0,
                 const Eigen::MatrixXd& guess, const LoopSettings& settings) {
    RecedingHorizon control(w, objective, theta, limits, guess);
    StepScratch<double> scratch(w);
    Random random(settings.seed);
    std::vector<double> seconds;
    VecX<double> d(w.ndx()), measured(w.nx()), next(w.nx());
    const double h = w.settings.time_step;
    // the state (own_nx) with noise in q and v, in `measured`
    const auto measure = [&](const VecX<double>& state) {
        VecX<double> x = VecX<double>::Zero(w.nx());
        x.head(state.size()) = state;
        d.setZero();
        for (int i = 0; i < 2 * w.nv(); ++i)
            d[i] = settings.noise * random.normal();
        retract_state(w, x.data(), d.data(), measured.data());
    };
    // The control at a time in planner's steps, in the state `measured`.
    const auto plan = [&](double t, double begin) -> VecX<double> {
        const int left = settings.steps - static_cast<int>(std::lround(t));
        const VecX<double> u =
            control.plan(measured, t * h, std::clamp(left, 1, settings.horizon)).controls.col(0);
        seconds.push_back(processor_seconds() - begin);
        return u;
    };
    const auto choose = [&](int t, const LoopRun& so_far) {
        const int taken = std::max(0, t - settings.delay);
        measure(so_far.states.col(taken));
        const double begin = processor_seconds();
        for (int k = taken; k < t; ++k, measured.swap(next))
            step(w, {theta.data(), measured.data(), so_far.controls.col(k).data()}, scratch, next.data());
        return plan(t, begin);
    };
    const Correct correct = [&](int t, int substep, const VecX<double>& x, VecX<double>& u) {
        const bool again = substep % (plant.substeps / settings.plans) == 0;
        if (settings.delay > 0 || (!again && !settings.feedback)) return;
        const double now = t + static_cast<double>(substep) / plant.substeps;
        measure(x);
        u = again ? plan(now, processor_seconds()) : control.control(measured, now * h);
    };
    LoopRun out = run(w, objective, theta, plant, x0, settings.steps, choose, correct);
    out.processor_seconds = std::move(seconds);
    return out;
}

}  // namespace costate
