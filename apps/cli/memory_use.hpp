// Memory use of the process.
#pragma once

#include <cstdint>

namespace costate {

std::int64_t heap_bytes();  // allocated bytes; 0 if the C library does not report them
double peak_rss_mb();       // peak resident memory, libraries included, MB

}  // namespace costate
