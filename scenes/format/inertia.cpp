#include "scenes/format/inertia.hpp"

#include "core/math/elementary.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>
#include <sstream>

namespace costate {

Mat3<double> inertia_matrix(const double* six) {
    Mat3<double> I;
    I << six[0], six[3], six[4], six[3], six[1], six[5], six[4], six[5], six[2];
    return I;
}

std::string unphysical(const Mat3<double>& inertia) {
    const Vec3<double> moments =
        // ascending
        Eigen::SelfAdjointEigenSolver<Mat3<double>>(inertia, Eigen::EigenvaluesOnly).eigenvalues();
    std::ostringstream are;
    are << "principal moments are " << moments[0] << ", " << moments[1] << ", " << moments[2];
    if (!(moments[0] > 0)) return "is not positive definite: its " + are.str();
    if (moments[2] > (moments[0] + moments[1]) * (1 + 1e-6))
        return "violates the triangle inequality: its " + are.str() +
               ", the largest greater than the sum of the others";
    return {};
}

namespace {

constexpr double nearly_zero = 1e-12, round_off = 1e-6, least_moment = 1e-3;  // of the largest moment

std::string in_words(const Vec3<double>& moments) {
    std::ostringstream out;
    out << moments[0] << ", " << moments[1] << ", " << moments[2];
    return out.str();
}

}  // namespace

std::string make_physical(Mat3<double>& inertia, double mass) {
    const Eigen::SelfAdjointEigenSolver<Mat3<double>> principal(inertia);
    const Vec3<double> before = principal.eigenvalues();  // ascending
    const double largest = before[2];
    Vec3<double> moments = before;
    if (!(largest > 0)) {
        inertia = solid_ball(mass);
        moments.setConstant(inertia(0, 0));
    } else {
        for (double& moment : moments)
            if (moment < nearly_zero * largest)
                moment = (moment < -round_off * largest ? least_moment : round_off) * largest;
        const double excess = moments[2] - moments[0] - moments[1];
        if (excess > 0.5 * round_off * largest) moments += excess / 3 * Vec3<double>(1, 1, -1);
        const Mat3<double>& R = principal.eigenvectors();
        if (moments != before) inertia = R * moments.asDiagonal() * R.transpose();
    }
    if ((moments - before).cwiseAbs().maxCoeff() <= 2 * round_off * std::abs(largest)) return {};
    return "its principal moments " + in_words(before) + " are those of no solid and become " +
           in_words(moments);
}

Vec3<double> half_extents_of_inertia(double mass, const Vec3<double>& moments) {
    // I_k = m (a_i^2 + a_j^2)/3
    const double sum = moments.sum();
    return ((sum - 2 * moments.array()).max(0) * (1.5 / mass)).sqrt();
}

Mat3<double> solid_ball(double mass) {
    constexpr double density = 1000;  // kg/m^3, of water
    const double radius = exp(log(3 * mass / (4 * std::numbers::pi * density)) / 3);
    return 0.4 * mass * radius * radius * Mat3<double>::Identity();
}

}  // namespace costate
