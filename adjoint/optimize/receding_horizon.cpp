#include "adjoint/optimize/receding_horizon.hpp"

#include <chrono>
#include <cmath>

#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/state.hpp"

namespace costate {

namespace {

// The last plan goes on without its gains while it costs at most this factor of what was planned.
constexpr double as_planned = 1.1;

}  // namespace

RecedingHorizon::RecedingHorizon(const World& w, const Objective& objective, const VecX<double>& theta,
                                 const TrajectorySettings& settings, Eigen::MatrixXd guess)
    : world_(w),
      optimizer_(w, objective, theta, settings),
      settings_(settings),
      guess_(std::move(guess)) {}

RecedingHorizon::Place RecedingHorizon::place(double time) const {
    constexpr double round_off = 1e-6;
    const double steps = (time - plan_.time) / world_.settings.time_step,
                 whole = std::floor(steps + round_off);
    if (!(whole >= 0)) return {};
    if (whole >= plan_.steps()) return {plan_.steps() - 1, 1};
    return {static_cast<int>(whole), steps - whole > round_off ? steps - whole : 0};
}

// The state (nx) of the last plan.
VecX<double> RecedingHorizon::nominal(Place at) const {
    const double *from = plan_.states.col(at.step).data(), *to = plan_.states.col(at.step + 1).data();
    if (at.part == 0) return plan_.states.col(at.step);
    VecX<double> d(world_.ndx()), x(world_.nx());
    state_difference(world_, from, to, d.data());
    d *= at.part;
    retract_state(world_, from, d.data(), x.data());
    return x;
}

// (nu x steps) from step t on
Eigen::MatrixXd RecedingHorizon::guess_from(int t, int steps) const {
    Eigen::MatrixXd U(guess_.rows(), steps);
    for (int k = 0; k < steps; ++k)
        U.col(k) = guess_.col(std::min<Eigen::Index>(t + k, guess_.cols() - 1));
    return U;
}

// Starts with the last plan from this time on, then with the guess: with its controls alone, or, if that costs more
// than was planned, with the best of these, the same under the gains of the plan, and the guess by itself. False if
// there is no such plan, or if all diverge.
bool RecedingHorizon::start_from_last(const VecX<double>& x, double time, int t,
                                      const Eigen::MatrixXd& guess) {
    const Place now = place(time);
    const int steps = static_cast<int>(guess.cols()), kept = std::min(plan_.steps() - now.step, steps);
    if (plan_.steps() == 0 || time < plan_.time || now.part == 1) return false;
    Eigen::MatrixXd U = guess;
    for (int k = 0; k < kept; ++k) {
        const int from = now.step + k, to = std::min(from + 1, plan_.steps() - 1);
        for (const int i : free())
            U(i, k) = now.part == 0 ? plan_.controls(i, from)
                                    : std::lerp(plan_.controls(i, from), plan_.controls(i, to), now.part);
    }
    optimizer_.roll(x, U, t);
    if (!(optimizer_.cost() <= as_planned * plan_.cost)) {
        Eigen::MatrixXd X(world_.nx(), steps);
        std::vector<Eigen::MatrixXd> gains(steps, Eigen::MatrixXd::Zero(free().size(), world_.ndx()));
        for (int k = 0; k < steps; ++k) {
            X.col(k) =
                k < kept ? nominal({now.step + k, now.part}) : VecX<double>(plan_.states.rightCols<1>());
            if (k < kept) gains[k] = plan_.gains[now.step + k];
        }
        const Tracked last{X, gains};
        optimizer_.roll_again(U, &last);
        optimizer_.roll_again(guess);
    }
    return optimizer_.cost() < unlimited;
}

const Plan& RecedingHorizon::plan(const VecX<double>& x, double time, int steps, const PlanBudget& budget) {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    const auto seconds = [&] { return std::chrono::duration<double>(clock::now() - begin).count(); };
    const int t = static_cast<int>(std::lround(time / world_.settings.time_step));
    const Eigen::MatrixXd guess = guess_from(t, steps);
    if (!start_from_last(x, time, t, guess) && !optimizer_.roll(x, guess, t))
        throw DivergenceError("the rollout of the plan at " + std::to_string(time) + " s diverged in its " +
                              std::to_string(steps) + " steps");
    int iterations = 0;
    bool has_gains = false;
    while (iterations < budget.iterations && seconds() < budget.seconds) {
        has_gains = optimizer_.iterate([&] { return seconds() >= budget.seconds; });
        if (!has_gains) break;
        ++iterations;
    }
    if (!has_gains) has_gains = optimizer_.close_loop();
    plan_.time = time;
    plan_.states = optimizer_.states();
    plan_.controls = optimizer_.controls();
    plan_.gains.assign(steps, Eigen::MatrixXd::Zero(free().size(), world_.ndx()));
    for (int k = 0; has_gains && k < steps; ++k)
        plan_.gains[k] = optimizer_.gain(k);
    plan_.cost = optimizer_.cost();
    plan_.iterations = iterations;
    plan_.seconds = seconds();
    return plan_;
}

VecX<double> RecedingHorizon::control(const VecX<double>& x, double time) const {
    const Place at = place(time);
    VecX<double> u = plan_.controls.col(at.step), d(world_.ndx());
    state_difference(world_, nominal(at).data(), x.data(), d.data());
    const VecX<double> feedback = plan_.gains[at.step] * d;
    for (Eigen::Index i = 0; i < feedback.size(); ++i)
        u[free()[i]] = std::clamp(u[free()[i]] + feedback[i], settings_.lower[i], settings_.upper[i]);
    return u;
}

}  // namespace costate
