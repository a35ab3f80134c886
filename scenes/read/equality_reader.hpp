// Equalities: what a model or a scene holds together, or couples.
#pragma once

#include "scenes/format/json.hpp"
#include "solvers/world.hpp"

namespace costate {

// Bodies are indices of those that an equality was read with, -1 the world.
struct EqualityInput {
    EqualitySpec spec;
    // Whether the point and the axes in b are left to the start: there both are where those of a stand.
    bool point_at_start = false, axes_at_start = false;
};

// The names are those of `bodies` and their joints.
EqualityInput read_equality(const Node& node, const std::vector<BodySpec>& bodies);

// Puts what was left to the start where it is at x0 (nx) by theta: axes into the model, whose equalities are
// the inputs in order, and points into `nominal`.
void place_equalities(const std::vector<EqualityInput>& inputs, const VecX<double>& theta,
                      const VecX<double>& x0, Model& model, VecX<double>& nominal);

}  // namespace costate
