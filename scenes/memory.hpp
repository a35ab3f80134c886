// Memory for checkpoints, as users write it, and the schedule it buys.
#pragma once

#include "adjoint/checkpoints/checkpoint_store.hpp"
#include "adjoint/checkpoints/schedule.hpp"
#include "scenes/scene.hpp"

namespace costate {

inline constexpr std::int64_t max_memory = std::int64_t{1} << 50;

// "auto", which is 0, or bytes from 1 to max_memory: "5000", or such as "64M", of 1024^2 bytes; K, M, G, T.
// Nothing if it is neither.
std::optional<std::int64_t> parse_memory(const std::string& text);

std::int64_t bytes_per_checkpoint(const World& w);

// Every state is stored where the scene's memory holds them all, else as many as it holds; or, where that
// takes fewer evaluations, in two tiers with at most so many bytes on disk. Automatic memory is half of the
// machine's, and more than the machine has is never taken.
Schedule checkpoint_schedule(const Scene& s, std::int64_t disk_bytes = 0);

// bytes on its disk; 0 where that cannot be told
std::int64_t half_of_free_space(const std::filesystem::path& folder);

}  // namespace costate
