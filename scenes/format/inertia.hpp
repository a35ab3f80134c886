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

// Replaces an inertia that no solid has by a near one with the same principal axes. Let c be the largest
// principal moment. A moment that is not positive becomes c/1000, or c/10^6 if it is 0 up to round-off. If the
// largest then exceeds the sum of the others, all three change by the same amount so that they are equal: the
// nearest inertia that obeys the triangle inequality. If no moment is positive, the inertia is that of
// solid_ball. Returns the change in words, or nothing if there is none beyond round-off (10^-6 c).
std::string make_physical(Mat3<double>& inertia, double mass);

// Half extents, m, of the box of even density that has a mass and principal moments of inertia about its centre;
// of moments that no box has, 0 where they would be imaginary.
Vec3<double> half_extents_of_inertia(double mass, const Vec3<double>& moments);

// The inertia of a ball of a mass with the density of water, kg m^2; for masses without inertia.
Mat3<double> solid_ball(double mass);

}  // namespace costate
