// Points of contact where flat parts meet: what stands on how many, and which. Hulls.
#include <algorithm>
#include <stdexcept>

#include <doctest/doctest.h>

#include "collision/detect/narrow_parts.hpp"
#include "collision/detect/solid.hpp"
#include "tests/support/sample_shapes.hpp"

using namespace costate;
using namespace costate::test;

namespace {

const Mat3<double> I = Mat3<double>::Identity();

Mat3<double> turn(double x, double y, double z) { return rotation_matrix(quaternion_exp<double>({x, y, z})); }

// The contacts of two shapes, the widest distance of two of their points, and the largest gap.
struct Manifold {
    std::vector<Contact<double>> contacts;
    double width = 0, largest_gap = -1e300, least_gap = 1e300, area = 0;
    Manifold(const Placed& a, const Placed& b) {
        const FeatureList list = features(a, b, 0.01);
        for (int i = 0; i < list.count; ++i) {
            contacts.push_back(contact(a, b, list.pair(i, 0, 1)));
            largest_gap = std::max(largest_gap, contacts.back().gap);
            least_gap = std::min(least_gap, contacts.back().gap);
        }
        for (const auto& c : contacts)
            for (const auto& d : contacts) {
                width = std::max(width, (c.point - d.point).norm());
                for (const auto& e : contacts)
                    area = std::max(area, 0.5 * (d.point - c.point).cross(e.point - c.point).norm());
            }
    }
    bool vertical() const {
        return std::all_of(contacts.begin(), contacts.end(),
                           [](const auto& c) { return std::abs(c.normal.z()) > 0.999; });
    }
};

Solid core_of(const Placed& p) { return {p.shape, p.X, p.size}; }

// The greatest separation among many directions: all around, near n and near -n.
double greatest_separation(Rng& g, const Solid& a, const Solid& b, const Vec3<double>& n) {
    double most = -unlimited;
    for (int k = 0; k < 300; ++k) {
        const double spread = k % 3 == 0 ? 100 : g.uniform(0, 0.3);
        const Vec3<double> d = (k % 3 == 1 ? -n : n) + spread * g.vec3(Regime::random);
        most = std::max(most, separation(a, b, d.normalized()));
    }
    for (const Solid* s : {&a, &b})
        for (int f = 0; f < s->face_count(); ++f)
            most = std::max(most, separation(a, b, s == &a ? Vec3<double>(-s->normal(f)) : s->normal(f)));
    return most;
}

}  // namespace

TEST_CASE("manifolds: boxes and box-like meshes stand on the four corners of what they share") {
    Rng g(1);
    for (const bool mesh_above : {false, true})
        for (const bool mesh_below : {false, true})
            for (int trial = 0; trial < 200; ++trial) {
                CAPTURE(trial);
                const double yaw = trial % 4 == 0 ? 0 : g.uniform(-2, 2),
                             tilt = trial % 3 == 0 ? 0 : 1e-5 * g.normal();
                Placed above = placed(ShapeType::box, {0.2, 0.3, 0.1},
                                      {turn(0, 0, yaw) * turn(tilt, 0.5 * tilt, 0), {0.1, -0.05, 0.1999}});
                Placed below = placed(ShapeType::box, {0.5, 0.6, 0.1}, {I, {0, 0, 0}});
                if (mesh_above) above.shape = cube_mesh();
                if (mesh_below) below.shape = cube_mesh();
                const Manifold m(above, below);
                REQUIRE(m.contacts.size() == 4);
                CHECK(m.vertical());
                CHECK(m.width == doctest::Approx(2 * std::hypot(0.2, 0.3)).epsilon(1e-4));
                CHECK(std::abs(m.least_gap + 1e-4) < 2e-5);
                CHECK(std::abs(m.largest_gap + 1e-4) < 2e-5);
            }
}

TEST_CASE("manifolds: crossed planks share four crossings of edges, tilted ones too") {
    for (const double tilt : {0.0, 1e-12, 1e-7, 1e-3, -1e-3}) {
        CAPTURE(tilt);
        const Placed above =
            placed(ShapeType::box, {1, 0.1, 0.05}, {turn(0, 0, 0.3) * turn(0, tilt, 0), {0, 0, 0.0999}});
        const Placed below = placed(ShapeType::box, {0.1, 1, 0.05}, {I, {0, 0, 0}});
        const Manifold m(above, below);
        REQUIRE(m.contacts.size() == 4);
        CHECK(m.vertical());
        CHECK(m.width < 0.4);
        CHECK(m.area > 0.5 * 0.2 * 0.2);
        CHECK(m.largest_gap < 4e-4);
    }
}

TEST_CASE("manifolds: a box on the corner of another keeps the corners of the overlap") {
    const Placed above = placed(ShapeType::box, {0.5, 0.5, 0.5}, {I, {0.6, 0.7, 1}}),
                 below = placed(ShapeType::box, {0.5, 0.5, 0.5}, {I, {0, 0, 0}});
    const Manifold m(above, below);
    REQUIRE(m.contacts.size() == 4);
    std::vector<std::pair<long, long>> corners;  // cm
    for (const auto& c : m.contacts)
        corners.emplace_back(std::lround(100 * c.point.x()), std::lround(100 * c.point.y()));
    std::sort(corners.begin(), corners.end());
    CHECK(corners == std::vector<std::pair<long, long>>{{10, 20}, {10, 50}, {50, 20}, {50, 50}});
}

TEST_CASE("manifolds: a cylinder stands on three points or more and lies on two") {
    Rng g(2);
    const Placed plane = placed(ShapeType::plane, {0, 0, 0}, {I, {0, 0, 0}});
    const Placed table = placed(ShapeType::box, {1, 1, 0.5}, {I, {0, 0, -0.5}}),
                 drum = placed(ShapeType::cylinder, {0.9, 0.5, 0}, {I, {0, 0, -0.5}});
    Placed slab = table;
    slab.shape = cube_mesh();
    for (const Placed& under : {plane, table, slab, drum})
        for (int trial = 0; trial < 100; ++trial) {
            CAPTURE(std::string(under.shape.name));
            CAPTURE(trial);
            const double tilt = trial % 2 == 0 ? 0 : 1e-4 * g.normal();
            Placed can = placed(ShapeType::cylinder, {0.2, 0.3, 0},
                                {turn(tilt, 0, 0) * turn(0, 0, g.uniform(-3, 3)), {0.1, 0.2, 0.2999}});
            const Manifold standing(can, under);
            REQUIRE(standing.contacts.size() >= 3);
            CHECK(standing.vertical());
            CHECK(standing.width > 0.38);
            CHECK(standing.area > 0.03);
            CHECK(std::abs(standing.largest_gap) < 3e-4);
            can.X = {turn(0, std::acos(0.0) + tilt, 0), {0.1, 0.2, 0.1999}};
            const Manifold lying(can, under);
            REQUIRE(lying.contacts.size() >= 2);
            CHECK(lying.vertical());
            CHECK(lying.width == doctest::Approx(0.6).epsilon(1e-3));
        }
}

TEST_CASE("manifolds: parallel cylinders and capsules touch at the ends of what they share") {
    const Mat3<double> lying = turn(0, std::acos(0.0), 0);
    const Placed log = placed(ShapeType::cylinder, {0.2, 1, 0}, {lying, {0, 0, 0}});
    for (const ShapeType type : {ShapeType::cylinder, ShapeType::capsule})
        for (const double yaw : {0.0, 1e-9, 1e-3}) {
            const Manifold m(placed(type, {0.2, 0.8, 0}, {turn(0, 0, yaw) * lying, {0.5, 0, 0.3999}}), log);
            REQUIRE(m.contacts.size() >= 2);
            CHECK(m.vertical());
            CHECK(m.width == doctest::Approx(1.3).epsilon(1e-3));
        }
}

TEST_CASE("manifolds: a mesh stands on far corners of its base") {
    std::vector<Vec3<double>> points;
    for (int i = 0; i < 24; ++i) {
        const double angle = 0.2617993877991494 * i;
        points.emplace_back(std::cos(angle), std::sin(angle), 0);
        points.emplace_back(0.5 * std::cos(angle), 0.5 * std::sin(angle), 1);
    }
    Placed cone = placed(ShapeType::mesh, {0.3, 0.3, 0.5}, {I, {0, 0, -1e-4}});
    cone.shape.hull = convex_hull(points);
    CHECK(cone.shape.hull->faces.size() == 26);
    for (const Placed& under : {placed(ShapeType::plane, {0, 0, 0}, {I, {0, 0, 0}}),
                                placed(ShapeType::box, {1, 1, 1}, {I, {0, 0, -1}})}) {
        const Manifold m(cone, under);
        REQUIRE(m.contacts.size() == 4);
        CHECK(m.width > 0.55);
        CHECK(m.area > 0.08);
    }
}

TEST_CASE("hull: of a cube with points inside, on its faces and on its edges") {
    Rng g(3);
    std::vector<Vec3<double>> points;
    for (int i = 0; i < 27; ++i)
        points.emplace_back(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1);
    for (int i = 0; i < 50; ++i)
        points.push_back(0.5 * g.vec3(Regime::random).cwiseMin(1.9).cwiseMax(-1.9));
    const auto hull = convex_hull(points);
    CHECK(hull->vertices.size() == 8);
    CHECK(hull->edges.size() == 12);
    CHECK(hull->faces.size() == 6);
    for (const HullFace& f : hull->faces)
        CHECK(f.count == 4);
}

TEST_CASE("hull: of random points holds them all, closed and convex") {
    Rng g(4);
    for (int trial = 0; trial < 50; ++trial) {
        CAPTURE(trial);
        std::vector<Vec3<double>> points;
        for (int i = 0; i < 4 + 4 * trial; ++i)
            points.push_back(trial % 2 == 0 ? g.vec3(Regime::random)
                                            : Vec3<double>(g.vec3(Regime::random).normalized()));
        const auto hull = convex_hull(points);
        const auto count = [](const auto& list) { return static_cast<int>(list.size()); };
        CHECK(count(hull->vertices) - count(hull->edges) + count(hull->faces) == 2);
        for (const HullEdge& e : hull->edges)
            CHECK((e.left >= 0 && e.right >= 0));
        for (const HullFace& f : hull->faces)
            for (const Vec3<double>& x : points)
                CHECK(f.normal.dot(x - f.origin) < 1e-7);
        if (trial % 2 == 1) CHECK(hull->vertices.size() == points.size());
    }
    CHECK_THROWS_AS(convex_hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}), std::invalid_argument);
    CHECK_THROWS_AS(convex_hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}}),
                    std::invalid_argument);
}

TEST_CASE("resting: where a face is said to separate most, no direction separates more") {
    Rng g(5);
    int apart = 0, overlapping = 0, uncertain = 0;
    for (int k = 0; k < 4000; ++k) {
        constexpr ShapeType types[] = {ShapeType::box, ShapeType::cylinder, ShapeType::mesh};
        Placed pa = random_placed(g, types[k % 3], 1), pb = random_placed(g, types[k / 3 % 3], 1);
        // one in four anywhere, the others face to face, or a cylinder on its side, with any shift and a gap from deep
        // to none
        if (k % 4 != 0) {
            const Solid a = core_of(pa), b = core_of(pb);
            const Vec3<double> of_a = a.normal(static_cast<int>(g.engine() % a.face_count())),
                               of_b = b.normal(static_cast<int>(g.engine() % b.face_count()));
            const bool lies = a.type() == ShapeType::cylinder && k % 4 == 1;
            const Vec3<double> to = lies ? of_b.cross(g.vec3(Regime::random)) : -of_b;
            pa.X.R = Eigen::Quaterniond::FromTwoVectors(of_a, to).toRotationMatrix() * pa.X.R;
            const Vec3<double> aside = 0.3 * g.vec3(Regime::random);
            pa.X.p = pb.X.p + aside - of_b * of_b.dot(aside);
            const double depth = g.uniform(0, 1) < 0.5 ? g.uniform(-0.05, 0.02) : g.uniform(0, 1.5);
            pa.X.p += of_b * (-depth - separation(core_of(pa), b, of_b));
        }
        const Solid a = core_of(pa), b = core_of(pb);
        for (const Solid* s : {&a, &b})
            for (int f = 0; f < s->face_count(); ++f) {
                const Vec3<double> n = s == &a ? Vec3<double>(-s->normal(f)) : s->normal(f);
                if (!separates_most(a, b, n, *s, f)) {
                    ++uncertain;
                    continue;
                }
                const double found = separation(a, b, n);
                ++(found > 0 ? apart : overlapping);
                CHECK(greatest_separation(g, a, b, n) <= found + 1e-8);
            }
    }
    MESSAGE(apart << " apart, " << overlapping << " overlapping, " << uncertain << " uncertain");
    CHECK((apart > 500 && overlapping > 500));
}
