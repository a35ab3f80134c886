// What a constraint row of a step is, in words.
#pragma once

#include <string>

#include "solvers/step/step.hpp"

namespace costate {

// Such as "contact of 'ground' and 'toe', normal", or "limit of joint 'knee'"; after `step`.
std::string row_name(const World& w, const StepScratch<double>& s, int row);

// After step_adj: the first row whose impulse had an adjoint that is not finite; empty if there is none.
std::string first_bad_row(const World& w, const StepScratch<double>& s);

}  // namespace costate
