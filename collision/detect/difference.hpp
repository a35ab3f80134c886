// The Minkowski difference of two convex cores, the set of all points a - b. The cores overlap if it contains
// the origin; its point nearest to the origin gives their distance or depth of overlap.
#pragma once

#include "collision/detect/solid.hpp"

namespace costate {

// A point of the difference and its two vertices; -1 for a point on a curve.
struct DifferencePoint {
    Vec3<double> x;  // m
    int on_a, on_b;
};

// The core of a solid, shifted.
struct Core {
    const Solid& solid;
    Vec3<double> shift = Vec3<double>::Zero();
    Vec3<double> middle() const { return solid.centre() + shift; }
    Vec3<double> support(const Vec3<double>& d) const { return solid.support(d) + shift; }
};

// The difference of any two cores.
struct CoreDifference {
    Core a, b;
    Vec3<double> middle() const { return a.middle() - b.middle(); }
    // The farthest point of the difference along d.
    DifferencePoint support(const Vec3<double>& d) const { return {a.support(d) - b.support(-d), -1, -1}; }
};

// The difference of two polytopes, segments or points.
struct PolytopeDifference {
    const Solid &a, &b;
    Mat3<double> to_a, to_b;  // from vertices to points relative to the origin of a's shape
    Vec3<double> between;     // from this origin to the origin of b's shape

    PolytopeDifference(const Solid& first, const Solid& second)
        : a(first),
          b(second),
          to_a(a.X.R * a.scale.asDiagonal()),
          to_b(b.X.R * b.scale.asDiagonal()),
          between(b.X.p - a.X.p) {}
    Vec3<double> middle() const { return a.centre() - b.centre(); }
    DifferencePoint support(const Vec3<double>& d) const {
        const int i = farthest_vertex(a.hull, to_a.transpose() * d),
                  j = farthest_vertex(b.hull, -(to_b.transpose() * d));
        return {to_a * a.hull.vertices[i] - (to_b * b.hull.vertices[j] + between), i, j};
    }
};

}  // namespace costate
