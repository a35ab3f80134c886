// The error of commands.
#pragma once

#include <stdexcept>

namespace costate {

// What a user got wrong on the command line, or a place that cannot be written, in one line.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace costate
