// Functions of a scalar beyond arithmetic: its plain value, conditions on it, and norms with a finite derivative at
// zero. A scalar is a double, a dual number (core/math/dual.hpp), or a number of lanes (core/math/lanes.hpp).
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

namespace costate {

// The value for branch conditions, which never depend on derivatives.
inline double value_of(double x) { return x; }
inline double value_of(float x) { return static_cast<double>(x); }

// The type of a value: double, or lanes for lanes.
template <class T> using Value = decltype(value_of(std::declval<const T&>()));

// The number of environments in a scalar.
template <class T> inline constexpr int lanes_of = 1;
inline constexpr int max_lanes = 8;
template <class T> inline constexpr bool is_lanes = lanes_of<T> > 1;
inline double lane(double x, int) { return x; }  // the value in a lane
// The scalar whose value in lane i is f(i).
template <class T, class F> T from_lanes(const F& f) {
    if constexpr (is_lanes<T>)
        return T::each(f);
    else
        return f(0);
}

// Whether a condition holds in some lane, in all lanes; a where it holds, otherwise b.
inline bool any(bool c) { return c; }
inline bool all(bool c) { return c; }
template <class T> T where(bool c, const T& a, const T& b) { return c ? a : b; }

// a() where the condition holds, otherwise b(); lanes may have both.
template <class A, class B> auto choose(bool c, const A& a, const B& b) { return c ? a() : b(); }

template <class T> T larger(const T& a, const T& b) { return a < b ? b : a; }
template <class T> T smaller(const T& a, const T& b) { return b < a ? b : a; }
template <class T> T magnitude(const T& x) {
    using std::abs;
    return abs(x);
}

// sqrt with derivative 0 at 0, where the true derivative does not exist.
template <class T> T safe_sqrt(const T& x) {
    using std::sqrt;
    return value_of(x) > 0.0 ? sqrt(x) : T(0);
}

// |v|, with derivative 0 at v = 0.
template <class V> typename V::Scalar safe_norm(const V& v) { return safe_sqrt(v.squaredNorm()); }

template <class T> T clamp_value(const T& x, const T& lo, const T& hi) {
    return x < lo ? lo : (hi < x ? hi : x);
}

}  // namespace costate
