// Steps of a Simulation (adjoint/rollout/simulation.hpp) in several environments at once: time steps in lanes
// (solvers/step/lane_step.hpp), with the objective and the world's pushes. Each lane gets the bits of a
// Simulation.
#pragma once

#include <memory>

#include "adjoint/objective/objective.hpp"
#include "solvers/step/lane_step.hpp"

namespace costate {

// Arrays have the entry first and then the lane: x (nx x width). Calls return false where the lanes part; what
// they write is then not specified.
class LaneSimulation {
public:
    virtual ~LaneSimulation() = default;
    virtual int width() const = 0;
    virtual void set_parameters(const double* const* theta) = 0;  // as LaneStep has it
    // Step t and its share of the loss in each lane (width).
    virtual bool run(int t, const double* x, const double* u, double* x_next, double* share) = 0;
    // Must follow `run` of the same step. Adds to theta_bar (np x width), x_bar (ndx x width) and u_bar (nu x
    // width).
    virtual bool run_adj(int t, const double* x, const double* u, const double* x_next_bar, double* theta_bar,
                         double* x_bar, double* u_bar) = 0;
    // The share of the final state, after t steps, and its reverse.
    virtual bool finish(int t, const double* x, double* share) = 0;
    virtual bool finish_adj(int t, const double* x, double* theta_bar, double* x_bar) = 0;
    virtual std::uint64_t branches() const = 0;  // of the last step
};

// Null where there are no lanes: of a world, or because a term has sensors, which are not computed in lanes. All
// must outlive it.
std::unique_ptr<LaneSimulation> make_lane_simulation(const World& w, const Objective& objective);

}  // namespace costate
