// Constraints of a rollout, as data: bounds that hold at every step of a part of its time, or equalities. The
// optimizers keep them by an augmented Lagrangian (adjoint/optimize/augmented_lagrangian.hpp).
#pragma once

#include <string>
#include <vector>

#include "adjoint/objective/term.hpp"

namespace costate {

struct Constraint {
    std::string name;
    // lower <= r <= upper for the residual r of each part: one over steps or at one of them, and one in the
    // final state if the constraint reaches it. Their weights and shifts follow from the penalty and the
    // multipliers.
    std::vector<Term> parts;
    double tolerance = 1e-3;  // of a violation, in the unit of r
    double penalty = 10;      // mu of the first round
};

using Constraints = std::vector<Constraint>;

}  // namespace costate
