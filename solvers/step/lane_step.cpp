#include "solvers/step/lane_step.hpp"

#include <cstdlib>
#include <string_view>

namespace costate {

std::unique_ptr<LaneStep> make_lane_step_4(const World& w);  // lane_step_4.cpp

std::unique_ptr<LaneStep> make_lane_step(const World& w) {
    const char* lanes = std::getenv("COSTATE_LANES");
    if (lanes != nullptr && std::string_view(lanes) == "1") return nullptr;
    // a choice between two gradients contact by contact
    if (w.settings.impact == Impact::elastic || w.settings.complementarity_aware) return nullptr;
#ifdef __x86_64__
    if (!__builtin_cpu_supports("avx2")) return nullptr;
#endif
    return make_lane_step_4(w);
}

}  // namespace costate
