#include "solvers/step/lane_step.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

// Of solvers/step/lane_step_of_width.cpp
extern "C" {
costate::LaneStep* costate_lane_step_2(const costate::World& w);
costate::LaneStep* costate_lane_step_4(const costate::World& w);
costate::LaneStep* costate_lane_step_8(const costate::World& w);
}

namespace costate {
namespace {

struct Width {
    int lanes;
    LaneStep* (*make)(const World&);
};
constexpr Width widths[] = {
#ifdef COSTATE_LANES_2
    {2, costate_lane_step_2},
#endif
#ifdef COSTATE_LANES_4
    {4, costate_lane_step_4},
#endif
#ifdef COSTATE_LANES_8
    {8, costate_lane_step_8},
#endif
};

// What COSTATE_LANES asks for, or the width that is always there.
int chosen_width() {
    const char* text = std::getenv("COSTATE_LANES");
    if (text == nullptr || *text == 0) return COSTATE_USUAL_LANES;
    const std::string chosen = text;
    if (chosen == "1") return 1;
    std::string built = "1";
    for (const Width& width : widths) {
        if (chosen == std::to_string(width.lanes)) return width.lanes;
        built += ", " + std::to_string(width.lanes);
    }
    throw std::invalid_argument("COSTATE_LANES is '" + chosen + "', but this build has the widths " + built +
                                ": set one of them, or configure with -DCOSTATE_LANE_WIDTHS");
}

// Whether this machine has the instructions that the lanes were compiled for (scripts/cmake/lanes.cmake).
bool machine_has([[maybe_unused]] int lanes) {
#ifdef __x86_64__
    if (lanes == 4) return __builtin_cpu_supports("avx2");
    if (lanes == 8) return __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    return true;
}

}  // namespace

int lane_width(const World& w) {
    const int chosen = chosen_width();
    // a choice between two gradients contact by contact, contacts of the reverse pass alone, or several stages
    if (w.settings.impact == Impact::elastic || w.settings.complementarity_aware ||
        w.settings.felt_distance > 0 || w.settings.integrator == Integrator::mujoco_rk4)
        return 1;
    return machine_has(chosen) ? chosen : 1;
}

std::unique_ptr<LaneStep> make_lane_step(const World& w) {
    const int lanes = lane_width(w);
    for (const Width& width : widths)
        if (width.lanes == lanes) return std::unique_ptr<LaneStep>(width.make(w));
    return nullptr;
}

}  // namespace costate
