#include "solvers/step/lane_step.hpp"

#include <cstdlib>
#include <string_view>

namespace costate {

std::unique_ptr<LaneStep> make_lane_step_4(const World& w);  // lane_step_4.cpp

int lane_width(const World& w) {
    const char* lanes = std::getenv("COSTATE_LANES");
    if (lanes != nullptr && std::string_view(lanes) == "1") return 1;
    // a choice between two gradients contact by contact
    if (w.settings.impact == Impact::elastic || w.settings.complementarity_aware) return 1;
#ifdef __x86_64__
    if (!__builtin_cpu_supports("avx2")) return 1;
#endif
    return 4;
}

std::unique_ptr<LaneStep> make_lane_step(const World& w) {
    return lane_width(w) > 1 ? make_lane_step_4(w) : nullptr;
}

}  // namespace costate
