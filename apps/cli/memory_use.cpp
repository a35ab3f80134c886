#include "apps/cli/memory_use.hpp"

#include <malloc.h>

#include <fstream>
#include <string>

#include "core/platform/posix.hpp"

namespace costate {

std::int64_t heap_bytes() {
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
#endif
#endif
    return 0;
}

// Falls back on getrusage, whose figure includes the memory of the process before exec.
double peak_rss_mb() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (double kib = 0; word == "VmHWM:" && status >> kib) return kib * 1024e-6;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024e-6;
}

}  // namespace costate
