// Probes for the types of collision/.
#pragma once

#include "tests/support/sample_shapes.hpp"

namespace costate::test {

// Enumerators: no tangent. Only values valid for any type and regime: features that move with the size.
template <class X> struct EnumeratorProbe {
    static constexpr int size = 0;
    using Lifted = X;
    static X lift(const X& x, const double*) { return x; }
    static NoBar bar(const double*) { return {}; }
    static void covector(const NoBar&, double*) {}
};
template <> struct Probe<ShapeType> : EnumeratorProbe<ShapeType> {
    static ShapeType random(Rng& g, Regime) {
        return std::array{ShapeType::capsule, ShapeType::box,
                          ShapeType::cylinder}[static_cast<size_t>(g.uniform(0, 3))];
    }
};
template <> struct Probe<Shape> : EnumeratorProbe<Shape> {
    static Shape random(Rng& g, Regime) {
        const double choice = g.uniform(0, 4);
        if (choice < 1) return random_mesh(g, 8);
        return shape_of(choice < 2 ? ShapeType::capsule
                                   : (choice < 3 ? ShapeType::box : ShapeType::cylinder));
    }
};
template <> struct Probe<Feature> : EnumeratorProbe<Feature> {
    static Feature random(Rng& g, Regime) {
        const int index = static_cast<int>(g.uniform(0, 2));
        return g.uniform(0, 1) < 0.5 ? vertex_feature(index) : edge_feature(index);
    }
};
template <> struct Probe<Meeting> : EnumeratorProbe<Meeting> {
    static Meeting random(Rng& g, Regime) { return static_cast<Meeting>(g.uniform(0, 5)); }
};

// Types of two vectors, and of two vectors and a number, that are their own bars.
template <class X, class XD> struct TwoVectorProbe {
    static constexpr int size = 6;
    using Lifted = XD;
    static void tangent(const XD& x, double* d) {
        const auto& [a, b] = x;
        P3::tangent(a, d);
        P3::tangent(b, d + 3);
    }
    static X bar(const double* c) { return {P3::bar(c), P3::bar(c + 3)}; }
};
template <> struct Probe<PointPair<double>> : TwoVectorProbe<PointPair<double>, PointPair<D>> {};
template <> struct Probe<Tangents<double>> : TwoVectorProbe<Tangents<double>, Tangents<D>> {};

template <class X, class XD> struct TwoVectorsAndNumberProbe {
    static constexpr int size = 7;
    using Lifted = XD;
    static X random(Rng& g, Regime r) { return {g.vec3(r), g.vec3(r), Probe<double>::random(g, r)}; }
    static XD lift(const X& x, const double* d) {
        const auto& [a, b, s] = x;
        return {P3::lift(a, d), P3::lift(b, d + 3), D(s, d[6])};
    }
    static void tangent(const XD& x, double* d) {
        const auto& [a, b, s] = x;
        P3::tangent(a, d);
        P3::tangent(b, d + 3);
        d[6] = s.d;
    }
    static X bar(const double* c) { return {P3::bar(c), P3::bar(c + 3), c[6]}; }
    static void covector(const X& x_bar, double* c) {
        const auto& [a, b, s] = x_bar;
        P3::covector(a, c);
        P3::covector(b, c + 3);
        c[6] = s;
    }
};
template <>
struct Probe<RoundedFeature<double>> : TwoVectorsAndNumberProbe<RoundedFeature<double>, RoundedFeature<D>> {};
template <> struct Probe<Contact<double>> : TwoVectorsAndNumberProbe<Contact<double>, Contact<D>> {};

}  // namespace costate::test
