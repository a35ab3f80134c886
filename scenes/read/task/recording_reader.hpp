// The recorded motion of a term: columns of a CSV file with the names of adjoint/objective/signal.hpp; and
// targets over time.
#pragma once

#include "adjoint/objective/recording.hpp"
#include "scenes/format/json.hpp"

namespace costate {

// Reads "file" and "columns" of a term and resamples them at the steps [first, last]. The file needs an
// increasing column "time", in s, which must cover these steps; further rows are ignored.
Recording read_recording(const Node& term, const World& world, const std::filesystem::path& folder, int first,
                         int last);

// The numbers of a "reference" at the steps [first, last]: rows [time, number, ...], whose first and last
// hold before and after their times; or "file" and "columns" as above, with any names.
Samples read_reference(const Node& reference, int width, const std::filesystem::path& folder, int first,
                       int last, double time_step);

}  // namespace costate
