// Ending a call on a batch before it is done.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>

namespace costate {

// True if the call shall end. It must not throw, and must not call the batch.
using Interrupt = std::function<bool()>;

// How far a call is: `done` of `total` control steps of single environments. True if the call shall end. It must
// not throw, and must not call the batch.
using BatchProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

struct CallInterrupted : std::runtime_error {
    CallInterrupted() : std::runtime_error("interrupted between two control steps") {}
};

}  // namespace costate
