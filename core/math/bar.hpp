// Bar<X>: the type of the adjoint of an X. Duality fixes it, so the signature of every `foo_adj` follows from
// `foo`.
#pragma once

#include "core/math/inertia.hpp"
#include "core/math/rotation.hpp"
#include "core/math/spatial.hpp"
#include "core/math/transform.hpp"

namespace costate {

struct NoBar {};  // bar of indices and enumerators, which have no derivatives

template <class X> struct BarOf { using type = X; };  // scalars and Euclidean vectors are their own dual
template <> struct BarOf<int> { using type = NoBar; };
template <> struct BarOf<bool> { using type = NoBar; };
template <class T> struct BarOf<Motion<T>> { using type = Force<T>; };
template <class T> struct BarOf<Force<T>> { using type = Motion<T>; };
template <class T> struct BarOf<Transform<T>> { using type = Force<T>; };
template <class T> struct BarOf<Quaternion<T>> { using type = Vec3<T>; };

template <class X> using Bar = typename BarOf<X>::type;

}  // namespace costate
