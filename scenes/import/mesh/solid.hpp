// Volumes and inertias of solids, and the combined mass of several.
#pragma once

#include "collision/shapes/shape_kind.hpp"
#include "core/math/inertia.hpp"
#include "scenes/format/json.hpp"

namespace costate {

// Volume of a solid, m^3, and its principal moments of inertia per mass about its centre, m^2.
struct Solid {
    double volume = 0;
    Vec3<double> moments = Vec3<double>::Zero();
};

// `size` as in ShapeType. Planes, meshes and terrains have no volume.
Solid solid_of(ShapeType type, const Vec3<double>& size);

// One solid of a body. combine gives mass, centre and inertia about the centre of all parts, in body axes;
// parts without mass are ignored.
struct Part {
    Transform<double> X;          // pose of the solid in the body
    MassProperties<double> mass;  // in the solid's own frame
};
MassProperties<double> combined(const std::vector<Part>& parts);

// A shape of a model with its pose, as a solid of density 1 kg/m^3; of a mesh its convex hull. Without mass if it has
// no volume.
Part solid_part(const Json& shape);

}  // namespace costate
