// The name of a random case, which replays it, and the shrinking of a failing case.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>

#include <doctest/doctest.h>

#include "tests/support/random_world.hpp"

namespace costate::test {

struct RandomCase {
    std::uint64_t world = 0;
    int state = 0;
    WorldSize size;
    std::string text() const {
        char s[120];
        std::snprintf(s, sizeof s, "%llu/%d/%d,%d,%d,%d", static_cast<unsigned long long>(world), state,
                      size.bodies, size.shapes, size.equalities, size.actuators);
        return s;
    }
    static RandomCase parse(const char* text) {
        RandomCase c;
        unsigned long long world = 0;
        WorldSize& n = c.size;
        const int read = std::sscanf(text, "%llu/%d/%d,%d,%d,%d", &world, &c.state, &n.bodies, &n.shapes,
                                     &n.equalities, &n.actuators);
        REQUIRE_MESSAGE((read == 2 || read == 6),
                        "COSTATE_SEED is world/state or world/state/bodies,shapes,equalities,actuators");
        c.world = world;
        return c;
    }
};

// The smallest failing size, found by repeatedly decreasing each number.
inline WorldSize shrink(WorldSize size, const std::function<bool(const WorldSize&)>& fails) {
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (int WorldSize::*part :
             {&WorldSize::bodies, &WorldSize::shapes, &WorldSize::equalities, &WorldSize::actuators}) {
            for (int n = part == &WorldSize::bodies; n < size.*part; ++n) {
                WorldSize less = size;
                less.*part = n;
                if (!fails(less)) continue;
                size = less;
                smaller = true;
            }
        }
    }
    return size;
}

inline int number_from(const char* variable, int otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace costate::test
