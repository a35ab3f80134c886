// Schedules: in which order the steps of a rollout are run, stored, run again and reversed where memory holds only some of its
// states. Integers alone; what a step or a state is, the executor knows (adjoint/rollout.hpp).
//
// State t is what step t begins with. A forward run leaves the intermediates of its last step behind, and a step is reversed
// right after a run that ends with it. Checkpoints come and go as on a stack: slot 0 holds state 0, and the slot above the last
// one in use is the next.
//
//   every step     every state is stored in the first sweep: 2 n - 1 evaluations of a step, with n slots
//   every k-th     first the states k apart; then, from the last segment to the first, the states within: < 3 n
//   binomial       as few evaluations as s slots allow (Griewank & Walther, Algorithm 799: revolve, 2000),
//                    F(n, s) = (r + 1) n - C(s + r, s + 1),   r the least integer with C(s + r, s) >= n
#pragma once

#include <cstdint>
#include <vector>

namespace costate {

struct Action {
    enum class Kind {
        forward,  // run the steps from `step` to `to` - 1; the state is `step` before, and `to` after
        store,    // the state, which is `step`, into `slot`
        restore,  // the state from `slot`, which holds `step`
        reverse,  // pull back `step`, whose intermediates the last forward left; no state is current after it
    };
    Kind kind;
    int step, to = 0, slot = 0;
    bool operator==(const Action&) const = default;
};

// The steps whose states are stored, the earliest in slot 0: runs of equal distances, so that a million in a row are one entry.
class Checkpoints {
public:
    void push(int step);
    void pop();
    int size() const { return size_; }
    int top() const { return runs_.back().at(runs_.back().count - 1); }
    // The last one that is not after the step, which is not before the first.
    struct Place {
        int step, slot;
    };
    Place nearest(int step) const;

private:
    struct Run {
        int first, distance, count;
        int at(int k) const { return first + k * distance; }
    };
    std::vector<Run> runs_;
    int size_ = 0;
};

class Schedule {
public:
    // Of `steps` >= 0 steps, `slots` >= 1, `k` >= 1
    static Schedule every_step(int steps);
    static Schedule every_kth(int steps, int k);
    static Schedule binomial(int steps, int slots);
    // Every step if so many bytes hold all states, else binomial. Throws std::invalid_argument if they hold none.
    static Schedule within(std::int64_t bytes, std::int64_t bytes_per_state, int steps);

    int steps() const { return steps_; }
    int slots() const { return slots_; }       // that it fills, at most
    std::int64_t forward_evaluations() const;  // of the first sweep and the reverse sweep after it
    bool stores_every_step() const { return k_ == 0 && slots_ >= steps_; }
    const char* name() const;

    Action next();  // not when done()
    bool done() const { return end_ == 0 && stored_.size() > 0; }
    bool reverses_next() const { return at_ == end_ && stored_.size() > 0; }  // true at the end of the first sweep
    void restart();                                                           // to the beginning
    // For another reverse sweep: to the end of the first sweep if the slots still hold what it stored, else to state 0.
    void again();
    // Where to start from to reach a state
    Checkpoints::Place nearest(int step) const { return (intact() ? swept_ : stored_).nearest(step); }

private:
    Schedule(int steps, int slots, int k) : steps_(steps), slots_(slots), k_(k) { restart(); }
    bool intact() const { return swept_.size() > 0 && !overwritten_; }
    int distance(int n) const;  // from the checkpoint on top to the next, n steps before the end

    static constexpr int nowhere = -1;
    int steps_, slots_, k_;       // k_ is 0 but for every_kth
    int at_, end_;                // the current state; the first step that is reversed, or steps_
    Checkpoints stored_, swept_;  // swept_: stored_ at the end of the first sweep
    bool overwritten_;            // by the reverse sweep
};

}  // namespace costate
