// Volumes and inertias of MJCF's geoms, and the mass of what several of them make up.
#pragma once

#include "core/math/inertia.hpp"

namespace costate {

enum class GeomType { plane, hfield, sphere, capsule, ellipsoid, cylinder, box, mesh };

// A solid about its centre in its principal axes: volume, m^3, and moments of inertia per mass, m^2.
struct Solid {
    double volume = 0;
    Vec3<double> moments = Vec3<double>::Zero();
};

// Sizes as MJCF gives them: sphere radius; capsule and cylinder radius, half length of the straight part
// along z; ellipsoid semi-axes; box half extents. Other types have no volume.
Solid solid_of(GeomType type, const Vec3<double>& size);

// Solids that make up one body: mass, centre and inertia about it, body axes. Parts without mass count for
// nothing.
struct Part {
    Transform<double> X;          // of the solid in the body
    MassProperties<double> mass;  // in the solid's own frame
};
MassProperties<double> combined(const std::vector<Part>& parts);

}  // namespace costate
