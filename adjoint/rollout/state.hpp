// States (nx) and their tangents (ndx). The configuration is on its manifold; velocities, activations and
// impulses kept for a warm start are plain numbers; the keys of these impulses have no tangent.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/dynamics/integrate.hpp"
#include "solvers/world.hpp"

namespace costate {

// Refuses pushes, for methods that do not apply them.
inline void refuse_pushes(const World& w) {
    if (!w.pushes.empty())
        throw std::invalid_argument("this method does not support \"pushes\"; remove them from the scene");
}

// Refuses warm starts, for methods based on step Jacobians, which cover no kept impulses.
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

// q (nq) with its quaternions, which have a direction, made unit ones
inline void normalize_configuration(const Model& m, const double* q, double* out) {
    // what `retract` leaves is left as it is
    constexpr double round_off = 8 * std::numeric_limits<double>::epsilon();
    for_each_coordinate(
        m, [&](int iq, int) { out[iq] = q[iq]; },
        [&](int iq, int) {
            Eigen::Vector4d r(q[iq], q[iq + 1], q[iq + 2], q[iq + 3]);
            const double length = r.stableNorm();
            if (std::abs(length - 1) > round_off) r /= length;
            std::copy(r.data(), r.data() + 4, out + iq);
        });
}
// The same of a state x (nx)
inline void normalize_state(const World& w, const double* x, double* out) {
    normalize_configuration(w.model, x, out);
    std::copy(x + w.nq(), x + w.nx(), out + w.nq());
}

}  // namespace costate
