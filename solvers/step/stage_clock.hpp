// The time that a step spends in each of its stages, and how often it enters them.
#pragma once

#include <array>
#include <chrono>

namespace costate {

enum class Stage {
    joint_forces,
    kinematics,
    mass_matrix,
    free_velocity,
    detection,
    contacts,
    rows,
    delassus,
    impulses,
    motion
};
inline constexpr std::array stage_names{"joint forces", "kinematics", "mass matrix", "free velocity",
                                        "detection",    "contacts",   "rows",        "Delassus operator",
                                        "impulses",     "motion"};

struct StageClock {
    // Per stage, summed over the steps. A problem is solved again with contacts that its solution reaches.
    std::array<double, stage_names.size()> seconds{};
    std::array<int, stage_names.size()> entered{};
    void start() { last_ = Clock::now(); }
    // Adds the time since the last call to a stage.
    void lap(Stage stage) {
        const Clock::time_point now = Clock::now();
        seconds[static_cast<size_t>(stage)] += std::chrono::duration<double>(now - last_).count();
        ++entered[static_cast<size_t>(stage)];
        last_ = now;
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point last_;
};

}  // namespace costate
