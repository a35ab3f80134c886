// The steps whose states are stored, and their slots.
#pragma once

#include <optional>
#include <vector>

namespace costate {

// The steps whose states are stored, the earliest in slot 0. Represented by runs of equal distances: a
// million consecutive steps are one entry.
class Checkpoints {
public:
    void push(int step);
    void pop();
    int size() const { return size_; }
    int first() const { return runs_.front().first; }
    int top() const { return runs_.back().at(runs_.back().count - 1); }
    // The last stored step at or before `step`, which must not be before the first one.
    struct Place {
        int step, slot;
    };
    Place nearest(int step) const;
    template <class Archive> void transfer(Archive& a) { a(runs_, size_); }
    bool rises_within(int steps) const;  // true if the steps increase from 0, as after pushes in order

private:
    struct Run {
        int first, distance, count;
        int at(int k) const { return first + k * distance; }
    };
    std::vector<Run> runs_;
    int size_ = 0;
};

// Selects the states to keep in a sweep of unknown length. Whenever the sweep ends, no step must be evaluated
// more often than if its length had been known (Wang, Moin & Iaccarino, Minimal repetition dynamic
// checkpointing, 2009). Every state has a level. A state is dispensable if a later neighbour has a higher
// level. If no state is dispensable, the offered state is not stored, and the next one gets its level plus
// one.
class OnlineCheckpoints {
public:
    explicit OnlineCheckpoints(int slots = 0) : slots_(slots) {}
    // To be called with 0, 1, 2, ... Returns the slot for the state of this step, or none if it is not
    // stored.
    std::optional<int> offer(int step);
    std::vector<Checkpoints::Place> kept() const;  // by step
    template <class Archive> void transfer(Archive& a) { a(slots_, level_, kept_, dispensable_); }

private:
    struct Kept {
        int step, slot, level;
    };
    int slots_;
    int level_ = highest;                   // level of the next offered state
    std::vector<Kept> kept_, dispensable_;  // kept_: by step, with nonincreasing levels
    static constexpr int highest = 1 << 30;
};

}  // namespace costate
