// Options for the checkpoints of a rollout.
#pragma once

#include <list>

#include "adjoint/checkpoints/schedule.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/command.hpp"
#include "apps/io/output.hpp"
#include "scenes/memory.hpp"

namespace costate {

// For commands that compute one gradient, in addition to memory_option
inline constexpr Option slots_option{"slots", "S", "largest number of stored states, instead of --memory"};
inline constexpr Option disk_option{
    "disk", "DIR", "folder for checkpoints that do not fit into memory, used if they save evaluations"};
inline constexpr Option disk_space_option{
    "disk-space", "BYTES",
    "limit of the checkpoints on disk, for example 10G (default: half of the free space)"};
inline constexpr Option keep_option{
    "keep", "K",
    "number of steps whose intermediates are kept; steps are replayed in blocks of K (default 1)"};
inline constexpr Option compress_option{"compress", nullptr, "compress the checkpoints on disk"};

// The simulations of a scene: one for each step whose intermediates the schedule keeps.
struct Simulations {
    std::list<Simulation> all;
    std::vector<Simulation*> each;
    Simulations(const Scene& s, const Schedule& schedule) {
        for (int k = 0; k < schedule.kept(); ++k)
            each.push_back(&all.emplace_back(s.world, s.objective));
    }
};

struct Checkpointing {
    Schedule schedule;
    DiskSettings disk;
};
Checkpointing chosen_checkpointing(const Arguments& a, const Scene& scene);

Report to_report(const DiskTraffic& traffic);

}  // namespace costate
