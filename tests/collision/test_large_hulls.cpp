// Contacts of large hulls, found where GJK and EPA end, beside those found by asking every face and edge.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <doctest/doctest.h>

#include "collision/detect/epa.hpp"
#include "collision/detect/narrow_parts.hpp"
#include "tests/support/sample_shapes.hpp"

using namespace costate;
using namespace costate::test;

namespace {

using Points = std::vector<Vec3<double>>;

Shape mesh_of(const Points& points) {
    Shape s = shape_of(ShapeType::mesh);
    s.hull = convex_hull(points);
    return s;
}

Points on_ellipsoid(Rng& g, int n, const Vec3<double>& semi_axes) {
    Points points;
    for (int i = 0; i < n; ++i)
        points.push_back(semi_axes.cwiseProduct(g.vec3(Regime::random).normalized()));
    return points;
}

// Rings about z, each a radius and a height, m.
Points turned_part(const std::vector<std::pair<double, double>>& rings, int corners, double noise, Rng& g) {
    Points points;
    for (const auto& [radius, height] : rings)
        for (int k = 0; k < corners; ++k) {
            const double angle = 2 * std::acos(-1.0) * k / corners;
            points.push_back(Vec3<double>(radius * std::cos(angle), radius * std::sin(angle), height) +
                             noise * g.vec3(Regime::random));
        }
    return points;
}

// The points of a box, its edges rounded off by more points.
Points rounded_box(Rng& g, int n, const Vec3<double>& half, double radius) {
    Points points;
    for (int i = 0; i < n; ++i) {
        const Vec3<double> d = g.vec3(Regime::random).normalized();
        points.push_back((half.array() - radius).matrix().cwiseProduct(d.cwiseSign()) + radius * d);
    }
    return points;
}

// Hulls of 8 to 2000 vertices, about 0.1 m large: random ones, spheres, needles, disks, coplanar caps with
// and without noise.
std::vector<Shape> hulls(Rng& g) {
    std::vector<Shape> all;
    for (const int n : {8, 30, 60, 120, 300})
        all.push_back(mesh_of(on_ellipsoid(g, n, {0.08, 0.06, 0.05})));
    for (const int n : {40, 90, 250}) {
        Shape s = random_mesh(g, n);
        Points points = s.hull->vertices;
        for (Vec3<double>& x : points)
            x *= 0.1;
        all.push_back(mesh_of(points));
    }
    all.push_back(mesh_of(on_ellipsoid(g, 150, {0.1, 2e-3, 1e-3})));
    all.push_back(mesh_of(on_ellipsoid(g, 200, {0.09, 0.08, 5e-4})));
    all.push_back(mesh_of(turned_part({{0.05, 0.03}, {0.05, -0.03}}, 40, 0, g)));
    all.push_back(mesh_of(turned_part({{0.02, 0.006}, {0.06, 0.006}, {0.06, -0.006}}, 50, 1e-7, g)));
    // nearly a cone
    all.push_back(mesh_of(turned_part({{0.001, 0.09}, {0.05, 0}, {0.06, -0.01}}, 60, 1e-9, g)));
    all.push_back(mesh_of(rounded_box(g, 200, {0.06, 0.05, 0.04}, 0.005)));
    all.push_back(mesh_of(rounded_box(g, 400, {0.06, 0.05, 0.04}, 1e-5)));
    return all;
}

Placed at_random(Rng& g, const Shape& shape) {
    const Vec3<double> size = g.uniform(0, 1) < 0.7
                                  ? Vec3<double>(1, 1, 1)
                                  : Vec3<double>(g.uniform(0.5, 2), g.uniform(0.5, 2), g.uniform(0.5, 2));
    Placed p{shape, size, Transform<double>::identity()};
    p.X.R = rotation_matrix(quaternion_exp<double>(g.vec3(Regime::random)));
    if (g.uniform(0, 1) < 0.1) p.X.R = Mat3<double>::Identity();
    p.X.p = 0.3 * g.vec3(Regime::random);
    return p;
}

// Moves b to where the gap of the two along a direction from b to a is `gap`.
void part(const Placed& a, Placed& b, const Vec3<double>& n, double gap) {
    const Solid solid_a(a.shape, a.X, a.size), solid_b(b.shape, b.X, b.size);
    b.X.p -= n * (gap - separation(solid_a, solid_b, n) + solid_a.radius + solid_b.radius);
}
// Along a random direction.
void bring(Rng& g, const Placed& a, Placed& b, double gap) {
    part(a, b, g.vec3(Regime::random).normalized(), gap);
}
// Along that in which they are nearest from a random direction on.
void touch(Rng& g, const Placed& a, Placed& b, double gap) {
    bring(g, a, b, 1e-3);
    const Solid solid_a(a.shape, a.X, a.size), solid_b(b.shape, b.X, b.size);
    part(a, b, gjk(PolytopeDifference(solid_a, solid_b)).n, gap);
}

struct Found {
    FeatureList features;
    double gap;
};

Found found(void (*points)(const Solid&, const Solid&, ContactList&), const Placed& a, const Placed& b,
            double reach) {
    const Solid solid_a(a.shape, a.X, a.size), solid_b(b.shape, b.X, b.size);
    ContactList list(a.shape, b.shape, reach);
    points(solid_a, solid_b, list);
    const double gap = list.least_gap(0);
    return {list.chosen(), gap};
}

bool same(const FeatureList& f, const FeatureList& g) {
    return f.count == g.count &&
           std::equal(f.items, f.items + f.count, g.items,
                      [](const auto& x, const auto& y) { return x.on_a == y.on_a && x.on_b == y.on_b; });
}

// The signed distance by GJK or EPA and the direction in which it is measured, m
std::pair<double, Vec3<double>> signed_distance(const Placed& a, const Placed& b) {
    const Solid solid_a(a.shape, a.X, a.size), solid_b(b.shape, b.X, b.size);
    const PolytopeDifference difference(solid_a, solid_b);
    const Apart apart = gjk(difference);
    const double radii = solid_a.radius + solid_b.radius;
    if (apart.distance > 0) return {apart.distance - radii, apart.n};
    const Overlap overlap = epa(difference, apart, 1e-12);
    CHECK(overlap.found);
    return {overlap.separation - radii, overlap.n};
}

// How far a direction parts the two: never by more than their signed distance.
double parted(const Placed& a, const Placed& b, const Vec3<double>& n) {
    const Solid solid_a(a.shape, a.X, a.size), solid_b(b.shape, b.X, b.size);
    return separation(solid_a, solid_b, n) - solid_a.radius - solid_b.radius;
}

struct Tally {
    int placements = 0, apart = 0, touching = 0, not_reached = 0, not_best = 0, wrong_gap = 0,
        other_features = 0;
};

void compare(const Placed& a, const Placed& b, double reach, bool near_ties, Tally& tally) {
    const Found fast = found(polytope_points, a, b, reach), all = found(all_polytope_points, a, b, reach);
    const auto [distance, n] = signed_distance(a, b);
    const double size = bounding_radius(a.shape, a.size) + bounding_radius(b.shape, b.size),
                 exact = 1e-9 * (1 + size);
    ++tally.placements;
    tally.apart += distance > 0;
    tally.touching += all.features.count > 0;
    tally.not_reached += !(std::abs(parted(a, b, n) - distance) < exact);
    if (all.features.count > 0)
        tally.not_best += parted(a, b, all.features.items[0].normal) > distance + exact;
    if (same(fast.features, all.features)) return;
    tally.other_features += !near_ties;
    // faces are flat to 3e-6 of the size, and one nearly at right angles to the axis stands for an edge or
    // vertex: near_face_points
    const double face_for_edge = 1e-7 + 1e-3 * std::abs(distance) + 3e-6 * size;
    tally.wrong_gap += fast.features.count > 0 ? !(std::abs(fast.gap - distance) < face_for_edge)
                                               : distance < reach - face_for_edge;
}

}  // namespace

TEST_CASE("large hulls: the farthest vertex is that of all vertices") {
    Rng g(1);
    std::vector<Shape> shapes = hulls(g);
    shapes.push_back(mesh_of(on_ellipsoid(g, 2000, {0.1, 0.1, 0.1})));
    for (const Shape& s : shapes) {
        const HullView hull = s.hull->view();
        if (hull.vertices.size() >= large_hull) REQUIRE(hull.paths != nullptr);
        for (int trial = 0; trial < 500; ++trial) {
            Vec3<double> d = g.vec3(Regime::random);
            if (trial < 27) d = {trial % 3 - 1.0, trial / 3 % 3 - 1.0, trial / 9 - 1.0};
            double farthest = -1;
            for (const Vec3<double>& x : hull.vertices)
                farthest = std::max(farthest, d.dot(x));
            const int v = farthest_vertex(hull, d);
            CHECK(d.dot(hull.vertices[v]) >= farthest - 1e-9 * d.norm());
        }
    }
}

TEST_CASE("large hulls: separation and features are those found by asking every face and edge") {
    Rng g(2);
    std::vector<Shape> shapes = hulls(g);
    shapes.push_back(shape_of(ShapeType::box));
    shapes.push_back(shape_of(ShapeType::sphere));
    shapes.push_back(shape_of(ShapeType::capsule));
    Tally tally;
    for (int trial = 0; trial < 10000; ++trial) {
        CAPTURE(trial);
        Placed a = at_random(g, shapes[g.engine() % shapes.size()]),
               b = at_random(g, shapes[g.engine() % shapes.size()]);
        for (Placed* p : {&a, &b}) {
            if (p->shape.type == ShapeType::box) p->size *= 0.04;
            if (is_round(p->shape.type)) p->size = {0.01, 0.04, 0};
        }
        if (a.shape.type != ShapeType::mesh && b.shape.type != ShapeType::mesh) continue;
        switch (trial % 6) {
            case 0: bring(g, a, b, g.uniform(1e-4, 0.1)); break;
            case 1: bring(g, a, b, g.uniform(-0.1, 0)); break;
            case 2: b.X.p = a.X.p + 0.01 * g.vec3(Regime::random); break;
            case 3: touch(g, a, b, 1e-4 * g.normal()); break;
            case 4: touch(g, a, b, 1e-8 * g.normal()); break;
            default: touch(g, a, b, g.uniform(-5e-3, 5e-3));
        }
        const bool near_ties =
            trial % 6 == 4;  // where they barely touch, the axes of neighbouring parts are equally good
        compare(a, b, trial % 4 == 0 ? 0.01 : std::numeric_limits<double>::infinity(), near_ties, tally);
    }
    MESSAGE(tally.placements << " placements, " << tally.touching << " with points, " << tally.apart
                             << " apart, " << tally.other_features << " by other features");
    CHECK(tally.apart > 3000);
    CHECK(tally.placements - tally.apart > 3000);
    CHECK(tally.touching > 7000);
    CHECK(tally.not_reached == 0);
    CHECK(tally.not_best == 0);
    CHECK(tally.wrong_gap == 0);
    CHECK(tally.other_features < tally.placements / 200);
}

TEST_CASE("large hulls: spheres of a thousand vertices") {
    Rng g(3);
    const Shape sphere = mesh_of(on_ellipsoid(g, 1000, {0.1, 0.1, 0.1})),
                other = mesh_of(on_ellipsoid(g, 2000, {0.05, 0.05, 0.05}));
    Tally tally;
    for (int trial = 0; trial < 12; ++trial) {
        Placed a = at_random(g, sphere), b = at_random(g, trial % 2 == 0 ? sphere : other);
        const double gaps[] = {1e-3, 1e-5, -1e-5, -1e-3, -0.02, -0.06};
        touch(g, a, b, gaps[trial / 2]);
        compare(a, b, std::numeric_limits<double>::infinity(), false, tally);
    }
    CHECK(tally.placements - tally.apart > 4);
    CHECK(tally.not_reached == 0);
    CHECK(tally.not_best == 0);
    CHECK(tally.wrong_gap == 0);
    CHECK(tally.other_features == 0);
}

TEST_CASE("large hulls: overlaps are found without a reach, as those of MuJoCo's law are") {
    Rng g(17);
    const std::vector<Shape> all = hulls(g);
    int overlaps = 0;
    for (size_t i = 0; i < all.size(); ++i)
        for (size_t j = 0; j <= i; ++j) {
            CAPTURE(i);
            CAPTURE(j);
            Placed a = at_random(g, all[i]), b = at_random(g, all[j]);
            touch(g, a, b, -g.uniform(1e-4, 5e-3));
            const Found none = found(polytope_points, a, b, 0), some = found(polytope_points, a, b, 1e-9);
            if (!(some.gap < 0)) continue;
            ++overlaps;
            CHECK(none.gap < 0);
            CHECK(same(none.features, some.features));
        }
    CHECK(overlaps > 100);
}

TEST_CASE("large hulls: what is found does not depend on what was asked before") {
    Rng g(4);
    const std::vector<Shape> shapes = hulls(g);
    std::vector<std::pair<Placed, Placed>> pairs;
    for (int k = 0; k < 300; ++k) {
        Placed a = at_random(g, shapes[g.engine() % shapes.size()]),
               b = at_random(g, shapes[g.engine() % shapes.size()]);
        touch(g, a, b, g.uniform(-5e-3, 5e-3));
        pairs.emplace_back(a, b);
    }
    const auto asked = [](const std::pair<Placed, Placed>& pair) {
        return found(polytope_points, pair.first, pair.second, 0.01);
    };
    std::vector<Found> first;
    for (const auto& pair : pairs)
        first.push_back(asked(pair));
    for (size_t k = pairs.size(); k-- > 0;) {
        const Found again = asked(pairs[k]);
        CHECK(std::memcmp(&again.gap, &first[k].gap, sizeof again.gap) == 0);
        CHECK(same(again.features, first[k].features));
    }
}

TEST_CASE("large hulls: on a plane stand those vertices that are chosen among all") {
    Rng g(5);
    const std::vector<Shape> shapes = hulls(g);
    for (int trial = 0; trial < 400; ++trial) {
        CAPTURE(trial);
        const Placed a = at_random(g, shapes[g.engine() % shapes.size()]);
        Placed plane = placed(ShapeType::plane, {0, 0, 0}, a.X);
        plane.X.R = rotation_matrix(quaternion_exp<double>(g.vec3(Regime::random)));
        const Solid solid_a(a.shape, a.X, a.size), ground(plane.shape, plane.X, plane.size);
        plane.X.p = solid_a.support(-ground.normal(0)) - g.uniform(-0.02, 0.02) * ground.normal(0);
        const Solid below(plane.shape, plane.X, plane.size);
        ContactList all(a.shape, plane.shape, 0.01);
        for (size_t v = 0; v < solid_a.hull.vertices.size(); ++v)
            all.offer(solid_a, below, vertex_feature(static_cast<int>(v)), face_feature(0), below.normal(0));
        CHECK(same(features(a, plane, 0.01), all.chosen()));
    }
}

TEST_CASE(
    "large hulls: cylinders, ellipsoids and triangles of a terrain are as far from one as from the same hull "
    "asked everywhere") {
    Rng g(6);
    std::vector<Shape> shapes = hulls(g), plain;
    for (const Shape& s : shapes) {
        Hull hull = *s.hull;
        hull.paths = nullptr;
        plain.push_back(s);
        plain.back().hull = std::make_shared<const Hull>(hull);
    }
    int wrong = 0, met = 0;
    for (int trial = 0; trial < 600; ++trial) {
        CAPTURE(trial);
        const size_t which = g.engine() % shapes.size();
        const ShapeType type = trial % 3 == 0   ? ShapeType::cylinder
                               : trial % 3 == 1 ? ShapeType::ellipsoid
                                                : ShapeType::terrain;
        auto [a, b] = random_pair(g, ShapeType::mesh, type, 0);
        a.shape = shapes[which];
        a.size = {1, 1, 1};
        if (type == ShapeType::terrain) {
            const Solid solid(a.shape, a.X, a.size);
            a.X.p.z() += b.X.p.z() + 0.5 * b.size.z() - solid.support(-Vec3<double>::UnitZ()).z();
        } else {
            b.size *= 0.1;
            const Solid solid_a(a.shape, a.X, a.size), solid_b(b.shape, b.X, b.size);
            const Vec3<double> n = g.vec3(Regime::random).normalized();
            b.X.p -= n * (g.uniform(-0.01, 0.005) - separation(solid_a, solid_b, n));
        }
        Placed slow = a;
        slow.shape = plain[which];
        const double by_paths = gap(a, b), by_all = gap(slow, b);
        met += std::isfinite(by_all);
        wrong += by_paths != by_all && !(std::abs(by_paths - by_all) < 1e-6 + 1e-3 * std::abs(by_all));
    }
    CHECK(met > 400);
    CHECK(wrong < 6);
}

TEST_CASE("large hulls: of a limited number of vertices the outermost are kept") {
    Rng g(7);
    const Points points = on_ellipsoid(g, 500, {0.3, 0.2, 0.1});
    const auto whole = convex_hull(points);
    double last = 1;
    for (const int most : {4, 10, 40, 160}) {
        double left_out = -1;
        const auto hull = convex_hull(points, most, &left_out);
        CHECK(hull->vertices.size() == static_cast<size_t>(most));
        double beyond = 0;  // how far the points that were left out are from the hull at most
        for (const Vec3<double>& x : points) {
            double above = -1;
            for (const HullFace& face : hull->faces)
                above = std::max(above, face.normal.dot(x - face.origin));
            beyond = std::max(beyond, above);
        }
        CHECK(left_out == doctest::Approx(beyond).epsilon(1e-4));
        CHECK(beyond < 0.6 * last);
        last = beyond;
    }
    CHECK(last < 5e-3);
    double none = -1;
    CHECK(convex_hull(points, 500, &none)->vertices.size() == whole->vertices.size());
    CHECK(none == 0);
}
