// Random numbers that are the same on every machine: distributions of the standard library are each library's own.
#pragma once

#include <random>

#include "core/math/elementary.hpp"

namespace costate {

class Random {
public:
    explicit Random(std::uint64_t seed) : bits_(seed) {}
    // In 0..1, both ends excluded.
    double uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; }
    // Of mean 0 and variance 1                                                   (Box & Muller 1958)
    double normal() {
        const double u = uniform(), v = uniform();
        return std::sqrt(-2 * log(u)) * cos(2 * std::numbers::pi * v);
    }

    std::mt19937_64& bits() { return bits_; }

private:
    std::mt19937_64 bits_;
};

}  // namespace costate
