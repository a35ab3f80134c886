// Visual geometry of bodies, drawn by viewers in addition to the collision shapes.
#pragma once

#include <array>
#include <filesystem>

#include "collision/shapes/shape.hpp"

namespace costate {

// A geometry of a body that is drawn but does not collide.
struct Visual {
    int body = -1;                     // -1: the world
    ShapeType type = ShapeType::mesh;  // sphere, capsule, box, cylinder, ellipsoid or mesh
    // as for a shape; for a mesh: scale factors along its axes, negative factors mirror it
    Vec3<double> size;
    Transform<double> X_BV;  // pose in the body
    std::array<double, 4> rgba{0.5, 0.5, 0.5, 1};
    // mesh file, as given or relative to the model's folder; it may be missing
    std::filesystem::path file = {};
};

}  // namespace costate
