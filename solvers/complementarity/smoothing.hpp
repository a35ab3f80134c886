// Smoothed projections on the half line and on the cone |z_T| <= z_n (Chen, Sun & Sun 2003; Hayashi,
// Yamashita & Fukushima 2005). max(0, l) is replaced by
//
//   phi(l) = (l + sqrt(l^2 + 4 e^2))/2
//
// which tends to max(0, l) as e -> 0.
#pragma once

#include <cmath>

#include <Eigen/Core>

#include "solvers/complementarity/mlcp.hpp"

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

// The rows of a contact: (normal, friction).
using ContactVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, max_contact_rows, 1>;
using ContactMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, max_contact_rows, max_contact_rows>;

// P(z) and its Jacobian D. The spectral values of z are l = z_n +- |z_T| with the direction u = z_T/|z_T|;
// those of P are phi(l).
inline void project_smoothly(const Smoothed& phi, const ContactVector& z, ContactVector& P,
                             ContactMatrix& D) {
    const Eigen::Index friction = z.size() - 1;
    const double length = z.tail(friction).stableNorm(), high = z[0] + length, low = z[0] - length;
    ContactVector u = ContactVector::Unit(friction, 0);
    if (length > 0) u = z.tail(friction) / length;
    const double b = (phi.slope(high) + phi.slope(low)) / 2, c = (phi.slope(high) - phi.slope(low)) / 2;
    const double a =
        length > 1e-9 * (std::abs(z[0]) + phi.e) ? (phi.value(high) - phi.value(low)) / (high - low) : b;
    P.resize(1 + friction);
    P[0] = (phi.value(high) + phi.value(low)) / 2;
    P.tail(friction) = (phi.value(high) - phi.value(low)) / 2 * u;
    D.resize(1 + friction, 1 + friction);
    D(0, 0) = b;
    D.row(0).tail(friction) = c * u.transpose();
    D.col(0).tail(friction) = c * u;
    D.bottomRightCorner(friction, friction) =
        a * ContactMatrix::Identity(friction, friction) + (b - a) * u * u.transpose();
}

}  // namespace costate
