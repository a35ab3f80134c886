// Maps decision variables to the controls of every step, and back. A channel (one per actuator) has either a
// variable per step or knots with linear interpolation; one knot means a constant value.
#pragma once

#include <algorithm>
#include <vector>

#include "core/math/linalg.hpp"

namespace costate {

struct ControlChannel {
    bool per_step = false;
    std::vector<double> times;  // of the knots, s, increasing; unused if per_step
    bool optimize = false;      // optimized by optimizers; gradients are returned in any case
    int offset = 0;             // index of its first decision variable
    int size = 0;               // number of its decision variables
};

class ControlPlan {
public:
    // A plan of `steps` steps of `time_step` seconds. Interpolation weights of knots do not depend on theta.
    ControlPlan(std::vector<ControlChannel> channels, int steps, double time_step)
        : channels_(std::move(channels)),
          time_step_(time_step) {
        for (ControlChannel& c : channels_) {
            c.offset = size_;
            c.size = c.per_step ? steps : static_cast<int>(c.times.size());
            size_ += c.size;
        }
    }

    int nu() const { return static_cast<int>(channels_.size()); }
    int size() const { return size_; }  // number of decision variables
    const std::vector<ControlChannel>& channels() const { return channels_; }

    // u of step t from the decision variables z (size)
    template <class T> void evaluate(const T* z, int t, T* u) const {
        for (size_t n = 0; n < channels_.size(); ++n) {
            const Weights w = weights(channels_[n], t);
            u[n] = T(1 - w.second) * z[w.index] + (w.second > 0 ? T(w.second) * z[w.index + 1] : T(0));
        }
    }
    // z_bar += the transpose of this linear map
    template <class T> void evaluate_adj(int t, const T* u_bar, T* z_bar) const {
        for (size_t n = 0; n < channels_.size(); ++n) {
            const Weights w = weights(channels_[n], t);
            z_bar[w.index] += T(1 - w.second) * u_bar[n];
            if (w.second > 0) z_bar[w.index + 1] += T(w.second) * u_bar[n];
        }
    }

private:
    // u = (1 - second) z[index] + second z[index + 1]
    struct Weights {
        int index;
        double second;
    };
    Weights weights(const ControlChannel& c, int t) const {
        if (c.per_step) return {c.offset + t, 0};
        const double time = t * time_step_;
        if (time <= c.times.front()) return {c.offset, 0};
        if (time >= c.times.back()) return {c.offset + c.size - 1, 0};
        const auto after = std::upper_bound(c.times.begin(), c.times.end(), time);
        const double from = *(after - 1), to = *after;
        return {c.offset + static_cast<int>(after - c.times.begin()) - 1, (time - from) / (to - from)};
    }

    std::vector<ControlChannel> channels_;
    double time_step_;
    int size_ = 0;
};

}  // namespace costate
