// States (nx) and their tangents (ndx): the configuration moves on its manifold, all else is plain numbers.
#pragma once

#include "core/integrate.hpp"
#include "solvers/world.hpp"

namespace costate {

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
