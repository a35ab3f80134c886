// Functions of a scalar beyond arithmetic: its plain value, and norms with a finite derivative at zero.
#pragma once

#include <cmath>
#include <type_traits>

namespace costate {

// The value for branch conditions, which never depend on derivatives.
inline double value_of(double x) { return x; }
inline double value_of(float x) { return static_cast<double>(x); }

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
