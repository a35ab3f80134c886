// The meshes that a scene's visuals name, as a page holds them.
#pragma once

#include "scenes/import/mesh/mesh_file.hpp"
#include "scenes/scene.hpp"

namespace costate {

struct VisualMeshes {
    std::vector<TriangleMesh> meshes;  // of each file once, with at most most_triangles each
    std::vector<int> of_visual;        // (visuals) which of them; -1: no mesh, or one that cannot be read
    std::vector<std::string> notes;    // a sentence for each file that cannot be read
};

inline constexpr size_t most_triangles = 20'000;

VisualMeshes read_visual_meshes(const std::vector<Visual>& visuals);

// The mesh with its vertices merged where they share a cell of a grid, which is made coarser until few enough
// triangles are left.
TriangleMesh simplified(TriangleMesh mesh, size_t most);

}  // namespace costate
