// Which features of two shapes meet, decided by values. No derivative passes here; the closed forms do the
// rest.
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

// Whether the pair is decided by a few cases: sphere, capsule and box with each other and on a plane, but for
// two boxes.
inline bool in_closed_form(ShapeType a, ShapeType b) {
    return std::max(a, b) <= ShapeType::box && std::min(a, b) < ShapeType::box;
}

// The features at which the shapes come closest, near or far, for a pair of supported types; those without a
// closed form may leave out what is no closer than `reach`. X_a, X_b: poses of the shapes in one common
// frame; size_a, size_b: their numbers of size, m. At most four points a pair, deterministically chosen; ties
// go to the lower index.
//
// In closed form:
//   on a plane    a capsule gives both ends and a box its four lowest vertices
//   sphere, box   face, edge or vertex by the region of the centre; within the box, the nearest face
//   capsules      edges where both segments are closest inside; an end and an edge, or two ends, otherwise.
//   Segments within
//                 1e-6 rad of parallel never meet by edges: the closest end is taken, of a before b, to 1e-9
//                 of the distance
//   capsule, box  the closest features, and each end that is over a face; if the segment itself meets the
//   box, the features
//                 on the axis of least overlap among the faces and the crossed edges
// Other shapes on a plane: the lowest vertices, or the lowest points of curves; a cylinder stands on corners
// of its inscribed prism and lies on the lowest points of both rims. Polytopes, curves and terrains: see
// narrow_polytope.cpp, narrow_curved.cpp and narrow_terrain.cpp.
FeatureList closest_features(const Shape& sa, const Shape& sb, const Transform<double>& X_a,
                             const Transform<double>& X_b, const Vec3<double>& size_a,
                             const Vec3<double>& size_b,
                             double reach = std::numeric_limits<double>::infinity());

}  // namespace costate
