// Terrain: a surface of triangles fixed in the world, in the axes of its shape and at unit scale. Corners are
// anticlockwise seen from the outer side. Features: vertex v; face t for triangle t; edge 3 t + k and side 3
// t + k for side k of triangle t, from its corner k to the next.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/math/linalg.hpp"

namespace costate {

struct Terrain {
    std::vector<Vec3<double>> vertices;
    std::vector<std::array<int, 3>> triangles;
    bool solid_below = false;  // shapes with their middle below the surface (along -z) are also pushed out

    // Computed by the functions below.
    std::vector<int> edge_of_side;  // 3 t + k -> the same edge by its lowest number
    // 3 t + k -> the third corner of the triangle on the other side, -1 at the rim
    std::vector<int> beyond;
    std::vector<bool> sharp_side;    // convex or at the rim; other sides do not collide
    std::vector<bool> sharp_vertex;  // at least one of its sides is sharp
    std::vector<bool> peak;          // per vertex: all sides at it are sharp
    std::vector<Vec3<double>> up;    // per vertex: sum of the unit normals of its triangles
    std::vector<int> around;         // the triangles at vertex v: from first_around[v] to first_around[v + 1]
    std::vector<int> first_around;
    std::vector<int> neighbours;  // of vertex v: from first_neighbour[v] to first_neighbour[v + 1]
    std::vector<int> first_neighbour;
    Vec3<double> centre = Vec3<double>::Zero(), half = Vec3<double>::Zero();  // of its axis-aligned box

    Vec3<double> corner(int t, int k) const { return vertices[triangles[t][k]]; }
    // The normal of a triangle, not of unit length.
    Vec3<double> normal(int t) const {
        return (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0));
    }

    // Calls f(t) for every triangle whose box overlaps [lo, hi], in a fixed order.
    template <class F> void for_each_triangle(const Vec3<double>& lo, const Vec3<double>& hi, F f) const {
        for (size_t n = 0; n < boxes.size();) {
            const Box& box = boxes[n];
            const bool meets = (box.lo.array() <= hi.array()).all() && (lo.array() <= box.hi.array()).all();
            if (meets && box.triangle >= 0) f(box.triangle);
            n = meets ? n + 1 : static_cast<size_t>(box.after);
        }
    }

    // A tree of boxes in depth-first order: a box with triangle -1 is followed by its contents, up to
    // `after`.
    struct Box {
        Vec3<double> lo, hi;
        int triangle, after;
    };
    std::vector<Box> boxes;
};

// A terrain of triangles, given by the indices of their corners. Triangles must have an area.
std::shared_ptr<const Terrain> triangle_terrain(std::vector<Vec3<double>> vertices,
                                                std::vector<std::array<int, 3>> triangles);

// A grid of nx x ny heights, m, with x varying fastest and the origin in the middle. Each cell is two
// triangles, which share the diagonal from the corner with the lowest to that with the highest x and y.
std::shared_ptr<const Terrain> height_field(int nx, int ny, double cell_x, double cell_y,
                                            const std::vector<double>& heights);

}  // namespace costate
