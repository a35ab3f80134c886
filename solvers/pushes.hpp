// The external wrenches of a world's pushes at a time.
#pragma once

#include <algorithm>

#include "solvers/world.hpp"

namespace costate {

// f = (1 - second) f[knot] + second f[knot + 1]; knot -1: the push does not act.
struct PushWeights {
    int knot = -1;
    double second = 0;
};
inline PushWeights push_weights(const Push& p, double time) {
    if (time < p.times.front() || time >= p.times.back()) return {};
    const auto after = std::upper_bound(p.times.begin(), p.times.end(), time);
    const double from = *(after - 1), to = *after;
    return {static_cast<int>(after - p.times.begin()) - 1, (time - from) / (to - from)};
}

// Adds the pushes at a time, s, to wrenches (bodies x 6: force, torque). Times do not depend on theta.
template <class T> void push_wrenches(const World& w, const T* theta, double time, T* wrenches) {
    for (const Push& p : w.pushes) {
        const PushWeights at = push_weights(p, time);
        if (at.knot < 0) continue;
        for (int c = 0; c < 6; ++c) {
            const T* knots = theta + (c < 3 ? p.force.offset + c : p.torque.offset + c - 3) + 3 * at.knot;
            wrenches[6 * p.body + c] += T(1 - at.second) * knots[0] + T(at.second) * knots[3];
        }
    }
}
template <class T> void push_wrenches_adj(const World& w, double time, const T* wrenches_bar, T* theta_bar) {
    for (const Push& p : w.pushes) {
        const PushWeights at = push_weights(p, time);
        if (at.knot < 0) continue;
        for (int c = 0; c < 6; ++c) {
            T* knots = theta_bar + (c < 3 ? p.force.offset + c : p.torque.offset + c - 3) + 3 * at.knot;
            knots[0] += T(1 - at.second) * wrenches_bar[6 * p.body + c];
            knots[3] += T(at.second) * wrenches_bar[6 * p.body + c];
        }
    }
}

// The external wrenches of a world's pushes at its steps.
class PushesOfSteps {
public:
    explicit PushesOfSteps(const World& w)
        : world_(w),
          wrenches_(w.pushes.empty() ? 0 : 6 * w.model.bodies.size()) {}

    // (bodies x 6) at the beginning of step t, valid until the next call; null without pushes
    const double* at(int t, const double* theta) {
        if (wrenches_.empty()) return nullptr;
        std::fill(wrenches_.begin(), wrenches_.end(), 0.0);
        push_wrenches(world_, theta, t * world_.settings.time_step, wrenches_.data());
        return wrenches_.data();
    }

private:
    const World& world_;
    std::vector<double> wrenches_;
};

}  // namespace costate
