// Divergence of rollouts: states or adjoints that are not finite.
#pragma once

#include <stdexcept>
#include <string>

#include "core/model/model.hpp"

namespace costate {

// The first number of a state that is not finite.
struct Divergence {
    int step = -1;   // step that produced it; -1: none
    int entry = -1;  // index in the state
    explicit operator bool() const { return step >= 0; }
};
// The same for the backward pass: an entry of the adjoint (ndx) of the state before the step; and the
// constraint row that caused it, if any.
struct AdjointDivergence : Divergence {
    std::string row;
};

// Of an entry of a state, for messages: "body 'b', joint 'j', position", an actuator's activation, or an impulse.
std::string state_entry_name(const Model& m, int entry);
// The same for a tangent.
std::string tangent_entry_name(const Model& m, int entry);

// An adjoint that is not finite, in words: its step, body and joint, and the row.
std::string to_text(const AdjointDivergence& d, const Model& m);

// A rollout has diverged; the message names step, body and joint.
struct DivergenceError : std::runtime_error {
    using std::runtime_error::runtime_error;
    DivergenceError(const Model& m, const Divergence& d);
};

}  // namespace costate
