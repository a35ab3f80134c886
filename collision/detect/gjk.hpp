// Distance of two cores, by values: the point of their difference that is nearest to the origin (Gilbert,
// Johnson, Keerthi, "A fast procedure for computing the distance between complex objects in three-dimensional
// space", 1988).
#pragma once

#include <limits>
#include <optional>

#include "collision/detect/difference.hpp"

namespace costate {

struct Apart {
    double distance = 0;                     // m; 0 if the cores overlap
    Vec3<double> n = Vec3<double>::UnitZ();  // unit, from b to a, if the cores do not overlap
    // The points of the difference whose hull contains the nearest point; if the cores overlap, the last
    // points.
    DifferencePoint points[4];
    int count = 0;
    // Cores that overlap are not beyond a distance of 0.
    bool beyond(double enough) const { return distance > 0 && distance >= enough; }
};

// Stops as soon as the distance is known to exceed `enough`; the result is then a lower bound above `enough`.
Apart gjk(const Core& a, const Core& b, double enough = std::numeric_limits<double>::infinity());
Apart gjk(const PolytopeDifference& difference, double enough = std::numeric_limits<double>::infinity());

// An approximation of the unit n from b to a that maximizes the separation of two cores; nothing if they are
// farther apart than `enough`.
std::optional<Vec3<double>> first_normal(const Solid& a, const Solid& b, double enough);

}  // namespace costate
