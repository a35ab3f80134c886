// Warnings about the initial state of a scene.
#pragma once

#include <string>
#include <vector>

#include "solvers/world.hpp"

namespace costate {

inline constexpr double noted_overlap = 1e-3;  // m
inline constexpr double noted_excess = 1e-3;   // rad or m

// Warnings about the start x0 (nx) with parameters theta (np), one line each: rigid shapes that overlap by
// more than `noted_overlap` (naming the deepest three pairs), robots that nothing can hold, and joints beyond
// their limits by more than `noted_excess` (naming the worst three). Contacts and limits would correct both
// with large impulses.
std::vector<std::string> start_warnings(const World& world, const VecX<double>& theta,
                                        const VecX<double>& x0);

}  // namespace costate
