// Hard configurations of every pair: whatever coincides, the contacts are finite, the same twice, and at most
// four.
#include <cmath>
#include <cstring>

#include <doctest/doctest.h>

#include "tests/support/probe_contact.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Poses and sizes from few values, so that faces, edges, axes and centres coincide.
Placed aligned(Rng& g, ShapeType type) {
    const auto pick = [&](std::initializer_list<double> values) {
        return *(values.begin() + static_cast<long>(g.engine() % values.size()));
    };
    Placed p = random_placed(g, type, 0);
    if (type == ShapeType::mesh) p.shape = g.uniform(0, 1) < 0.5 ? cube_mesh() : p.shape;
    if (type == ShapeType::terrain) p.shape = random_terrain(g, 3, g.uniform(0, 1) < 0.5 ? 0 : 0.5);
    for (int k = 0; k < 3; ++k)
        p.size[k] = pick({0.5, 0.5, 1, 0.25, 1e-6});
    if (type == ShapeType::terrain) p.size = {1, 1, 1};
    if (type == ShapeType::capsule && g.uniform(0, 1) < 0.3) p.size.y() = 0;
    const double quarter = std::acos(0.0);
    const double tilt = pick({0, 0, 0, 1e-12, 1e-9, 1e-6, 1e-3});
    const Vec3<double> turn(quarter * pick({0, 0, 1, 2, 0.5}), quarter * pick({0, 0, 1, 0.5}),
                            quarter * pick({0, 0, 1, 0.5}));
    p.X.R = rotation_matrix(quaternion_exp<double>(Vec3<double>(tilt * g.vec3(Regime::random)))) *
            rotation_matrix(quaternion_exp<double>(turn));
    if (g.uniform(0, 1) < 0.5) p.X.R = p.X.R.array().round().matrix();
    if (std::abs(p.X.R.determinant() - 1) > 1e-9) p.X.R = Mat3<double>::Identity();
    if (type == ShapeType::terrain) p.X.R = Mat3<double>::Identity();
    p.X.p = {pick({0, 0, 0.5, -0.5, 1}), pick({0, 0, 0.5, -1}), pick({0, 0, 0.5, 1, 1.5, -0.5})};
    return p;
}

}  // namespace

TEST_CASE("degenerate: finite, unit normals, at most four points, the same bits twice") {
    Rng g(1);
    int contacts = 0;
    for (const ShapeType ta : all_shape_types)
        for (const ShapeType tb : all_shape_types) {
            if (!pair_supported(ta, tb)) continue;
            for (int trial = 0; trial < 100; ++trial) {
                CAPTURE(std::string(shape_type_name(ta)));
                CAPTURE(std::string(shape_type_name(tb)));
                CAPTURE(trial);
                const Placed a = aligned(g, ta), b = aligned(g, tb);
                const FeatureList list = features(a, b, 0.1), again = features(a, b, 0.1);
                REQUIRE(list.count == again.count);
                CHECK(list.count <= 4);
                for (int i = 0; i < list.count; ++i) {
                    const FeaturePair f = list.pair(i, 0, 1), same = again.pair(i, 0, 1);
                    REQUIRE(f == same);
                    CHECK(std::memcmp(f.normal.data(), same.normal.data(), 3 * sizeof(double)) == 0);
                    const Contact<double> c = contact(a, b, f);
                    CHECK(std::isfinite(c.gap + c.point.sum() + c.normal.sum()));
                    CHECK(c.normal.norm() == doctest::Approx(1));
                    Force<double> A = Force<double>::zero(), B = A;
                    Vec3<double> sa(0, 0, 0), sb(0, 0, 0);
                    contact_adj(a.shape, b.shape, f, a.X, b.X, a.size, b.size,
                                Contact<double>{{1, 2, 3}, {0.5, -1, 2}, 1.5}, A, B, sa, sb);
                    CHECK(std::isfinite(A.ang.sum() + A.lin.sum() + B.ang.sum() + B.lin.sum() + sa.sum() +
                                        sb.sum()));
                    ++contacts;
                }
            }
        }
    CHECK(contacts > 5000);
}

// The list is for gaps under 0.1: no contact may vanish there that the smallest gap of the unlimited list
// has.
TEST_CASE("degenerate: a reach leaves the closest contact in") {
    Rng g(2);
    for (const ShapeType ta : all_shape_types)
        for (const ShapeType tb : all_shape_types) {
            if (!pair_supported(ta, tb)) continue;
            for (int trial = 0; trial < 60; ++trial) {
                CAPTURE(std::string(shape_type_name(ta)));
                CAPTURE(std::string(shape_type_name(tb)));
                CAPTURE(trial);
                const auto [a, b] = random_pair(g, ta, tb, 0.4);
                const double all = gap(a, b);
                const FeatureList list = features(a, b, 0.1);
                double found = std::numeric_limits<double>::infinity();
                for (int i = 0; i < list.count; ++i)
                    found = std::min(found, contact(a, b, list.pair(i, 0, 1)).gap);
                if (all < 0.1) CHECK(found == doctest::Approx(all).epsilon(1e-6));
            }
        }
}
