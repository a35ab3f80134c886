// Errors of the command line.
#pragma once

#include <stdexcept>

namespace costate {

// A fault on the command line, or a path that cannot be written, in one line.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace costate
