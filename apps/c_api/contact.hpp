// Contacts of a step as C has them.
#pragma once

#include <algorithm>

#include "apps/c_api/costate.h"
#include "solvers/step/observation.hpp"

namespace costate::c_api {

inline void write_contact(const ContactObservation<double>& c, costate_contact& out) {
    out.body_a = c.body_a;
    out.body_b = c.body_b;
    out.gap = c.gap;
    std::ranges::copy(c.point, out.point);
    std::ranges::copy(c.normal, out.normal);
    std::ranges::copy(c.impulse, out.impulse);
}

}  // namespace costate::c_api
