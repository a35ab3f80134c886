// The recorded motion that a term compares a rollout with: columns of a CSV file, by the names of
// adjoint/objective/signal.hpp.
#pragma once

#include "adjoint/objective/recording.hpp"
#include "scenes/format/json.hpp"

namespace costate {

// "file" and "columns" of a term, brought to the steps [first, last]. The file has a column "time", in s,
// that increases, and must cover the time of these steps; what it has beyond is ignored.
Recording read_recording(const Node& term, const World& world, const std::filesystem::path& folder, int first,
                         int last);

}  // namespace costate
