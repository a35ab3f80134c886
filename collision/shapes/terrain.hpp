// Terrain: a surface of triangles fixed in the world, in the axes of its shape and at unit scale. The outer
// side is the one from which the corners run anticlockwise. Features: vertex v; triangle t as a face; side k
// of triangle t, from its corner k to the next, as the edge 3 t + k and as the side 3 t + k.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/math/linalg.hpp"

namespace costate {

struct Terrain {
    std::vector<Vec3<double>> vertices;
    std::vector<std::array<int, 3>> triangles;
    bool solid_below = false;  // a shape whose middle is under the surface, along -z, is pushed out, too

    // Derived by the functions below.
    std::vector<int> edge_of_side;  // 3 t + k -> the same edge by its lowest number
    // 3 t + k -> the third corner of the triangle on the other side, -1 at the rim
    std::vector<int> beyond;
    std::vector<bool> sharp_side;    // convex or at the rim; others are no edges to touch
    std::vector<bool> sharp_vertex;  // one of its sides is sharp
    std::vector<bool> peak;          // per vertex: all sides at it are sharp
    std::vector<Vec3<double>> up;    // per vertex: the sum of the unit normals around it
    std::vector<int> around;         // the triangles at vertex v: from first_around[v] to first_around[v + 1]
    std::vector<int> first_around;
    std::vector<int> neighbours;  // of vertex v: from first_neighbour[v] to first_neighbour[v + 1]
    std::vector<int> first_neighbour;
    Vec3<double> centre = Vec3<double>::Zero(), half = Vec3<double>::Zero();  // of its axis-aligned box

    Vec3<double> corner(int t, int k) const { return vertices[triangles[t][k]]; }
    // Not of unit length.
    Vec3<double> normal(int t) const {
        return (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0));
    }

    // Calls f(t) for every triangle whose box meets [lo, hi], in a fixed order.
    template <class F> void for_each_triangle(const Vec3<double>& lo, const Vec3<double>& hi, F f) const {
        for (size_t n = 0; n < boxes.size();) {
            const Box& box = boxes[n];
            const bool meets = (box.lo.array() <= hi.array()).all() && (lo.array() <= box.hi.array()).all();
            if (meets && box.triangle >= 0) f(box.triangle);
            n = meets ? n + 1 : static_cast<size_t>(box.after);
        }
    }

    // A tree of boxes in the order of a walk through it: a box with triangle -1 is followed by what it holds,
    // up to `after`.
    struct Box {
        Vec3<double> lo, hi;
        int triangle, after;
    };
    std::vector<Box> boxes;
};

// Triangles by the indices of their corners. Flat triangles are not allowed.
std::shared_ptr<const Terrain> triangle_terrain(std::vector<Vec3<double>> vertices,
                                                std::vector<std::array<int, 3>> triangles);

// A grid of nx x ny heights, m, x running fastest; its middle is the origin, each cell is two triangles that
// share the diagonal from its lowest to its highest corner in x and y.
std::shared_ptr<const Terrain> height_field(int nx, int ny, double cell_x, double cell_y,
                                            const std::vector<double>& heights);

}  // namespace costate
