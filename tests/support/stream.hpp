// A stream of random numbers that is the same with every compiler and library, so that a seed gives the same
// case on every platform (the standard does not specify the algorithms of the distributions in <random>).
// splitmix64 by S. Vigna, after Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// 2014.
#pragma once

#include <cstdint>
#include <string_view>

#include "tests/support/probe.hpp"

namespace costate::test {

// Has the generator interface of random_mass, random_mesh, ...
class Stream {
public:
    explicit Stream(std::uint64_t seed) : state_(seed) {}
    // Streams of different purpose or index are independent: draws from one do not change another.
    Stream(std::uint64_t seed, std::string_view purpose, int index = 0) : state_(seed) {
        for (const char c : purpose)
            state_ = bits() ^ static_cast<unsigned char>(c);
        state_ = bits() ^ static_cast<std::uint64_t>(index);
        state_ = bits();
    }

    std::uint64_t bits() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    double uniform(double lo, double hi) {
        return lo + (hi - lo) * (static_cast<double>(bits() >> 11) * 0x1p-53);
    }
    bool chance(double p) { return uniform(0, 1) < p; }
    int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }
    // Uniform in the exponent of 10.
    double magnitude(double lo, double hi) { return std::pow(10.0, uniform(lo, hi)); }
    template <class X> X pick(std::initializer_list<X> values) {
        return values.begin()[below(static_cast<int>(values.size()))];
    }
    // Mean 0, variance 1, absolute value at most 3: the sum of three uniform numbers.
    double normal() {
        const double a = uniform(-1, 1), b = uniform(-1, 1), c = uniform(-1, 1);
        return a + b + c;
    }
    double around_zero(Regime r) { return scale_of(r) * normal(); }
    Vec3<double> vec3(Regime r = Regime::random) { return {around_zero(r), around_zero(r), around_zero(r)}; }
    Vec3<double> unit() {
        const Vec3<double> v = vec3();
        return v.norm() > 1e-3 ? Vec3<double>(v.normalized()) : Vec3<double>(Vec3<double>::UnitZ());
    }
    Mat3<double> rotation() { return rotation_matrix(quaternion_exp<double>(vec3())); }

private:
    std::uint64_t state_;
};

}  // namespace costate::test
