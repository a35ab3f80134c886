// Random shapes of every type, for the tests of collision/.
#pragma once

#include <limits>

#include "collision/contact/contact.hpp"
#include "collision/detect/narrow.hpp"
#include "tests/support/probe.hpp"

namespace costate::test {

struct Placed {
    Shape shape;
    Vec3<double> size;
    Transform<double> X;
};

inline Shape shape_of(ShapeType type) {
    Shape s;
    s.name = shape_type_name(type);
    s.type = type;
    return s;
}
inline Placed placed(ShapeType type, const Vec3<double>& size, const Transform<double>& X) {
    return {shape_of(type), size, X};
}

// The corners of a box of half extents 1, as a mesh.
inline Shape cube_mesh() {
    Shape s = shape_of(ShapeType::mesh);
    s.hull = convex_hull(cube_hull().vertices);
    return s;
}

// The hull of n random points in a ball of radius 1.
template <class G> Shape random_mesh(G& g, int n) {
    std::vector<Vec3<double>> points;
    for (int i = 0; i < n; ++i) {
        const Vec3<double> x = g.vec3(Regime::random);
        points.push_back(x / x.norm() * std::sqrt(g.uniform(0.3, 1)));
    }
    Shape s = shape_of(ShapeType::mesh);
    s.hull = convex_hull(points);
    return s;
}

// A square grid of n x n heights between 0 and `height`, with side 2.
template <class G> Shape random_terrain(G& g, int n, double height) {
    std::vector<double> heights;
    for (int i = 0; i < n * n; ++i)
        heights.push_back(height == 0 ? 0 : g.uniform(0, height));
    Shape s = shape_of(ShapeType::terrain);
    s.terrain = height_field(n, n, 2.0 / (n - 1), 2.0 / (n - 1), heights);
    return s;
}

inline Placed random_placed(Rng& g, ShapeType type, double spread) {
    Placed p = placed(type, {g.uniform(0.1, 0.5), g.uniform(0.1, 0.5), g.uniform(0.1, 0.5)},
                      Transform<double>::identity());
    if (type == ShapeType::mesh) p.shape = random_mesh(g, 12);
    if (type == ShapeType::terrain) {
        p.shape = random_terrain(g, 5, 0.5);
        p.size = {g.uniform(0.8, 1.2), g.uniform(0.8, 1.2), g.uniform(0.8, 1.2)};
    }
    const Vec3<double> turn = g.vec3(Regime::random), at = spread * g.vec3(Regime::random);
    p.X = {rotation_matrix(quaternion_exp<double>(turn)), at};
    if (type == ShapeType::terrain) p.X.p = 0.1 * at;
    return p;
}

inline FeatureList features(const Placed& a, const Placed& b,
                            double reach = std::numeric_limits<double>::infinity()) {
    return closest_features(a.shape, b.shape, a.X, b.X, a.size, b.size, reach);
}
inline Contact<double> contact(const Placed& a, const Placed& b, const FeaturePair& f) {
    return costate::contact(a.shape, b.shape, f, a.X, b.X, a.size, b.size);
}

// X moved by the twist d.
inline Transform<double> moved(const Transform<double>& X, const double* d) {
    const Mat3<double> R = rotation_matrix(quaternion_exp<double>(P3::bar(d)));
    return {R * X.R, R * X.p + P3::bar(d + 3)};
}

// The smallest gap of the detected features.
inline double gap(const Placed& a, const Placed& b) {
    const FeatureList list = features(a, b);
    double smallest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < list.count; ++i)
        smallest = std::min(smallest, contact(a, b, list.pair(i, 0, 1)).gap);
    return smallest;
}

// Two random shapes. The overlap with a terrain is at most about 0.05.
inline std::pair<Placed, Placed> random_pair(Rng& g, ShapeType ta, ShapeType tb, double spread) {
    std::pair<Placed, Placed> pair{random_placed(g, ta, spread), random_placed(g, tb, spread)};
    auto& [a, b] = pair;
    if (ta != ShapeType::terrain && tb != ShapeType::terrain) return pair;
    const Vec3<double> up = (ta == ShapeType::terrain ? a : b).X.R.col(2);
    Placed& other = ta == ShapeType::terrain ? b : a;
    for (int k = 0; k < 40 && gap(a, b) < -0.05; ++k)
        other.X.p += 0.1 * up;
    return pair;
}

}  // namespace costate::test
