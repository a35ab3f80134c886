// Simulation: a world, its scratch and an objective, with the interface that a rollout
// (adjoint/rollout/rollout.hpp) steps forward and backward. The rollout depends only on this interface, so
// tests of schedules can use toy steps.
#pragma once

#include "adjoint/objective/objective.hpp"
#include "solvers/pushes.hpp"
#include "solvers/step/row_name.hpp"

namespace costate {

class Simulation {
public:
    // Both must outlive the simulation. Each thread needs its own simulation.
    Simulation(const World& world, const Objective& objective)
        : world_(world),
          objective_(&objective),
          scratch_(world),
          aside_(world.model),
          pushes_(world),
          wrenches_bar_(world.pushes.empty() ? 0 : 6 * world.model.bodies.size()) {}

    int nx() const { return world_.nx(); }    // size of a state
    int ndx() const { return world_.ndx(); }  // size of its covector
    int nu() const { return world_.nu(); }
    int np() const { return world_.np(); }

    // Runs step t and returns its share of the loss.
    double run(int t, const double* theta, const double* x, const double* u, double* x_next) {
        observing_ = false;
        ++runs_;
        step(world_, theta, x, u, scratch_, x_next, pushes_.at(t, theta));
        return objective_value(world_, *objective_, true, t, theta, x, u, scratch_);
    }
    // number of runs; while it does not change, the intermediates are those of the same step
    long runs() const { return runs_; }
    // Must follow `run` of the same step; only `finish` may be called in between. Adds to theta_bar, x_bar
    // (ndx) and u_bar.
    void run_adj(int t, const double* theta, const double* x, const double* u, const double* x_next_bar,
                 double* theta_bar, double* x_bar, double* u_bar) {
        if (observing_) {
            std::swap(scratch_.kinematics, aside_);
            observing_ = false;
        }
        scratch_.clear_bars();
        x_next_bar_.assign(x_next_bar, x_next_bar + ndx());
        objective_value_adj(world_, *objective_, true, t, theta, x, u, 1.0, scratch_, theta_bar, x_bar, u_bar,
                            x_next_bar_.data());
        std::fill(wrenches_bar_.begin(), wrenches_bar_.end(), 0.0);
        step_adj(world_, theta, x, u, scratch_, x_next_bar_.data(), theta_bar, x_bar, u_bar,
                 pushes_.at(t, theta), wrenches_bar_.data());
        push_wrenches_adj(world_, t * world_.settings.time_step, wrenches_bar_.data(), theta_bar);
    }
    std::string first_bad_row() const {
        return costate::first_bad_row(world_, scratch_);
    }  // call after run_adj

    // The share of the loss of the final state, after t steps.
    double finish(int t, const double* theta, const double* x) {
        observe_state(theta, x);
        return objective_value<double>(world_, *objective_, false, t, theta, x, nullptr, scratch_);
    }
    void finish_adj(int t, const double* theta, const double* x, double* theta_bar, double* x_bar) {
        observe_state(theta, x);
        scratch_.clear_bars();
        objective_value_adj<double>(world_, *objective_, false, t, theta, x, nullptr, 1.0, scratch_,
                                    theta_bar, x_bar, nullptr, nullptr);
        observe_adj(world_, theta, x, scratch_, theta_bar, x_bar);
    }

    // Replaces the objective of a simulation during the life of this object.
    class ScopedObjective {
    public:
        ScopedObjective(Simulation& simulation, const Objective& objective)
            : simulation_(simulation),
              before_(simulation.objective_) {
            simulation_.objective_ = &objective;
        }
        ~ScopedObjective() { simulation_.objective_ = before_; }
        ScopedObjective(const ScopedObjective&) = delete;
        ScopedObjective& operator=(const ScopedObjective&) = delete;

    private:
        Simulation& simulation_;
        const Objective* before_;
    };

    const World& world() const { return world_; }
    const Objective& objective() const { return *objective_; }
    const StepScratch<double>& scratch() const { return scratch_; }
    // of the last step, or of a state observed without a step: then poses only
    Observation<double> observation() const { return {world_, scratch_}; }

private:
    // Observes a state without a step. This overwrites only poses and velocities; those of the last step are
    // saved for its adjoint.
    void observe_state(const double* theta, const double* x) {
        if (!observing_) {
            std::swap(scratch_.kinematics, aside_);
            observing_ = true;
        }
        observe(world_, theta, x, scratch_);
    }

    const World& world_;
    const Objective* objective_;
    StepScratch<double> scratch_;
    Kinematics<double> aside_;
    PushesOfSteps pushes_;
    std::vector<double> wrenches_bar_;  // (bodies x 6); empty without pushes
    std::vector<double> x_next_bar_;    // (ndx) with that of the step's share of the loss
    bool observing_ = false;
    long runs_ = 0;
};

}  // namespace costate
