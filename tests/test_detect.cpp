// Detection: distances against Bullet's GJK, results that depend on nothing but the arguments, and the hard cases.
#include "collision/detect.hpp"

#include <algorithm>

#include "collision/contact.hpp"
#include "collision/narrow.hpp"
#include "tests/check_adjoint.hpp"
#include "tests/probe_contact.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr ShapeType all_types[] = {ShapeType::plane, ShapeType::sphere, ShapeType::capsule, ShapeType::box};

struct Placed {
    ShapeType type;
    Vec3<double> size;
    Transform<double> X;
};

Placed placed(Rng& g, ShapeType type, double spread) {
    const Mat3<double> R = Probe<Transform<double>>::random(g, Regime::random).R;
    return {type, {g.uniform(0.1, 0.5), g.uniform(0.1, 0.5), g.uniform(0.1, 0.5)}, {R, spread * g.vec3(Regime::random)}};
}

// The smallest gap of the features that meet.
double gap(const Placed& a, const Placed& b) {
    const FeatureList list = closest_features(a.type, b.type, a.X, b.X, a.size, b.size);
    double smallest = 1e300;
    for (int i = 0; i < list.count; ++i) {
        const FeaturePair f{0, 1, list.items[i].on_a, list.items[i].on_b};
        smallest = std::min(smallest, contact(a.type, b.type, f, a.X, b.X, a.size, b.size).gap);
    }
    return smallest;
}

// A scene of free bodies that carry one shape each, and a moment of it.
struct Scene {
    Model model;
    ShapeSet set;
    VecX<double> theta;
    std::vector<Transform<double>> X;
    std::vector<Motion<double>> V;
    double h = 0.01;

    Scene(Rng& g, const std::vector<ShapeType>& types, bool ground, double spread) {
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
            s.body = builder.add_body(body);
            s.size = placed(g, type, 1).size;
            specs.push_back(s);
        }
        if (ground) specs.push_back({"ground", ShapeType::plane});
        model = builder.build();
        set = build_shapes(model, specs);
        theta = model.layout.nominal();
        move(g, spread, 0);
    }
    void move(Rng& g, double spread, double speed) {
        X.clear(), V.clear();
        for (const Shape& s : set.shapes) {
            X.push_back(s.body < 0 ? Transform<double>::identity() : placed(g, s.type, spread).X);
            V.push_back({speed * g.vec3(Regime::random), speed * g.vec3(Regime::random)});
            if (s.body < 0) V.back() = Motion<double>::zero();
        }
    }
    const std::vector<FeaturePair>& detect_with(Detection& d) const {
        detect(set, theta.data(), X.data(), V.data(), h, d);
        return d.features;
    }
    // Two nested loops, no bounds.
    std::vector<FeaturePair> brute_force(double min_margin) const {
        std::vector<FeaturePair> found;
        for (const auto& [a, b] : set.pairs) {
            const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
            const Vec3<double> size_a = theta.segment<3>(set.size.at(a)), size_b = theta.segment<3>(set.size.at(b));
            const ShapeType ta = set.shapes[i].type, tb = set.shapes[j].type;
            const FeatureList list = closest_features(ta, tb, X[i], X[j], size_a, size_b);
            for (int k = 0; k < list.count; ++k) {
                const FeaturePair f{a, b, list.items[k].on_a, list.items[k].on_b};
                const Contact<double> c = contact(ta, tb, f, X[i], X[j], size_a, size_b);
                const Vec3<double> v_a = point_velocity<double>(V[i], c.point - X[i].p);
                const Vec3<double> v_b = point_velocity<double>(V[j], c.point - X[j].p);
                if (c.gap < std::max(min_margin, 2 * h * c.normal.dot(v_b - v_a))) found.push_back(f);
            }
        }
        std::sort(found.begin(), found.end());
        return found;
    }
};

std::vector<ShapeType> mixture(Rng& g, int n) {
    std::vector<ShapeType> types;
    for (int i = 0; i < n; ++i) types.push_back(all_types[1 + g.engine() % 3]);
    return types;
}

}  // namespace

TEST_CASE("detect: every gap is GJK's distance, and EPA's where a core lies in a box") {
    Rng g(1);
    for (const ShapeType ta : all_types)
        for (const ShapeType tb : all_types) {
            if (!pair_supported(ta, tb)) continue;
            CAPTURE(static_cast<int>(ta));
            CAPTURE(static_cast<int>(tb));
            int separated = 0, inside = 0, inexact = 0;
            for (int trial = 0; trial < 2000; ++trial) {
                const Placed a = placed(g, ta, 0.6), b = placed(g, tb, 0.6);
                const double distance = gap(a, b), oracle = gjk_distance(ta, tb, a.X, b.X, a.size, b.size);
                const double cores = distance + (is_round(ta) ? a.size.x() : 0) + (is_round(tb) ? b.size.x() : 0);
                if (std::abs(cores) < 1e-3) continue;
                ++(cores > 0 ? separated : inside);
                if (std::abs(distance - oracle) > 1e-12) ++inexact;
                CHECK(distance < oracle + 1e-12);
            }
            CHECK(inexact <= 4);  // Bullet's searches stop early now and then, at too large a distance
            CHECK(separated > 500);
            if (ta == ShapeType::box || tb == ShapeType::box) CHECK(inside > 20);
        }
}

TEST_CASE("detect: finds what brute force finds among 60 shapes") {
    Rng g(2);
    Scene scene(g, mixture(g, 60), true, 1.5);
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

TEST_CASE("detect: nothing that ran before matters") {
    Rng g(3);
    std::vector<Scene> scenes;
    scenes.emplace_back(g, mixture(g, 20), true, 1);
    scenes.emplace_back(g, mixture(g, 7), false, 1);
    scenes.emplace_back(g, mixture(g, 33), true, 1);
    Detection used;
    for (int trial = 0; trial < 300; ++trial) {
        Scene& scene = scenes[g.engine() % scenes.size()];
        if (trial % 4 == 0) scene.move(g, 1, 1);
        else for (Transform<double>& X : scene.X) X.p += 0.02 * g.vec3(Regime::random);
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
    Scene scene(g, mixture(g, 30), true, 1);
    Detection here, there;
    for (int trial = 0; trial < 50; ++trial) {
        scene.move(g, 1, 1);
        scene.detect_with(here);
        for (Transform<double>& X : scene.X) X.p += Vec3<double>(12, -7, 3);
        CHECK(scene.detect_with(there) == here.features);
    }
}

TEST_CASE("detect: the margin grows with the speed of approach, at the contact point") {
    Rng g(5);
    Scene scene(g, {ShapeType::sphere, ShapeType::sphere}, true, 1);
    Detection d;
    const Vec3<double> size_0 = scene.theta.segment<3>(scene.set.size.at(0));
    scene.X[0].p = {0, 0, size_0.x() + 0.05}, scene.X[1].p = {5, 0, 5};
    CHECK(scene.detect_with(d).empty());
    scene.V[0].lin.z() = -2.4;
    CHECK(scene.detect_with(d).empty());
    scene.V[0].lin.z() = -2.6;
    REQUIRE(scene.detect_with(d).size() == 1);
    CHECK(d.features[0] == FeaturePair{0, 2, vertex_feature(0), face_feature(0)});
    scene.V[0].lin.z() = 2.6;
    CHECK(scene.detect_with(d).empty());
    scene.V[0].lin.z() = 0, scene.X[0].p.z() = size_0.x() + 0.0099;
    CHECK(scene.detect_with(d).size() == 1);
    scene.X[0].p.z() = std::numeric_limits<double>::quiet_NaN();
    CHECK(scene.detect_with(d).empty());
}

TEST_CASE("detect: a box and a capsule lie on the ground with four and two points, whichever shape is first") {
    const Transform<double> ground = Transform<double>::identity(), above{Mat3<double>::Identity(), {0, 0, 1}};
    const FeatureList box = closest_features(ShapeType::plane, ShapeType::box, ground, above, {0, 0, 0}, {1, 1, 1});
    REQUIRE(box.count == 4);
    for (int i = 0; i < 4; ++i) CHECK((box.items[i].on_a == face_feature(0) && box.items[i].on_b == vertex_feature(i)));
    Mat3<double> along_x;
    along_x << 0, 0, 1, 0, 1, 0, -1, 0, 0;
    const Transform<double> lying{along_x, {0, 0, 1}};
    const FeatureList capsule = closest_features(ShapeType::capsule, ShapeType::plane, lying, ground, {1, 2, 0}, {0, 0, 0});
    REQUIRE(capsule.count == 2);
    for (int i = 0; i < 2; ++i) CHECK((capsule.items[i].on_a == vertex_feature(i) && capsule.items[i].on_b == face_feature(0)));
    // On a box, both ends are over the upper face; pushed over the rim, one end and the crossing of axis and rim remain.
    Transform<double> on_box{along_x, {0, 0, 2}};
    const FeatureList inside = closest_features(ShapeType::box, ShapeType::capsule, ground, on_box, {3, 3, 1}, {1, 2, 0});
    REQUIRE(inside.count == 2);
    for (int i = 0; i < 2; ++i) CHECK((inside.items[i].on_a == face_feature(5) && inside.items[i].on_b == vertex_feature(i)));
    on_box.p.x() = 2, on_box.R = rotation_matrix<double>(quaternion_exp<double>({0, 0.01, 0})) * along_x;
    const FeatureList rim = closest_features(ShapeType::box, ShapeType::capsule, ground, on_box, {3, 3, 1}, {1, 2, 0});
    REQUIRE(rim.count == 2);
    CHECK((rim.items[0].on_a == face_feature(5) && rim.items[0].on_b == vertex_feature(0)));
    CHECK((rim.items[1].on_a.kind == FeatureKind::edge && rim.items[1].on_b.kind == FeatureKind::edge));
}

TEST_CASE("build_shapes: who may touch whom") {
    ModelBuilder builder;
    const auto add = [&](const char* name, int parent, JointType joint) {
        BodySpec body;
        body.name = name, body.parent = parent, body.joint = joint;
        body.mass = {1, Vec3<double>::Zero(), Mat3<double>::Identity()};
        return builder.add_body(body);
    };
    add("base", -1, JointType::free);
    add("pad", builder.bodies().size() > 0 ? 0 : -1, JointType::fixed);
    add("arm", 1, JointType::revolute);
    add("hand", 2, JointType::revolute);
    add("table", -1, JointType::fixed);
    add("ball", -1, JointType::free);
    Model model = builder.build();
    std::vector<ShapeSpec> specs;
    for (const char* name : {"base", "pad", "arm", "hand", "table", "ball"})
        specs.push_back({name, ShapeType::sphere, model.body_index(name)});
    for (ShapeSpec& s : specs) s.size = {0.1, 0, 0};
    specs.push_back({"ground", ShapeType::plane});
    specs.push_back({"crate", ShapeType::box, model.body_index("ball")});
    specs.push_back({"wall", ShapeType::box});
    const ShapeSet set = build_shapes(model, specs, {{"hand", "ball"}, {"arm", "world"}});

    const auto touch = [&](const char* a, const char* b) {
        const int i = set.index(a), j = set.index(b);
        const bool listed = std::find(set.pairs.begin(), set.pairs.end(), std::pair(i, j)) != set.pairs.end();
        CHECK(listed == set.is_pair(i, j));
        return listed;
    };
    const auto either = [&](const char* a, const char* b) { return touch(a, b) || touch(b, a); };
    CHECK(touch("base", "ground"));
    CHECK(touch("base", "hand"));
    CHECK(touch("pad", "hand"));
    CHECK(touch("base", "ball"));
    CHECK(touch("base", "table"));
    CHECK(touch("ball", "table"));
    CHECK(touch("ball", "wall"));
    CHECK(touch("base", "crate"));
    CHECK_FALSE(touch("table", "ball"));         // the world comes second
    CHECK_FALSE(either("base", "pad"));          // one body
    CHECK_FALSE(either("base", "arm"));          // parent, through the fixed joint
    CHECK_FALSE(either("pad", "arm"));           // parent
    CHECK_FALSE(either("arm", "hand"));          // parent
    CHECK_FALSE(either("ball", "crate"));        // one body
    CHECK_FALSE(either("table", "ground"));      // the world
    CHECK_FALSE(either("hand", "ball"));         // excluded
    CHECK_FALSE(either("hand", "crate"));        // excluded
    CHECK_FALSE(either("arm", "ground"));        // excluded
    CHECK_FALSE(either("arm", "table"));         // excluded
    CHECK(std::is_sorted(set.pairs.begin(), set.pairs.end()));
    CHECK(set.plane_pairs.size() == 5);
    CHECK(set.unsupported == std::vector{std::pair(set.index("crate"), set.index("wall"))});
    REQUIRE(model.layout.find("shapes/hand/size") != nullptr);
    CHECK(model.layout.find("shapes/hand/friction")->offset == set.friction.at(set.index("hand")));
    CHECK(model.layout.nominal()[set.size.at(set.index("hand"))] == 0.1);
}
