// The times of the rows of a file beside those of a rollout.
#pragma once

#include <string>

namespace costate {

// "0.5 s"
std::string in_seconds(double time);

// True if the times seem to be milliseconds: the rows are a hundred time steps apart in the mean, and the
// file, which ends at `end`, is ten times as long as the rollout. `rows`: their number.
bool seem_milliseconds(double begin, double end, int rows, double time_step, double duration);
inline constexpr const char* remedy_for_milliseconds =
    "divide its times by 1000 if they are milliseconds, otherwise leave out the rows after the rollout";

}  // namespace costate
