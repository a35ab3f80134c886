// What a viewer draws of a body besides its shapes.
#pragma once

#include <array>
#include <filesystem>

#include "collision/shapes/shape.hpp"

namespace costate {

// What is seen of a body and not touched: for viewers, no part of the physics.
struct Visual {
    int body = -1;                     // -1: the world
    ShapeType type = ShapeType::mesh;  // sphere, capsule, box, cylinder, ellipsoid or mesh
    // as of a shape; of a mesh scale factors along its axes, negative ones mirror
    Vec3<double> size;
    Transform<double> X_BV;  // its axes in the body
    std::array<double, 4> rgba{0.5, 0.5, 0.5, 1};
    // of a mesh, as given or relative to the model's folder; it may be missing
    std::filesystem::path file = {};
};

}  // namespace costate
