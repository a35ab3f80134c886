// Names of the constraint rows of a step, for messages.
#pragma once

#include <string>

#include "solvers/step/step.hpp"

namespace costate {

// For example "contact of 'ground' and 'toe', normal" or "limit of joint 'knee'". Call after `step`.
std::string row_name(const World& w, const StepScratch<double>& s, int row);

// The first row whose impulse has an adjoint that is not finite; empty if there is none. Call after step_adj.
std::string first_bad_row(const World& w, const StepScratch<double>& s);

}  // namespace costate
