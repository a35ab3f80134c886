// Approximate convex decomposition of meshes, for collision.
#pragma once

#include <vector>

#include "collision/shapes/hull.hpp"
#include "scenes/import/mesh/mesh_file.hpp"

namespace costate {

// True if no point of the surface is deeper than `depth` below the hull of the mesh. Tests a sample of it.
bool fills_hull(const TriangleMesh& mesh, const Hull& hull, double depth);

// The surfaces of a mesh that have no vertex in common, in the order of their first triangles.
std::vector<TriangleMesh> separate_surfaces(const TriangleMesh& mesh);

// Splits a mesh into at most `most_parts` parts whose hulls together follow its surface. Parts are cut by planes
// until none is deeper than `depth` below its hull, or there are twice as many as allowed; then those are joined
// whose common hull has the least additional volume. A plane is chosen as in V-HACD (Mamou, Lengyel, Peters:
// Volumetric hierarchical approximate convex decomposition, Game Engine Gems 3, 2016): the hulls of its two sides
// have the least sum of volumes, and similar ones. Its direction is one of nine: axes, and diagonals of
// their planes; faces of the mesh are tried first. The result depends on the mesh alone.
// Throws std::invalid_argument if most_parts < 1.
std::vector<TriangleMesh> convex_parts(const TriangleMesh& mesh, int most_parts, double depth);

}  // namespace costate
