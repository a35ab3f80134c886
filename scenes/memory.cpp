#include "scenes/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace costate {

std::optional<std::int64_t> parse_memory(const std::string& text) {
    if (text == "auto") return 0;
    std::int64_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [unit, error] = std::from_chars(text.data(), end, count);
    if (error != std::errc() || end - unit > 1 || count < 1) return std::nullopt;
    const size_t power = unit == end ? 0 : std::string_view("KMGT").find(*unit) + 1;
    if (unit != end && power == 0) return std::nullopt;
    if (count > max_memory >> (10 * power)) return std::nullopt;
    return count << (10 * power);
}

std::int64_t bytes_per_checkpoint(const World& w) { return static_cast<std::int64_t>(sizeof(double)) * w.nx(); }

Schedule checkpoint_schedule(const Scene& s) {
    const std::int64_t there = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
    const std::int64_t budget = s.memory_bytes == 0 ? there / 2 : std::min(s.memory_bytes, there);
    return Schedule::within(budget, bytes_per_checkpoint(s.world), s.steps);
}

}  // namespace costate
