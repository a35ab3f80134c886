// States (q, v) and their tangents (ndx), without a warm start: the configuration moves on its manifold, velocities are plain numbers.
#pragma once

#include <stdexcept>

#include "core/integrate.hpp"
#include "solvers/world.hpp"

namespace costate {

// Methods by step Jacobians see q and v alone.
inline void refuse_warm_start(const World& w) {
    if (w.settings.warm_start) throw std::invalid_argument("this method follows q and v, but states hold impulses too; switch \"warm_start\" off");
}

// d with to = retract_state(from, d)
inline void state_difference(const World& w, const double* from, const double* to, double* d) {
    difference(w.model, from, to, d);
    for (int i = w.nv(); i < w.ndx(); ++i) d[i] = to[i + w.nq() - w.nv()] - from[i + w.nq() - w.nv()];
}
inline void retract_state(const World& w, const double* x, const double* d, double* next) {
    retract(w.model, x, d, next);
    for (int i = w.nq(); i < w.nx(); ++i) {
        const int k = i + w.nv() - w.nq();
        next[i] = k < w.ndx() ? x[i] + d[k] : x[i];
    }
}

}  // namespace costate
