// Mass, centre and inertia of a mesh by the methods of MuJoCo.
#pragma once

#include "core/math/inertia.hpp"
#include "scenes/import/mesh/mesh_file.hpp"

namespace costate {

// Where the mass of a mesh is distributed ("inertia" of MJCF's <mesh>), at density 1:
//
// legacy  in the pyramids between each triangle and a centre, all with positive volume; overestimates
//         meshes that are not convex or not closed, but is defined for every surface
// convex  in the convex hull
// exact   in the enclosed volume; negative or unphysical if the mesh is not closed or is inside out
// shell   on the surface
enum class MeshInertia { legacy, convex, exact, shell };

// Volume (or area), its centre and the second moments about the centre, in the frame of the mesh: m^3 (m^2),
// m, m^5 (m^4). Throws std::invalid_argument for `convex` if all vertices are in one plane.
MassProperties<double> mesh_mass(const TriangleMesh& mesh, MeshInertia kind);

// True if a surface is closed and its triangles are oriented consistently. By the divergence theorem, the
// integral of the outward normal n over such a surface is 0, and that of x n^T is the volume times the
// identity. Both are tested to a thousandth of the sum of magnitudes, which ignores tiny holes.
bool is_closed(const TriangleMesh& mesh);

// The surface of the convex hull of points. Throws std::invalid_argument if they are in one plane.
TriangleMesh hull_surface(const std::vector<Vec3<double>>& points);

}  // namespace costate
