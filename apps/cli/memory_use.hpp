// How much memory this program holds.
#pragma once

#include <cstdint>

namespace costate {

std::int64_t heap_bytes();  // allocated now; 0 where the C library cannot tell
double peak_rss_mb();       // most that was resident at once, libraries included, MB

}  // namespace costate
