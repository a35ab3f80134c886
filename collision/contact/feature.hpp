// Features: the parts of two shapes that are in contact. They are selected by values
// (collision/detect/narrow.hpp). Given the features, point, normal and gap are smooth closed forms
// (collision/contact/contact.hpp).
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "collision/shapes/shape.hpp"

namespace costate {

// vertex, edge (a line), face (a plane): swept by a radius, which is nonzero only for spheres, capsules and
// the axis of a cylinder. side: the plane through an edge of a face, at right angles to the face; always
// paired with an edge of the other shape. curve: a smooth curve, in contact where its normal is the contact
// normal.
enum class FeatureKind : std::uint8_t { vertex, edge, face, side, curve };

// Indices of features by shape type:
//
// sphere     vertex 0
// capsule    vertices 0 and 1: its ends at -z and +z; edge 0
// box        those of cube_hull
// plane      face 0
// cylinder   curves 0 and 1: its rims at -z and +z; edge cylinder_axis; the others are those of the inscribed
//            prism_hull
// ellipsoid  curve 0
// mesh       those of its hull
// terrain    see Terrain
struct Feature {
    FeatureKind kind = FeatureKind::vertex;
    std::uint32_t index = 0;
    auto operator<=>(const Feature&) const = default;
};

// Flag in the index of the second of two edges along u and w: the contact normal is along -u x w, not u x w.
inline constexpr std::uint32_t reversed_normal = 1u << 31;
inline constexpr int cylinder_axis = 3 * prism_corners;

inline constexpr Feature vertex_feature(int index) {
    return {FeatureKind::vertex, static_cast<std::uint32_t>(index)};
}
inline constexpr Feature edge_feature(int index, bool reversed = false) {
    return {FeatureKind::edge, static_cast<std::uint32_t>(index) | (reversed ? reversed_normal : 0)};
}
inline constexpr Feature face_feature(int index) {
    return {FeatureKind::face, static_cast<std::uint32_t>(index)};
}
inline constexpr Feature side_feature(int index) {
    return {FeatureKind::side, static_cast<std::uint32_t>(index)};
}
inline constexpr Feature curve_feature(int index) {
    return {FeatureKind::curve, static_cast<std::uint32_t>(index)};
}

struct FeaturePair {
    int a = 0, b = 0;  // indices of the shapes, as in ShapeSet::pairs
    Feature on_a, on_b;
    // If one feature is a curve and none is a face: the contact normal to round-off, from which the closed
    // form takes one Newton step. Features and poses determine it, so comparisons ignore it.
    Vec3<double> normal = Vec3<double>::UnitZ();

    friend std::strong_ordering operator<=>(const FeaturePair& f, const FeaturePair& g) {
        if (f.a != g.a) return f.a <=> g.a;
        if (f.b != g.b) return f.b <=> g.b;
        if (f.on_a != g.on_a) return f.on_a <=> g.on_a;
        return f.on_b <=> g.on_b;
    }
    friend bool operator==(const FeaturePair& f, const FeaturePair& g) { return (f <=> g) == 0; }
};

// The hash of a sequence that goes on with a word.                         (finalizer of splitmix64)
inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) + 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    return hash ^ (hash >> 31);
}

// A hash of the list, including order and length.
inline std::uint64_t hash_features(const std::vector<FeaturePair>& features) {
    std::uint64_t hash = features.size();
    const auto mix = [&hash](std::uint64_t word) { hash = mixed(hash, word); };
    const auto word = [](int shape, const Feature& f) {
        return std::uint64_t{static_cast<std::uint32_t>(shape)} << 40 ^
               std::uint64_t{static_cast<std::uint8_t>(f.kind)} << 32 ^ f.index;
    };
    for (const FeaturePair& f : features) {
        mix(word(f.a, f.on_a));
        mix(word(f.b, f.on_b));
    }
    return hash;
}

// The position of a feature of a box: -1, 0 or 1 on each axis.
inline Vec3<double> box_side(const Feature& f) {
    const auto sign = [&](int bit) { return (f.index >> bit & 1) != 0 ? 1.0 : -1.0; };
    Vec3<double> s = Vec3<double>::Zero();
    switch (f.kind) {
        case FeatureKind::vertex: s = {sign(0), sign(1), sign(2)}; break;
        case FeatureKind::edge: {
            const int k = static_cast<int>(f.index & 15) / 4;
            s[(k + 1) % 3] = sign(0);
            s[(k + 2) % 3] = sign(1);
            break;
        }
        case FeatureKind::face: s[static_cast<int>(f.index / 2)] = sign(0); break;
        default: break;
    }
    return s;
}

inline bool is_round(ShapeType type) { return shape_kind(type).round; }

// True if the feature is swept by the radius size[0].
inline bool is_swept(ShapeType type, const Feature& f) {
    if (type != ShapeType::cylinder) return is_round(type);
    return f.kind == FeatureKind::edge &&
           (f.index & ~reversed_normal) == static_cast<std::uint32_t>(cylinder_axis);
}

// The hull whose features the shape has; null for planes, ellipsoids and terrains.
inline const Hull* hull_of(const Shape& shape) {
    const ShapeKind& kind = shape_kind(shape.type);
    return kind.unit_hull == nullptr ? shape.hull.get() : &kind.unit_hull();
}

// The edge and the face of a side.
inline Feature edge_of_side(const Shape& shape, const Feature& side) {
    if (shape.type == ShapeType::terrain) return edge_feature(shape.terrain->edge_of_side[side.index]);
    return edge_feature(hull_of(shape)->sides[side.index].edge);
}
inline Feature face_of_side(const Shape& shape, const Feature& side) {
    if (shape.type == ShapeType::terrain) return face_feature(static_cast<int>(side.index / 3));
    return face_feature(hull_of(shape)->sides[side.index].face);
}

}  // namespace costate
