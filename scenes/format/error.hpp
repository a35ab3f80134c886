// The error of everything that reads a file of a user.
#pragma once

#include <stdexcept>

namespace costate {

// What a user got wrong, in one line: "<file>#<JSON pointer>: what; remedy".
struct SceneError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace costate
