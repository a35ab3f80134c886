// How deep two cores are in each other, by values: the face of their difference that is nearest to the origin
// (van den Bergen, "Proximity queries and penetration depth computation on 3D game objects", 2001). A
// polytope inside the difference grows where it is nearest to the origin until no point of the difference
// lies beyond its nearest face.
#pragma once

#include "collision/detect/gjk.hpp"

namespace costate {

struct Overlap {
    bool found = false;                      // false: the polytope got too large or too flat
    Vec3<double> n = Vec3<double>::UnitZ();  // unit, from b to a: the direction in which a leaves b soonest
    // along n, m; negative, and positive if the cores are apart after all
    double separation = 0;
    DifferencePoint points[3];  // the corners of the nearest face, if found
};

// From the points at which GJK ended. tolerance: to what the separation is sought, relative to the extent of
// the difference
Overlap epa(const PolytopeDifference& difference, const Apart& start, double tolerance);
Overlap epa(const CoreDifference& difference, const Apart& start, double tolerance);

}  // namespace costate
