// Equality constraints of models and scenes: connect, weld, coupling.
#pragma once

#include "scenes/format/json.hpp"
#include "solvers/world.hpp"

namespace costate {

// An equality as read. Bodies are indices into the bodies given to read_equality, -1: the world; tendons likewise.
struct EqualityInput {
    EqualitySpec spec;
    // True if the point or the axes in b are not given: they then coincide with those of a at the start.
    bool point_at_start = false, axes_at_start = false;
};

// Reads an equality that names `bodies` or their joints, or `tendons`.
EqualityInput read_equality(const Node& node, const std::vector<BodySpec>& bodies,
                            const std::vector<TendonSpec>& tendons);

// Computes the points and axes that are not given from the start x0 (nx) with parameters theta: axes go into
// the model, points into `nominal`. Equality n of the model belongs to inputs[n].
void place_equalities(const std::vector<EqualityInput>& inputs, const VecX<double>& theta,
                      const VecX<double>& x0, Model& model, VecX<double>& nominal);

}  // namespace costate
