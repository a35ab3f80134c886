#include "adjoint/schedule.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace costate {

namespace {

// C(s + r, s) >= n with the least r, and C(s + r - 1, s) < n; n >= 1. s and n up to 2^30.
struct Repetitions {
    std::int64_t r = 0, within = 1, before = 0;  // within = C(s + r, s), before = C(s + r - 1, s)
    Repetitions(std::int64_t n, std::int64_t s) {
        while (within < n) ++r, before = within, within = within * (s + r) / r;
    }
};

// F(n, s), with C(s + r, s + 1) = C(s + r - 1, s) (s + r) / (s + 1)
std::int64_t fewest_evaluations(std::int64_t n, std::int64_t s) {
    if (s == 1) return n * (n + 1) / 2;
    const Repetitions reps(n, s);
    return (reps.r + 1) * n - reps.before * (s + reps.r) / (s + 1);
}

}  // namespace

void Checkpoints::push(int step) {
    ++size_;
    if (!runs_.empty()) {
        Run& last = runs_.back();
        if (last.count == 1) last.distance = step - last.first;
        if (last.at(last.count) == step) return void(++last.count);
    }
    runs_.push_back({step, 0, 1});
}

void Checkpoints::pop() {
    --size_;
    if (--runs_.back().count == 0) runs_.pop_back();
}

Checkpoints::Place Checkpoints::nearest(int step) const {
    int slot = size_;
    for (auto run = runs_.rbegin();; ++run) {
        slot -= run->count;
        if (run->first > step) continue;
        const int k = run->distance == 0 ? 0 : std::min(run->count - 1, (step - run->first) / run->distance);
        return {run->at(k), slot + k};
    }
}

Schedule Schedule::every_step(int steps) { return {steps, std::max(steps, 1), 0}; }

Schedule Schedule::every_kth(int steps, int k) {
    const int segments = (steps - 1) / k + 1, last = steps - (segments - 1) * k;
    return {steps, std::max({1, segments + last - 1, segments > 1 ? segments + k - 2 : 1}), k};
}

Schedule Schedule::binomial(int steps, int slots) { return {steps, std::clamp(slots, 1, std::max(steps, 1)), 0}; }

Schedule Schedule::within(std::int64_t bytes, std::int64_t bytes_per_state, int steps) {
    if (bytes < bytes_per_state)
        throw std::invalid_argument(std::to_string(bytes) + " bytes hold no checkpoint, which takes " +
                                    std::to_string(bytes_per_state));
    const std::int64_t slots = bytes_per_state == 0 ? steps : bytes / bytes_per_state;
    return binomial(steps, static_cast<int>(std::min<std::int64_t>(slots, std::max(steps, 1))));
}

const char* Schedule::name() const { return k_ > 0 ? "every k-th" : (stores_every_step() ? "every step" : "binomial"); }

std::int64_t Schedule::forward_evaluations() const {
    const std::int64_t n = steps_, k = k_;
    if (n == 0) return 0;
    if (k == 0) return fewest_evaluations(n, slots_);
    // The first sweep, and every step again but the last; a segment that is entered again is run once more, but for its last
    // step, from which it is reversed at once.
    const std::int64_t segments = (n - 1) / k + 1, last = n - (segments - 1) * k;
    return n + (last - 1) + (segments - 1) * (2 * k - 1);
}

void Schedule::restart() {
    at_ = 0, end_ = steps_;
    stored_ = swept_ = {};
    overwritten_ = false;
}

void Schedule::again() {
    if (intact()) {
        stored_ = swept_;
    } else {
        stored_ = swept_ = {}, overwritten_ = false;
        stored_.push(0);
    }
    at_ = nowhere, end_ = steps_;
}

// Binomial: of n steps with s slots, C(s + r - 1, s) < n <= C(s + r, s), the first d are left to all s slots and r - 1
// repetitions, the others to s - 1 slots and r repetitions; among the d that permit it this is the largest.
int Schedule::distance(int n) const {
    if (k_ > 0) return n > k_ ? k_ : 1;
    const int s = slots_ - stored_.size() + 1;                      // the one on top counts
    const Repetitions left(n, s);                                   // before = C(s + r - 1, s)
    const std::int64_t right = left.before * s / (s + left.r - 1);  // C(s + r - 2, s - 1)
    return static_cast<int>(std::min(left.before, n - right));
}

Action Schedule::next() {
    if (stored_.size() == 0) {
        stored_.push(0);
        return {Action::Kind::store, 0};
    }
    if (at_ == end_) {
        if (swept_.size() == 0) swept_ = stored_;
        at_ = nowhere, --end_;
        if (stored_.top() == end_ && stored_.size() > 1) stored_.pop();
        return {Action::Kind::reverse, end_};
    }
    if (at_ == nowhere) {
        at_ = stored_.top();
        return {Action::Kind::restore, at_, 0, stored_.size() - 1};
    }
    if (at_ == stored_.top()) {
        const int from = at_, n = end_ - from;
        const bool last = n == 1 || stored_.size() == slots_;
        at_ = last ? end_ : from + distance(n);
        return {Action::Kind::forward, from, at_};
    }
    overwritten_ = overwritten_ || swept_.size() > 0;
    const int slot = stored_.size();
    stored_.push(at_);
    return {Action::Kind::store, at_, 0, slot};
}

}  // namespace costate
