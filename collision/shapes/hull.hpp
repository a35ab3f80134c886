// Hull: a convex polytope as tables of vertices, edges and faces, in the axes of its shape and at unit scale.
// A shape's scale stretches it along those axes, which leaves every vertex, edge and face what it is: so the
// scale is a parameter like others.
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
    int left, right;         // the faces that meet in it; -1 where there is none
    Vec3<double> direction;  // head - tail
    Vec3<double> inward;     // the sum of one vector into each of the faces
};

// A side of a face: an edge as seen from it. The sides of a face follow each other, anticlockwise from
// outside.
struct HullSide {
    int tail, head;  // vertices
    int edge, face;
};

struct HullFace {
    Vec3<double> normal;  // unit, outward
    Vec3<double> origin;  // a point of it
    int first, count;     // its sides
};

// A list of numbers for every vertex.
struct VertexLists {
    std::vector<int> items, first;  // those of vertex v: items from first[v] to first[v + 1]
    explicit VertexLists(const std::vector<std::vector<int>>& lists = {});
    std::span<const int> of(int v) const {
        const int i = v;
        return {items.data() + first[i], items.data() + first[i + 1]};
    }
};

// What leads from one part of a large hull to those beside it, so that a question about a direction need not
// ask every vertex.
struct HullPaths {
    static constexpr int cells = 8;  // along each side of a cube around the hull
    VertexLists neighbours;          // the vertices joined to a vertex by an edge, or by a diagonal of a face
    VertexLists edges, faces;        // those at a vertex
    // per cell of the cube: the farthest vertex along the cell's middle
    std::array<int, 6 * cells * cells> start{};

    // The vertex farthest along d, climbed to from the start of the cell that d points to: a function of d
    // alone.
    int farthest(std::span<const Vec3<double>> vertices, const Vec3<double>& d) const;
    // The same from vertex v. Of neighbours equally far the lower comes first.
    int climb(std::span<const Vec3<double>> vertices, const Vec3<double>& d, int v) const;
};

struct HullView {
    std::span<const Vec3<double>> vertices;
    std::span<const HullEdge> edges;
    std::span<const HullSide> sides;
    std::span<const HullFace> faces;
    const HullPaths* paths = nullptr;  // of a large hull
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

// The paths of a hull. Vertices joined by a diagonal: pairs that `edges` lacks, which lead across faces flat
// to a tolerance only.
std::shared_ptr<const HullPaths> hull_paths(const Hull& hull,
                                            const std::vector<std::array<int, 2>>& diagonals);

// The hull with these faces, each a loop of vertices anticlockwise from outside. Edges are numbered as the
// loops meet them.
Hull hull_of_faces(std::vector<Vec3<double>> vertices, const std::vector<std::vector<int>>& faces);

// The convex hull of points: vertices in their order; what is flat to 1e-6 of the extent, or to 5e-7 of the
// coordinates, which may come from single precision, is one face. Throws std::invalid_argument if all points
// lie in a plane. Of more points than `most_vertices` the outermost are taken, one after the other the
// farthest from the hull of those before; at least 4. From large_hull vertices on a hull has paths.
std::shared_ptr<const Hull> convex_hull(const std::vector<Vec3<double>>& points,
                                        int most_vertices = std::numeric_limits<int>::max());
inline constexpr size_t large_hull = 10;

// Those of the shapes that have vertices, at unit size.
//   cube     vertex: bit k set on the +k side; edge: 4 k + side of axis k+1 + 2 side of axis k+2, along +k;
//   face: 2 k + side prism    inscribed in a cylinder; vertex: 16 cap + k at the angle 2 pi k/16; faces 0 and
//   1: the caps at -z and +z segment  vertices 0 at -z, 1 at +z; edge 0 along +z point    vertex 0
const Hull& cube_hull();
const Hull& prism_hull();
const Hull& segment_hull();
const Hull& point_hull();
inline constexpr int prism_corners = 16;  // of a cap

}  // namespace costate
