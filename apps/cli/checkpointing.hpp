// Where a command keeps the states of a rollout, as the user asked for it.
#pragma once

#include <list>

#include "adjoint/checkpoints/schedule.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/command.hpp"
#include "apps/io/output.hpp"
#include "scenes/memory.hpp"

namespace costate {

// Of the commands that take one gradient, beside memory_option
inline constexpr Option slots_option{"slots", "S", "states that are stored at most, in place of --memory"};
inline constexpr Option disk_option{
    "disk", "DIR", "a folder for checkpoints that memory does not hold, where they spare evaluations"};
inline constexpr Option disk_space_option{
    "disk-space", "BYTES", "that they may take there, such as 10G (default: half of what is free)"};
inline constexpr Option keep_option{
    "keep", "K",
    "steps whose intermediates are kept, in K scratches: blocks of K are run again as one (default 1)"};
inline constexpr Option compress_option{"compress", nullptr, "compress the checkpoints on disk"};

// As many simulations of a scene as a schedule keeps the intermediates of.
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
