#include "adjoint/checkpoints/schedule.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace costate {

namespace {

// The least r with C(s + r, s) >= n, so C(s + r - 1, s) < n; n >= 1. s and n up to 2^30.
struct Repetitions {
    std::int64_t r = 0, within = 1, before = 0;  // within = C(s + r, s), before = C(s + r - 1, s)
    Repetitions(std::int64_t n, std::int64_t s) {
        if (s == 1) {
            r = before = n - 1;
            within = n;
        }
        while (within < n) {
            ++r;
            before = within;
            within = within * (s + r) / r;
        }
    }
};

// F(n, s), with C(s + r, s + 1) = C(s + r - 1, s) (s + r) / (s + 1), for blocks of `kept` steps
std::int64_t fewest_evaluations(std::int64_t n, std::int64_t s, std::int64_t kept = 1) {
    if (n == 0) return 0;
    const std::int64_t m = (n - 1) / kept + 1;
    const Repetitions reps(m, s);
    const std::int64_t blocks =
        s == 1 ? m * (m + 1) / 2 : (reps.r + 1) * m - reps.before * (s + reps.r) / (s + 1);
    return kept * blocks - (kept * m - n) * (reps.r + 1);
}

std::int64_t two_tier_evaluations(std::int64_t n, std::int64_t k, std::int64_t s) {
    const std::int64_t segments = (n - 1) / k + 1, last = n - (segments - 1) * k;
    return n - last + (segments - 1) * fewest_evaluations(k, s) + fewest_evaluations(last, s);
}

}  // namespace

Schedule::Schedule(Kind kind, int steps, int slots, int k, int kept)
    : kind_(kind),
      steps_(steps),
      slots_(slots),
      k_(k),
      kept_(kept) {
    restart();
}

Schedule Schedule::every_step(int steps) { return binomial(steps, std::max(steps, 1)); }

Schedule Schedule::forward_only(int steps) { return binomial(steps, 1); }

Schedule Schedule::every_kth(int steps, int k) {
    const int segments = (steps - 1) / k + 1, last = steps - (segments - 1) * k;
    return {Kind::every_kth, steps, std::max({1, segments + last - 1, segments > 1 ? segments + k - 2 : 1}),
            k, 1};
}

Schedule Schedule::binomial(int steps, int slots, int kept) {
    const int blocks = (std::max(steps, 1) - 1) / kept + 1;
    return {Kind::binomial, steps, std::clamp(slots, 1, blocks), 0, kept};
}

Schedule Schedule::two_tiers(int steps, int k, int slots) {
    return {Kind::two_tiers, steps, std::clamp(slots, 1, std::clamp(steps, 1, k)), k, 1};
}

Schedule Schedule::online(int slots) { return {Kind::online, unknown, slots, 0, 1}; }

Schedule Schedule::within(std::int64_t bytes, std::int64_t bytes_per_state, int steps, std::int64_t on_disk) {
    if (bytes < bytes_per_state)
        throw std::invalid_argument(std::to_string(bytes) +
                                    " bytes are too few for a checkpoint, which takes " +
                                    std::to_string(bytes_per_state));
    const std::int64_t held = bytes_per_state == 0 ? steps : bytes / bytes_per_state;
    const int slots = static_cast<int>(std::min<std::int64_t>(held, std::max(steps, 1)));
    const Schedule in_memory = binomial(steps, slots);
    if (on_disk < 1 || slots >= steps) return in_memory;
    const int k = static_cast<int>((steps - 1) / std::min<std::int64_t>(on_disk, steps)) + 1;
    const Schedule tiers = two_tiers(steps, k, slots);
    return tiers.forward_evaluations() < in_memory.forward_evaluations() ? tiers : in_memory;
}

const char* Schedule::name() const {
    switch (kind_) {
        case Kind::every_kth: return "every k-th";
        case Kind::two_tiers: return "two tiers";
        case Kind::online: return "online";
        case Kind::binomial: break;
    }
    return stores_every_step() ? "every step" : "binomial";
}

std::int64_t Schedule::forward_evaluations() const {
    const std::int64_t n = steps_, k = k_;
    if (n == 0) return 0;
    switch (kind_) {
        case Kind::two_tiers: return two_tier_evaluations(n, k, slots_);
        case Kind::online: return foretold_;
        case Kind::binomial: return fewest_evaluations(n, slots_, kept_);
        case Kind::every_kth: break;
    }
    // The first sweep, and every step again except the last. A segment that is entered again is run once
    // more, except its last step, which is reversed immediately.
    const std::int64_t segments = (n - 1) / k + 1, last = n - (segments - 1) * k;
    return n + (last - 1) + (segments - 1) * (2 * k - 1);
}

void Schedule::restart() {
    if (kind_ == Kind::online) {
        steps_ = unknown;
        online_ = OnlineCheckpoints(slots_);
        slot_of_.clear();
    }
    offered_ = false;
    at_ = 0;
    end_ = left_ = steps_;
    stored_ = swept_ = on_disk_ = swept_on_disk_ = {};
    overwritten_ = false;
}

void Schedule::again() {
    if (sweeping_online()) finish();
    if (intact()) {
        stored_ = swept_;
        on_disk_ = swept_on_disk_;
    } else if (swept_on_disk_.size() > 0) {
        stored_ = {};
        on_disk_ = swept_on_disk_;
    } else {
        stored_ = swept_ = on_disk_ = {};
        overwritten_ = false;
        (tiered() ? on_disk_ : stored_).push(0);
    }
    at_ = nowhere;
    end_ = left_ = steps_;
}

bool Schedule::is_within(int steps) const {
    if (!is_online() && (steps_ != steps || !slot_of_.empty())) return false;
    if (at_ < nowhere || at_ > steps_ || end_ < 0 || end_ > steps_ || left_ < 0 || left_ > steps_)
        return false;
    for (const Checkpoints* c : {&stored_, &swept_})
        if (!c->rises_within(steps_) || c->size() > slots_) return false;
    for (const Checkpoints* c : {&on_disk_, &swept_on_disk_})
        if (!c->rises_within(steps_) || c->size() > disk_slots()) return false;
    return true;
}

Schedule::Place Schedule::nearest(int step) const {
    if (sweeping_online()) {
        const std::vector<Checkpoints::Place> kept = online_.kept();
        const auto after = std::ranges::upper_bound(kept, step, {}, &Checkpoints::Place::step);
        return {(after - 1)->step, (after - 1)->slot, Tier::memory};
    }
    const Checkpoints &memory = intact() ? swept_ : stored_, &disk = intact() ? swept_on_disk_ : on_disk_;
    const bool there = memory.size() > 0 && memory.first() <= step;
    const Checkpoints::Place far = disk.size() > 0 ? disk.nearest(step) : Checkpoints::Place{nowhere, 0};
    if (!there) return {far.step, far.slot, Tier::disk};
    const Checkpoints::Place near = memory.nearest(step);
    return {near.step, slot(near.slot), Tier::memory};
}

// Binomial schedule: of n blocks with s slots, C(s + r - 1, s) < n <= C(s + r, s), the first d blocks are
// reversed with s slots and r - 1 repetitions, the others with s - 1 slots and r repetitions. The largest
// possible d is used.
int Schedule::distance(int n) const {
    if (kind_ == Kind::every_kth) return n > k_ ? k_ : 1;
    const int s = slots_ - stored_.size() + 1;  // including the slot on top
    const std::int64_t m = (n - 1) / kept_ + 1;
    const Repetitions left(m, s);                                   // before = C(s + r - 1, s)
    const std::int64_t right = left.before * s / (s + left.r - 1);  // C(s + r - 2, s - 1)
    return static_cast<int>(n - (m - std::min(left.before, m - right)) * kept_);
}

Action Schedule::store(Checkpoints& in, Tier tier) {
    const int place = in.size();
    in.push(at_);
    if (tier == Tier::disk) return {Action::Kind::store, at_, 0, place, tier};
    overwritten_ = overwritten_ || swept_.size() > 0;
    return {Action::Kind::store, at_, 0, slot(place), tier};
}

Action Schedule::reverse() {
    if (swept_.size() + swept_on_disk_.size() == 0) {
        swept_ = stored_;
        swept_on_disk_ = on_disk_;
    }
    at_ = nowhere;
    --end_;
    const int below = tiered() ? 0 : 1;  // state 0 is never removed from the lowest stack
    if (stored_.size() > below && stored_.top() == end_) stored_.pop();
    if (on_disk_.size() > 1 && on_disk_.top() == end_) on_disk_.pop();
    return {Action::Kind::reverse, end_};
}

Action Schedule::next() {
    if (sweeping_online()) return sweep_online();
    if (reverses_next()) return reverse();
    if (at_ == nowhere && stored_.size() > 0) {
        at_ = stored_.top();
        return {Action::Kind::restore, at_, 0, slot(stored_.size() - 1)};
    }
    if (at_ == nowhere) {
        at_ = on_disk_.top();
        return {Action::Kind::restore, at_, 0, on_disk_.size() - 1, Tier::disk};
    }
    const auto missing = [&](const Checkpoints& c) { return c.size() == 0 || c.top() < at_; };
    const int from = at_, n = end_ - from;
    if (tiered() && at_ % k_ == 0 && missing(on_disk_)) return store(on_disk_, Tier::disk);
    if (tiered() && n > k_) {
        at_ = from + k_;
        return {Action::Kind::forward, from, at_};
    }
    if (missing(stored_)) return store(stored_, Tier::memory);
    const bool last = n <= kept_ || stored_.size() == slots_;
    at_ = last ? end_ : from + distance(n);
    left_ = last ? std::max(from, end_ - kept_) : end_;
    return {Action::Kind::forward, from, at_};
}

Action Schedule::sweep_online() {
    if (!offered_) {
        offered_ = true;
        if (const auto slot = online_.offer(at_)) return {Action::Kind::store, at_, 0, *slot};
    }
    offered_ = false;
    ++at_;
    return {Action::Kind::forward, at_ - 1, at_};
}

void Schedule::finish() {
    const std::vector<Checkpoints::Place> kept = online_.kept();
    std::vector<bool> taken(slots_);
    for (const Checkpoints::Place& p : kept)
        if (p.step == 0 || p.step < at_) {
            stored_.push(p.step);
            slot_of_.push_back(p.slot);
            taken[p.slot] = true;
        }
    for (int s = 0; s < slots_; ++s)
        if (!taken[s]) slot_of_.push_back(s);
    steps_ = end_ = at_;
    left_ = std::max(end_ - 1, 0);
    foretold_ = steps_;
    for (int j = stored_.size() - 1, end = left_; j >= 0; end = kept[j--].step)
        foretold_ += fewest_evaluations(end - kept[j].step, slots_ - j);
}

}  // namespace costate
