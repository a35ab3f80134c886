// How far two cores are apart, by values: the point of their difference that is nearest to the origin
// (Gilbert, Johnson, Keerthi, "A fast procedure for computing the distance between complex objects in
// three-dimensional space", 1988).
#pragma once

#include "collision/detect/solid.hpp"

namespace costate {

// The core of a solid, shrunk about its middle and shifted.
struct Core {
    const Solid& solid;
    double shrink = 1;
    Vec3<double> shift = Vec3<double>::Zero();
    Vec3<double> support(const Vec3<double>& d) const {
        const Vec3<double> centre = solid.centre();
        return centre + shrink * (solid.support(d) - centre) + shift;
    }
};

struct Apart {
    double distance = 0;                     // m; 0 where the cores overlap
    Vec3<double> n = Vec3<double>::UnitZ();  // unit, from b to a, if they do not
};

Apart gjk(const Core& a, const Core& b);

// Close to the unit n from b to a that maximises the separation of two cores.
Vec3<double> first_normal(const Solid& a, const Solid& b);

}  // namespace costate
