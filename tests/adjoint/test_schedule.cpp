// Schedules without physics: an executor on integers that reports every invalid action.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "adjoint/checkpoints/schedule.hpp"

using namespace costate;

namespace {

constexpr int nothing = -1;

struct Machine {
    std::vector<int> memory, disk;  // the states that slots hold
    int kept, state = 0, to_reverse;
    int first = 0, after = 0;  // the steps whose intermediates are there
    std::int64_t evaluations = 0, disk_writes = 0, disk_reads = 0;
    explicit Machine(const Schedule& s)
        : memory(static_cast<size_t>(s.slots()), nothing),
          disk(static_cast<size_t>(s.disk_slots()), nothing),
          kept(s.kept()),
          to_reverse(s.steps()) {}

    int held(const Schedule::Place& p) { return (p.tier == Tier::disk ? disk : memory).at(p.slot); }
    int& slot(const Action& a) { return (a.tier == Tier::disk ? disk : memory).at(a.slot); }
    void perform(const Action& a) {
        switch (a.kind) {
            case Action::Kind::forward:
                REQUIRE(state == a.step);
                REQUIRE(a.step < a.to);
                REQUIRE(a.to <= to_reverse);
                evaluations += a.to - a.step;
                state = after = a.to;
                first = std::max(a.step, a.to - kept);
                break;
            case Action::Kind::store:
                REQUIRE(state == a.step);
                slot(a) = state;
                disk_writes += a.tier == Tier::disk;
                break;
            case Action::Kind::restore:
                REQUIRE(slot(a) == a.step);
                state = a.step;
                first = after = 0;
                disk_reads += a.tier == Tier::disk;
                break;
            case Action::Kind::reverse:
                REQUIRE(a.step == to_reverse - 1);
                REQUIRE(after == to_reverse);
                REQUIRE(first <= a.step);
                state = nothing;
                to_reverse = after = a.step;
                break;
        }
    }
};

// Checks that every step is reversed once, from the last to the first, and that slots hold the states that
// are read. Returns the evaluations.
std::int64_t run(Schedule& s, int length_that_comes = nothing) {
    Machine m(s);
    while (!s.reverses_next() && m.state != length_that_comes)
        m.perform(s.next());
    if (length_that_comes != nothing) s.finish();
    REQUIRE(m.state == s.steps());
    REQUIRE(m.evaluations == s.steps());
    m.to_reverse = s.steps();
    while (!s.done())
        m.perform(s.next());
    REQUIRE(m.to_reverse == 0);
    // it requests no more slots than it fills
    if (!s.is_online())
        CHECK(std::ranges::count(m.memory, nothing) + std::ranges::count(m.disk, nothing) == 0);
    CHECK(m.evaluations == s.forward_evaluations());
    CHECK(m.disk_writes == s.disk_writes());
    CHECK(m.disk_reads == s.disk_reads());
    return m.evaluations;
}

}  // namespace

TEST_CASE("schedule: binomial takes the number of evaluations of the formula") {
    const struct {
        int steps, slots, evaluations;
    } cases[] = {{10, 3, 25}, {100, 5, 416}, {250, 25, 723}, {5000, 100, 14898}, {1, 1, 1}, {7, 1, 28}};
    for (const auto& c : cases) {
        Schedule s = Schedule::binomial(c.steps, c.slots);
        CHECK(s.slots() == c.slots);
        CHECK(run(s) == c.evaluations);
    }
}

TEST_CASE("schedule: binomial takes the fewest evaluations that any order of checkpoints does") {
    // n steps with the first state in one of s slots: run d steps, store, reverse the rest with one slot
    // less, then reverse the d steps
    constexpr int max_steps = 90, max_slots = 12;
    std::vector<std::vector<std::int64_t>> fewest(max_slots + 1, std::vector<std::int64_t>(max_steps + 1));
    for (int s = 1; s <= max_slots; ++s)
        for (int n = 1; n <= max_steps; ++n) {
            std::int64_t& best = fewest[s][n];
            best = std::int64_t{n} * (n + 1) / 2;
            for (int d = 1; s > 1 && d < n; ++d)
                best = std::min(best, d + fewest[s - 1][n - d] + fewest[s][d]);
            Schedule schedule = Schedule::binomial(n, s);
            CAPTURE(n);
            CAPTURE(s);
            CHECK(run(schedule) == best);
        }
}

TEST_CASE("schedule: every step and every k-th, of many lengths") {
    for (int n = 1; n <= 200; ++n) {
        CAPTURE(n);
        Schedule all = Schedule::every_step(n);
        CHECK(run(all) == 2 * n - 1);
        CHECK(all.slots() == n);
        CHECK(all.stores_every_step());
        for (const int k : {1, 2, 3, 7, 14, n - 1, n, n + 5, std::numeric_limits<int>::max()}) {
            if (k < 1) continue;
            CAPTURE(k);
            Schedule some = Schedule::every_kth(n, k);
            CHECK(run(some) < 3 * n);
            CHECK(some.slots() <= n);
        }
    }
    Schedule square = Schedule::every_kth(10000, 100);
    CHECK(run(square) == 10000 + 99 + 99 * 199);
    CHECK(square.slots() == 199);
}

TEST_CASE("schedule: nothing to do") {
    for (Schedule s : {Schedule::every_step(0), Schedule::binomial(0, 5)}) {
        CHECK(s.next() == Action{Action::Kind::store, 0});
        CHECK(s.done());
        CHECK(s.forward_evaluations() == 0);
    }
}

TEST_CASE(
    "schedule: long schedules are counted without running them, and a million consecutive states are stored "
    "compactly") {
    CHECK(Schedule::binomial(1'000'000'000, 1).forward_evaluations() == 500'000'000'500'000'000);
    CHECK(Schedule::binomial(1'000'000'000, 1'000'000'000).forward_evaluations() == 1'999'999'999);
    CHECK(Schedule::binomial(1'000'000'000, 999'999'998).forward_evaluations() == 2'000'000'000);  // r = 2
    Schedule million = Schedule::every_step(1'000'000);
    CHECK(run(million) == 1'999'999);
    Schedule few = Schedule::binomial(1'000'000, 50);
    CHECK(run(few) < 6'000'000);  // C(55, 50) > 10^6: r = 5
}

TEST_CASE("schedule: a reverse sweep may follow another") {
    const struct {
        Schedule schedule;
        int again;  // evaluations of another sweep with the same checkpoints; 0: all
    } cases[] = {{Schedule::every_step(20), 20},      {Schedule::binomial(20, 19), 21},
                 {Schedule::binomial(20, 18), 0},     {Schedule::binomial(20, 4), 0},
                 {Schedule::every_kth(20, 5), 0},     {Schedule::every_kth(20, 20), 20},
                 {Schedule::two_tiers(20, 5, 5), 36}, {Schedule::two_tiers(20, 1, 1), 20},
                 {Schedule::binomial(20, 4, 5), 20}};
    for (auto [s, again] : cases) {
        CAPTURE(s.name());
        Machine m(s);
        while (!s.done())
            m.perform(s.next());
        for (int sweep = 0; sweep < 2; ++sweep) {
            s.again();
            m.to_reverse = 20;
            m.evaluations = 0;
            while (!s.done())
                m.perform(s.next());
            CHECK(m.to_reverse == 0);
            CHECK(m.evaluations == (again > 0 ? again : s.forward_evaluations()));
        }
    }
    // also in the middle of a first sweep
    Schedule s = Schedule::binomial(20, 4);
    Machine m(s);
    for (int k = 0; k < 3; ++k)
        m.perform(s.next());
    s.again();
    while (!s.done())
        m.perform(s.next());
    CHECK(m.to_reverse == 0);
}

TEST_CASE("schedule: the nearest checkpoint is the last stored state at or before a step") {
    for (Schedule s : {Schedule::every_step(60), Schedule::binomial(60, 7), Schedule::binomial(60, 3),
                       Schedule::binomial(60, 4, 5), Schedule::every_kth(60, 9),
                       Schedule::two_tiers(60, 9, 3), Schedule::two_tiers(60, 1, 1), Schedule::online(7)}) {
        CAPTURE(s.name());
        Machine m(s);
        for (bool first = true; !s.done(); first = false) {
            m.perform(s.next());
            if (s.is_online() && m.state == 60 && m.to_reverse > 60) {
                s.finish();
                m.to_reverse = 60;
            }
            for (int step = 0; step < (first ? 1 : 60); ++step) {
                const Schedule::Place near = s.nearest(step);
                REQUIRE(near.step <= step);
                REQUIRE(m.held(near) == near.step);
                const auto later = [&](int held) {
                    return held > near.step && held <= step && held < m.to_reverse;
                };
                REQUIRE(std::ranges::none_of(m.memory, later));
                REQUIRE(std::ranges::none_of(m.disk, later));
            }
        }
    }
}

TEST_CASE("schedule: two tiers write every segment's state to disk once and read it once") {
    for (const int n : {1, 2, 7, 40, 99, 100, 101})
        for (const int k : {1, 2, 10, 33, 100, 1000})
            for (const int slots : {1, 2, 5, 40, 1000}) {
                CAPTURE(n);
                CAPTURE(k);
                CAPTURE(slots);
                Schedule s = Schedule::two_tiers(n, k, slots);
                run(s);
                CHECK(s.slots() <= std::min({slots, k, n}));
                CHECK(s.disk_slots() == (n + k - 1) / k);
            }
    Schedule long_one = Schedule::two_tiers(100'000, 100, 100);
    CHECK(run(long_one) == 99'900 + 1'000 * 199);  // 3 a step
}

TEST_CASE("schedule: blocks of steps whose intermediates are kept take the fewest evaluations") {
    constexpr int max_steps = 60, max_slots = 6;
    for (const int kept : {1, 2, 3, 7, 100}) {
        std::vector<std::vector<std::int64_t>> fewest(max_slots + 1,
                                                      std::vector<std::int64_t>(max_steps + 1));
        for (int s = 1; s <= max_slots; ++s)
            for (int n = 1; n <= max_steps; ++n) {
                std::int64_t& best = fewest[s][n];
                best = n <= kept ? n : n + fewest[s][n - kept];
                for (int d = 1; s > 1 && d < n; ++d)
                    best = std::min(best, d + fewest[s - 1][n - d] + fewest[s][d]);
                CAPTURE(kept);
                CAPTURE(n);
                CAPTURE(s);
                Schedule schedule = Schedule::binomial(n, s, kept);
                CHECK(run(schedule) == best);
            }
    }
    Schedule s = Schedule::binomial(5000, 50, 100);  // every 100th state, blocks of 100
    CHECK(run(s) == 2 * 5000 - 100);
}

TEST_CASE("schedule: online schedules evaluate no step more often than those of known length") {
    for (int slots = 1; slots <= 9; ++slots)
        for (int n = 1; n <= 150; ++n) {
            CAPTURE(slots);
            CAPTURE(n);
            Schedule online = Schedule::online(slots), known = Schedule::binomial(n, slots);
            std::vector<int> times(n), times_known = times;
            const auto count = [](const Action& a, std::vector<int>& each) {
                for (int t = a.step; a.kind == Action::Kind::forward && t < a.to; ++t)
                    ++each[t];
            };
            for (Action a = online.next();; a = online.next()) {
                count(a, times);
                if (a.to == n) break;
            }
            online.finish();
            while (!online.done())
                count(online.next(), times);
            while (!known.done())
                count(known.next(), times_known);
            CHECK(std::ranges::max(times) == std::ranges::max(times_known));
            Schedule counted = Schedule::online(slots);
            CHECK(run(counted, n) <= 1.25 * static_cast<double>(known.forward_evaluations()));
        }
    Schedule long_one = Schedule::online(100);
    CHECK(run(long_one, 5000) < 3 * 5000);
    long_one.restart();
    CHECK(run(long_one, 77) == 2 * 77 - 1);  // every state is stored
}

TEST_CASE("schedule: the memory limit selects the schedule") {
    CHECK(Schedule::within(5000 * 296, 296, 5000).stores_every_step());
    const Schedule less = Schedule::within(5000 * 296 - 1, 296, 5000);
    CHECK(less.slots() == 4999);
    CHECK(!less.stores_every_step());
    CHECK(Schedule::within(64 * 1024, 296, 5000).slots() == 221);
    CHECK(Schedule::within(std::int64_t{1} << 50, 296, 10).slots() == 10);
    CHECK(Schedule::within(296, 296, 10).slots() == 1);
    CHECK_THROWS_WITH_AS(Schedule::within(295, 296, 10),
                         "295 bytes are too few for a checkpoint, which takes 296", std::invalid_argument);
    CHECK(Schedule::within(10 * 296, 296, 1000, 99).disk_slots() == 91);  // 11 apart
    CHECK(Schedule::within(10 * 296, 296, 1000, 99).forward_evaluations() <
          Schedule::binomial(1000, 10).forward_evaluations());
    CHECK(Schedule::within(10 * 296, 296, 1000, 1'000'000).forward_evaluations() == 1999);
    CHECK(Schedule::within(100 * 296, 296, 1000, 1).disk_slots() == 0);  // disk would only cost time
    CHECK(Schedule::within(1000 * 296, 296, 1000, 1000).stores_every_step());
    CHECK(Schedule::online(9).name() == std::string("online"));
    CHECK(Schedule::two_tiers(9, 2, 2).name() == std::string("two tiers"));
    CHECK(Schedule::every_step(9).name() == std::string("every step"));
    CHECK(less.name() == std::string("binomial"));
    CHECK(Schedule::every_kth(9, 2).name() == std::string("every k-th"));
}
