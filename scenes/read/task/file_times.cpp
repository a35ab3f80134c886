#include "scenes/read/task/file_times.hpp"

#include <sstream>

namespace costate {

std::string in_seconds(double time) {
    std::ostringstream text;
    text << time << " s";
    return text.str();
}

bool seem_milliseconds(double begin, double end, int rows, double time_step, double duration) {
    constexpr double coarse = 100, long_run = 10;
    return rows > 2 && end - begin > coarse * time_step * (rows - 1) && end > long_run * duration;
}

}  // namespace costate
