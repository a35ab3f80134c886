// Memory for checkpoints as users write it, and the schedule that fits into it.
#pragma once

#include "adjoint/checkpoints/checkpoint_store.hpp"
#include "adjoint/checkpoints/schedule.hpp"
#include "scenes/scene.hpp"

namespace costate {

inline constexpr std::int64_t max_memory = std::int64_t{1} << 50;

// Bytes from 1 to max_memory, written like "5000" or "64M" (K, M, G, T: powers of 1024); 0 for "auto"; none
// for any other text.
std::optional<std::int64_t> parse_memory(const std::string& text);

std::int64_t bytes_per_checkpoint(const World& w);

// Stores all states if the scene's memory holds them, otherwise as many as it holds. With disk_bytes > 0 it
// stores states in two tiers, memory and disk, if that takes fewer evaluations. Automatic memory is half of
// the machine's memory; the schedule never exceeds the machine's memory.
Schedule checkpoint_schedule(const Scene& s, std::int64_t disk_bytes = 0);

// The same in memory, for environments of which so many are run at a time.
Schedule environment_schedule(const Scene& s, std::int64_t together);

// Half of the free bytes on the disk of a folder; 0 if the system does not report them.
std::int64_t half_of_free_space(const std::filesystem::path& folder);

}  // namespace costate
