// <sensor> of MJCF: zones, sites of the world, frames in other frames, frames of inertia and of geoms, tendons.
#include <doctest/doctest.h>

#include "core/dynamics/kinematics.hpp"
#include "solvers/sensors/sensors.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/scratch_folder.hpp"

namespace costate::test {
namespace {

TEST_CASE("MJCF: touch counts contacts in the zone of its site") {
    const auto zone = [](const std::string& site, const char* size = "<site size='.02 .03 .04'/>") {
        const MjcfText m = mjcf("<default>" + std::string(size) +
                                "</default><worldbody><body><joint/><geom size='.1'/><site name='s' " + site +
                                "/></body></worldbody><sensor><touch site='s'/></sensor>");
        return m.imported.model["sensors"][0]["zone"].dump();
    };
    CHECK(zone("") == R"({"type":"sphere","radius":0.02})");
    CHECK(zone("", "") == R"({"type":"sphere","radius":0.005})");
    CHECK(zone("type='capsule'") == R"({"type":"capsule","radius":0.02,"half_length":0.03})");
    CHECK(zone("type='cylinder'") == R"({"type":"cylinder","radius":0.02,"half_length":0.03})");
    CHECK(zone("type='ellipsoid'") == R"({"type":"ellipsoid","semi_axes":[0.02,0.03,0.04]})");
    CHECK(zone("type='box' size='1 2 3'") == R"({"type":"box","half_extents":[1.0,2.0,3.0]})");
    CHECK(zone("type='capsule' fromto='0 0 0 0 0 1'") ==
          R"({"type":"capsule","radius":0.02,"half_length":0.5})");
    CHECK(zone("type='box' fromto='0 0 0 0 0 1'") == R"({"type":"box","half_extents":[0.02,0.02,0.5]})");
}

TEST_CASE("MJCF: sensors at sites of the world") {
    const MjcfText m = mjcf(
        "<worldbody><site name='w' pos='1 2 3' quat='0 1 0 0'/><body name='world_sites'><joint/>"
        "<geom size='.1'/></body></worldbody><sensor><framepos name='p' objtype='site' objname='w'/>"
        "<framezaxis name='z' objtype='site' objname='w'/><gyro site='w'/><touch site='w'/></sensor>");
    REQUIRE(m.warnings.size() == 1);
    CHECK(m.warnings[0].find("<touch> measures a part that is left out") != std::string::npos);
    CHECK((m.imported.model["sensors"].size() == 3 && m.body(1)["name"] == "world_sites_"));
    const Scene s = m.scene();
    const int site = s.world.model.site_index("m/w");
    REQUIRE(site >= 0);
    Kinematics<double> k(s.world.model);
    kinematics(s.world.model, s.theta.data(), s.x0.data(), s.x0.data() + s.world.model.nq, k);
    const int body = s.world.model.sites[static_cast<size_t>(site)].body;
    const Vec3<double> at =
        k.world_position(s.world.model, body) +
        k.X[static_cast<size_t>(body)].R * load3(s.theta.data() + s.world.model.site_position.at(site));
    CHECK((at - Vec3<double>(1, 2, 3)).norm() < 1e-14);
    // without such a sensor the world's sites are not needed
    CHECK(mjcf("<worldbody><site name='w'/><body><joint/><geom size='.1'/></body></worldbody>"
               "<sensor><touch site='w'/></sensor>")
              .imported.model["bodies"]
              .size() == 1);
}

// The sensors of two bodies, where "trunk" has its inertia about rotated axes and "leg" that of two geoms.
MjcfText with_sensors(const std::string& sensors) {
    return mjcf(R"(<worldbody><site name="w" pos="1 2 3"/>
<body name="trunk" pos="0 0 1"><freejoint/><site name="imu" pos="0.1 0 0"/><site name="trunk_inertia"/>
 <inertial pos="0.02 0 0" quat="0 1 0 0" mass="1" diaginertia="0.1 0.2 0.25"/>
 <geom name="pad" type="box" size=".1 .2 .3" pos="0.3 0 0" quat="0 0 1 0"/>
 <body name="leg"><joint name="knee" axis="0 1 0"/><geom size=".1" pos="0 0 -.2"/><geom size=".2" pos="0 .1 0"/>
  <site name="foot"/></body></body></worldbody>
<tendon><fixed name="belt"><joint joint="knee" coef="2"/></fixed></tendon><sensor>)" +
                sensors + "</sensor>");
}

TEST_CASE("MJCF: sensors of frames in other frames") {
    const MjcfText m = with_sensors(
        "<framepos name='a' objtype='site' objname='foot' reftype='site' refname='imu'/>"
        "<framequat name='b' objtype='xbody' objname='leg' reftype='xbody' refname='trunk'/>"
        "<framelinvel name='c' objtype='site' objname='foot' reftype='site' refname='w'/>"
        "<framezaxis objtype='xbody' objname='leg' reftype='site' refname='imu'/>");
    CHECK(m.warnings.empty());
    const Json& sensors = m.imported.model["sensors"];
    CHECK(sensors[0] == parse_json(R"({"name": "a", "type": "relative_position", "site": "foot",
                                       "reference_site": "imu"})",
                                   "t"));
    CHECK(sensors[1] == parse_json(R"({"name": "b", "type": "relative_quaternion", "body": "leg",
                                       "reference_body": "trunk"})",
                                   "t"));
    CHECK((sensors[2]["type"] == "relative_linear_velocity" && sensors[2]["reference_site"] == "w"));
    CHECK(sensors[3]["name"] == "leg_relative_z_axis");
    const Scene s = m.scene();
    const World& w = s.world;
    REQUIRE(w.sensors.size() == 4);
    CHECK(w.sensors[0].reference.site == w.model.site_index("m/imu"));
    CHECK(w.sensors[0].reference.body == w.model.body_index("m/trunk"));
    CHECK(
        (w.sensors[1].reference.site == -1 && w.sensors[1].reference.body == w.model.body_index("m/trunk")));
}

TEST_CASE("MJCF: sensors at frames of inertia and of geoms get sites") {
    const MjcfText m = with_sensors(
        "<framepos objtype='body' objname='trunk'/><framequat objtype='body' objname='trunk'/>"
        "<framelinacc objtype='body' objname='leg'/>"
        "<framequat objtype='geom' objname='pad' reftype='body' refname='trunk'/>");
    CHECK(m.warnings.empty());
    const Json& sensors = m.imported.model["sensors"];
    CHECK(sensors[0]["site"] == "trunk_inertia_");  // the file has the other name
    CHECK(sensors[1]["site"] == "trunk_inertia_");
    CHECK((sensors[3]["site"] == "pad_frame" && sensors[3]["reference_site"] == "trunk_inertia_"));
    const Json& sites = m.body(0)["sites"];
    REQUIRE(sites.size() == 4);
    CHECK((json_equals(sites[2]["position"], {0.02, 0, 0}) &&
           json_equals(sites[2]["quaternion"], {0, 1, 0, 0})));
    CHECK((json_equals(sites[3]["position"], {0.3, 0, 0}) &&
           json_equals(sites[3]["quaternion"], {0, 0, 1, 0})));
    // two spheres of the same density at (0, 0, -.2) and (0, .1, 0): masses 1 to 8
    const Json& site = m.body(1)["sites"][1];
    CHECK(site["name"] == "leg_inertia");
    CHECK(json_equals(site["position"], {0, 0.8 / 9, -0.2 / 9}));
    CHECK_NOTHROW(m.scene());
}

TEST_CASE("MJCF: sensors of tendons, and sensors that are not supported") {
    const MjcfText m = with_sensors(
        "<tendonpos tendon='belt'/><tendonvel tendon='belt'/>"
        "<framequat objtype='body' objname='leg'/>"  // whose principal axes an algorithm would choose
        "<framepos objtype='site' objname='foot' reftype='camera' refname='c'/>"
        "<framelinacc objtype='site' objname='foot' reftype='site' refname='imu'/>"
        "<framepos objtype='geom' objname='pd'/><rangefinder site='imu'/>"
        "<framepos objtype='site' objname='foot' reftype='site' refname='im'/>");
    const Json& sensors = m.imported.model["sensors"];
    REQUIRE(sensors.size() == 2);
    CHECK((sensors[0]["type"] == "tendon_length" && sensors[0]["tendon"] == "belt"));
    CHECK(m.scene().world.sensors[1].tendon == 0);
    REQUIRE(m.warnings.size() == 5);
    for (int i = 0; i < 4; ++i)
        CHECK(m.warnings[static_cast<size_t>(i)].find("not supported") != std::string::npos);
    CHECK(m.warnings[1].find("<framepos>") != std::string::npos);
    CHECK(m.warnings[4].find("measures a part that is left out") != std::string::npos);
}

TEST_CASE("MJCF: the length of an actuator at a site is not measured, and its force is") {
    const MjcfText m = mjcf(
        "<worldbody><body><freejoint/><site name='s'/><geom size='.1'/></body></worldbody><actuator>"
        "<general name='rotor' site='s' gear='0 0 1 0 0 0'/></actuator><sensor><actuatorpos "
        "actuator='rotor'/>"
        "<actuatorvel actuator='rotor'/><actuatorfrc actuator='rotor'/></sensor>");
    REQUIRE(m.warnings.size() == 2);
    for (const std::string& warning : m.warnings)
        CHECK(warning.find("measures an actuator that drives no joint, and is left out") !=
              std::string::npos);
    CHECK(m.imported.model["sensors"].size() == 1);
    CHECK_NOTHROW(m.scene());
}

TEST_CASE("MJCF: axes of inertia beside a geom without mass are not measured") {
    for (const bool massless : {false, true}) {
        const MjcfText m =
            mjcf(std::string(
                     "<worldbody><body name='b'><joint/><geom type='box' size='.1 .2 .3' quat='1 1 0 0'/>") +
                 (massless ? "<geom size='.1' mass='0'/>" : "") +
                 "</body></worldbody><sensor><framequat objtype='body' objname='b'/></sensor>");
        CHECK(m.warnings.size() == (massless ? 1 : 0));
    }
    const auto beside_inertial = [](const char* compiler) {
        return mjcf(std::string(compiler) +
                    "<worldbody><body name='b'><joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1.2 "
                    "1.4'/>"
                    "<geom type='box' size='.1 .2 .3' quat='1 1 0 0'/><geom size='.1' mass='0'/></body>"
                    "</worldbody><sensor><framequat objtype='body' objname='b'/></sensor>")
            .warnings.size();
    };
    CHECK(beside_inertial("") == 0);
    CHECK(beside_inertial("<compiler inertiafromgeom='true'/>") == 1);
}

// MuJoCo clamps numbers of all types but axes and quaternions.
TEST_CASE("MJCF: the cutoff of a sensor") {
    const MjcfText m = mjcf(
        "<worldbody><body pos='0 0 1'><joint name='j' type='ball'/><geom size='.1'/><site name='imu'/></body>"
        "<body pos='1 0 1'><joint name='hinge'/><geom size='.1' pos='.2 0 0'/></body></worldbody><sensor>"
        "<accelerometer site='imu' cutoff='157'/><gyro site='imu'/><ballquat joint='j' cutoff='.1'/>"
        "<framexaxis objtype='site' objname='imu' cutoff='.1'/><jointpos joint='hinge' "
        "cutoff='.5'/></sensor>");
    CHECK(m.warnings.empty());
    const Json& sensors = m.imported.model["sensors"];
    REQUIRE(sensors.size() == 5);
    CHECK((sensors[0]["cutoff"] == 157.0 && sensors[4]["cutoff"] == 0.5));
    for (const int none : {1, 2, 3})
        CHECK(!sensors[none].contains("cutoff"));
    CHECK((m.scene().world.sensors[0].cutoff == 157 && m.scene().world.sensors[1].cutoff == unlimited));
}

// A box on a floor, beside a post, and four sensors that are taken over.
constexpr const char* box_beside_post = R"(<worldbody><geom name="floor" type="plane" size="0 0 1"/>
<geom name="post" type="box" size=".1 .1 .1" pos=".3 0 .1" margin=".0003"/>
<body name="box" pos=".1005 0 .0995"><freejoint/><geom name="cube" type="box" size=".1 .1 .1"/></body></worldbody>
<sensor><contact geom1="cube" geom2="floor" reduce="mindist"/><contact body1="box" body2="world"/>
<contact geom1="post" geom2="cube" data="found"/><distance geom1="cube" geom2="post" cutoff="1"/>
<contact geom1="cube"/>
<contact geom1="cube" geom2="post" data="force"/>
<contact geom1="cube" geom2="cub"/>
</sensor>)";

// The four sensors in the step from the start; `of_world`: contacts of the box with the world.
void check_sensors_beside_post(const Scene& s, double of_world) {
    const World& w = s.world;
    REQUIRE(w.ny() == 4);
    StepScratch<double> scratch(w);
    SensorScratch<double> sensor_scratch(w);
    std::vector<double> y(4), next(s.x0.size());
    const StepInputs<double> inputs{s.theta.data(), s.x0.data(), nullptr};
    step(w, inputs, scratch, next.data());
    sensor_values(w, w.sensors, inputs, scratch, sensor_scratch, y.data());
    CHECK((y[0] == 4 && y[1] == of_world && y[2] == 4));
    CHECK(y[3] == doctest::Approx(-0.0005).epsilon(1e-9));
}

TEST_CASE("MJCF: contacts and distances of two geoms or bodies") {
    const MjcfText m = mjcf(box_beside_post);
    const Json& sensors = m.imported.model["sensors"];
    REQUIRE(sensors.size() == 4);
    CHECK(sensors[0]["shapes"] == Json{"cube", "world/floor"});
    CHECK(sensors[1]["bodies"] == Json{"box", "world"});
    REQUIRE(m.warnings.size() == 2);
    CHECK(m.warnings[0].find("not supported") != std::string::npos);
    CHECK(m.warnings[1].find("measures a part that is left out") != std::string::npos);
    check_sensors_beside_post(m.scene(), 8);
    // a scene without the file's floor
    Json bare = m.scene_json();
    bare["shapes"].erase(0);
    const Scene s = scene_from_json(bare, "m.json");
    REQUIRE(s.warnings.size() == 1);
    CHECK(s.warnings[0].find("sensor \"m/cube_contact_count\" needs shape \"world/floor\", which this scene "
                             "does not have; it measures nothing") != std::string::npos);
}

TEST_CASE("MJCF: in a scene that names a file, sensors find its walls, and the scene's ground as its floor") {
    const ScratchFolder folder("mjcf_sensors");
    folder.write("box.xml", "<mujoco>" + std::string(box_beside_post) + "</mujoco>");
    const Json scene{
        {"time_step", 0.002}, {"ground", true}, {"models", {{{"name", "m"}, {"file", "box.xml"}}}}};
    const Scene s = scene_from_json(scene, folder.path("scene.json"), 1);
    check_sensors_beside_post(s, 4);  // the post is a fixed body of the model
    CHECK(s.warnings.back().find(
              "sensor \"box_contact_count\" measures the world of the scene, without the file's "
              "own walls") != std::string::npos);
}

}  // namespace
}  // namespace costate::test
