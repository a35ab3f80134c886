// What a mesh weighs, in the ways that MuJoCo tells it.
#pragma once

#include "core/math/inertia.hpp"
#include "scenes/import/mesh/mesh_file.hpp"

namespace costate {

// How the mass of a mesh is spread ("inertia" of MJCF's <mesh>), at density 1:
//   legacy  over the pyramids between each triangle and a centre, all of them counted as positive: what is
//   not convex
//           or not closed weighs too much, but every surface has a mass
//   convex  over its convex hull
//   exact   over the volume that it encloses; negative or of no real body if it is not closed or is inside
//   out shell   over its surface
enum class MeshInertia { legacy, convex, exact, shell };

// Volume (or area), its centre, and the moments about that, in the frame of the mesh: m^3 (m^2), m, m^5
// (m^4). Throws std::invalid_argument if the convex hull is asked for and all vertices lie in a plane.
MassProperties<double> mesh_mass(const TriangleMesh& mesh, MeshInertia kind);

// Whether a surface is closed and its triangles face one way, by the divergence theorem: over such a surface,
// with outward normals n, the integral of n is 0 and that of x n^T is the volume times 1. Here to a
// thousandth of what is added up, so that a hole the size of a splinter does not count.
bool is_closed(const TriangleMesh& mesh);

// The surface of the convex hull of some points. Throws std::invalid_argument if they lie in a plane.
TriangleMesh hull_surface(const std::vector<Vec3<double>>& points);

}  // namespace costate
