// Small vectors and matrices: short names for Eigen's fixed-size types.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "core/math/scalar.hpp"

namespace costate {

template <class T> using Vec3 = Eigen::Matrix<T, 3, 1>;
template <class T> using Mat3 = Eigen::Matrix<T, 3, 3>;
template <class T> using VecX = Eigen::Matrix<T, Eigen::Dynamic, 1>;

// Loads three numbers of an array; adds to three numbers.
template <class T> Vec3<T> load3(const T* x) { return {x[0], x[1], x[2]}; }
template <class T> void add3(T* x, const Vec3<T>& d) {
    x[0] += d.x();
    x[1] += d.y();
    x[2] += d.z();
}

// [a]x, the matrix with [a]x b = a x b.
template <class T> Mat3<T> skew(const Vec3<T>& a) {
    Mat3<T> m;
    m << T(0), -a.z(), a.y(), a.z(), T(0), -a.x(), -a.y(), a.x(), T(0);
    return m;
}

// axial(B) . d = trace([d]x B): the covector of a rotation vector d that enters linearly as [d]x.
template <class T> Vec3<T> axial(const Mat3<T>& B) {
    return {B(1, 2) - B(2, 1), B(2, 0) - B(0, 2), B(0, 1) - B(1, 0)};
}

template <class T> Mat3<T> symmetric_part(const Mat3<T>& A) { return T(0.5) * (A + A.transpose()); }

// Converts double-precision constants of the model to the working scalar.
template <class T, int R, int C> Eigen::Matrix<T, R, C> cast(const Eigen::Matrix<double, R, C>& m) {
    return m.template cast<T>();
}

}  // namespace costate
