// Collision meshes of robot descriptions as convex shapes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/math/linalg.hpp"
#include "scenes/format/json.hpp"
#include "scenes/import/import_options.hpp"

namespace costate {

class Warnings;

// How a file of a robot description uses a mesh.
struct MeshUse {
    std::string name;       // of its file, as given there
    std::string place, at;  // of the element, and of this name
    Vec3<double> scale;     // not 0
};

// The convex parts of a mesh with "vertices" and "scale": its hull or hulls, or those of the objects of an OBJ
// file. The scale of a shape is positive, so mirroring goes into the vertices. Throws MeshFileError.
std::vector<Json> mesh_shapes(const std::filesystem::path& file, const MeshUse& use,
                              const ImportOptions& options, Warnings& warnings);

}  // namespace costate
