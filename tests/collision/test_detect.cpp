// Detection: distances against Bullet's GJK, results that depend on nothing but the arguments, and the hard
// cases.
#include "collision/detect/detect.hpp"

#include <algorithm>

#include "collision/contact/contact.hpp"
#include "collision/detect/narrow.hpp"
#include "collision/detect/passing.hpp"
#include "collision/detect/solid.hpp"
#include "tests/support/check_adjoint.hpp"
#include "tests/support/probe_contact.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// A scene of free bodies that carry one or several shapes each, and a moment of it.
struct Crowd {
    Model model;
    ShapeSet set;
    VecX<double> theta;
    std::vector<Transform<double>> X;
    std::vector<Motion<double>> V;
    double h = 0.01;
    size_t per_body;
    std::vector<Transform<double>> on_body;  // pose of each shape on its body

    Crowd(Rng& g, const std::vector<ShapeType>& types, bool ground, double spread, bool hills = true,
          size_t shapes_per_body = 1)
        : per_body(shapes_per_body) {
        ModelBuilder builder;
        std::vector<ShapeSpec> specs;
        for (const ShapeType type : types) {
            BodySpec body;
            body.name = "body" + std::to_string(specs.size());
            body.joint = JointType::free;
            body.mass = {1, Vec3<double>::Zero(), Mat3<double>::Identity()};
            ShapeSpec s;
            s.name = "shape" + std::to_string(specs.size());
            s.type = type;
            const bool first = specs.size() % per_body == 0;
            s.body = first ? builder.add_body(body) : specs.back().body;
            on_body.push_back(first ? Transform<double>::identity() : random_placed(g, type, 0.3).X);
            const Placed sample = random_placed(g, type, 1);
            s.size = sample.size;
            s.hull = sample.shape.hull;
            s.margin = g.uniform(0, 0.02);
            specs.push_back(s);
        }
        if (ground) specs.push_back({"ground", ShapeType::plane});
        if (ground && hills) {
            specs.push_back({"hills", ShapeType::terrain});
            specs.back().terrain = random_terrain(g, 6, 0.4).terrain;
            specs.back().size = {1.5, 1.5, 1};
        }
        model = builder.build();
        set = build_shapes(model, specs);
        theta = model.layout.nominal();
        move(g, spread, 0);
    }
    void move(Rng& g, double spread, double speed) {
        X.clear();
        V.clear();
        for (const Shape& s : set.shapes) {
            const size_t i = X.size();
            if (s.body < 0) {
                X.push_back(Transform<double>::identity());
                V.push_back(Motion<double>::zero());
            } else if (i % per_body == 0) {
                X.push_back(random_placed(g, s.type, spread).X);
                V.push_back({speed * g.vec3(Regime::random), speed * g.vec3(Regime::random)});
            } else {
                const size_t root = i - i % per_body;
                X.push_back(compose(X[root], on_body[i]));
                V.push_back({V[root].ang, point_velocity<double>(V[root], X[i].p - X[root].p)});
            }
        }
    }
    const std::vector<FeaturePair>& detect_with(Detection& d) const {
        detect(set, theta.data(), X.data(), V.data(), h, d);
        return d.features;
    }
    const std::vector<FeaturePair>& detect_with(Detection& d, const std::vector<double>& nearing) const {
        detect(set, theta.data(), X.data(), V.data(), h, d, 0.01, nearing.data());
        return d.features;
    }
    // Two nested loops, no bounds.
    std::vector<FeaturePair> brute_force(double margin, const std::vector<double>& nearing = {}) const {
        std::vector<FeaturePair> found;
        for (const auto& [a, b] : set.pairs()) {
            const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
            const bool whole = nearing.empty() || set.shapes[i].terrain || set.shapes[j].terrain;
            const double min_margin = whole ? margin : std::min(margin, nearing[i] + nearing[j]);
            const Vec3<double> size_a = theta.segment<3>(set.size.at(a)),
                               size_b = theta.segment<3>(set.size.at(b));
            const Shape &sa = set.shapes[i], &sb = set.shapes[j];
            const double margins = theta[set.margin.at(a)] + theta[set.margin.at(b)];
            const bool plane_first = sa.type == ShapeType::plane;
            const size_t bounded = plane_first ? j : i, other = plane_first ? i : j;
            const double radius = bounding_radius(set.shapes[bounded], plane_first ? size_b : size_a);
            const auto speed = [&](size_t s, double r) { return V[s].lin.norm() + V[s].ang.norm() * r; };
            const double fastest = speed(bounded, radius) + speed(other, (X[i].p - X[j].p).norm() + radius);
            const double reach = std::max(min_margin, 2 * h * fastest) + margins;
            const auto moving = [&](size_t s, const Vec3<double>& size) {
                return MovingSolid{{set.shapes[s], X[s], size}, h * V[s].ang, h * V[s].lin};
            };
            const FeatureList list = closest_features(sa, sb, X[i], X[j], size_a, size_b, reach);
            for (int k = 0; k < list.count; ++k) {
                const FeaturePair f = list.pair(k, a, b);
                const Contact<double> c = costate::contact(sa, sb, f, X[i], X[j], size_a, size_b);
                const Vec3<double> v_a = point_velocity<double>(V[i], c.point - X[i].p);
                const Vec3<double> v_b = point_velocity<double>(V[j], c.point - X[j].p);
                const double gap = c.gap - margins, approach = c.normal.dot(v_b - v_a);
                Passing passing(moving(i, size_a), moving(j, size_b), margins, 0);
                if (gap < std::max(min_margin, 2 * h * approach) &&
                    !passing.leaves_out(c.normal, gap - h * approach))
                    found.push_back(f);
            }
        }
        std::sort(found.begin(), found.end());
        return found;
    }
};

std::vector<ShapeType> mixture(Rng& g, int n) {
    std::vector<ShapeType> types;
    for (int i = 0; i < n; ++i)
        types.push_back(all_shape_types[1 + g.engine() % 6]);
    return types;
}

}  // namespace

TEST_CASE("detect: every gap is GJK's distance, and EPA's where a core lies in a box") {
    Rng g(1);
    for (const ShapeType ta : all_shape_types)
        for (const ShapeType tb : all_shape_types) {
            if (!pair_supported(ta, tb) || !pair_kind(ta, tb).in_cases) continue;
            CAPTURE(std::string(shape_type_name(ta)));
            CAPTURE(std::string(shape_type_name(tb)));
            // Bullet's search converges slowly on a curved surface
            const double accuracy = ta == ShapeType::cylinder || tb == ShapeType::cylinder ? 1e-5 : 1e-12;
            int separated = 0, inside = 0, inexact = 0;
            for (int trial = 0; trial < 2000; ++trial) {
                const Placed a = random_placed(g, ta, 0.6), b = random_placed(g, tb, 0.6);
                const double distance = gap(a, b),
                             oracle = gjk_distance(a.shape, b.shape, a.X, b.X, a.size, b.size);
                const double cores =
                    distance + (is_round(ta) ? a.size.x() : 0) + (is_round(tb) ? b.size.x() : 0);
                if (std::abs(cores) < 1e-3) continue;
                ++(cores > 0 ? separated : inside);
                if (std::abs(distance - oracle) > accuracy) ++inexact;
                CHECK(distance < oracle + accuracy);
            }
            CHECK(inexact <= 4);  // Bullet's searches stop early now and then, at too large a distance
            CHECK(separated > 500);
            if (ta == ShapeType::box || tb == ShapeType::box) CHECK(inside > 20);
        }
}

TEST_CASE("detect: overlaps of all pairs are found without a margin, as those of MuJoCo's law are") {
    Rng g(23);
    for (const ShapeType ta : all_shape_types)
        for (const ShapeType tb : all_shape_types) {
            if (!pair_supported(ta, tb)) continue;
            CAPTURE(std::string(shape_type_name(ta)));
            CAPTURE(std::string(shape_type_name(tb)));
            int overlaps = 0;
            for (int trial = 0; trial < 300; ++trial) {
                const Placed a = random_placed(g, ta, 0.4), b = random_placed(g, tb, 0.4);
                const auto overlaps_within = [&](double reach) {
                    const FeatureList list =
                        closest_features(a.shape, b.shape, a.X, b.X, a.size, b.size, reach);
                    int count = 0;
                    for (int k = 0; k < list.count; ++k)
                        count +=
                            costate::contact(a.shape, b.shape, list.pair(k, 0, 1), a.X, b.X, a.size, b.size)
                                .gap < 0;
                    return count;
                };
                const int some = overlaps_within(1e-9);
                CHECK(overlaps_within(0) == some);
                overlaps += some;
            }
            CHECK(overlaps > 15);
        }
}

// Apart, no normal separates two cores by more than their distance: between the gap and the separation along
// its own normal lies the truth, whatever Bullet finds. Points of a face that stands for a normal near its
// own differ by 1e-3 of the distance at most.
TEST_CASE(
    "detect: other gaps are the separation along their normal, and GJK's distance where the cores are "
    "apart") {
    Rng g(11);
    for (const ShapeType ta : all_shape_types)
        for (const ShapeType tb : all_shape_types) {
            if (!pair_supported(ta, tb) || pair_kind(ta, tb).in_cases) continue;
            if (ta == ShapeType::terrain || tb == ShapeType::terrain) continue;
            CAPTURE(std::string(shape_type_name(ta)));
            CAPTURE(std::string(shape_type_name(tb)));
            int separated = 0, inexact = 0;
            for (int trial = 0; trial < 500; ++trial) {
                CAPTURE(trial);
                const Placed a = random_placed(g, ta, 0.6), b = random_placed(g, tb, 0.6);
                const FeatureList list = features(a, b);
                REQUIRE(list.count >= 1);
                const Contact<double> c = contact(a, b, list.pair(0, 0, 1));
                const double oracle = gjk_distance(a.shape, b.shape, a.X, b.X, a.size, b.size);
                const double swept = (is_round(ta) ? a.size.x() : 0) + (is_round(tb) ? b.size.x() : 0);
                const double cores = c.gap + swept;
                if (cores < 1e-3) continue;
                ++separated;
                if (std::abs(c.gap - oracle) > 1e-9 + 1.1e-3 * cores) ++inexact;
                CHECK(c.gap < oracle + 1e-9 + 1.1e-3 * cores);
                if (std::max(list.items[0].on_a.kind, list.items[0].on_b.kind) == FeatureKind::side) continue;
                if (list.items[0].on_a.kind == FeatureKind::face ||
                    list.items[0].on_b.kind == FeatureKind::face)
                    continue;
                const Solid solid_a(a.shape, a.X, a.size), solid_b(b.shape, b.X, b.size);
                CHECK(separation(solid_a, solid_b, c.normal) > cores - 1e-9 - 1.1e-3 * cores);
            }
            CHECK(inexact <= 8);
            CHECK(separated > 100);
        }
}

TEST_CASE(
    "detect: with a reach, the deepest contact is the same if it is within it, and there is none otherwise") {
    Rng g(12);
    int within = 0, beyond = 0;
    for (const ShapeType ta : all_shape_types)
        for (const ShapeType tb : all_shape_types) {
            if (!pair_supported(ta, tb) || pair_kind(ta, tb).in_cases) continue;
            if (ta == ShapeType::terrain || tb == ShapeType::terrain) continue;
            CAPTURE(std::string(shape_type_name(ta)));
            CAPTURE(std::string(shape_type_name(tb)));
            for (int trial = 0; trial < 200; ++trial) {
                CAPTURE(trial);
                const Placed a = random_placed(g, ta, 0.6), b = random_placed(g, tb, 0.6);
                const FeatureList all = features(a, b);
                REQUIRE(all.count >= 1);
                const double gap = contact(a, b, all.pair(0, 0, 1)).gap, reach = 0.05;
                if (std::abs(gap - reach) < 2e-3 * std::abs(gap) + 1e-6) continue;
                const FeatureList near = closest_features(a.shape, b.shape, a.X, b.X, a.size, b.size, reach);
                ++(gap < reach ? within : beyond);
                CHECK((near.count > 0) == (gap < reach));
                if (near.count > 0 && gap < reach) CHECK(near.pair(0, 0, 1) == all.pair(0, 0, 1));
            }
        }
    CHECK(within > 1000);
    CHECK(beyond > 1000);
}

TEST_CASE("detect: finds what brute force finds among 60 shapes") {
    Rng g(2);
    Crowd scene(g, mixture(g, 60), true, 1.5);
    Detection d;
    size_t found = 0;
    for (int trial = 0; trial < 200; ++trial) {
        scene.move(g, trial % 2 == 0 ? 1.5 : 3, trial % 3);
        CHECK(scene.detect_with(d) == scene.brute_force(0.01));
        CHECK(std::is_sorted(d.features.begin(), d.features.end()));
        found += d.features.size();
    }
    CHECK(found > 5000);
}

TEST_CASE("detect: finds what brute force finds among bodies with several shapes") {
    Rng g(6);
    size_t found = 0, tried = 0, pairs = 0;
    for (const size_t per_body : {2, 3, 5}) {
        Crowd scene(g, mixture(g, 45), true, 1.5, true, per_body);
        REQUIRE(scene.set.group_end.size() == 45 / per_body + (45 % per_body > 0 ? 1 : 0) + 1);
        REQUIRE(scene.set.group_pairs);
        Detection d;
        for (int trial = 0; trial < 100; ++trial) {
            scene.move(g, trial % 2 == 0 ? 1.5 : 3, trial % 3);
            CHECK(scene.detect_with(d) == scene.brute_force(0.01));
            found += d.features.size();
            tried += static_cast<size_t>(d.pairs_tried);
            pairs += scene.set.pairs().size();
        }
    }
    CHECK(found > 2000);
    CHECK(5 * tried < pairs);
}

TEST_CASE("detect: finds what brute force finds where a tree finds the pairs") {
    Rng g(7);
    Crowd scene(g, mixture(g, 80), true, 2);
    REQUIRE(!scene.set.group_pairs);
    Detection d;
    size_t found = 0;
    for (int trial = 0; trial < 60; ++trial) {
        scene.move(g, trial % 2 == 0 ? 2 : 4, trial % 3);
        CHECK(scene.detect_with(d) == scene.brute_force(0.01));
        found += d.features.size();
    }
    CHECK(found > 1000);
}

TEST_CASE("detect: finds what brute force finds where each shape has a reach of its own") {
    Rng g(8);
    Crowd robot(g, mixture(g, 24), true, 1, true, 4), crowd(g, mixture(g, 80), true, 2);
    REQUIRE(robot.set.group_pairs);
    REQUIRE(!crowd.set.group_pairs);
    Detection d;
    size_t found = 0, all = 0;
    for (int trial = 0; trial < 120; ++trial) {
        Crowd& scene = trial % 3 == 0 ? crowd : robot;
        scene.move(g, trial % 2 == 0 ? 1 : 2, 0.2 * (trial % 3));
        std::vector<double> nearing(scene.X.size());
        for (double& x : nearing)
            x = g.uniform(0, 1) < 0.3 ? 0 : g.uniform(0, 0.02);
        CHECK(scene.detect_with(d, nearing) == scene.brute_force(0.01, nearing));
        found += d.features.size();
        all += scene.detect_with(d).size();
    }
    CHECK(found > 1000);
    CHECK(found < all);
}

TEST_CASE("detect: nothing that ran before matters") {
    Rng g(3);
    std::vector<Crowd> scenes;
    scenes.emplace_back(g, mixture(g, 20), true, 1);
    scenes.emplace_back(g, mixture(g, 7), false, 1);
    scenes.emplace_back(g, mixture(g, 33), true, 1);
    scenes.emplace_back(g, mixture(g, 70), true, 2);  // with a tree
    scenes.emplace_back(g, mixture(g, 75), true, 2);
    Detection used;
    for (int trial = 0; trial < 300; ++trial) {
        Crowd& scene = scenes[g.engine() % scenes.size()];
        if (trial % 4 == 0)
            scene.move(g, 1, 1);
        else
            for (Transform<double>& X : scene.X)
                X.p += 0.02 * g.vec3(Regime::random);
        Detection fresh;
        CHECK(scene.detect_with(used) == scene.detect_with(fresh));
        CHECK(used.hash() == fresh.hash());
        Detection copy = used;
        CHECK(copy.features == used.features);
        CHECK(scene.detect_with(copy) == used.features);
    }
}

TEST_CASE("detect: a shift of the world changes nothing") {
    Rng g(4);
    Crowd scene(g, mixture(g, 30), true, 1);
    Detection here, there;
    for (int trial = 0; trial < 50; ++trial) {
        scene.move(g, 1, 1);
        scene.detect_with(here);
        for (Transform<double>& X : scene.X)
            X.p += Vec3<double>(12, -7, 3);
        CHECK(scene.detect_with(there) == here.features);
    }
}

TEST_CASE("detect: the margin grows with the speed of approach, at the contact point") {
    Rng g(5);
    Crowd scene(g, {ShapeType::sphere, ShapeType::sphere}, true, 1, false);
    for (int i = 0; i < 3; ++i)
        scene.theta[scene.set.margin.at(i)] = 0;
    Detection d;
    const Vec3<double> size_0 = scene.theta.segment<3>(scene.set.size.at(0));
    scene.X[0].p = {0, 0, size_0.x() + 0.05};
    scene.X[1].p = {5, 0, 5};
    CHECK(scene.detect_with(d).empty());
    scene.V[0].lin.z() = -2.4;
    CHECK(scene.detect_with(d).empty());
    scene.V[0].lin.z() = -2.6;
    REQUIRE(scene.detect_with(d).size() == 1);
    CHECK(d.features[0] == FeaturePair{0, 2, vertex_feature(0), face_feature(0)});
    scene.V[0].lin.z() = 2.6;
    CHECK(scene.detect_with(d).empty());
    scene.V[0].lin.z() = 0;
    scene.X[0].p.z() = size_0.x() + 0.0099;
    CHECK(scene.detect_with(d).size() == 1);
    scene.theta[scene.set.margin.at(0)] = 0.02;
    scene.theta[scene.set.margin.at(2)] = 0.01;
    scene.X[0].p.z() = size_0.x() + 0.0399;
    CHECK(scene.detect_with(d).size() == 1);
    scene.X[0].p.z() = size_0.x() + 0.0401;
    CHECK(scene.detect_with(d).empty());
    scene.X[0].p.z() = std::numeric_limits<double>::quiet_NaN();
    CHECK(scene.detect_with(d).empty());
}

TEST_CASE(
    "detect: a box and a capsule lie on the ground with four and two points, whichever shape is first") {
    const Placed ground = placed(ShapeType::plane, {0, 0, 0}, Transform<double>::identity());
    const FeatureList box =
        features(ground, placed(ShapeType::box, {1, 1, 1}, {Mat3<double>::Identity(), {0, 0, 1}}));
    REQUIRE(box.count == 4);
    for (int i = 0; i < 4; ++i)
        CHECK((box.items[i].on_a == face_feature(0) && box.items[i].on_b == vertex_feature(i)));
    Mat3<double> along_x;
    along_x << 0, 0, 1, 0, 1, 0, -1, 0, 0;
    Placed rod = placed(ShapeType::capsule, {1, 2, 0}, {along_x, {0, 0, 1}});
    const FeatureList capsule = features(rod, ground);
    REQUIRE(capsule.count == 2);
    for (int i = 0; i < 2; ++i)
        CHECK((capsule.items[i].on_a == vertex_feature(i) && capsule.items[i].on_b == face_feature(0)));
    // On a box, both ends are over the upper face; pushed over the rim, one end and the crossing of axis and
    // rim remain.
    const Placed table = placed(ShapeType::box, {3, 3, 1}, Transform<double>::identity());
    rod.X.p = {0, 0, 2};
    const FeatureList inside = features(table, rod);
    REQUIRE(inside.count == 2);
    for (int i = 0; i < 2; ++i)
        CHECK((inside.items[i].on_a == face_feature(5) && inside.items[i].on_b == vertex_feature(i)));
    rod.X.p.x() = 2;
    rod.X.R = rotation_matrix<double>(quaternion_exp<double>({0, 0.01, 0})) * along_x;
    const FeatureList rim = features(table, rod);
    REQUIRE(rim.count == 2);
    CHECK((rim.items[0].on_a == face_feature(5) && rim.items[0].on_b == vertex_feature(0)));
    CHECK((rim.items[1].on_a.kind == FeatureKind::edge && rim.items[1].on_b.kind == FeatureKind::edge));
}
