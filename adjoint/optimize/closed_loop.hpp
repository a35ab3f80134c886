// Receding-horizon control of a plant that differs from the planner's model: another world with other
// parameters, pushes and a smaller time step, of which the planner knows measured states.
#pragma once

#include "adjoint/optimize/receding_horizon.hpp"

namespace costate {

struct Plant {
    const World& world;         // with as many coordinates, velocities and controls as the planner's
    const VecX<double>& theta;  // (np)
    int substeps = 1;           // its steps for each step of the planner
};

struct LoopSettings {
    int steps = 0, horizon = 0;  // of the planner
    double noise = 0;            // standard deviation of every entry of the tangent of a measured state
    unsigned seed = 1;           // of the noise
    int delay = 0;               // steps from a measurement to the plan that uses it
    int plans = 1;               // in each of the planner's steps; divides the plant's steps; 1 with a delay
    // Whether the gains of the last plan act at the plant's steps between plans; not with a delay.
    bool feedback = true;
};

struct LoopRun {
    Eigen::MatrixXd states;                 // (own_nx x (steps + 1)) of the plant
    Eigen::MatrixXd controls;               // (nu x steps) at the planner's steps
    double loss = 0;                        // the planner's objective along the states of the plant
    std::vector<double> processor_seconds;  // of each plan
};

// Runs the loop from x0 (own_nx or more). `guess` (nu x steps) starts the first plan and prescribes the controls
// that are not optimized. A late measurement is brought to the present by the planner's model and the controls
// applied since. Throws DivergenceError if the plant diverges.
LoopRun run_loop(const World& w, const Objective& objective, const VecX<double>& theta,
                 const TrajectorySettings& limits, const Plant& plant, const VecX<double>& x0,
                 const Eigen::MatrixXd& guess, const LoopSettings& settings);

// The planner's objective along the plant's motion with the controls `U` (nu x steps), without planning.
LoopRun run_plant(const World& w, const Objective& objective, const VecX<double>& theta, const Plant& plant,
                  const VecX<double>& x0, const Eigen::MatrixXd& U);

}  // namespace costate
