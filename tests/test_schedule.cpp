// Schedules without physics: an executor of integers that complains of whatever cannot be done.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "adjoint/schedule.hpp"

using namespace costate;

namespace {

constexpr int nothing = -1;

struct Machine {
    std::vector<int> slots;                     // the states they hold
    int state = 0, left = nothing, to_reverse;  // left: the step whose intermediates are there
    std::int64_t evaluations = 0;
    explicit Machine(const Schedule& s) : slots(static_cast<size_t>(s.slots()), nothing), to_reverse(s.steps()) {}

    void perform(const Action& a) {
        switch (a.kind) {
            case Action::Kind::forward:
                REQUIRE(state == a.step);
                REQUIRE(a.step < a.to);
                REQUIRE(a.to <= to_reverse);
                evaluations += a.to - a.step, state = a.to, left = a.to - 1;
                break;
            case Action::Kind::store:
                REQUIRE(state == a.step);
                slots.at(static_cast<size_t>(a.slot)) = state;
                break;
            case Action::Kind::restore:
                REQUIRE(slots.at(static_cast<size_t>(a.slot)) == a.step);
                state = a.step, left = nothing;
                break;
            case Action::Kind::reverse:
                REQUIRE(a.step == to_reverse - 1);
                REQUIRE(left == a.step);
                state = left = nothing, to_reverse = a.step;
                break;
        }
    }
};

// Every step is reversed once, from the last to the first, in slots that hold what is read; returns the evaluations.
std::int64_t run(Schedule& s) {
    Machine m(s);
    while (!s.reverses_next()) m.perform(s.next());
    REQUIRE(m.state == s.steps());
    REQUIRE(m.evaluations == s.steps());
    while (!s.done()) m.perform(s.next());
    REQUIRE(m.to_reverse == 0);
    CHECK(std::ranges::count(m.slots, nothing) == 0);  // it asks for no more slots than it fills
    CHECK(m.evaluations == s.forward_evaluations());
    return m.evaluations;
}

}  // namespace

TEST_CASE("schedule: binomial takes as many evaluations as the formula says") {
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
    // Of n steps whose first state is in one of s slots: run d, store, do the rest with a slot less, come back for the d.
    constexpr int most_steps = 90, most_slots = 12;
    std::vector<std::vector<std::int64_t>> fewest(most_slots + 1, std::vector<std::int64_t>(most_steps + 1));
    for (int s = 1; s <= most_slots; ++s)
        for (int n = 1; n <= most_steps; ++n) {
            std::int64_t& best = fewest[static_cast<size_t>(s)][static_cast<size_t>(n)];
            best = std::int64_t{n} * (n + 1) / 2;
            for (int d = 1; s > 1 && d < n; ++d)
                best = std::min(best, d + fewest[static_cast<size_t>(s - 1)][static_cast<size_t>(n - d)] +
                                          fewest[static_cast<size_t>(s)][static_cast<size_t>(d)]);
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

TEST_CASE("schedule: long ones are counted without being run, and a million states in a row are short to note") {
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
        int again;  // evaluations of a further sweep, if its checkpoints stay; 0: all
    } cases[] = {{Schedule::every_step(20), 20}, {Schedule::binomial(20, 19), 21}, {Schedule::binomial(20, 18), 0},
                 {Schedule::binomial(20, 4), 0}, {Schedule::every_kth(20, 5), 0},  {Schedule::every_kth(20, 20), 20}};
    for (auto [s, again] : cases) {
        CAPTURE(s.name());
        Machine m(s);
        while (!s.done()) m.perform(s.next());
        for (int sweep = 0; sweep < 2; ++sweep) {
            s.again();
            m.to_reverse = 20, m.evaluations = 0;
            while (!s.done()) m.perform(s.next());
            CHECK(m.to_reverse == 0);
            CHECK(m.evaluations == (again > 0 ? again : s.forward_evaluations()));
        }
    }
    // in the middle of a first sweep too
    Schedule s = Schedule::binomial(20, 4);
    Machine m(s);
    for (int k = 0; k < 3; ++k) m.perform(s.next());
    s.again();
    while (!s.done()) m.perform(s.next());
    CHECK(m.to_reverse == 0);
}

TEST_CASE("schedule: the nearest checkpoint is the last that is stored and not later") {
    for (Schedule s :
         {Schedule::every_step(60), Schedule::binomial(60, 7), Schedule::binomial(60, 3), Schedule::every_kth(60, 9)}) {
        CAPTURE(s.name());
        Machine m(s);
        while (!s.done()) {
            m.perform(s.next());
            for (int step = 0; step < 60; ++step) {
                const Checkpoints::Place near = s.nearest(step);
                REQUIRE(near.step <= step);
                REQUIRE(m.slots.at(static_cast<size_t>(near.slot)) == near.step);
                const auto later = [&](int held) { return held > near.step && held <= step && held < m.to_reverse; };
                REQUIRE(std::ranges::none_of(m.slots, later));
            }
        }
    }
}

TEST_CASE("schedule: bytes choose it") {
    CHECK(Schedule::within(5000 * 296, 296, 5000).stores_every_step());
    const Schedule less = Schedule::within(5000 * 296 - 1, 296, 5000);
    CHECK(less.slots() == 4999);
    CHECK(!less.stores_every_step());
    CHECK(Schedule::within(64 * 1024, 296, 5000).slots() == 221);
    CHECK(Schedule::within(std::int64_t{1} << 50, 296, 10).slots() == 10);
    CHECK(Schedule::within(296, 296, 10).slots() == 1);
    CHECK_THROWS_WITH_AS(Schedule::within(295, 296, 10), "295 bytes hold no checkpoint, which takes 296", std::invalid_argument);
    CHECK(Schedule::every_step(9).name() == std::string("every step"));
    CHECK(less.name() == std::string("binomial"));
    CHECK(Schedule::every_kth(9, 2).name() == std::string("every k-th"));
}
