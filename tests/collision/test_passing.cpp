// What slides over level tiles moves as over a slab: the sides of the tiles do not stop it, and a step does.
#include "tests/support/analytic.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr double height = 0.05;  // half, of the sliding body, m

const std::vector<ShapeType> with_faces{ShapeType::box, ShapeType::cylinder, ShapeType::mesh},
    sliding{ShapeType::box,    ShapeType::cylinder, ShapeType::mesh,
            ShapeType::sphere, ShapeType::capsule,  ShapeType::ellipsoid};
// A brick in form of each shape, of half extents 0.1, 0.08 and `height` m if it has three.
ShapeSpec sliding_shape(ShapeType type) {
    ShapeSpec s = shape("brick", type, {0.1, 0.08, height}, 0);
    if (type == ShapeType::cylinder) s.size = {0.1, height, 0};
    if (type == ShapeType::sphere) s.size = {height, 0, 0};
    if (type == ShapeType::capsule) {
        s.size = {height, 0.1, 0};
        s.R_BS << 0, 0, 1, 0, 1, 0, -1, 0, 0;  // along x
    }
    if (type == ShapeType::mesh) {
        s.size = {1, 1, 1};
        std::vector<Vec3<double>> corners;
        for (int i = 0; i < 16; ++i) {
            const double angle = pi / 4 * (i / 2);
            corners.emplace_back(0.1 * std::cos(angle), 0.08 * std::sin(angle),
                                 i % 2 == 0 ? -height : height);
        }
        s.hull = convex_hull(corners);
    }
    return s;
}

struct Sliding {
    Settings settings;
    ShapeType type = ShapeType::box;
    double yaw = 0, step = 0;    // rad; height of the second and further tiles above the first, m
    bool on_free_tiles = false;  // on a plane, instead of tiles of the world
};

// A brick without friction on a row of tiles, which moves along the row at 2 m/s and turns at 1 rad/s.
AnalyticCase brick_on_tiles(const Sliding& it) {
    AnalyticScene scene(it.settings);
    scene.add(solid("brick", JointType::free, 1, {0.003, 0.004, 0.005}));
    scene.add(sliding_shape(it.type), "brick");
    if (it.on_free_tiles) scene.add_ground();
    for (int i = 0; i < 6; ++i) {
        const std::string name = "tile" + std::to_string(i);
        ShapeSpec tile = shape(name, ShapeType::box, {0.2, 0.3, 0.1}, 0);
        if (it.on_free_tiles)
            scene.add(solid(name, JointType::free, 20, {1, 1, 1}));
        else
            tile.position = {0.4 * i, 0, -0.1 + (i > 0 ? it.step : 0)};
        scene.add(tile, it.on_free_tiles ? name : "");
    }
    AnalyticCase c = scene.build();
    if (it.on_free_tiles)
        for (int i = 0; i < 6; ++i) {
            c.q("tile" + std::to_string(i), 0) = 0.4 * i;
            c.q("tile" + std::to_string(i), 2) = 0.1;
        }
    c.q("brick", 2) = height + (it.on_free_tiles ? 0.2 : 0);
    c.q("brick", 3) = std::cos(it.yaw / 2);
    c.q("brick", 6) = std::sin(it.yaw / 2);
    c.v("brick", 0) = 2;
    c.v("brick", 5) = 1;
    return c;
}

Settings settings_of(SolverType type) {
    Settings s = rigid(2e-3);
    s.solver = type;
    return s;
}

void check_keeps_its_velocity(const Sliding& it) {
    CAPTURE(static_cast<int>(it.type));
    CAPTURE(static_cast<int>(it.settings.solver));
    CAPTURE(it.yaw);
    const AnalyticCase c = brick_on_tiles(it);
    const int steps = 450;
    const VecX<double> end = states(c, steps).back();
    const Body& b = c.body("brick");
    const double t = steps * it.settings.time_step;
    CHECK(end[b.q0] == doctest::Approx(2 * t).epsilon(1e-6));
    CHECK(std::abs(end[b.q0 + 1]) < 1e-6);
    const double z = height + (it.on_free_tiles ? 0.2 : 0);
    CHECK(std::abs(end[b.q0 + 2] - z) < 1e-5);
    const double expected[] = {2, 0, 0, 0, 0, 1};
    for (int k = 0; k < 6; ++k) {
        CAPTURE(k);
        CHECK(std::abs(end[c.world.nq() + b.v0 + k] - expected[k]) < 1e-5);
    }
}

}  // namespace

TEST_CASE("passing: a brick slides over level tiles of the world at constant velocity") {
    for (const ShapeType type : sliding)
        for (const double yaw : {0.0, 0.4})
            for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp})
                check_keeps_its_velocity({settings_of(solver), type, yaw});
}

TEST_CASE("passing: a brick that is as deep in the tiles as it may rest slides over them") {
    for (const ShapeType type : with_faces)
        for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp}) {
            CAPTURE(static_cast<int>(type));
            CAPTURE(static_cast<int>(solver));
            Sliding it{settings_of(solver), type};
            it.settings.slop = 1e-4;
            AnalyticCase c = brick_on_tiles(it);
            c.q("brick", 2) -= 0.99 * it.settings.slop;
            const VecX<double> end = states(c, 450).back();
            CHECK(end[c.world.nq() + c.body("brick").v0] == doctest::Approx(2).epsilon(1e-3));
            CHECK(end[c.body("brick").q0 + 2] < height - 0.9 * it.settings.slop);
        }
}

TEST_CASE("passing: a brick slides over bodies that stand side by side") {
    for (const ShapeType type : sliding)
        check_keeps_its_velocity({settings_of(SolverType::ncp), type, 0.4, 0, true});
}

TEST_CASE("passing: a higher tile stops a brick, a lower one does not") {
    for (const ShapeType type : with_faces)
        for (const double step : {1e-4, 1e-3, -1e-4}) {
            CAPTURE(static_cast<int>(type));
            CAPTURE(step);
            const AnalyticCase c = brick_on_tiles({settings_of(SolverType::ncp), type, 0, step});
            const double speed = states(c, 450).back()[c.world.nq() + c.body("brick").v0];
            if (step > 0)
                CHECK(speed < 1.5);
            else
                CHECK(speed == doctest::Approx(2).epsilon(1e-3));
        }
}

TEST_CASE("passing: a brick at rest before a seam can be pushed over it") {
    Sliding it{settings_of(SolverType::ncp)};
    AnalyticCase c = brick_on_tiles(it);
    c.q("brick") = 0.1;  // its side is in the plane of the next tile's
    c.v("brick", 0) = c.v("brick", 5) = 0;
    c.parameter("world/gravity") = 0.5;
    const VecX<double> end = states(c, 200).back();
    CHECK(end[c.body("brick").q0] == doctest::Approx(0.1 + 0.25 * 0.16).epsilon(0.02));
}

TEST_CASE("passing: a rod that turns far in a step does not pass the post that its end meets") {
    for (const ShapeType type : {ShapeType::box, ShapeType::capsule, ShapeType::cylinder})
        for (int degrees = 40; degrees <= 170; degrees += 2) {
            CAPTURE(static_cast<int>(type));
            CAPTURE(degrees);
            const double angle = degrees * pi / 180;
            AnalyticScene scene(rigid(5e-3), Vec3<double>::Zero());
            scene.add(solid("rod", JointType::revolute, 1, {0.1, 0.1, 0.1}));
            ShapeSpec rod = shape("rod", type, {0.01, 0.4, 0});
            if (type == ShapeType::box) rod.size = {0.01, 0.01, 0.4};
            rod.position.x() = 0.6;
            rod.R_BS << 0, 0, 1, 0, 1, 0, -1, 0, 0;  // along x
            scene.add(rod, "rod");
            ShapeSpec post = shape("post", ShapeType::box, {0.01, 0.01, 0.3});
            post.position = {0.9 * std::cos(angle), 0.9 * std::sin(angle), 0};
            scene.add(post);
            AnalyticCase c = scene.build();
            c.v("rod") = 60;  // 17 degrees in a step
            double farthest = 0;
            for (const VecX<double>& x : states(c, 30))
                farthest = std::max(farthest, x[0]);
            CHECK(farthest < angle);
        }
}
