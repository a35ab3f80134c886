// Smoothed projections on the half line and on the cone |z_T| <= z_n (Chen, Sun & Sun 2003; Hayashi,
// Yamashita & Fukushima 2005). max(0, l) is replaced by
//
//   phi(l) = (l + sqrt(l^2 + 4 e^2))/2
//
// which tends to max(0, l) as e -> 0.
#pragma once

#include <cmath>

#include <Eigen/Core>

namespace costate {

struct Smoothed {
    double e;
    double value(double l) const { return (l + std::sqrt(l * l + 4 * e * e)) / 2; }
    double slope(double l) const { return (1 + l / std::sqrt(l * l + 4 * e * e)) / 2; }
    // projection between -bound and bound, bound >= 0
    double value_within(double l, double bound) const { return value(l + bound) - value(l - bound) - bound; }
    double slope_within(double l, double bound) const { return slope(l + bound) - slope(l - bound); }
    double slope_by_bound(double l, double bound) const { return slope(l + bound) + slope(l - bound) - 1; }
};

// P(z) and its Jacobian D. The spectral values of z are l = z_n +- |z_T| with the direction u = z_T/|z_T|;
// those of P are phi(l).
inline void project_smoothly(const Smoothed& phi, const Eigen::Vector3d& z, Eigen::Vector3d& P,
                             Eigen::Matrix3d& D) {
    const double length = std::hypot(z[1], z[2]), high = z[0] + length, low = z[0] - length;
    const Eigen::Vector2d u = length > 0 ? Eigen::Vector2d(z.tail<2>() / length) : Eigen::Vector2d(1, 0);
    const double b = (phi.slope(high) + phi.slope(low)) / 2, c = (phi.slope(high) - phi.slope(low)) / 2;
    const double a =
        length > 1e-9 * (std::abs(z[0]) + phi.e) ? (phi.value(high) - phi.value(low)) / (high - low) : b;
    P[0] = (phi.value(high) + phi.value(low)) / 2;
    P.tail<2>() = (phi.value(high) - phi.value(low)) / 2 * u;
    D(0, 0) = b;
    D.block<1, 2>(0, 1) = c * u.transpose(), D.block<2, 1>(1, 0) = c * u;
    D.block<2, 2>(1, 1) = a * Eigen::Matrix2d::Identity() + (b - a) * u * u.transpose();
}

}  // namespace costate
