// What `costate optimize` says about the constraints of a scene.
#pragma once

#include "adjoint/optimize/augmented_lagrangian.hpp"
#include "apps/cli/command.hpp"
#include "apps/io/output.hpp"

namespace costate {

// Throws UsageError if the run cannot keep the scene's constraints.
void check_constraints(const Arguments& a, const Scene& s);

// For each constraint the largest violation, its time, the tolerance and whether it was met; and the rounds.
Report constraint_report(const Scene& s, const OptimizeResult& r);
// One line for each constraint.
std::vector<std::string> constraint_lines(const Scene& s, const OptimizeResult& r);
// Why the run failed and what to do about it; empty if all constraints are kept.
std::string why_infeasible(const Scene& s, const OptimizeResult& r);

}  // namespace costate
