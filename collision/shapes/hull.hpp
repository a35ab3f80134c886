// Hull: a convex polytope as tables of vertices, edges and faces, in the axes of its shape and at unit scale.
// The scale of a shape stretches it along these axes, which preserves all vertices, edges and faces. The
// scale is therefore a differentiable parameter.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/math/linalg.hpp"

namespace costate {

struct HullEdge {
    int tail, head;          // vertices
    int left, right;         // the two adjacent faces; -1: none
    Vec3<double> direction;  // head - tail
    Vec3<double> inward;     // sum of two vectors, one pointing into each adjacent face
};

// A side of a face: an edge with the orientation of the face. The sides of a face are consecutive,
// anticlockwise seen from outside.
struct HullSide {
    int tail, head;  // vertices
    int edge, face;
};

struct HullFace {
    Vec3<double> normal;  // unit, outward
    Vec3<double> origin;  // a point on the face
    int first, count;     // range of its sides
};

// A list of indices for every vertex.
struct VertexLists {
    std::vector<int> items, first;  // those of vertex v: items from first[v] to first[v + 1]
    explicit VertexLists(const std::vector<std::vector<int>>& lists = {});
    std::span<const int> of(int v) const {
        const int i = v;
        return {items.data() + first[i], items.data() + first[i + 1]};
    }
};

// Adjacency of a large hull, so that support queries need not test every vertex.
struct HullPaths {
    static constexpr int cells = 8;  // along each side of a cube around the hull
    VertexLists neighbours;          // vertices joined to a vertex by an edge or by a diagonal of a face
    VertexLists edges, faces;        // edges and faces at a vertex
    // per cell of the cube: the farthest vertex along the direction to the cell's middle
    std::array<int, 6 * cells * cells> start{};

    // The farthest vertex along d, by hill climbing from the start of the cell to which d points. The result
    // depends only on d.
    int farthest(std::span<const Vec3<double>> vertices, const Vec3<double>& d) const;
    // The same, starting from vertex v. Ties between neighbours go to the lower index.
    int climb(std::span<const Vec3<double>> vertices, const Vec3<double>& d, int v) const;
};

struct HullView {
    std::span<const Vec3<double>> vertices;
    std::span<const HullEdge> edges;
    std::span<const HullSide> sides;
    std::span<const HullFace> faces;
    const HullPaths* paths = nullptr;  // only for a large hull
};

struct Hull {
    std::vector<Vec3<double>> vertices;
    std::vector<HullEdge> edges;
    std::vector<HullSide> sides;
    std::vector<HullFace> faces;
    Vec3<double> centre = Vec3<double>::Zero(), half = Vec3<double>::Zero();  // of its axis-aligned box
    std::shared_ptr<const HullPaths> paths;                                   // of a large hull
    HullView view() const { return {vertices, edges, sides, faces, paths.get()}; }
};

// The adjacency of a hull. `diagonals`: pairs of vertices that are not edges; they connect vertices across
// faces that are flat only to a tolerance.
std::shared_ptr<const HullPaths> hull_paths(const Hull& hull,
                                            const std::vector<std::array<int, 2>>& diagonals);

// The hull with these faces, each a loop of vertices, anticlockwise seen from outside. Edges are numbered in
// the order of the loops.
Hull hull_of_faces(std::vector<Vec3<double>> vertices, const std::vector<std::vector<int>>& faces);

// The convex hull of points, with vertices in their order. Parts that are flat to 1e-6 of the extent, or to
// 5e-7 of the coordinates (which may have single precision), become one face. Throws std::invalid_argument if
// all points are in one plane. If the hull has more than `most_vertices` (at least 4) vertices, the outermost
// are kept: each is the farthest from the hull of the previous ones. Hulls with at least large_hull vertices
// have paths. `left_out` receives how far the farthest point is beyond the hull, 0 if none is left out.
std::shared_ptr<const Hull> convex_hull(const std::vector<Vec3<double>>& points,
                                        int most_vertices = std::numeric_limits<int>::max(),
                                        double* left_out = nullptr);
inline constexpr size_t large_hull = 10;

// The hulls of shapes at unit size:
//
// cube     vertex: bit k is set on the +k side; edge along +k: 4 k + side of axis k+1 + 2 side of axis k+2;
//          face: 2 k + side
// prism    inscribed in a cylinder; vertex 16 cap + k at the angle 2 pi k/16;
//          faces 0 and 1: the caps at -z and +z
// segment  vertices 0 at -z, 1 at +z; edge 0 along +z
// point    vertex 0
const Hull& cube_hull();
const Hull& prism_hull();
const Hull& segment_hull();
const Hull& point_hull();
inline constexpr int prism_corners = 16;  // corners of a cap

}  // namespace costate
