// Which features of two shapes meet, decided by values. No derivative passes here; the closed forms do the rest.
#pragma once

#include "collision/feature.hpp"

namespace costate {

struct FeatureList {
    int count = 0;
    struct { Feature on_a, on_b; } items[4];
    void add(const Feature& on_a, const Feature& on_b) { items[count++] = {on_a, on_b}; }
};

// The features at which the shapes come closest, near or far, for a pair of supported types. X_a, X_b: poses of the shapes in
// one common frame; size_a, size_b: their numbers of size, m. Against a plane a capsule gives both ends and a box its four
// lowest vertices; a capsule and a box give up to three, all other pairs one. Ties go to the lower index.
//
// Sphere and box: face, edge or vertex by the region of the centre; within the box, the nearest face.
// Two capsules: edges where both segments are closest inside; an end and an edge, or two ends, otherwise. Segments within
// 1e-6 rad of parallel never meet by edges: the closest end is taken, of a before b, to 1e-9 of the distance.
// Capsule and box: the closest features, and each end that is over a face; if the segment itself meets the box, the features
// on the axis of least overlap among the faces and the crossed edges.
FeatureList closest_features(ShapeType ta, ShapeType tb, const Transform<double>& X_a, const Transform<double>& X_b,
                             const Vec3<double>& size_a, const Vec3<double>& size_b);

}  // namespace costate
