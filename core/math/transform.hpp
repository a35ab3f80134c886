// Rigid transforms. X_AB takes B coordinates to A coordinates.
//
// The adjoint of a Transform is a Force in A: the covector of d in X <- exp(d) X, with the twist d in A
// coordinates. The perturbation is on the left, because all poses of a tree are in one common frame
// (core/dynamics/kinematics.hpp): there, covectors simply add up, and adjoints need no transforms.
#pragma once

#include "core/math/spatial.hpp"

namespace costate {

template <class T> struct Transform {
    Mat3<T> R;  // axes of B in A
    Vec3<T> p;  // origin of B in A, m
    static Transform identity() { return {Mat3<T>::Identity(), Vec3<T>::Zero()}; }
};

// X_AC = X_AB X_BC
template <class T> Transform<T> compose(const Transform<T>& X, const Transform<T>& Y) {
    return {X.R * Y.R, X.R * Y.p + X.p};
}
// Z = X Y:  X_bar += Z_bar,   Y_bar += X^T Z_bar (the same wrench in B coordinates)
template <class T>
void compose_adj(const Transform<T>& X, const Transform<T>&, const Force<T>& Z_bar, Force<T>& X_bar,
                 Force<T>& Y_bar) {
    X_bar += Z_bar;
    Y_bar += Force<T>{X.R.transpose() * (Z_bar.ang - X.p.cross(Z_bar.lin)), X.R.transpose() * Z_bar.lin};
}

// y_A = R x_B + p
template <class T> Vec3<T> transform_point(const Transform<T>& X, const Vec3<T>& x) { return X.R * x + X.p; }
// X_bar += (y x y_bar, y_bar),   x_bar += R^T y_bar
template <class T>
void transform_point_adj(const Transform<T>& X, const Vec3<T>& x, const Vec3<T>& y_bar, Force<T>& X_bar,
                         Vec3<T>& x_bar) {
    X_bar += point_force(transform_point(X, x), y_bar);
    x_bar += X.R.transpose() * y_bar;
}

// y_A = R x_B, a direction
template <class T> Vec3<T> rotate(const Transform<T>& X, const Vec3<T>& x) { return X.R * x; }
// X_bar.ang += y x y_bar,   x_bar += R^T y_bar
template <class T>
void rotate_adj(const Transform<T>& X, const Vec3<T>& x, const Vec3<T>& y_bar, Force<T>& X_bar,
                Vec3<T>& x_bar) {
    X_bar.ang += rotate(X, x).cross(y_bar);
    x_bar += X.R.transpose() * y_bar;
}

}  // namespace costate
