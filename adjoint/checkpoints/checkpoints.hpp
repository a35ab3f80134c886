// Which steps' states are stored, and where: what a schedule knows of the store.
#pragma once

#include <optional>
#include <vector>

namespace costate {

// The steps whose states are stored, the earliest in slot 0: runs of equal distances, so that a million in a
// row are one entry.
class Checkpoints {
public:
    void push(int step);
    void pop();
    int size() const { return size_; }
    int first() const { return runs_.front().first; }
    int top() const { return runs_.back().at(runs_.back().count - 1); }
    // The last one that is not after the step, which is not before the first.
    struct Place {
        int step, slot;
    };
    Place nearest(int step) const;
    template <class Archive> void transfer(Archive& a) { a(runs_), a(size_); }
    bool rises_within(int steps) const;  // from 0, as a stack does that was pushed in order

private:
    struct Run {
        int first, distance, count;
        int at(int k) const { return first + k * distance; }
    };
    std::vector<Run> runs_;
    int size_ = 0;
};

// The states to keep of a sweep whose length is not known: whenever it ends, no step need be evaluated more
// often than of the same number of steps known beforehand (Wang, Moin & Iaccarino, Minimal repetition dynamic
// checkpointing, 2009). A state has a level; one with a later state of a higher level beside it may go. Where
// none may, the state that asked in vain leaves its level, plus one, to the next.
class OnlineCheckpoints {
public:
    explicit OnlineCheckpoints(int slots = 0) : slots_(slots) {}
    // For 0, 1, 2, ... in turn: the slot that the state of this step goes to, if it does.
    std::optional<int> offer(int step);
    std::vector<Checkpoints::Place> kept() const;  // by step
    template <class Archive> void transfer(Archive& a) { a(slots_), a(level_), a(kept_), a(dispensable_); }

private:
    struct Kept {
        int step, slot, level;
    };
    int slots_;
    int level_ = highest;                   // of the state that is offered next
    std::vector<Kept> kept_, dispensable_;  // kept_: by step, their levels never rise
    static constexpr int highest = 1 << 30;
};

}  // namespace costate
