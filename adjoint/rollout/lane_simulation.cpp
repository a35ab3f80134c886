#include "adjoint/rollout/lane_simulation.hpp"

#include <algorithm>

// Of adjoint/rollout/lane_simulation_of_width.cpp; they take the step.
extern "C" {
using MakeLaneSimulation = costate::LaneSimulation*(const costate::World&, const costate::Objective&,
                                                    costate::LaneStep*);
MakeLaneSimulation costate_lane_simulation_2, costate_lane_simulation_4, costate_lane_simulation_8;
}

namespace costate {

std::unique_ptr<LaneSimulation> make_lane_simulation(const World& w, const Objective& objective) {
    if (std::ranges::any_of(objective, [](const Term& term) { return !term.sensors.empty(); }))
        return nullptr;
    std::unique_ptr<LaneStep> step = make_lane_step(w);
    if (!step) return nullptr;
    MakeLaneSimulation* make = nullptr;
#ifdef COSTATE_LANES_2
    if (step->width() == 2) make = costate_lane_simulation_2;
#endif
#ifdef COSTATE_LANES_4
    if (step->width() == 4) make = costate_lane_simulation_4;
#endif
#ifdef COSTATE_LANES_8
    if (step->width() == 8) make = costate_lane_simulation_8;
#endif
    return std::unique_ptr<LaneSimulation>(make(w, objective, step.release()));
}

}  // namespace costate
