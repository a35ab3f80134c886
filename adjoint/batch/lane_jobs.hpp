// Who shares a step: environments that took the same branches in their last steps do, `width` at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace costate {

// Writes n numbers into lane i of an array (n x width), and reads them.
inline void put_lane(const double* from, size_t n, int i, int width, double* lanes) {
    for (size_t k = 0; k < n; ++k)
        lanes[k * width + i] = from[k];
}
inline void get_lane(const double* lanes, size_t n, int i, int width, double* to) {
    for (size_t k = 0; k < n; ++k)
        to[k] = lanes[k * width + i];
}

// Calls together(first) for `width` jobs in a row whose environments (job.e) have equal branches, from the job `first`
// on, and alone(job) for each of the others. together: false if they part; they are then alone. Changes the order of
// the jobs.
template <class Job, class Together, class Alone>
void in_lanes(std::vector<Job>& jobs, const std::vector<std::uint64_t>& branches, int width,
              const Together& together, const Alone& alone) {
    std::ranges::sort(jobs, [&](const Job& a, const Job& b) {
        return std::pair(branches[a.e], a.e) < std::pair(branches[b.e], b.e);
    });
    for (size_t n = 0; n < jobs.size();) {
        const size_t count = std::min(jobs.size() - n, static_cast<size_t>(width));
        const bool full = count == static_cast<size_t>(width);
        if (!full || !together(&jobs[n]))
            for (size_t k = n; k < n + count; ++k)
                alone(jobs[k]);
        n += count;
    }
}

}  // namespace costate
