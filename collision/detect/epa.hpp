// Expanding polytope algorithm: the penetration depth of two overlapping cores, by values, is the distance
// from the origin to the nearest face of their difference (van den Bergen, "Proximity queries and penetration
// depth computation on 3D game objects", 2001). A polytope inside the difference is expanded at its face
// nearest to the origin, until no point of the difference is beyond this face.
#pragma once

#include "collision/detect/gjk.hpp"

namespace costate {

struct Overlap {
    bool found = false;  // false: the polytope became too large or too flat
    Vec3<double> n =
        Vec3<double>::UnitZ();  // unit, from b to a: direction of the shortest separating translation of a
    // along n, m; negative, or positive if the cores turn out to be separate
    double separation = 0;
    DifferencePoint points[3];  // the corners of the nearest face, if found
};

// Starts from the final points of GJK. tolerance: accuracy of the separation, relative to the extent of the
// difference
Overlap epa(const PolytopeDifference& difference, const Apart& start, double tolerance);
Overlap epa(const CoreDifference& difference, const Apart& start, double tolerance);

}  // namespace costate
