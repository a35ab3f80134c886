// States (nx) and their tangents (ndx). The configuration is on its manifold; velocities and impulses kept
// for a warm start are plain numbers; the keys of these impulses have no tangent.
#pragma once

#include <stdexcept>

#include "core/dynamics/integrate.hpp"
#include "solvers/world.hpp"

namespace costate {

// Refuses warm starts, for methods based on step Jacobians, which cover only q and v.
inline void refuse_warm_start(const World& w) {
    if (w.settings.warm_start)
        throw std::invalid_argument("this method does not support a warm start; switch \"warm_start\" off");
}

// d with to = retract_state(from, d)
inline void state_difference(const World& w, const double* from, const double* to, double* d) {
    difference(w.model, from, to, d);
    for (int i = w.nq(); i < w.nx(); ++i)
        d[i + w.nv() - w.nq()] = w.is_key(i) ? 0 : to[i] - from[i];
}
inline void retract_state(const World& w, const double* x, const double* d, double* next) {
    retract(w.model, x, d, next);
    for (int i = w.nq(); i < w.nx(); ++i)
        next[i] = w.is_key(i) ? x[i] : x[i] + d[i + w.nv() - w.nq()];
}

}  // namespace costate
