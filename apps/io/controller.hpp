// Feedback laws as text.
#pragma once

#include "adjoint/optimize/feedback.hpp"
#include "apps/io/output.hpp"
#include "scenes/scene.hpp"

namespace costate {

// The content of controller.json. Hessians of the cost are left out if they have more than a million numbers.
Report controller_report(const Scene& s, const Feedback& law);

}  // namespace costate
