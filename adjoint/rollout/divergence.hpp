// Rollouts that leave the finite numbers.
#pragma once

#include <stdexcept>
#include <string>

#include "core/model/model.hpp"

namespace costate {

// The first number of a state that is not finite.
struct Divergence {
    int step = -1;   // that produced it; -1: none
    int entry = -1;  // in the state
    explicit operator bool() const { return step >= 0; }
};
// The same backwards: of the adjoint (ndx) of the state with which the step begins; and the constraint row it
// came from, if one did.
struct AdjointDivergence : Divergence {
    std::string row;
};

// "body (joint)" of an entry of a state, for messages.
std::string state_entry_name(const Model& m, int entry);
// The same of a tangent (2 nv), with "position" or "velocity".
std::string tangent_entry_name(const Model& m, int entry);

// A rollout that left the finite numbers: which step, body and joint.
struct DivergenceError : std::runtime_error {
    using std::runtime_error::runtime_error;
    DivergenceError(const Model& m, const Divergence& d);
};

}  // namespace costate
