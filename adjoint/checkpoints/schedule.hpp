// Schedules: in which order the steps of a rollout are run, stored, run again and reversed where memory holds
// only some of its states. A schedule works on step indices only. The executor (adjoint/rollout/rollout.hpp)
// runs the steps; the store (adjoint/checkpoints/checkpoint_store.hpp) holds the bytes.
//
// State t is what step t begins with. A forward run leaves the intermediates of its last step behind, or of
// its last `kept` steps, and a step is reversed right after a run that ends with it. Checkpoints come and go
// as on a stack: slot 0 holds state 0, and the slot above the last one in use is the next.
//
//   every step     every state is stored in the first sweep: 2 n - 1 evaluations of a step, with n slots
//   every k-th     first the states k apart; then, from the last segment to the first, the states within: < 3
//   n binomial       as few evaluations as s slots allow (Griewank & Walther, Algorithm 799: revolve, 2000),
//                    F(n, s) = (r + 1) n - C(s + r, s + 1),   r the least integer with C(s + r, s) >= n;
//                  where the intermediates of k steps are kept, blocks of k are run and reversed as one step
//                  is, and what is left over, l <= k steps, is the first block: k F(m, s) - (k - l) (r + 1)
//                  of m blocks
//   two tiers      the states k apart on disk, written and read once and in order; each segment by s slots of
//   memory:
//                    n - l + (m - 1) F(k, s) + F(l, s),   m segments of which the last has l steps
//   online         n is known when the first sweep ends. Then what it left is reversed as by binomial:
//                    n + sum_j F(n_j, s - j),   n_j from the j-th state that is stored to the next, the last
//                    to n - 1
#pragma once

#include <algorithm>
#include <cstdint>

#include "adjoint/checkpoints/checkpoints.hpp"

namespace costate {

enum class Tier { memory, disk };

struct Action {
    enum class Kind {
        forward,  // run the steps from `step` to `to` - 1; the state is `step` before, and `to` after
        store,    // the state, which is `step`, into `slot`
        restore,  // the state from `slot`, which holds `step`
        reverse,  // pull back `step`, whose intermediates the last forward left; no state is current after it
    };
    Kind kind;
    int step, to = 0, slot = 0;
    Tier tier = Tier::memory;  // of the slot
    bool operator==(const Action&) const = default;
};

class Schedule {
public:
    // Of `steps` >= 0 steps; `slots`, `k`, `kept` >= 1
    static Schedule every_step(int steps);
    static Schedule every_kth(int steps, int k);
    static Schedule binomial(int steps, int slots, int kept = 1);
    static Schedule two_tiers(int steps, int k, int slots);
    static Schedule online(int slots);  // of as many steps as there are until finish() is called
    // Every step if so many bytes hold all states, else binomial, or two tiers if that takes fewer
    // evaluations with so many states on disk. Throws std::invalid_argument if the bytes hold no state.
    static Schedule within(std::int64_t bytes, std::int64_t bytes_per_state, int steps,
                           std::int64_t on_disk = 0);

    int steps() const { return steps_; }  // online: unknown before finish()
    int slots() const { return slots_; }  // of memory that it fills, at most
    int disk_slots() const { return tiered() ? (std::max(steps_, 1) - 1) / k_ + 1 : 0; }
    int kept() const { return kept_; }
    bool is_online() const { return kind_ == Kind::online; }
    // of the first sweep and the reverse sweep after it; online: after finish()
    std::int64_t forward_evaluations() const;
    std::int64_t disk_writes() const { return disk_slots(); }
    std::int64_t disk_reads() const { return std::max(disk_slots() - 1, 0); }
    bool stores_every_step() const { return kind_ == Kind::binomial && slots_ >= steps_; }
    const char* name() const;

    Action next();  // not when done()
    bool done() const { return end_ == 0 && begun(); }
    // true at the end of the first sweep
    bool reverses_next() const { return begun() && (at_ == end_ || left_ < end_); }
    void finish();   // of an online one: the state that is current is the last
    void restart();  // to the beginning
    // For another reverse sweep: to the end of the first sweep if the slots still hold what it stored, else
    // to a state before it.
    void again();
    // Where to start from to reach a state
    struct Place {
        int step, slot;
        Tier tier;
    };
    Place nearest(int step) const;

    template <class Archive> void transfer(Archive& a) {
        a(steps_);
        a(at_);
        a(end_);
        a(left_);
        a(overwritten_);
        a(offered_);
        a(foretold_);
        a(slot_of_);
        for (Checkpoints* c : {&stored_, &swept_, &on_disk_, &swept_on_disk_})
            c->transfer(a);
        online_.transfer(a);
    }
    // Whether what was read from an archive can be a position of this schedule, if it was built for so many
    // steps.
    bool is_within(int steps) const;

    static constexpr int unknown = 1 << 30;  // steps, at most this many

private:
    enum class Kind { binomial, every_kth, two_tiers, online };
    Schedule(Kind kind, int steps, int slots, int k, int kept);
    bool begun() const { return stored_.size() + on_disk_.size() > 0; }
    bool sweeping_online() const { return kind_ == Kind::online && steps_ == unknown; }
    bool tiered() const { return kind_ == Kind::two_tiers; }
    bool intact() const { return swept_.size() + swept_on_disk_.size() > 0 && !overwritten_; }
    int slot(int place) const { return slot_of_.empty() ? place : slot_of_[place]; }
    Action store(Checkpoints& in, Tier tier);
    Action reverse();
    Action sweep_online();
    int distance(int n) const;  // from the checkpoint on top to the next, n steps before the end

    static constexpr int nowhere = -1;
    Kind kind_;
    int steps_, slots_, k_, kept_;
    int at_, end_;  // the current state; the first step that is reversed, or steps_
    // the first step whose intermediates are there, if it is less than end_
    int left_;
    Checkpoints stored_, on_disk_;
    Checkpoints swept_, swept_on_disk_;  // these at the end of the first sweep
    bool overwritten_;                   // in memory, by the reverse sweep
    OnlineCheckpoints online_;
    bool offered_;               // to those, the current state
    std::vector<int> slot_of_;   // of an online one, by place on the stack
    std::int64_t foretold_ = 0;  // its evaluations
};

}  // namespace costate
