// The gap of a curved solid and another beside the largest separation among all directions, which is found here by
// trying directions, without features. Polytopes have an oracle of their own in test_large_hulls.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "collision/detect/gjk.hpp"
#include "tests/support/sample_shapes.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// The largest separation along a direction, m: random steps uphill from `first` and the best of
// many directions.
double largest_separation(Rng& g, const Solid& a, const Solid& b, const Vec3<double>& first) {
    std::vector<std::pair<double, Vec3<double>>> starts{{separation(a, b, first), first}};
    for (int k = 0; k < 200; ++k) {
        const Vec3<double> n = g.vec3(Regime::random).normalized();
        starts.push_back({separation(a, b, n), n});
    }
    std::ranges::sort(starts, std::greater<>(), &std::pair<double, Vec3<double>>::first);
    double largest = starts[0].first;
    for (int start = 0; start < 3; ++start) {
        auto [most, n] = starts[start];
        for (double step = 0.1; step > 1e-8; step *= 0.6)
            for (bool better = true; better;) {
                better = false;
                for (int k = 0; k < 30; ++k) {
                    const Vec3<double> d = (n + step * g.vec3(Regime::random)).normalized();
                    if (const double s = separation(a, b, d); s > most) {
                        most = s;
                        n = d;
                        better = true;
                    }
                }
            }
        largest = std::max(largest, most);
    }
    return largest;
}

}  // namespace

TEST_CASE("overlaps: the gap of a curved solid is the largest separation among all directions") {
    constexpr ShapeType types[] = {ShapeType::capsule, ShapeType::box, ShapeType::cylinder,
                                   ShapeType::ellipsoid, ShapeType::mesh};
    Rng g(1);
    int overlaps = 0;
    for (const ShapeType ta : types)
        for (const ShapeType tb : types)
            for (int trial = 0; trial < 100; ++trial) {
                if (!shape_kind(ta).curved && !shape_kind(tb).curved) continue;
                Placed a = random_placed(g, ta, 0.1), b = random_placed(g, tb, 0.1);
                for (Placed* p : {&a, &b})
                    if (p->shape.type == ShapeType::mesh && trial % 2 == 0) p->shape = random_mesh(g, 60);
                const Vec3<double> out = g.vec3(Regime::random).normalized();
                const Solid at(a.shape, a.X, a.size);
                const double radii = at.radius + Solid(b.shape, b.X, b.size).radius;
                b.X.p -= 2 * out;
                const Apart apart = gjk({at}, {Solid(b.shape, b.X, b.size)});
                const double gap_wanted = (trial % 3 == 0 ? -0.03 : -1e-3) * g.uniform(0, 1);
                b.X.p += apart.n * (apart.distance - radii - gap_wanted);
                const Solid is(b.shape, b.X, b.size);
                const FeatureList list = features(a, b);
                REQUIRE(list.count > 0);
                const Vec3<double> n = contact(a, b, list.pair(0, 0, 1)).normal;
                const double most = largest_separation(g, at, is, n);
                CAPTURE(std::string(shape_type_name(ta)));
                CAPTURE(std::string(shape_type_name(tb)));
                CAPTURE(trial);
                const double error = gap(a, b) - (most - radii);
                CAPTURE(error);
                // points of faces and ends of lines may replace others that are nearly as close
                CHECK(std::abs(error) < 1e-3 * std::abs(most) + 2e-4);
                overlaps += most - radii < 0;
            }
    CHECK(overlaps > 1000);
}
