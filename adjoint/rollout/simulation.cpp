#include "adjoint/rollout/simulation.hpp"

#include <algorithm>

#include "adjoint/rollout/rollout.hpp"
#include "solvers/step/row_name.hpp"

namespace costate {

Simulation::Simulation(const World& world, const Objective& objective)
    : world_(world),
      objective_(&objective),
      scratch_(world),
      aside_(world.model),
      pushes_(world),
      wrenches_bar_(world.pushes.empty() ? 0 : 6 * world.model.bodies.size()) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) = default;

double Simulation::run(int t, const double* theta, const double* x, const double* u, double* x_next) {
    observing_ = false;
    ++runs_;
    step(world_, {theta, x, u, pushes_.at(t, theta)}, scratch_, x_next);
    return objective_value(world_, *objective_, true, t, {theta, x, u}, scratch_);
}
void Simulation::run_adj(int t, const double* theta, const double* x, const double* u,
                         const double* x_next_bar, double* theta_bar, double* x_bar, double* u_bar) {
    if (observing_) {
        std::swap(scratch_.kinematics, aside_);
        observing_ = false;
    }
    scratch_.clear_bars();
    objective_value_adj(world_, *objective_, true, t, {theta, x, u}, 1.0, scratch_,
                        {theta_bar, x_bar, u_bar});
    std::fill(wrenches_bar_.begin(), wrenches_bar_.end(), 0.0);
    step_adj(world_, {theta, x, u, pushes_.at(t, theta)}, scratch_, x_next_bar,
             {theta_bar, x_bar, u_bar, wrenches_bar_.data()});
    push_wrenches_adj(world_, t * world_.settings.time_step, wrenches_bar_.data(), theta_bar);
}

double Simulation::finish(int t, const double* theta, const double* x) {
    observe_state(theta, x);
    return objective_value<double>(world_, *objective_, false, t, {theta, x, nullptr}, scratch_);
}
void Simulation::finish_adj(int t, const double* theta, const double* x, double* theta_bar, double* x_bar) {
    observe_state(theta, x);
    scratch_.clear_bars();
    objective_value_adj<double>(world_, *objective_, false, t, {theta, x, nullptr}, 1.0, scratch_,
                                {theta_bar, x_bar, nullptr});
    observe_adj(world_, theta, x, scratch_, theta_bar, x_bar);
}

std::string Simulation::first_bad_row() const { return costate::first_bad_row(world_, scratch_); }

void Simulation::observe_state(const double* theta, const double* x) {
    if (!observing_) {
        std::swap(scratch_.kinematics, aside_);
        observing_ = true;
    }
    observe(world_, theta, x, scratch_);
}

template class Rollout<Simulation>;

}  // namespace costate
