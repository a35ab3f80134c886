// Sine, cosine, exponential, logarithm and arc tangent by sums and products alone. A system's libm rounds in its
// own way; these give the same bits on every machine, by every compiler and in every lane. Their error is below
// one unit in the last place, that of atan2 below 2.5, for every finite argument. An infinite angle gives NaN.
//
// A multiple of a constant is taken off the argument (Cody & Waite, "Software Manual for the Elementary
// Functions", 1980) until Taylor's series in the rest ends below round-off. The first summand of a result is exact
// and the others are small, so that little is lost by rounding them (Muller, "Elementary Functions", 2016,
// chapter 11).
#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <numbers>

#include "core/math/scalar.hpp"

namespace costate {

// What the functions of this file take. Dual numbers call them for their values.
template <class T>
concept Real = std::same_as<T, double> || is_lanes<T>;

namespace elementary {

// The nearest integer of |x| < 2^51.
template <Real T> T nearest(const T& x) { return (x + T(0x1.8p52)) - T(0x1.8p52); }

// c_0 + c_1 x + c_2 x^2 + ...; even and odd powers apart, because each sum waits for itself alone
template <Real T, size_t n> T polynomial(const T& x, const std::array<double, n>& c) {
    static_assert(n % 2 == 0);
    const T x2 = x * x;
    T even(c[n - 2]), odd(c[n - 1]);
    for (size_t i = n - 2; i > 0; i -= 2) {
        even = even * x2 + T(c[i - 2]);
        odd = odd * x2 + T(c[i - 1]);
    }
    return even + odd * x;
}

// A number of more bits than a double has: the nearest double, and the rest.
template <Real T> struct Split {
    T high, low;
    // a + b, of any sizes                                                        (Knuth's two-sum)
    static Split sum(const T& a, const T& b) {
        const T s = a + b, of_b = s - a;
        return {s, (a - (s - of_b)) + (b - of_b)};
    }
};

// x = quarter pi/2 + angle (mod 2 pi), |angle| <= pi/4, quarter in -2..2
template <Real T> struct ReducedAngle {
    T quarter;
    Split<T> angle;
};

// For large finite |x|, by the digits of 2/pi that matter                         (Payne & Hanek 1983)
ReducedAngle<double> reduce_large_angle(double x);

template <Real T> ReducedAngle<T> reduce_angle(const T& x) {
    // pi/2 in three parts. The first two have 37 bits: n times them is exact.
    constexpr double a = 0x1.921fb54440000p+0, b = 0x1.68c234c4c0000p-39, c = 0x1.98a2e03707345p-77;
    if (any(!(magnitude(x) < T(1e5)))) {
        if constexpr (is_lanes<T>) {
            const auto of = [&](int i) { return reduce_angle(lane(x, i)); };
            return {from_lanes<T>([&](int i) { return of(i).quarter; }),
                    {from_lanes<T>([&](int i) { return of(i).angle.high; }),
                     from_lanes<T>([&](int i) { return of(i).angle.low; })}};
        } else {
            return reduce_large_angle(x);
        }
    }
    const T n = nearest(T(x * T(2 / std::numbers::pi)));
    const Split<T> rest = Split<T>::sum(x - n * T(a), -n * T(b));
    return {n - T(4) * nearest(T(n * T(0.25))), Split<T>::sum(rest.high, rest.low - n * T(c))};
}

// 2^k x, rounded once, for an integer k
template <Real T> T scale_by_power_of_two(const T& x, const T& k) {
    return from_lanes<T>([&](int i) { return std::ldexp(lane(x, i), static_cast<int>(lane(k, i))); });
}

// x = mantissa 2^exponent, 1/2 <= mantissa < 1, for finite x > 0
template <Real T> struct Binary { T mantissa, exponent; };
template <Real T> Binary<T> binary(const T& x) {
    const T exponent = from_lanes<T>([&](int i) { return std::logb(lane(x, i)) + 1; });
    return {scale_by_power_of_two(x, T(-exponent)), exponent};
}

// atan(k/8)
template <Real T> Split<T> atan_of_eighths(const T& k) {
    static constexpr Split<double> table[] = {{0, 0},
                                              {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                              {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                              {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                              {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                              {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                              {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                              {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                              {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};
    const auto entry = [&](int i) {  // the first one for NaN
        return table[lane(k, i) >= 0 ? static_cast<int>(lane(k, i)) : 0];
    };
    return {from_lanes<T>([&](int i) { return entry(i).high; }),
            from_lanes<T>([&](int i) { return entry(i).low; })};
}

// Constants and their rests. ln2 has 42 bits: an exponent times it is exact.
constexpr double ln2 = 0x1.62e42fefa3800p-1, ln2_rest = 0x1.ef35793c76730p-45, pi_2 = 0x1.921fb54442d18p+0,
                 pi_2_rest = 0x1.1a62633145c07p-54;

}  // namespace elementary

template <class T> struct SinCos { T sin, cos; };

template <Real T> SinCos<T> sin_cos(const T& x) {
    constexpr std::array sine{-1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
                              -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
    constexpr std::array cosine{
        1.0 / 24,        -1.0 / 720,         1.0 / 40320,          -1.0 / 3628800,
        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000};
    const auto [quarter, angle] = elementary::reduce_angle(x);
    const T &r = angle.high, &low = angle.low, r2 = r * r, half = T(0.5) * r2, first = T(1) - half;
    const T s = r + (low * first + r * r2 * elementary::polynomial(r2, sine));
    const T c = first + ((T(1) - first - half) + (r2 * r2 * elementary::polynomial(r2, cosine) - r * low));
    const auto odd = magnitude(quarter) == T(1);
    const T sin_x = where(odd, c, s), cos_x = where(odd, s, c);
    return {where(magnitude(T(quarter - T(0.5))) < T(1), sin_x, T(-sin_x)),   // quarters 0 and 1
            where(magnitude(T(quarter + T(0.5))) < T(1), cos_x, T(-cos_x))};  // quarters 0 and -1
}
template <Real T> T sin(const T& x) { return sin_cos(x).sin; }
template <Real T> T cos(const T& x) { return sin_cos(x).cos; }

template <Real T> T exp(const T& x) {
    constexpr std::array series{1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    const T inside = where(x == x, clamp_value(x, T(-746), T(710)), T(0));
    const T k = elementary::nearest(T(inside * T(std::numbers::log2e)));
    const T a = inside - k * T(elementary::ln2), b = k * T(elementary::ln2_rest), r = a - b,
            low = (a - r) - b;
    const T y = T(1) + (r + (low + r * r * elementary::polynomial(r, series)));
    return where(x == x, elementary::scale_by_power_of_two(y, k), x);
}

// log(1 + f) = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + R)),   s = f/(2 + f),   R = 2/3 s^2 + 2/5 s^4 + ...
template <Real T> T log(const T& x) {
    constexpr std::array series{2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
    constexpr double infinity = std::numeric_limits<double>::infinity(),
                     undefined = std::numeric_limits<double>::quiet_NaN();
    const auto positive = T(0) < x;
    const T inside = where(positive, where(x < T(infinity), x, T(1)), T(1));
    const auto [mantissa, exponent] = elementary::binary(inside);
    const auto small = mantissa < T(std::numbers::sqrt2 / 2);
    const T f = where(small, T(T(2) * mantissa), mantissa) - T(1),
            k = where(small, T(exponent - T(1)), exponent);
    const T s = f / (T(2) + f), s2 = s * s, half = T(0.5) * f * f,
            R = s2 * elementary::polynomial(s2, series);
    const T y = k * T(elementary::ln2) - ((half - (s * (half + R) + k * T(elementary::ln2_rest))) - f);
    return where(positive, where(x < T(infinity), y, x), where(x == T(0), T(-infinity), T(undefined)));
}

// The angle of the point (x, y) from the x axis, rad, in -pi..pi. With q the smaller of |x| and |y| over the
// larger, and c the nearest eighth: atan(q) = atan(c) + atan((q - c)/(1 + c q)).
template <Real T> T atan2(const T& y, const T& x) {
    constexpr std::array series{-1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13};
    using std::signbit;
    const auto steep = magnitude(x) < magnitude(y), left = signbit(x);
    const T longer = where(steep, magnitude(y), magnitude(x)),
            shorter = where(steep, magnitude(x), magnitude(y));
    const T q = shorter / where(longer == T(0), T(1), longer);
    const T eighths = elementary::nearest(T(T(8) * q)), c = T(0.125) * eighths, t = (q - c) / (T(1) + c * q),
            t2 = t * t;
    const elementary::Split<T> of_c = elementary::atan_of_eighths(eighths);
    const T quarters = where(steep, T(1), where(left, T(2), T(0)));
    const T turn = where(steep, where(left, T(1), T(-1)), where(left, T(-1), T(1)));
    const auto [high, low] = elementary::Split<T>::sum(quarters * T(elementary::pi_2), turn * of_c.high);
    const T rest = of_c.low + (t + t * t2 * elementary::polynomial(t2, series));
    const T angle = high + (low + (quarters * T(elementary::pi_2_rest) + turn * rest));
    return where(signbit(y), T(-angle), angle);
}

extern template SinCos<double> sin_cos(const double&);

}  // namespace costate
