// Simulation: a world, its scratch and an objective, with the interface that a rollout
// (adjoint/rollout/rollout.hpp) steps forward and backward. The rollout depends only on this interface, so
// tests of schedules can use toy steps.
#pragma once

#include "adjoint/objective/objective.hpp"
#include "solvers/pushes.hpp"
#include "solvers/step/step.hpp"

namespace costate {

class Simulation {
public:
    // Both must outlive the simulation. Each thread needs its own simulation.
    Simulation(const World& world, const Objective& objective);
    ~Simulation();
    Simulation(Simulation&&);

    int nx() const { return world_.nx(); }    // size of a state
    int ndx() const { return world_.ndx(); }  // size of its covector
    int nu() const { return world_.nu(); }
    int np() const { return world_.np(); }

    // Runs step t and returns its share of the loss.
    double run(int t, const double* theta, const double* x, const double* u, double* x_next);
    // number of runs; while it does not change, the intermediates are those of the same step
    long runs() const { return runs_; }
    // Must follow `run` of the same step; only `finish` may be called in between. Adds to theta_bar, x_bar
    // (ndx) and u_bar.
    void run_adj(int t, const double* theta, const double* x, const double* u, const double* x_next_bar,
                 double* theta_bar, double* x_bar, double* u_bar);
    std::string first_bad_row() const;  // call after run_adj

    // The share of the loss of the final state, after t steps.
    double finish(int t, const double* theta, const double* x);
    void finish_adj(int t, const double* theta, const double* x, double* theta_bar, double* x_bar);

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
    void observe_state(const double* theta, const double* x);

    const World& world_;
    const Objective* objective_;
    StepScratch<double> scratch_;
    Kinematics<double> aside_;
    PushesOfSteps pushes_;
    std::vector<double> wrenches_bar_;  // (bodies x 6); empty without pushes
    bool observing_ = false;
    long runs_ = 0;
};

}  // namespace costate
