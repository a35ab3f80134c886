// Volumes and inertias of MJCF's geoms, and the combined mass of several geoms.
#pragma once

#include "core/math/inertia.hpp"

namespace costate {

enum class GeomType { plane, hfield, sphere, capsule, ellipsoid, cylinder, box, mesh };

// Volume of a solid, m^3, and its principal moments of inertia per mass about its centre, m^2.
struct Solid {
    double volume = 0;
    Vec3<double> moments = Vec3<double>::Zero();
};

// `size` as in MJCF: sphere: radius; capsule, cylinder: radius, half length of the straight part along z;
// ellipsoid: semi-axes; box: half extents. Other types have no volume.
Solid solid_of(GeomType type, const Vec3<double>& size);

// One solid of a body. combine gives mass, centre and inertia about the centre of all parts, in body axes;
// parts without mass are ignored.
struct Part {
    Transform<double> X;          // pose of the solid in the body
    MassProperties<double> mass;  // in the solid's own frame
};
MassProperties<double> combined(const std::vector<Part>& parts);

}  // namespace costate
