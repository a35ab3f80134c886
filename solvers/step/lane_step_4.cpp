// Four lanes. On x86-64 compiled for AVX2, and what it defines but for make_lane_step_4 stays its own
// (solvers/CMakeLists.txt): nothing else of the program may run it.
#include "solvers/step/lane_step.inl"

namespace costate {

std::unique_ptr<LaneStep> make_lane_step_4(const World& w) { return std::make_unique<LaneStepOf<4>>(w); }

}  // namespace costate
