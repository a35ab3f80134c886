// Two tangents that form a frame with a contact normal.
#pragma once

#include "collision/contact/closest.hpp"

namespace costate {

template <class T> struct Tangents {
    Vec3<T> t1, t2;  // unit; t1, t2, n are right-handed in the order (n, t1, t2)
};

// t1 along e:   t1 = normalise(v),   v = e - n (e . n),   t2 = n x t1
template <class T> Tangents<T> tangents_along(const Vec3<T>& n, const Vec3<T>& e) {
    const Vec3<T> t1 = normalise<T>(e - n * e.dot(n));
    return {t1, n.cross(t1)};
}
// n_bar += t1 x t2_bar - (e . n) v_bar - (n . v_bar) e,   e_bar += v_bar - n (n . v_bar),
// v_bar from t1_bar + t2_bar x n
template <class T>
void tangents_along_adj(const Vec3<T>& n, const Vec3<T>& e, const Tangents<T>& out_bar, Vec3<T>& n_bar,
                        Vec3<T>& e_bar) {
    const Vec3<T> v = e - n * e.dot(n);
    Vec3<T> v_bar = Vec3<T>::Zero();
    n_bar += normalise(v).cross(out_bar.t2);
    normalise_adj<T>(v, out_bar.t1 + out_bar.t2.cross(n), v_bar);
    n_bar -= e.dot(n) * v_bar + n.dot(v_bar) * e;
    e_bar += v_bar - n * n.dot(v_bar);
}

// The axis from which tangents are computed, 0 (x), or 1 (y) where n is along x: a branch on the value of n.
template <class T> int tangent_axis(const Vec3<T>& n) { return magnitude(value_of(n.x())) < 0.9 ? 0 : 1; }

template <class T> Tangents<T> contact_tangents(const Vec3<T>& n) {
    return tangents_along<T>(n, Vec3<T>::Unit(tangent_axis(n)));
}
template <class T> void contact_tangents_adj(const Vec3<T>& n, const Tangents<T>& out_bar, Vec3<T>& n_bar) {
    Vec3<T> none = Vec3<T>::Zero();
    tangents_along_adj<T>(n, Vec3<T>::Unit(tangent_axis(n)), out_bar, n_bar, none);
}

}  // namespace costate
