// Sphere on cylinder: gap, point and normal in every region of the cylinder and on the borders between the
// regions.
#include <cmath>

#include "tests/support/check_adjoint.hpp"
#include "tests/support/probe_contact.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr double radius = 0.4, half_length = 0.3, probe_radius = 0.25;

// The centre of the ball in the cylinder: distance from the axis and height, m.
struct Case {
    const char* name;
    double across, up;
    Feature feature;
    double distance;    // of the centre from the surface, negative inside
    double out, along;  // components of the normal: away from the axis, along the axis
    double accuracy = 1e-12;
};

const double deg = std::acos(-1.0) / 180;
const Feature side = edge_feature(cylinder_axis);
const Feature bottom = face_feature(0), top = face_feature(1);
const Feature lower_rim = curve_feature(0), upper_rim = curve_feature(1);

const Case cases[] = {
    {"beside", 0.9, 0.1, side, 0.5, 1, 0},
    {"over the top", 0.2, 0.8, top, 0.5, 0, 1},
    {"under the bottom", 0.2, -0.8, bottom, 0.5, 0, -1},
    {"off the upper rim", 0.4 + 0.3, 0.3 + 0.4, upper_rim, 0.5, 0.6, 0.8},
    {"off the lower rim", 0.4 + 0.4, -0.3 - 0.3, lower_rim, 0.5, 0.8, -0.6},
    {"inside, near the side", 0.35, 0.1, side, -0.05, 1, 0},
    {"inside, near the top", 0.1, 0.2, top, -0.1, 0, 1},
    {"inside, near the bottom", 0.1, -0.2, bottom, -0.1, 0, -1},
    {"border of side and rim", 0.9, 0.3, side, 0.5, 1, 0},
    {"border of top and rim", 0.4, 0.8, top, 0.5, 0, 1},
    {"a hair beyond the border of side and rim", 0.9, 0.3 + 1e-8, upper_rim, 0.5, 1, 2e-8},
    // the nearest point of the rim follows from the part of the normal across the axis: round-off over 2e-8
    {"a hair beyond the border of top and rim", 0.4 + 1e-8, 0.8, upper_rim, 0.5, 2e-8, 1, 1e-7},
    {"on the plane of the top", 0.2, 0.3, top, 0, 0, 1},
    {"on the side", 0.4, 0.1, side, 0, 1, 0},
    {"on the axis over the top", 0, 0.7, top, 0.4, 0, 1},
    {"on the axis inside, nearer to the side", 0, -0.01, bottom, -0.29, 0, -1},
    {"in the centre", 0, 0, top, -0.3, 0, 1},
};

Placed cylinder_at(const Transform<double>& X) {
    return placed(ShapeType::cylinder, {radius, half_length, 0}, X);
}
Placed ball_at(const Vec3<double>& p) {
    return placed(ShapeType::sphere, {probe_radius, 0, 0}, {Mat3<double>::Identity(), p});
}

// Distance of a point outside the cylinder, by the nearest of points all over its surface, m. Too large by at
// most the square of half their spacing over the distance.
double sampled_distance(const Vec3<double>& c) {
    double least = std::numeric_limits<double>::infinity();
    const auto see = [&](double across, double angle, double z) {
        least =
            std::min(least, (c - Vec3<double>(across * std::cos(angle), across * std::sin(angle), z)).norm());
    };
    for (int i = 0; i < 720; ++i) {
        const double angle = 0.5 * deg * i;
        for (int k = 0; k <= 100; ++k)
            see(radius, angle, half_length * (k / 50.0 - 1));
        for (int k = 0; k < 100; ++k)
            for (const double z : {-half_length, half_length})
                see(radius * k / 100, angle, z);
    }
    return least;
}

}  // namespace

TEST_CASE("sphere and cylinder: gap, point and normal of every region, in both orders") {
    Rng g(1);
    for (const Case& it : cases)
        for (int trial = 0; trial < 50; ++trial) {
            CAPTURE(it.name);
            const double angle = g.uniform(0, 360 * deg);
            const Vec3<double> radial(std::cos(angle), std::sin(angle), 0);
            // rotations by quarter turns at the origin keep ties ties
            const Mat3<double> R = rotation_matrix(quaternion_exp<double>(g.vec3(Regime::random)));
            const bool tie = it.distance == 0 || it.across == 0;
            const Placed can = cylinder_at({tie ? Mat3<double>::Identity() : R, Vec3<double>::Zero()});
            const Vec3<double> c =
                it.across * (tie ? Vec3<double>::UnitX() : radial) + Vec3<double>(0, 0, it.up);
            const Vec3<double> n =
                can.X.R * (it.out * (tie ? Vec3<double>::UnitX() : radial) + Vec3<double>(0, 0, it.along));
            const Placed sphere = ball_at(can.X.R * c);
            const FeatureList list = features(sphere, can), swapped = features(can, sphere);
            REQUIRE((list.count == 1 && swapped.count == 1));
            CHECK(list.items[0].on_a == vertex_feature(0));
            CHECK(swapped.items[0].on_b == vertex_feature(0));
            if (trial == 0 || it.feature.kind == FeatureKind::curve) CHECK(list.items[0].on_b == it.feature);
            CHECK(swapped.items[0].on_a == list.items[0].on_b);
            const Contact<double> out = contact(sphere, can, list.pair(0, 0, 1)),
                                  back = contact(can, sphere, swapped.pair(0, 0, 1));
            CHECK(std::abs(out.gap - (it.distance - probe_radius)) < it.accuracy);
            CHECK((out.normal - n).norm() < it.accuracy);
            // halfway between the surfaces
            CHECK((out.point - (sphere.X.p - n * (0.5 * (it.distance + probe_radius)))).norm() < it.accuracy);
            CHECK((back.gap == out.gap && back.normal == -out.normal && back.point == out.point));
        }
}

TEST_CASE("sphere and cylinder: outside, the distance to the nearest of many points of the surface") {
    Rng g(2);
    for (int trial = 0; trial < 200; ++trial) {
        const Vec3<double> c(g.uniform(-1, 1), g.uniform(-1, 1), g.uniform(-1, 1));
        if (std::hypot(c.x(), c.y()) < radius + 0.05 && std::abs(c.z()) < half_length + 0.05) continue;
        const double distance = gap(ball_at(c), cylinder_at(Transform<double>::identity())) + probe_radius;
        const double sampled = sampled_distance(c);
        CHECK(distance < sampled + 1e-12);
        CHECK(distance > sampled - 4e-4);
    }
}

// At the rim no direction is the normal; the larger of the two overlaps has one.
TEST_CASE("sphere and cylinder: a centre on the rim") {
    const Placed can = cylinder_at(Transform<double>::identity());
    for (int i = 0; i < 360; ++i) {
        const Placed sphere = ball_at({radius * std::cos(deg * i), radius * std::sin(deg * i), half_length});
        const FeatureList list = features(sphere, can);
        REQUIRE(list.count == 1);
        CHECK((list.items[0].on_b == top || list.items[0].on_b == side));
        CHECK(std::abs(contact(sphere, can, list.pair(0, 0, 1)).gap + probe_radius) < 1e-12);
    }
}

TEST_CASE("sphere and cylinder: the normal of the rim is the one that the narrow phase gives") {
    Rng g(3);
    int rims = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        const Placed sphere = random_placed(g, ShapeType::sphere, 0.6),
                     can = random_placed(g, ShapeType::cylinder, 0.6);
        const FeatureList list = features(sphere, can);
        REQUIRE(list.count == 1);
        if (list.items[0].on_b.kind != FeatureKind::curve) continue;
        ++rims;
        CHECK((contact(sphere, can, list.pair(0, 0, 1)).normal - list.items[0].normal).norm() < 1e-12);
    }
    CHECK(rims > 500);
}
