// The convex hull that a mesh of a robot description is collided with.
#pragma once

#include <filesystem>
#include <vector>

#include "core/math/linalg.hpp"

namespace costate {

struct MeshHull {
    std::vector<Vec3<double>> vertices;  // of the hull, in the axes and the unit of the file
    // how far the mesh lies below the surface of the hull; 0 for a convex one
    double depth = 0;
    double extent = 0;  // the longest side of the box around it
    // Far above what single precision takes from flat faces, about 1e-7 of the coordinates
    bool convex() const { return depth <= 0.01 * extent; }
};

// Throws MeshFileError (scenes/import/mesh/mesh_file.hpp) on what is no mesh or has no volume.
MeshHull read_mesh_hull(const std::filesystem::path& file);

}  // namespace costate
