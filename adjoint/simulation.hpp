// Simulation: a world, its scratch and an objective, as the thing that a rollout steps forwards and backwards. The rollout
// (adjoint/rollout.hpp) knows only this interface, so schedules are tested on toy steps.
#pragma once

#include "adjoint/objective.hpp"

namespace costate {

class Simulation {
public:
    // Both must outlive the simulation; one simulation a thread.
    Simulation(const World& world, const Objective& objective) : world_(world), objective_(&objective), scratch_(world) {}

    int nx() const { return world_.nx(); }    // numbers of a state
    int ndx() const { return world_.ndx(); }  // of its covector
    int nu() const { return world_.nu(); }
    int np() const { return world_.np(); }

    // Step t, its share of the loss returned.
    double run(int t, const double* theta, const double* x, const double* u, double* x_next) {
        step(world_, theta, x, u, scratch_, x_next);
        return objective_value(world_, *objective_, true, t, theta, x, u, scratch_);
    }
    // Right after `run` of the same step. Adds to theta_bar, x_bar (ndx) and u_bar.
    void run_adj(int t, const double* theta, const double* x, const double* u, const double* x_next_bar, double* theta_bar, double* x_bar, double* u_bar) {
        scratch_.clear_bars();
        objective_value_adj(world_, *objective_, true, t, theta, x, u, 1.0, scratch_, theta_bar, x_bar, u_bar);
        step_adj(world_, theta, x, u, scratch_, x_next_bar, theta_bar, x_bar, u_bar);
    }

    // What the last state, after t steps, adds to the loss.
    double finish(int t, const double* theta, const double* x) {
        observe(world_, theta, x, scratch_);
        return objective_value<double>(world_, *objective_, false, t, theta, x, nullptr, scratch_);
    }
    void finish_adj(int t, const double* theta, const double* x, double* theta_bar, double* x_bar) {
        observe(world_, theta, x, scratch_);
        scratch_.clear_bars();
        objective_value_adj<double>(world_, *objective_, false, t, theta, x, nullptr, 1.0, scratch_, theta_bar, x_bar, nullptr);
        observe_adj(world_, theta, x, scratch_, theta_bar, x_bar);
    }

    // While it lives the simulation has another objective.
    class Looking {
    public:
        Looking(Simulation& simulation, const Objective& at) : simulation_(simulation), before_(simulation.objective_) { simulation_.objective_ = &at; }
        ~Looking() { simulation_.objective_ = before_; }
        Looking(const Looking&) = delete;
        Looking& operator=(const Looking&) = delete;

    private:
        Simulation& simulation_;
        const Objective* before_;
    };

    const World& world() const { return world_; }
    const Objective& objective() const { return *objective_; }
    const StepScratch<double>& scratch() const { return scratch_; }

private:
    const World& world_;
    const Objective* objective_;
    StepScratch<double> scratch_;
};

}  // namespace costate
