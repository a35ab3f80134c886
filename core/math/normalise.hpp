// The direction of a vector.
#pragma once

#include "core/math/linalg.hpp"
#include "core/math/scalar.hpp"

namespace costate {

inline constexpr double degenerate_length = 1e-12;  // a vector up to this length has no direction

// n = v/|v|;  the constant z if |v| <= degenerate_length
template <class T> Vec3<T> normalise(const Vec3<T>& v) {
    const T length = safe_norm(v);
    if (!(value_of(length) > degenerate_length)) return Vec3<T>::UnitZ();
    return v / length;
}
// v_bar += (n_bar - n (n . n_bar))/|v|;  0 if n is constant
template <class T> void normalise_adj(const Vec3<T>& v, const Vec3<T>& n_bar, Vec3<T>& v_bar) {
    const T length = safe_norm(v);
    if (!(value_of(length) > degenerate_length)) return;
    const Vec3<T> n = v / length;
    v_bar += (n_bar - n * n.dot(n_bar)) / length;
}

}  // namespace costate
