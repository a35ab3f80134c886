// Ending a call on a batch before it is done.
#pragma once

#include <functional>
#include <stdexcept>

namespace costate {

// True if the call shall end. It must not throw, and must not call the batch.
using Interrupt = std::function<bool()>;

struct CallInterrupted : std::runtime_error {
    CallInterrupted() : std::runtime_error("interrupted between two control steps") {}
};

}  // namespace costate
