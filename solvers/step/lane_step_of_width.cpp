// Steps in COSTATE_LANE_WIDTH lanes: compiled once for each width, on x86-64 for its instructions. What it defines but for the
// factory stays its own there (scripts/cmake/lanes.cmake): nothing else of the program may run it.
#include "solvers/step/lane_step.inl"

extern "C" costate::LaneStep* COSTATE_LANE_FACTORY(const costate::World& w) {
    return new costate::LaneStepOf<COSTATE_LANE_WIDTH>(w);
}
