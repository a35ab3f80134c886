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

// How the normal of a contact follows from its features: by a closed form, or as the direction of the largest
// separation of two support functions (collision/contact/curved.hpp).
enum class NormalForm { closed, implicit };

// A supported pair of types, from the table in narrow.cpp.
struct PairKind {
    int most_points;    // largest number of contacts, 1 to 4
    NormalForm normal;  // implicit if any of its contacts has an implicit normal
    bool in_cases;      // a few cases select the features, without a search and at any distance
};
PairKind pair_kind(ShapeType a, ShapeType b);

// The closest features of two shapes of supported types, at any distance; pairs whose features are searched
// may omit features that are not closer than `reach`. X_a, X_b: poses of the shapes in a common frame;
// size_a, size_b: their sizes, m. At most four points per pair, selected deterministically; ties go to the
// lower index.
//
// What each pair selects stands in narrow.cpp, at the functions of its table.
FeatureList closest_features(const Shape& sa, const Shape& sb, const Transform<double>& X_a,
                             const Transform<double>& X_b, const Vec3<double>& size_a,
                             const Vec3<double>& size_b,
                             double reach = std::numeric_limits<double>::infinity());

}  // namespace costate
