// Terrains: flat ones against the plane, edges and vertices by the side they are seen from, and hard places.
#include <algorithm>
#include <stdexcept>

#include <doctest/doctest.h>

#include "collision/shapes/terrain.hpp"
#include "tests/support/sample_shapes.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr ShapeType on_it[] = {ShapeType::sphere,   ShapeType::capsule,   ShapeType::box,
                               ShapeType::cylinder, ShapeType::ellipsoid, ShapeType::mesh};
const Transform<double> here = Transform<double>::identity();

Placed terrain_of(std::shared_ptr<const Terrain> data) {
    Placed p = placed(ShapeType::terrain, {1, 1, 1}, here);
    p.shape.terrain = std::move(data);
    return p;
}

// Two slopes that meet along y at x = 0: up to a ridge for rise > 0, down to a valley for rise < 0.
Placed roof(double rise) {
    return terrain_of(
        triangle_terrain({{-2, -2, 0}, {0, -2, rise}, {2, -2, 0}, {-2, 2, 0}, {0, 2, rise}, {2, 2, 0}},
                         {{0, 1, 4}, {0, 4, 3}, {1, 2, 5}, {1, 5, 4}}));
}

// gap and height of the points, sorted
std::vector<std::array<double, 3>> summary(const Placed& a, const Placed& b) {
    const FeatureList list = features(a, b, 0.3);
    std::vector<std::array<double, 3>> points;
    for (int i = 0; i < list.count; ++i) {
        const Contact<double> c = contact(a, b, list.pair(i, 0, 1));
        CHECK(c.normal.z() > 1 - 1e-12);
        if (c.gap < 0.05) points.push_back({c.gap, c.point.x(), c.point.y()});
    }
    std::sort(points.begin(), points.end());
    return points;
}

}  // namespace

TEST_CASE("terrain: what slides over coplanar triangles feels a plane") {
    Rng g(1);
    Placed flat = random_placed(g, ShapeType::terrain, 0);
    flat.shape = random_terrain(g, 9, 0);
    flat.X = here;
    flat.size = {3, 3, 1};
    const Placed plane = placed(ShapeType::plane, {0, 0, 0}, here);
    for (const ShapeType type : on_it)
        for (int trial = 0; trial < 300; ++trial) {
            CAPTURE(std::string(shape_type_name(type)));
            CAPTURE(trial);
            Placed p = random_placed(g, type, 0);
            const double tilt = trial % 3 == 0 ? 0 : 0.1;
            p.X.R = rotation_matrix(quaternion_exp<double>({tilt * g.normal(), tilt * g.normal(), 0})) *
                    rotation_matrix(quaternion_exp<double>({0, 0, g.normal()}));
            if (type == ShapeType::mesh) p.shape = cube_mesh();
            // here and there exactly over an edge or a vertex of the grid
            p.X.p = {trial % 5 == 0 ? 0.75 : g.uniform(-1, 1), trial % 7 == 0 ? -0.75 : g.uniform(-1, 1), 0};
            p.X.p.z() = -gap(p, plane) - 1e-3;
            const auto on_plane = summary(p, plane), on_flat = summary(p, flat);
            REQUIRE(!on_flat.empty());
            CHECK(on_flat[0][0] == doctest::Approx(on_plane[0][0]).epsilon(1e-9));
            // others may choose differently among points of equal height
            if (type == ShapeType::cylinder || type == ShapeType::mesh) continue;
            REQUIRE(on_flat.size() == on_plane.size());
            for (size_t i = 0; i < on_flat.size(); ++i)
                CHECK(on_flat[i][0] == doctest::Approx(on_plane[i][0]).epsilon(1e-9));
        }
}

TEST_CASE("terrain: over a ridge a sphere's gap is its distance, in a valley it touches both slopes") {
    const Placed ridge = roof(1), valley = roof(-1);
    Rng g(2);
    for (int trial = 0; trial < 500; ++trial) {
        CAPTURE(trial);
        const Placed ball =
            placed(ShapeType::sphere, {0.2, 0, 0},
                   {Mat3<double>::Identity(), {g.uniform(-0.5, 0.5), g.uniform(-1, 1), g.uniform(1, 1.5)}});
        const double x = std::abs(ball.X.p.x()), z = ball.X.p.z() - 1;
        const double distance = x > 0.5 * z ? (z + 0.5 * x) / std::sqrt(1.25) : std::hypot(x, z);
        CHECK(gap(ball, ridge) == doctest::Approx(distance - 0.2).epsilon(1e-9));
    }
    const Placed low = placed(ShapeType::sphere, {0.2, 0, 0}, {Mat3<double>::Identity(), {0, 0.3, -0.8}});
    const FeatureList both = features(low, valley);
    REQUIRE(both.count == 2);
    for (int i = 0; i < 2; ++i)
        CHECK(contact(low, valley, both.pair(i, 0, 1)).gap == doctest::Approx(0.2 / std::sqrt(1.25) - 0.2));
}

TEST_CASE("terrain: every shape rests on a ridge and on a peak with the normal between the slopes") {
    const Placed ridge = roof(1);
    const Placed peak = terrain_of(height_field(3, 3, 1, 1, {0, 0, 0, 0, 1, 0, 0, 0, 0}));
    Rng g(3);
    for (const ShapeType type : on_it)
        for (int trial = 0; trial < 50; ++trial) {
            CAPTURE(std::string(shape_type_name(type)));
            CAPTURE(trial);
            Placed p = random_placed(g, type, 0);
            p.X.p = {0.02 * g.normal(), 0.02 * g.normal(), 1.7};
            for (const Placed& under : {ridge, peak}) {
                p.X.p.z() = 1.7;
                for (int k = 0; k < 20; ++k)
                    p.X.p.z() -= 0.7 * (gap(p, under) + 1e-3);
                const FeatureList list = features(p, under, 0.01);
                REQUIRE(list.count >= 1);
                const Contact<double> c = contact(p, under, list.pair(0, 0, 1));
                CHECK(std::abs(c.gap + 1e-3) < 5e-4);
                CHECK(c.normal.z() > 0.4);
            }
        }
}

TEST_CASE("terrain: a thin wall is felt on the near side only") {
    const double t = 0.02;
    const Placed wall = terrain_of(triangle_terrain(
        {{-t, -2, 0}, {-t, 2, 0}, {-t, 2, 2}, {-t, -2, 2}, {t, -2, 0}, {t, 2, 0}, {t, 2, 2}, {t, -2, 2}},
        {{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7}, {3, 6, 2}, {3, 7, 6}}));
    Rng g(4);
    for (const ShapeType type : on_it)
        for (int trial = 0; trial < 50; ++trial) {
            CAPTURE(std::string(shape_type_name(type)));
            Placed p = random_placed(g, type, 0);
            p.X.p = {3, g.uniform(-0.5, 0.5), 1};
            for (int k = 0; k < 10; ++k)
                p.X.p.x() -= gap(p, wall) + 1e-3;
            const FeatureList list = features(p, wall, 0.01);
            REQUIRE(list.count >= 1);
            for (int i = 0; i < list.count; ++i) {
                const Contact<double> c = contact(p, wall, list.pair(i, 0, 1));
                CHECK(c.normal.x() > 0.99);
                CHECK(c.gap > -1.1e-3);
            }
        }
}

TEST_CASE("terrain: what has sunk into a height field comes up the shortest way from where it is") {
    const Placed field = terrain_of(height_field(5, 5, 1, 1, std::vector<double>(25, 0.0)));
    const Placed ball = placed(ShapeType::sphere, {0.1, 0, 0}, {Mat3<double>::Identity(), {0.3, 0.2, -0.5}});
    const FeatureList list = features(ball, field);
    REQUIRE(list.count == 1);
    CHECK(contact(ball, field, list.pair(0, 0, 1)).gap == doctest::Approx(-0.6));
}

TEST_CASE("terrain: bad data is refused") {
    CHECK_THROWS_AS(height_field(1, 2, 1, 1, {0, 0}), std::invalid_argument);
    CHECK_THROWS_AS(height_field(2, 2, 1, 1, {0, 0, 0}), std::invalid_argument);
    CHECK_THROWS_AS(triangle_terrain({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 3}}), std::invalid_argument);
    CHECK_THROWS_AS(triangle_terrain({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {{0, 1, 2}}), std::invalid_argument);
    CHECK_THROWS_AS(triangle_terrain({}, {}), std::invalid_argument);
}
