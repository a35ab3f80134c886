// Schedules: the order in which the steps of a rollout are run, stored, replayed and reversed if memory holds
// only some of its states. A schedule works on step indices only. The executor (adjoint/rollout/rollout.hpp)
// runs the steps; the store (adjoint/checkpoints/checkpoint_store.hpp) holds the bytes.
//
// State t is the state before step t. A forward run leaves the intermediates of its last step (or of its last
// `kept` steps), and a step is reversed directly after a run that ends with it. Checkpoints form a stack:
// slot 0 holds state 0, and new states go to the slot above the last one in use.
//
// every step  all states are stored in the first sweep: 2 n - 1 evaluations with n slots
// every k-th  states k apart are stored first; then, from the last segment to the first, the states within
//             a segment: fewer than 3 n evaluations
// binomial    the fewest evaluations with s slots (Griewank & Walther, Algorithm 799: revolve, 2000):
//               F(n, s) = (r + 1) n - C(s + r, s + 1),   r the least integer with C(s + r, s) >= n
//             If the intermediates of k steps are kept, blocks of k steps are run and reversed together. The
//             first of m blocks has the remaining l <= k steps: k F(m, s) - (k - l) (r + 1) evaluations.
// two tiers   states k apart on disk, written and read once and in order; s slots of memory per segment:
//               n - l + (m - 1) F(k, s) + F(l, s),   for m segments, the last with l steps
// online      n is known only at the end of the first sweep; then as binomial between the stored states:
//               n + sum_j F(n_j, s - j),   n_j: distance from stored state j to the next, the last to n - 1
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
        reverse,  // pull back `step`, whose intermediates are available; afterwards no state is current
    };
    Kind kind;
    int step, to = 0, slot = 0;
    Tier tier = Tier::memory;  // of the slot
    bool operator==(const Action&) const = default;
};

class Schedule {
public:
    // Schedules for `steps` >= 0 steps; `slots`, `k`, `kept` >= 1
    static Schedule every_step(int steps);
    static Schedule forward_only(int steps);  // for rollouts that are not pulled back: one state
    static Schedule every_kth(int steps, int k);
    static Schedule binomial(int steps, int slots, int kept = 1);
    static Schedule two_tiers(int steps, int k, int slots);
    static Schedule online(int slots);  // the number of steps is fixed by calling finish()
    // Every step if the bytes hold all states; otherwise binomial, or two tiers if they take fewer
    // evaluations with this number of states on disk. Throws std::invalid_argument if the bytes do not hold a
    // state.
    static Schedule within(std::int64_t bytes, std::int64_t bytes_per_state, int steps,
                           std::int64_t on_disk = 0);

    int steps() const { return steps_; }  // online: unknown before finish()
    int slots() const { return slots_; }  // largest number of slots in memory
    int disk_slots() const { return tiered() ? (std::max(steps_, 1) - 1) / k_ + 1 : 0; }
    int kept() const { return kept_; }
    bool is_online() const { return kind_ == Kind::online; }
    // evaluations of the first sweep and one reverse sweep; online: only after finish()
    std::int64_t forward_evaluations() const;
    std::int64_t disk_writes() const { return disk_slots(); }
    std::int64_t disk_reads() const { return std::max(disk_slots() - 1, 0); }
    bool stores_every_step() const { return kind_ == Kind::binomial && slots_ >= steps_; }
    const char* name() const;

    Action next();  // must not be called when done()
    bool done() const { return end_ == 0 && begun(); }
    // true at the end of the first sweep
    bool reverses_next() const { return begun() && (at_ == end_ || left_ < end_); }
    void finish();   // online schedules: the current state is the last
    void restart();  // back to the beginning
    // Prepares another reverse sweep: back to the end of the first sweep if the slots still hold its states,
    // otherwise to an earlier state.
    void again();
    // The stored state from which to reach a state
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
    // True if a position read from an archive is possible for this schedule, built for this number of steps.
    bool is_within(int steps) const;

    static constexpr int unknown = 1 << 30;  // upper bound of an unknown number of steps

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
    int distance(int n) const;  // from the checkpoint on top, n steps before the end, to the next one

    static constexpr int nowhere = -1;
    Kind kind_;
    int steps_, slots_, k_, kept_;
    int at_, end_;  // the current state; the first reversed step, or steps_
    // the first step with available intermediates, if less than end_
    int left_;
    Checkpoints stored_, on_disk_;
    Checkpoints swept_, swept_on_disk_;  // the same at the end of the first sweep
    bool overwritten_;                   // the reverse sweep has overwritten slots in memory
    OnlineCheckpoints online_;
    bool offered_;               // the current state was offered to online_
    std::vector<int> slot_of_;   // online schedules: slot by position on the stack
    std::int64_t foretold_ = 0;  // online schedules: number of evaluations
};

}  // namespace costate
