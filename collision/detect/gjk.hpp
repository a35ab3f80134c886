// How far two cores are apart, by values: the point of their difference that is nearest to the origin
// (Gilbert, Johnson, Keerthi, "A fast procedure for computing the distance between complex objects in
// three-dimensional space", 1988).
#pragma once

#include <limits>

#include "collision/detect/difference.hpp"

namespace costate {

struct Apart {
    double distance = 0;                     // m; 0 where the cores overlap
    Vec3<double> n = Vec3<double>::UnitZ();  // unit, from b to a, if they do not
    // The points of the difference whose hull holds the nearest; where the cores overlap the last ones looked
    // at.
    DifferencePoint points[4];
    int count = 0;
};

Apart gjk(const Core& a, const Core& b);
// Ends as soon as the cores are known to be farther apart than `enough`; the distance is then a lower bound
// above that.
Apart gjk(const PolytopeDifference& difference, double enough = std::numeric_limits<double>::infinity());

// Close to the unit n from b to a that maximises the separation of two cores.
Vec3<double> first_normal(const Solid& a, const Solid& b);

}  // namespace costate
