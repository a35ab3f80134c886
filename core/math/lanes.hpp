// Several environments in one number: W doubles, one for each of W environments of one model. The templates of a
// step work on all of them at once, and each lane gets the bits that the same operations on doubles give.
//
// A condition is one for all lanes. Where it holds for some of them only, the lanes part: LanesPart is thrown, and
// the caller runs the environments one by one. `choose` and `where` let lanes differ: where lanes would part
// often, both sides are computed.
#pragma once

#include <cmath>
#include <cstdint>

#include <Eigen/Core>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "core/math/scalar.hpp"

namespace costate {

struct LanesPart {};

// W doubles in registers of vectors, and W conditions (-1: true, 0: false). Aligned as doubles, so that an array of
// doubles (entries x W) can be read as lanes.
template <int W> struct Packs;
#define COSTATE_PACKS(W)                                                                                     \
    template <> struct Packs<W> {                                                                            \
        typedef double Values __attribute__((vector_size(8 * W), aligned(8), may_alias));                    \
        typedef std::int64_t Conditions __attribute__((vector_size(8 * W), aligned(8)));                     \
    };
COSTATE_PACKS(2)
COSTATE_PACKS(4)
COSTATE_PACKS(8)
#undef COSTATE_PACKS

template <int W> struct LaneMask {
    using Pack = typename Packs<W>::Conditions;
    Pack bits;
    bool any() const {
#ifdef __AVX2__
        if constexpr (W == 4) return __builtin_ia32_movmskpd256(reinterpret_cast<__m256d>(bits)) != 0;
#endif
#ifdef __AVX512DQ__
        if constexpr (W == 8) return _mm512_movepi64_mask(reinterpret_cast<__m512i>(bits)) != 0;
#endif
        std::int64_t any = bits[0];
        for (int i = 1; i < W; ++i)
            any |= bits[i];
        return any != 0;
    }
    bool all() const {
#ifdef __AVX2__
        if constexpr (W == 4) return __builtin_ia32_movmskpd256(reinterpret_cast<__m256d>(bits)) == 15;
#endif
#ifdef __AVX512DQ__
        if constexpr (W == 8) return _mm512_movepi64_mask(reinterpret_cast<__m512i>(bits)) == 255;
#endif
        std::int64_t all = bits[0];
        for (int i = 1; i < W; ++i)
            all &= bits[i];
        return all != 0;
    }
    // NOLINTNEXTLINE(google-explicit-constructor): a condition of the templates
    operator bool() const {
        const bool some = any();
        if (some != all()) throw LanesPart();
        return some;
    }
    friend LaneMask operator!(const LaneMask& a) { return {~a.bits}; }
    friend LaneMask operator&(const LaneMask& a, const LaneMask& b) { return {a.bits & b.bits}; }
    friend LaneMask operator|(const LaneMask& a, const LaneMask& b) { return {a.bits | b.bits}; }
};

template <int W> struct Lanes {
    static constexpr int width = W;
    using Pack = typename Packs<W>::Values;
    using Mask = LaneMask<W>;
    Pack v;

    Lanes() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): constants mix with lanes everywhere
    Lanes(double x) : v(x - Pack{}) {}

    double operator[](int lane) const { return v[lane]; }
    void set(int lane, double x) { v[lane] = x; }

    Lanes& operator+=(const Lanes& b) {
        v += b.v;
        return *this;
    }
    Lanes& operator-=(const Lanes& b) {
        v -= b.v;
        return *this;
    }
    Lanes& operator*=(const Lanes& b) {
        v *= b.v;
        return *this;
    }
    Lanes& operator/=(const Lanes& b) {
        v /= b.v;
        return *this;
    }
    friend Lanes operator-(Lanes a) {
        a.v = -a.v;
        return a;
    }
    friend Lanes operator+(const Lanes& a) { return a; }
    friend Lanes operator+(Lanes a, const Lanes& b) { return a += b; }
    friend Lanes operator-(Lanes a, const Lanes& b) { return a -= b; }
    friend Lanes operator*(Lanes a, const Lanes& b) { return a *= b; }
    friend Lanes operator/(Lanes a, const Lanes& b) { return a /= b; }

    friend Mask operator<(const Lanes& a, const Lanes& b) { return {a.v < b.v}; }
    friend Mask operator>(const Lanes& a, const Lanes& b) { return {a.v > b.v}; }
    friend Mask operator<=(const Lanes& a, const Lanes& b) { return {a.v <= b.v}; }
    friend Mask operator>=(const Lanes& a, const Lanes& b) { return {a.v >= b.v}; }
    friend Mask operator==(const Lanes& a, const Lanes& b) { return {a.v == b.v}; }
    friend Mask operator!=(const Lanes& a, const Lanes& b) { return {a.v != b.v}; }

    static Lanes from(const Pack& pack) {
        Lanes r;
        r.v = pack;
        return r;
    }
    template <class F> static Lanes each(const F& f) {
        Lanes r;
        for (int i = 0; i < W; ++i)
            r.v[i] = f(i);
        return r;
    }
    friend Lanes sqrt(const Lanes& a) {
#ifdef __AVX2__
        if constexpr (W == 4) return from(__builtin_ia32_sqrtpd256(a.v));
#endif
#ifdef __AVX512F__
        if constexpr (W == 8) return from(_mm512_maskz_sqrt_pd(255, a.v));
#endif
        return each([&](int i) { return std::sqrt(a.v[i]); });
    }
    friend Lanes abs(const Lanes& a) {
        const typename Mask::Pack but_the_sign = {};
        return from(
            reinterpret_cast<Pack>(reinterpret_cast<typename Mask::Pack>(a.v) & (but_the_sign + INT64_MAX)));
    }
    friend Mask signbit(const Lanes& a) { return {reinterpret_cast<typename Mask::Pack>(a.v) < 0}; }
    friend Mask isfinite(const Lanes& a) { return {a.v - a.v == 0}; }
};

template <int W> inline constexpr int lanes_of<Lanes<W>> = W;

// The type of a condition on scalars, and the one that in lane i is f(i).
template <class T> struct ConditionOf { using type = bool; };
template <int W> struct ConditionOf<Lanes<W>> { using type = LaneMask<W>; };
template <class T> using Condition = typename ConditionOf<T>::type;
template <class T, class F> Condition<T> lanes_where(const F& f) {
    if constexpr (is_lanes<T>) {
        Condition<T> c;
        for (int i = 0; i < lanes_of<T>; ++i)
            c.bits[i] = f(i) ? -1 : 0;
        return c;
    } else {
        return f(0);
    }
}

// Sets of lanes as bits: all of them, and those in which a condition holds.
using LaneBits = unsigned char;
template <class T> inline constexpr LaneBits all_lanes = static_cast<LaneBits>((1 << lanes_of<T>)-1);
inline LaneBits bits_of(bool c) { return c ? 1 : 0; }
template <int W> LaneBits bits_of(const LaneMask<W>& c) {
    int bits = 0;
    for (int i = 0; i < W; ++i)
        bits |= c.bits[i] != 0 ? 1 << i : 0;
    return static_cast<LaneBits>(bits);
}
template <class T> Condition<T> lanes_in(LaneBits bits) {
    if constexpr (is_lanes<T>) {
        using Pack = typename Condition<T>::Pack;
        Pack of_lane;
        for (int i = 0; i < lanes_of<T>; ++i)
            of_lane[i] = 1 << i;
        return {((Pack{} + bits) & of_lane) != 0};
    } else {
        return (bits & 1) != 0;
    }
}

template <int W> Lanes<W> value_of(const Lanes<W>& x) { return x; }
template <int W> bool any(const LaneMask<W>& c) { return c.any(); }
template <int W> bool all(const LaneMask<W>& c) { return c.all(); }
template <int W> double lane(const Lanes<W>& x, int i) { return x.v[i]; }

template <int W> Lanes<W> where(const LaneMask<W>& c, const Lanes<W>& a, const Lanes<W>& b) {
    return Lanes<W>::from(c.bits ? a.v : b.v);
}
template <int W, class A, class B> auto choose(const LaneMask<W>& c, const A& a, const B& b) {
    if (!c.any()) return b();
    return c.all() ? a() : where(c, a(), b());
}

template <int W> Lanes<W> safe_sqrt(const Lanes<W>& x) { return where(x > 0.0, sqrt(x), Lanes<W>(0)); }
template <int W> Lanes<W> larger(const Lanes<W>& a, const Lanes<W>& b) { return where(a < b, b, a); }
template <int W> Lanes<W> smaller(const Lanes<W>& a, const Lanes<W>& b) { return where(b < a, b, a); }
template <int W> Lanes<W> clamp_value(const Lanes<W>& x, const Lanes<W>& lo, const Lanes<W>& hi) {
    return where(x < lo, lo, where(hi < x, hi, x));
}

}  // namespace costate

template <int W> struct Eigen::NumTraits<costate::Lanes<W>> : Eigen::NumTraits<double> {
    using Real = costate::Lanes<W>;
    using NonInteger = costate::Lanes<W>;
    using Nested = costate::Lanes<W>;
    using Literal = costate::Lanes<W>;
    static Real epsilon() { return Real(NumTraits<double>::epsilon()); }
    static Real dummy_precision() { return Real(NumTraits<double>::dummy_precision()); }
    static Real highest() { return Real(NumTraits<double>::highest()); }
    static Real lowest() { return Real(NumTraits<double>::lowest()); }
};
