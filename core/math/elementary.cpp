#include "core/math/elementary.hpp"

#include <cstdint>

namespace costate::elementary {

namespace {

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

// 64 zeros, then the binary digits of 2/pi
constexpr std::uint64_t two_over_pi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

// 64 digits of the table, from a digit on
std::uint64_t digits(int from) {
    const int word = from / 64, bit = from % 64;
    return bit == 0 ? two_over_pi[word] : two_over_pi[word] << bit | two_over_pi[word + 1] >> (64 - bit);
}

// High 128 bits of a b
Wide high_product(Wide a, Wide b) {
    const auto low = [](Wide x) { return static_cast<std::uint64_t>(x); };
    const auto high = [](Wide x) { return static_cast<std::uint64_t>(x >> 64); };
    const Wide ll = Wide{low(a)} * low(b), lh = Wide{low(a)} * high(b), hl = Wide{high(a)} * low(b),
               hh = Wide{high(a)} * high(b);
    const Wide middle = (ll >> 64) + low(lh) + low(hl);
    return hh + (lh >> 64) + (hl >> 64) + (middle >> 64);
}

}  // namespace

// |x| = m 2^e. Digits of 2/pi before the (e - 2)th give multiples of 4 quarters; of the 192 from there on,
// m times them is a whole number of 2^-190 quarters, less than 4 quarters when taken modulo 2^192.
ReducedAngle<double> reduce_large_angle(double x) {
    if (!(x - x == 0)) return {0, {std::numeric_limits<double>::quiet_NaN(), 0}};
    int exponent;
    const auto m = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::abs(x), &exponent), 53));
    const int from = exponent - 53 + 62;
    const Wide low = Wide{m} * digits(from + 128), middle = Wide{m} * digits(from + 64) + (low >> 64);
    const std::uint64_t top = m * digits(from) + static_cast<std::uint64_t>(middle >> 64);
    const Wide product = Wide{top} << 64 | static_cast<std::uint64_t>(middle);  // in units of 2^-126 quarters

    int quarter = static_cast<int>(top >> 62);
    Wide fraction = product << 2 | static_cast<std::uint64_t>(low) >> 62;  // of a quarter, in units of 2^-128
    const bool beyond = fraction >> 127 != 0;                              // nearer to the next quarter
    if (beyond) {
        fraction = -fraction;
        ++quarter;
    }
    constexpr Wide pi_4 = Wide{0xc90fdaa22168c234} << 64 | 0xc4c6628b80dc1cd1;  // in units of 2^-128
    const Wide angle = high_product(fraction, pi_4);                            // in units of 2^-127
    const auto nearest = static_cast<double>(angle);
    const auto rest = static_cast<double>(static_cast<SignedWide>(angle - static_cast<Wide>(nearest)));
    const double sign = (x < 0) != beyond ? -1 : 1;
    return {(x < 0 ? -1.0 : 1.0) * (quarter > 2 ? quarter - 4 : quarter),
            {sign * std::ldexp(nearest, -127), sign * std::ldexp(rest, -127)}};
}

}  // namespace costate::elementary

template costate::SinCos<double> costate::sin_cos(const double&);
