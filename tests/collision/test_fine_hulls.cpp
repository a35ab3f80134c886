// Contacts of hulls of thousands of points, slivers and nearly coplanar facets among them, judged by a linear
// program.
#include <algorithm>
#include <functional>

#include <doctest/doctest.h>

#include "collision/detect/detect.hpp"
#include "tests/support/linear_program.hpp"
#include "tests/support/sample_shapes.hpp"

using namespace costate;
using namespace costate::test;

namespace {

using Points = std::vector<Vec3<double>>;

// The point of a set that is least along n.
Vec3<double> lowest(const Points& points, const Vec3<double>& n) {
    return *std::ranges::min_element(points, {}, [&](const Vec3<double>& x) { return n.dot(x); });
}

// The largest t for which a plane is between two sets with n . (a - b) >= t for all their points a and b and
// |n_i|
// <= 1: 0 if their hulls have a point in common, else positive, and at most sqrt(3) times their distance, m.
// Of all rows n . (a - b) >= t only those are made that the best plane so far violates most.
double separable(const Points& a, const Points& b) {
    MatrixX rows(0, 4);
    for (int sweep = 0; sweep < 1000; ++sweep) {
        const std::optional<VecX<double>> best =
            maximise(rows, VecX<double>::Zero(rows.rows()), VecX<double>(Eigen::Vector4d::UnitW()));
        REQUIRE(best);
        const Vec3<double> n = best->head<3>();
        const double t = (*best)[3];
        const Vec3<double> difference = lowest(a, n) - lowest(b, -n);
        if (t < 1e-10 || n.dot(difference) >= t - 1e-12) return std::max(t, 0.0);
        rows.conservativeResize(rows.rows() + 1, 4);
        rows.bottomRows<1>() << -difference.transpose(), 1;
    }
    FAIL("the linear program of two hulls does not end");
    return 0;
}

Vec3<double> single_precision(const Vec3<double>& x) { return x.cast<float>().cast<double>(); }

// Rings about z, each a radius and a height, m, as a lathe makes them and a file in single precision holds
// them.
Points turned_part(const std::vector<std::pair<double, double>>& rings, int corners,
                   const std::function<double()>& noise) {
    Points points;
    for (const auto& [radius, height] : rings)
        for (int k = 0; k < corners; ++k) {
            const double angle = 2 * std::acos(-1.0) * k / corners;
            const Vec3<double> x(radius * std::cos(angle), radius * std::sin(angle), height);
            points.push_back(single_precision(x + Vec3<double>(noise(), noise(), noise())));
        }
    return points;
}

Points ellipsoid(Rng& g, int n, const Vec3<double>& semi_axes) {
    Points points;
    for (int i = 0; i < n; ++i)
        points.push_back(single_precision(semi_axes.cwiseProduct(g.vec3(Regime::random).normalized())));
    return points;
}

// Hulls as meshes of robots have them: about 0.1 m large, with thousands of facets of all proportions.
std::vector<Points> fine_hulls(Rng& g) {
    const auto noise = [&](double size) { return [&g, size] { return g.uniform(-size, size); }; };
    std::vector<Points> hulls;
    hulls.push_back(ellipsoid(g, 2000, {0.08, 0.05, 0.04}));
    hulls.push_back(ellipsoid(g, 600, {0.1, 2e-3, 1e-3}));  // a needle
    hulls.push_back(ellipsoid(g, 1500, {0.09, 0.08, 5e-4}));
    for (const double size : {1e-7, 1e-6, 1e-5})  // flat disks, flat but for the noise
        hulls.push_back(turned_part(
            {{0.02, 0.006}, {0.06, 0.006}, {0.08, 0.006}, {0.08, -0.006}, {0.05, -0.006}}, 180, noise(size)));
    std::vector<std::pair<double, double>> cap, can;
    for (int k = 0; k < 12; ++k)
        cap.emplace_back(0.008 * k + 0.001, -1e-2 * std::pow(0.1 * k, 2));  // of a sphere of 0.32 m
    cap.emplace_back(0.06, -0.03);
    hulls.push_back(turned_part(cap, 120, noise(1e-8)));
    for (int k = 0; k <= 10; ++k) {  // a can with fillets of 2 mm and 2 um
        can.emplace_back(0.048 + 2e-3 * std::cos(0.157 * k), 0.04 + 2e-3 * std::sin(0.157 * k));
        can.emplace_back(0.049998 + 2e-6 * std::cos(0.157 * k), -0.04 - 2e-6 * std::sin(0.157 * k));
    }
    hulls.push_back(turned_part(can, 150, noise(0)));
    return hulls;
}

// What is pressed against them: a box of 30 mm, a wedge, a splinter, a pebble of a few dozen points.
std::vector<Points> small_hulls(Rng& g) {
    Points box = cube_hull().vertices;
    for (Vec3<double>& x : box)
        x *= 0.015;
    return {box,
            {{0, 0, 0}, {0.03, 0, 0}, {0, 0.02, 0}, {0, 0, 0.04}, {0.03, 0.02, 0.001}},
            {{0, 0, 0.06}, {1e-3, 0, 0}, {-1e-3, 1e-3, 0}, {0, -1e-3, 1e-3}},
            ellipsoid(g, 40, {0.02, 0.015, 0.01})};
}

// Two bodies with a mesh each.
struct HullPair {
    Model model;
    ShapeSet set;
    VecX<double> theta;

    HullPair(const Points& a, const Points& b) {
        ModelBuilder builder;
        std::vector<ShapeSpec> specs;
        for (const Points* points : {&a, &b}) {
            BodySpec body;
            body.name = points == &a ? "a" : "b";
            body.joint = JointType::free;
            body.mass = {1, Vec3<double>::Zero(), Mat3<double>::Identity()};
            ShapeSpec s;
            s.name = body.name;
            s.type = ShapeType::mesh;
            s.body = builder.add_body(body);
            s.size = Vec3<double>::Ones();
            s.hull = convex_hull(*points);
            specs.push_back(s);
        }
        model = builder.build();
        set = build_shapes(model, specs);
        theta = model.layout.nominal();
    }
    // The least gap that detect finds, infinite without contact; m
    double least_gap(const std::array<Transform<double>, 2>& X, Detection& detection) const {
        const Motion<double> rest[2] = {Motion<double>::zero(), Motion<double>::zero()};
        detect(set, theta.data(), X.data(), rest, 1e-3, detection);
        double least = std::numeric_limits<double>::infinity();
        const Vec3<double> size = Vec3<double>::Ones();
        for (const FeaturePair& f : detection.features)
            least = std::min(least,
                             costate::contact(set.shapes[0], set.shapes[1], f, X[0], X[1], size, size).gap);
        return least;
    }
};

Points placed_points(const Points& points, const Transform<double>& X, double scale = 1) {
    Points out;
    Vec3<double> middle = Vec3<double>::Zero();
    for (const Vec3<double>& x : points)
        middle += x / static_cast<double>(points.size());
    for (const Vec3<double>& x : points)
        out.push_back(transform_point<double>(X, middle + scale * (x - middle)));
    return out;
}

}  // namespace

TEST_CASE("fine hulls: two of them touch if and only if no plane is between them") {
    Rng g(7);
    const std::vector<Points> fine = fine_hulls(g), small = small_hulls(g);
    Detection detection;
    int overlapping = 0, apart = 0, missed = 0, invented = 0, undetected = 0, too_deep = 0;
    for (size_t i = 0; i < fine.size(); ++i)
        for (size_t j = 0; j < small.size(); ++j) {
            const HullPair pair(fine[i], small[j]);
            for (int trial = 0; trial < 20; ++trial) {
                // how far apart they are along a direction n, negative: how deep in each other
                const double gap = trial % 4 == 0   ? g.uniform(1e-4, 8e-3)
                                   : trial % 4 == 1 ? g.uniform(-0.03, -5e-3)
                                                    : g.uniform(-3e-3, 0);
                const bool inside = trial % 8 == 5;
                std::array<Transform<double>, 2> X;
                for (Transform<double>& pose : X)
                    pose = {rotation_matrix(quaternion_exp<double>(g.vec3(Regime::random))), {0, 0, 0}};
                const Vec3<double> n = g.vec3(Regime::random).normalized();
                if (!inside) {
                    X[1].p =
                        lowest(placed_points(fine[i], X[0]), -n) - lowest(placed_points(small[j], X[1]), n);
                    X[1].p += gap * n;
                }
                const Points a = placed_points(fine[i], X[0]);
                const double separation = separable(a, placed_points(small[j], X[1]));
                const double found = pair.least_gap(X, detection);
                if (separation > 1e-6) {
                    ++apart;
                    invented += found < 0;
                    undetected += gap > 0 && gap < 5e-3 && separation < 5e-3 && found > 0.01;
                } else if (separable(a, placed_points(small[j], X[1], 0.999)) == 0) {
                    ++overlapping;
                    missed += !(found < 0);
                    // no overlap is deeper than that along n
                    too_deep += !inside && found < 1.001 * gap - 1e-6;
                }
            }
        }
    CHECK(overlapping > 300);
    CHECK(apart > 100);
    CHECK(missed == 0);
    CHECK(invented == 0);
    CHECK(undetected == 0);
    CHECK(too_deep == 0);
}
