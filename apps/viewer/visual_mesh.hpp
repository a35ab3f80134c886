// The meshes of a scene's visuals, simplified for pages.
#pragma once

#include "scenes/import/mesh/mesh_file.hpp"
#include "scenes/scene.hpp"

namespace costate {

struct VisualMeshes {
    std::vector<TriangleMesh> meshes;  // one per file, with at most max_visual_triangles each
    std::vector<int> of_visual;        // (visuals) index into meshes; -1: not a mesh, or unreadable
    std::vector<std::string> notes;    // one sentence per unreadable file
};

inline constexpr size_t max_visual_triangles = 20'000;

VisualMeshes read_visual_meshes(const std::vector<Visual>& visuals);

// The mesh with vertices merged within the cells of a grid. The grid is made coarser until at most `limit`
// triangles are left.
TriangleMesh simplified(TriangleMesh mesh, size_t limit);

}  // namespace costate
