// Inertias as files give them.
#pragma once

#include <string>

#include "core/math/linalg.hpp"

namespace costate {

// From xx yy zz xy xz yz.
Mat3<double> inertia_matrix(const double* six);

// Why a symmetric matrix is the inertia of no solid: it is not positive definite, or one principal moment is
// larger than the sum of the other two. Empty if it can be one.
std::string unphysical(const Mat3<double>& inertia);

}  // namespace costate
