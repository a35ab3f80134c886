// Faults that libsdformat finds, in words of one line (check_sdf of scenes/import/sdf/sdf_load.hpp).
#pragma once

#include <string>

namespace costate {

// A message without its line ends and its last full stop
std::string without_end(std::string text);
// What an assertion of libsdformat says: the line "Error: ..." among those of the place in its source.
std::string what_failed(const std::string& text);

}  // namespace costate
