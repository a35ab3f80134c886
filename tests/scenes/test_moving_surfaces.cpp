// Surfaces that move past their shapes, in scenes and in MJCF files.
#include <doctest/doctest.h>

#include "tests/support/mjcf_text.hpp"
#include "tests/support/simulated.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// A ball of 1 kg on the ground.
Json on_ground(const Json& ground) {
    Json scene =
        Json::parse(R"({"time_step": 0.001, "steps": 10, "models": [{"name": "ball", "position": [0, 0, 0.1],
        "model": {"bodies": [{"name": "ball", "joint": {"type": "free"}, "mass": 1,
            "inertia": [0.004, 0.004, 0.004, 0, 0, 0], "shapes": [{"type": "sphere", "radius": 0.1}]}]}}]})");
    scene["ground"] = ground;
    return scene;
}

}  // namespace

TEST_CASE("moving surfaces: parameters of the shapes that have them, of the ground too") {
    const Scene scene = scene_from_json(on_ground({{"surface_velocity", {0.5, 0, 0}}}), "s.json");
    const ParameterLayout& layout = scene.world.model.layout;
    const auto* velocity = layout.find("shapes/ground/surface_velocity");
    const auto* spin = layout.find("shapes/ground/surface_angular_velocity");
    REQUIRE((velocity != nullptr && spin != nullptr));
    CHECK((velocity->width == 3 && scene.theta[velocity->offset] == 0.5 && scene.theta[spin->offset] == 0));
    CHECK(layout.find("shapes/ball/surface_velocity") == nullptr);
    CHECK(simulated(scene, 10)[0] > 0);
    const Scene still = scene_from_json(on_ground(true), "s.json");
    CHECK(still.world.model.layout.find("shapes/ground/surface_velocity") == nullptr);
    CHECK_THROWS_WITH(scene_from_json(on_ground({{"surface_velocity", {0.5, 0}}}), "s.json"),
                      doctest::Contains("surface_velocity"));
}

// The frame of a mesh is not that of its geom: a point of the surface keeps its velocity.
TEST_CASE("MJCF: surfacevel is about the origin and in the axes of the shape") {
    const MjcfText m = mjcf(
        "<asset><mesh name='tetra' vertex='0 0 0 1 0 0 0 1 0 0 0 1' refpos='.3 .2 .1' refquat='1 1 0 "
        "0'/></asset>"
        "<default><default class='belt'><geom surfacevel='.7 0 0'/></default></default><worldbody>"
        "<geom class='belt' type='box' size='1 .3 .1'/><geom type='mesh' mesh='tetra' surfacevel='1 2 3 .1 "
        ".2 .3'/>"
        "<geom type='sphere' size='.1' contype='0' conaffinity='0' surfacevel='1 0 0'/></worldbody>");
    CHECK(m.warnings.empty());
    const Json &shapes = m.imported.scene["shapes"], &belt = shapes[0], &mesh = shapes[1];
    CHECK(json_equals(belt["surface_velocity"], {.7, 0, 0}));
    CHECK(!belt.contains("surface_angular_velocity"));
    CHECK(!shapes[2].contains("surface_velocity"));
    const auto vector = [](const Json& x) { return Vec3<double>(x[0], x[1], x[2]); };
    const Json& q = mesh["quaternion"];
    const Mat3<double> R = rotation_matrix(Quaternion<double>{q[0], Vec3<double>(q[1], q[2], q[3])});
    const Vec3<double> v(1, 2, 3), w(.1, .2, .3), at_origin = R * vector(mesh["surface_velocity"]);
    CHECK((R * vector(mesh["surface_angular_velocity"]) - w).norm() < 1e-14);
    CHECK((at_origin - v - w.cross(vector(mesh["position"]))).norm() < 1e-14);
}

// Coordinates after 100 steps of MuJoCo 3.12.1, Newton's method to 1e-15.
TEST_CASE("MuJoCo's law: bodies on a moving floor, one with a moving surface of its own, move as in MuJoCo") {
    const auto after = [](const std::string& cone) {
        Json json = mjcf("<option timestep='.002' cone='" + cone +
                         "'/><default><geom condim='4' friction='.8 .01 .001'/></default><worldbody>"
                         "<geom type='plane' size='8 8 .1' pos='.5 0 0' euler='3 0 20' surfacevel='.7 .1 .3 "
                         ".2 .1 1.5'/>"
                         "<body pos='-.5 0 .11' euler='10 20 30'><freejoint/><geom type='box' size='.1 .07 "
                         ".05' mass='2'/></body>"
                         "<body pos='0 1.5 .18' euler='0 0 50'><freejoint/><geom type='capsule' size='.06' "
                         "fromto='-.1 0 0 .1 .05 0' mass='1' surfacevel='1 0 .3 .2 0 1'/></body></worldbody>")
                        .scene_json();
        json["contact"]["law"] = "mujoco";
        json["solver"]["integrator"] = "mujoco_euler";
        return simulated(scene_from_json(json, "m.json"), 100);
    };
    const VecX<double> pyramids = after("pyramidal"), cones = after("elliptic");
    VecX<double> q(14);
    q << -0.472187262758, -0.0748980192561, 0.0456335952271, 0.971603857354, 0.0253924088743,
        -0.00887007498979, 0.235079756076, -0.115080506119, 1.47722027774, 0.114555652474, 0.412059699737,
        0.662373735388, 0.575591122536, 0.245280855712;
    CHECK((pyramids.head(14) - q).norm() < 1e-10);
    q << -0.468096403947, -0.0885554529001, 0.0444915201879, 0.961060797463, 0.0185459656265,
        -0.00989741228299, 0.275536262528, -0.131014627314, 1.47056510207, 0.115621074384, 0.304398291133,
        0.682191027542, 0.632184256667, 0.205669997616;
    CHECK((cones.head(14) - q).norm() < 1e-8);
}
