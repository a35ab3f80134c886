#include "scenes/memory.hpp"

#include <algorithm>
#include <charconv>

#include "adjoint/checkpoints/schedule.hpp"
#include "core/platform/posix.hpp"

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

std::int64_t bytes_per_checkpoint(const World& w) {
    return static_cast<std::int64_t>(sizeof(double)) * w.nx();
}

namespace {

// bytes for checkpoints
std::int64_t memory_budget(const Scene& s) {
    const std::int64_t there = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
    return s.memory_bytes == 0 ? there / 2 : std::min(s.memory_bytes, there);
}

}  // namespace

Schedule environment_schedule(const Scene& s, std::int64_t together) {
    const std::int64_t each = bytes_per_checkpoint(s.world);
    return Schedule::within(std::max(memory_budget(s) / together, each), each, s.steps);
}

Schedule checkpoint_schedule(const Scene& s, std::int64_t disk_bytes) {
    const std::int64_t budget = memory_budget(s), each = bytes_per_checkpoint(s.world);
    const Schedule in_memory = Schedule::within(budget, each, s.steps);
    const std::int64_t on_disk =
        std::min<std::int64_t>(disk_bytes / DiskStore::max_file_bytes(s.world.nx()), s.steps);
    if (on_disk < 1) return in_memory;
    const std::int64_t left =
        budget - static_cast<std::int64_t>(DiskStore::bytes(s.world.nx(), static_cast<int>(on_disk)));
    if (left < each) return in_memory;
    const Schedule tiers = Schedule::within(left, each, s.steps, on_disk);
    return tiers.forward_evaluations() < in_memory.forward_evaluations() ? tiers : in_memory;
}

std::int64_t half_of_free_space(const std::filesystem::path& folder) {
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    return error ? 0 : static_cast<std::int64_t>(space.available / 2);
}

}  // namespace costate
