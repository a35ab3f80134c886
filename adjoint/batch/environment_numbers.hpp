// Random numbers of environments. Each follows from the seed, the number of the environment and its own place, so
// it is the same whoever draws it, in whatever order. No function of the C library takes part.
#pragma once

#include <cstdint>

namespace costate {

// The output function of SplitMix64 (Steele, Lea & Flood 2014), a bijection of 64 bits.
inline std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

class EnvironmentNumbers {
public:
    enum class Of : std::uint64_t { start, parameter, control };
    EnvironmentNumbers(std::uint64_t seed, std::int64_t environment)
        : key_(mixed(mixed(seed + step) + step * (static_cast<std::uint64_t>(environment) + 1))) {}

    // Even in [-1, 1), of 53 bits: number `at` of a kind.
    double operator()(Of kind, std::uint64_t at) const {
        const std::uint64_t of_kind = mixed(key_ + step * (static_cast<std::uint64_t>(kind) + 1));
        return static_cast<double>(mixed(of_kind + step * (at + 1)) >> 11) * 0x1p-52 - 1;
    }

private:
    static constexpr std::uint64_t step = 0x9e3779b97f4a7c15u;  // 2^64 over the golden ratio
    std::uint64_t key_;
};

}  // namespace costate
