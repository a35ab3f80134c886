#include "scenes/format/inertia.hpp"

#include <Eigen/Eigenvalues>
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

}  // namespace costate
