// What the ways of a tendon around and through objects share.
#pragma once

#include <numbers>

#include "core/math/elementary.hpp"
#include "core/math/linalg.hpp"

namespace costate {

// The angle from t_0 to t_1 about n in the direction of the turn, from 0 to 2 pi
template <class T> T turned_angle(const Vec3<T>& t0, const Vec3<T>& t1, const Vec3<T>& n, double turn) {
    const T angle = T(turn) * atan2(n.dot(t0.cross(t1)), t0.dot(t1));
    return angle < T(0) ? angle + T(2 * std::numbers::pi) : angle;
}
template <class T>
void turned_angle_adj(const Vec3<T>& t0, const Vec3<T>& t1, const Vec3<T>& n, double turn, const T& angle_bar,
                      Vec3<T>& t0_bar, Vec3<T>& t1_bar, Vec3<T>& n_bar) {
    const T x = t0.dot(t1), y = n.dot(t0.cross(t1)), scale = T(turn) * angle_bar / (x * x + y * y);
    const T x_bar = -scale * y, y_bar = scale * x;
    t0_bar += x_bar * t1 + y_bar * t1.cross(n);
    t1_bar += x_bar * t0 + y_bar * n.cross(t0);
    n_bar += y_bar * t0.cross(t1);
}

// The tangent points, m from the centre, and the length of the arc between them, m; or their covectors.
template <class T> struct WrapArc {
    Vec3<T> t0, t1;
    T length;
    static WrapArc zero() { return {Vec3<T>::Zero(), Vec3<T>::Zero(), T(0)}; }
};

}  // namespace costate
