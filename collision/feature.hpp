// Features: the parts of two shapes that meet. Every contact is between two rounded features, a vertex, an edge (a line) or
// a face (a plane), swept by a radius that is 0 for boxes and planes. Which ones meet is decided once, by values
// (collision/narrow.hpp); given the features, point, normal and gap are smooth closed forms (collision/contact.hpp).
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "collision/shape.hpp"

namespace costate {

enum class FeatureKind : std::uint8_t { vertex, edge, face };

// index by type:
//   sphere   vertex 0
//   capsule  vertex 0 and 1: its ends at -z and +z; edge 0
//   box      vertex: bit k set on the +k side; edge: 4 k + side of axis k+1 + 2 side of axis k+2, along k; face: 2 k + side
//   plane    face 0
struct Feature {
    FeatureKind kind = FeatureKind::vertex;
    std::uint8_t index = 0;
    auto operator<=>(const Feature&) const = default;
};

// Flag in the index of the second of two edges, along u and w: the contact normal is -u x w instead of u x w.
inline constexpr std::uint8_t reversed_normal = 16;

inline constexpr Feature vertex_feature(int index) { return {FeatureKind::vertex, static_cast<std::uint8_t>(index)}; }
inline constexpr Feature edge_feature(int index) { return {FeatureKind::edge, static_cast<std::uint8_t>(index)}; }
inline constexpr Feature face_feature(int index) { return {FeatureKind::face, static_cast<std::uint8_t>(index)}; }

struct FeaturePair {
    int a = 0, b = 0;  // indices of the shapes, as in ShapeSet::pairs
    Feature on_a, on_b;
    auto operator<=>(const FeaturePair&) const = default;

    // All of it in 64 bits, in the same order.
    std::uint64_t key() const {
        const auto code = [](const Feature& f) { return std::uint64_t{static_cast<std::uint8_t>(f.kind)} << 6 | f.index; };
        return static_cast<std::uint64_t>(a) << 40 | static_cast<std::uint64_t>(b) << 16 | code(on_a) << 8 | code(on_b);
    }
};

// A hash of the list, order and length included                           (the finaliser of splitmix64)
inline std::uint64_t hash_features(const std::vector<FeaturePair>& features) {
    std::uint64_t hash = features.size();
    for (const FeaturePair& f : features) {
        hash = (hash ^ f.key()) + 0x9e3779b97f4a7c15u;
        hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
        hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
        hash ^= hash >> 31;
    }
    return hash;
}

// The side of a box, -1, 0 or 1 on each axis, on which the feature lies.
inline Vec3<double> box_side(const Feature& f) {
    const auto sign = [&](int bit) { return (f.index >> bit & 1) != 0 ? 1.0 : -1.0; };
    Vec3<double> s = Vec3<double>::Zero();
    switch (f.kind) {
        case FeatureKind::vertex: s = {sign(0), sign(1), sign(2)}; break;
        case FeatureKind::edge: {
            const int k = (f.index & 15) / 4;
            s[(k + 1) % 3] = sign(0), s[(k + 2) % 3] = sign(1);
            break;
        }
        case FeatureKind::face: s[f.index / 2] = sign(0); break;
    }
    return s;
}

// The feature's origin in the shape is linear in the shape's size: a constant times size by this rule.
//   offset = side . size for a box, (0, 0, +-size[1]) for the ends of a capsule, 0 otherwise
template <class T> Vec3<T> feature_offset(ShapeType type, const Feature& f, const Vec3<T>& size) {
    if (type == ShapeType::box) return cast<T>(box_side(f)).cwiseProduct(size);
    if (type == ShapeType::capsule && f.kind == FeatureKind::vertex) return {T(0), T(0), f.index == 0 ? T(-size.y()) : size.y()};
    return Vec3<T>::Zero();
}

// The feature's unit direction in the shape: along an edge, out of a face, 0 for a vertex.
inline Vec3<double> feature_direction(ShapeType type, const Feature& f) {
    if (f.kind == FeatureKind::vertex) return Vec3<double>::Zero();
    if (type != ShapeType::box) return Vec3<double>::UnitZ();
    return f.kind == FeatureKind::face ? box_side(f) : Vec3<double>(Vec3<double>::Unit((f.index & 15) / 4));
}

inline bool is_round(ShapeType type) { return type == ShapeType::sphere || type == ShapeType::capsule; }

}  // namespace costate
