// Narrow phase: selects the features of two shapes that are in contact, by values and without derivatives.
#pragma once

#include <algorithm>
#include <limits>

#include "collision/contact/feature.hpp"

namespace costate {

struct FeatureList {
    int count = 0;
    struct {
        Feature on_a, on_b;
        Vec3<double> normal;  // FeaturePair::normal
    } items[4];               // set up to count

    FeatureList() = default;
    FeatureList(const FeatureList& other) { *this = other; }
    FeatureList& operator=(const FeatureList& other) {
        count = other.count;
        std::copy_n(other.items, count, items);
        return *this;
    }
    void add(const Feature& on_a, const Feature& on_b, const Vec3<double>& normal = Vec3<double>::UnitZ()) {
        items[count++] = {on_a, on_b, normal};
    }
    FeaturePair pair(int i, int a, int b) const {
        return {a, b, items[i].on_a, items[i].on_b, items[i].normal};
    }
};

// True if a few cases decide the pair: sphere, capsule and box with each other and with a plane, except two
// boxes.
inline bool in_closed_form(ShapeType a, ShapeType b) {
    return std::max(a, b) <= ShapeType::box && std::min(a, b) < ShapeType::box;
}

// The closest features of two shapes of supported types, at any distance; pairs without a closed form may
// omit features that are not closer than `reach`. X_a, X_b: poses of the shapes in a common frame; size_a,
// size_b: their sizes, m. At most four points per pair, selected deterministically; ties go to the lower
// index.
//
// In closed form:
//
// on a plane    both ends of a capsule; the four lowest vertices of a box
// sphere, box   face, edge or vertex by the region of the centre; inside the box, the nearest face
// capsules      both edges if the closest points are inside both segments; otherwise an end and an edge,
//               or two ends. Segments within 1e-6 rad of parallel use the closest end instead of edges;
//               ties to 1e-9 of the distance go to a.
// capsule, box  the closest features, and each end that is over a face; if the segment intersects the
//               box, the features on the axis of least overlap among faces and crossed edges
//
// Other shapes on a plane: the lowest vertices, or the lowest points of curves. A cylinder stands on corners
// of its inscribed prism and lies on the lowest points of both rims. Polytopes, curves and terrains: see
// narrow_polytope.cpp, narrow_curved.cpp and narrow_terrain.cpp.
FeatureList closest_features(const Shape& sa, const Shape& sb, const Transform<double>& X_a,
                             const Transform<double>& X_b, const Vec3<double>& size_a,
                             const Vec3<double>& size_b,
                             double reach = std::numeric_limits<double>::infinity());

}  // namespace costate
