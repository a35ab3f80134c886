// What is random in the environments of a scene: rollouts with the same controls, and their own starts, parameters and
// control noise.
#pragma once

#include <cstdint>
#include <vector>

#include "core/math/linalg.hpp"

namespace costate {

// Entries `offset` to `offset + width - 1` of theta are multiplied by one factor, or each has its own number added:
// even in [lower, upper].
struct RandomParameter {
    int offset = 0, width = 1;
    bool factor = true;
    double lower = 1, upper = 1;
};

struct Randomization {
    std::int64_t environments = 0;  // 0: the scene is one rollout
    std::uint64_t seed = 1;
    VecX<double> start;  // (own_ndx) largest displacements of x0 along its tangent, to either side
    std::vector<RandomParameter> parameters;  // no number of theta twice
    VecX<double> controls;                    // (nu) largest noise of each step's control, to either side
};

}  // namespace costate
