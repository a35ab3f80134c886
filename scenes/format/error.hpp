// The error of all readers of user files.
#pragma once

#include <stdexcept>

namespace costate {

// A fault in a user's file, in one line: "<file>:<line>:<column>#<JSON pointer>: fault; remedy".
struct SceneError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace costate
