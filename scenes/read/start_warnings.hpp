// What is odd about where a scene starts.
#pragma once

#include <string>
#include <vector>

#include "solvers/world.hpp"

namespace costate {

inline constexpr double noted_overlap = 1e-3;  // m
inline constexpr double noted_excess = 1e-3;   // rad or m

// One line each, none if all is well at x0 (nx): rigid shapes that overlap by more than `noted_overlap`, the
// deepest three pairs by name, and joints beyond their limits by more than `noted_excess`, the farthest
// three. Contacts push the ones apart with great impulses, limits the others. theta (np).
std::vector<std::string> start_warnings(const World& world, const VecX<double>& theta,
                                        const VecX<double>& x0);

}  // namespace costate
