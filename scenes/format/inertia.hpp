// Inertias as six numbers, and their physical validity.
#pragma once

#include <string>

#include "core/math/linalg.hpp"

namespace costate {

// The symmetric matrix of xx yy zz xy xz yz.
Mat3<double> inertia_matrix(const double* six);

// Why a symmetric matrix cannot be the inertia of a solid: it is not positive definite, or one principal
// moment is larger than the sum of the other two. Empty if the matrix is a valid inertia.
std::string unphysical(const Mat3<double>& inertia);

}  // namespace costate
