// A shape at its pose, or a triangle or edge of a terrain, in plain numbers, with the queries of the narrow
// phase. A solid is a core (point, segment, polytope, cylinder or ellipsoid) swept by a radius.
#pragma once

#include "collision/contact/feature.hpp"
#include "core/math/transform.hpp"

namespace costate {

// The tables of one triangle, with corners and sides numbered as in the terrain. Face 0 faces outward, face 1
// inward.
struct TriangleTables {
    Vec3<double> vertices[3];
    HullEdge edges[3];
    HullSide sides[6];
    HullFace faces[2];
    TriangleTables(const Terrain& terrain, int triangle);
    HullView view() const { return {vertices, edges, sides, faces}; }
};

// The tables of one side of a triangle.
struct EdgeTables {
    Vec3<double> vertices[2];
    HullEdge edges[1];
    EdgeTables(const TriangleTables& triangle, int side)
        : vertices{triangle.vertices[side], triangle.vertices[(side + 1) % 3]},
          edges{{0, 1, -1, -1, triangle.edges[side].direction, Vec3<double>::Zero()}} {}
    HullView view() const { return {vertices, edges, {}, {}}; }
};

// The farthest vertex along d, in the axes and at the scale of the hull. Ties go to the lowest index (for a
// large hull, the lowest of neighbouring vertices).
int farthest_vertex(const HullView& hull, const Vec3<double>& d);

struct Solid {
    const Shape* shape;
    HullView hull;  // at unit scale; empty for planes and ellipsoids
    Transform<double> X;
    Vec3<double> size, scale;
    double radius;       // of the sweep, m
    int triangle = -1;   // of a terrain
    int only_side = -1;  // side of the triangle, if the solid is only this side

    Solid(const Shape& s, const Transform<double>& pose, const Vec3<double>& numbers);
    Solid(const Solid& terrain, const TriangleTables& tables, int number) : Solid(terrain) {
        hull = tables.view();
        triangle = number;
    }
    Solid(const Solid& whole, const EdgeTables& tables, int number) : Solid(whole) {
        hull = tables.view();
        only_side = number;
    }
    ShapeType type() const { return shape->type; }
    bool is_curved() const { return shape_kind(type()).curved; }
    bool is_smooth() const { return is_curved() && shape_kind(type()).unit_hull == nullptr; }

    // The normal of a face of the hull, unit, outward, in the axes of the shape.
    Vec3<double> own_normal(int face) const;

    // In the common frame.
    Vec3<double> vertex(int i) const { return X.R * scale.cwiseProduct(hull.vertices[i]) + X.p; }
    Vec3<double> edge_direction(int i) const { return X.R * scale.cwiseProduct(hull.edges[i].direction); }
    Vec3<double> normal(int face) const;  // unit, outward
    Vec3<double> face_point(int face) const;
    int face_count() const;  // number of faces on which other solids may rest
    // The face with the normal nearest to d, -1 if there are no faces. For a large hull, only faces at the
    // support vertex are considered.
    int face_along(const Vec3<double>& d) const;
    Vec3<double> centre() const;

    int support_vertex(const Vec3<double>& d) const {  // see farthest_vertex
        return farthest_vertex(hull, scale.cwiseProduct(X.R.transpose() * d));
    }
    Vec3<double> support(const Vec3<double>& d) const;  // the farthest point of the core along d
    // The largest feature of the core with an outward normal within the angle tol of the unit vector d.
    Feature feature_along(const Vec3<double>& d, double tol) const;
    // True if a point near the feature is between its ends or sides.
    bool within(const Feature& f, const Vec3<double>& x) const;

    // Convert a feature between its index in the shape (named) and in the triangle's tables (in_triangle).
    Feature in_triangle(const Feature& f) const;
    Feature named(const Feature& f) const;
    bool sharp_side(int edge) const;  // true if the edge can be in contact from outside
    bool sharp_vertex(int vertex) const;
    // True if a contact at a feature of the triangle may have the normal n: no neighbouring triangle rises
    // along n.
    bool allows(const Vec3<double>& n, const Feature& f) const;
};

// n . a - n . b for the points of two cores that are closest along n, from b to a
inline double separation(const Solid& a, const Solid& b, const Vec3<double>& n) {
    return n.dot(a.support(-n)) - n.dot(b.support(n));
}

}  // namespace costate
