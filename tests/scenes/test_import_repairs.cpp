// Robot files with slips that other software accepts: what is read, what the warning says, and that "strict"
// refuses what changes the motion.
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "tests/support/repaired_robot.hpp"

namespace costate::test {
namespace {

std::string joint_of(const std::string& type, const std::string& content) {
    return urdf_robot(first_link + second_link + urdf_joint("j", type, "a", "b", content));
}

VecX<double> end_of(const Scene& scene) {
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    VecX<double> last;
    rollout.forward(scene.theta, scene.x0, scene.z0, [&](int, const double* x, const double*) {
        last = Eigen::Map<const VecX<double>>(x, scene.world.nx());
    });
    return last;
}

TEST_CASE("repairs: what cannot change the motion of a URDF is passed over") {
    const std::string concave =
        urdf_link("b", urdf_inertial() + "<concave value='yes'/><self_filter scale='1'/>");
    repaired_urdf(
        urdf_robot("<ros2_control name='x'/>" + first_link + concave +
                   urdf_joint("j", "continuous", "a", "b",
                              "<axis xyz='0 0 1'/><limit effort='1' current='2' command_effort='3'/>")),
        "");
}

TEST_CASE("repairs: MJCF that cannot change the motion is noted or passed over") {
    const std::string two =
        "<worldbody><body name='a'><joint/><geom size='.1'/></body>"
        "<body name='b'><joint/><geom size='.1'/></body></worldbody>";
    repaired_mjcf(two + "<equality><weld body1='a' body2='b' active='false'/></equality>", "is inactive",
                  true);
    repaired_mjcf("<compiler conflict='warning'/>" + two, "");
    repaired_mjcf("<worldbody><body mocap='true'/></worldbody>" + two +
                      "<keyframe><key qpos='0 0' mpos='0 0 1' mquat='1 0 0 0'/></keyframe>",
                  "places mocap bodies", true);
    repaired_mjcf("<option actuatorgroupdisable='1'/>" + one_body("", "<joint name='j'/>") +
                      "<actuator><motor joint='j'/><motor joint='j' group='1'/></actuator>",
                  "is in a disabled group", true);
}

TEST_CASE("repairs: joints that move no mass are locked, and the rest moves as without them") {
    const std::string limits = "<axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='5' velocity='2'/>";
    const std::string arm =
        "<link name='world'/>" +
        urdf_link(
            "b",
            "<inertial><origin xyz='0 1 0'/><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>") +
        urdf_joint("swing", "continuous", "world", "b", "<origin xyz='0 1 0'/><axis xyz='1 0 0'/>");
    const std::string finger =
        urdf_link("finger", "") + urdf_joint("grip", "revolute", "b", "finger", limits);
    const Json model =
        repaired_urdf(urdf_robot(arm + finger), "joint \"grip\" moves only links without mass and is locked");
    CHECK(model["bodies"][1]["joint"]["type"] == "fixed");
    CHECK(model.value("actuators", Json::array()).empty());
    const auto run = [](const std::string& text) {
        const ScratchFolder folder("repairs");
        return end_of(load_scene(folder.write("robot.urdf", text).string(), 200));
    };
    const VecX<double> with = run(urdf_robot(arm + finger)), without = run(urdf_robot(arm));
    CHECK(with == without);
    CHECK(without.norm() > 0.1);

    const MjcfText m = repaired_mjcf(
        "<worldbody><body name='b'><joint name='j'/><site name='s'/></body>"
        "<body><freejoint/><geom size='.1'/></body></worldbody>"
        "<actuator><motor joint='j'/></actuator><keyframe><key qpos='1 0 0 0 1 0 0 0'/></keyframe>",
        "body \"b\" moves, but neither it nor any body it carries has mass; its joints are locked");
    CHECK(m.body(0)["joint"]["locked"] == true);
    CHECK(m.scene().world.nv() == 6);
}

TEST_CASE("repairs: limits of URDF joints, as Bullet reads them") {
    const Json loose = repaired_urdf(joint_of("revolute", "<limit lower='1' upper='-1' effort='2'/>"),
                                     "lower end above the upper end, so the joint moves without limits");
    CHECK_FALSE(loose["bodies"][1]["joint"].contains("limits"));
    CHECK(loose["actuators"].size() == 1);
    // A range of one number holds the joint there
    const Json held = repaired_urdf(
        joint_of("prismatic",
                 "<origin xyz='1 0 0'/><axis xyz='0 1 0'/><limit lower='2' upper='2' effort='2'/>"),
        "has an empty range, so the joint is locked", true);
    CHECK(held["bodies"][1]["joint"]["type"] == "fixed");
    CHECK(json_equals(held["bodies"][1]["joint"]["position"], {1, 2, 0}));
    CHECK_FALSE(held.contains("actuators"));
    const double half = std::acos(-1.0) / 4;
    const Json turned =
        repaired_urdf(joint_of("revolute", "<axis xyz='0 0 2'/><limit lower='" + std::to_string(2 * half) +
                                               "' upper='" + std::to_string(2 * half) + "'/>"),
                      "has an empty range", true);
    CHECK(std::abs(turned["bodies"][1]["joint"]["quaternion"][3].get<double>() - std::sin(half)) < 1e-6);
    // What mimics a held joint is held at the place that follows from it
    const std::string follower =
        urdf_link("c") + urdf_joint("k", "prismatic", "a", "c",
                                    "<axis xyz='0 0 1'/><mimic joint='j' multiplier='3' "
                                    "offset='0.5'/>");
    const std::string leader = urdf_joint("j", "prismatic", "a", "b", "<limit lower='2' upper='2'/>");
    const ImportedModel both = import_text(urdf_robot(first_link + second_link + leader + follower));
    CHECK(both.warnings.size() == 2);
    CHECK(json_equals(both.model["bodies"][2]["joint"]["position"], {0, 0, 6.5}));
}

TEST_CASE("repairs: spherical joints of Bullet, repeated elements, mimics of unknown joints") {
    const Json ball = repaired_urdf(joint_of("spherical", "<limit lower='0.2' upper='.8'/>"),
                                    "<limit> of a spherical joint is not supported");
    CHECK(ball["bodies"][1]["joint"]["type"] == "spherical");
    const Json two = repaired_urdf(joint_of("continuous", "<axis xyz='0 1 0'/>\n<axis xyz='0 0 1'/>"),
                                   "<axis> is given a second time; the first one counts");
    CHECK(json_equals(two["bodies"][1]["joint"]["axis"], {0, 1, 0}));
    const Json alone = repaired_urdf(joint_of("continuous", "<mimic joint='i'/>"),
                                     "joint \"j\" mimics \"i\", which is not a joint");
    CHECK_FALSE(alone.contains("equalities"));
}

TEST_CASE("repairs: a link without a joint is fixed to the world if the file has one") {
    const std::string box = "<collision><geometry><box size='9 9 1'/></geometry></collision>",
                      ground = urdf_link("ground", box),
                      robot = urdf_link("world", "") + urdf_link("a", urdf_inertial() + box) +
                              urdf_joint("j", "floating", "world", "a", "");
    for (const std::string& text : {ground + robot, robot + ground}) {
        const Json model =
            repaired_urdf(urdf_robot(text), "a link without a joint is fixed to the world: \"ground\"", true);
        const auto& bodies = model["bodies"];
        REQUIRE(bodies.size() == 2);
        const size_t at = bodies[0]["name"] == "ground" ? 0 : 1;
        CHECK(bodies[at]["joint"]["type"] == "fixed");
        CHECK_FALSE(bodies[at].contains("parent"));
        CHECK(bodies[1 - at]["joint"]["type"] == "free");
        CHECK_FALSE(model.contains("exclude"));
    }
}

TEST_CASE("repairs: numbers with commas, full stops or a fourth one; empty attributes; odd bytes") {
    const auto at = [](const Json& model) { return model["bodies"][1]["joint"]["position"]; };
    CHECK(json_equals(at(repaired_urdf(joint_of("continuous", "<origin xyz='0.07, 0, -0.69'/>"),
                                       "commas between numbers are read as spaces", true)),
                      {0.07, 0, -0.69}));
    CHECK(json_equals(at(repaired_urdf(joint_of("continuous", "<origin xyz='1 -2. 3.5.'/>"),
                                       "the full stop after a number is ignored", true)),
                      {1, -2, 3.5}));
    CHECK(json_equals(at(repaired_urdf(joint_of("continuous", "<origin xyz='1 2 3 4'/>"),
                                       "only the first three numbers are read")),
                      {1, 2, 3}));
    for (const std::string size : {".1,.2,.3", "1, 2, 3"})
        repaired_mjcf(one_body("<geom type='box' mass='1' size='" + size + "'/>"),
                      "commas between numbers are read as spaces", true);
    // A decimal comma is not a separator
    CHECK(complaint([] {
              mjcf(one_body("<geom type='box' mass='1' size='1,2,3'/>"));
          }).find("is not a list of numbers") != std::string::npos);
    refuse_urdf(joint_of("continuous", "<origin xyz='1,5 0 0'/>"), 4, "has too many numbers", "write 3");
    refuse_urdf(joint_of("continuous", "<dynamics damping='0,5'/>"), 4, "is not a list of numbers", "write");
    repaired_urdf(joint_of("continuous", "<dynamics damping=' '/>"), "", true);
    repaired_mjcf(one_body("<geom size='.1' mass='1' rgba=''/>"), "");
    repaired_urdf(urdf_robot(first_link) + '\0' + "\n", "");
    repaired_urdf(
        "<!-- Gr\xfc\xdf"
        "e -->\n" +
            urdf_robot(first_link),
        "is not UTF-8 and is read as Latin-1", true);
    repaired_urdf("<!-- a\x01 -->\n" + urdf_robot(first_link), "a control character is read as a space",
                  true);
}

TEST_CASE("repairs: what cannot change the motion is passed over, what can is said") {
    const std::string extras =
        "<transmission><actuator name='m'/></transmission><gazebo reference='a'><sensor name='s'/>"
        "<material>Gazebo/Blue</material></gazebo>";
    const std::string link = urdf_link(
        "a", urdf_inertial() +
                 "<collision><geometry><sphere radius='1'/></geometry><material name='m'/></collision>"
                 "<visual><geometry><teapot/></geometry></visual>");
    repaired_urdf(urdf_robot(link + extras), "<teapot> is not a known geometry", true);
    repaired_urdf(joint_of("continuous", "<safety_controller k_velocity='1'/>"), "");
    repaired_urdf(joint_of("revolute",
                           "<limit lower='-1' upper='1' effort='1' velocity='1' "
                           "drake:acceleration='2' drake:jerk='9'/>"),
                  "");
    repaired_urdf(
        urdf_robot(urdf_link("a", urdf_inertial() +
                                      "<self_collision_checking><geometry/></self_collision_checking>") +
                   "<frame name='grip' link='a' xyz='0 0 1' rpy='0 0 0'/>"),
        "");
    repaired_urdf(
        urdf_robot(first_link + "<gazebo reference='a'><dampingFactor>0.3</dampingFactor></gazebo>"),
        "<dampingFactor> in <gazebo> is not supported");
    repaired_mjcf("<sensor><gyro site='s'/></sensor>" + one_body("<site name='s'/>"), "");
    repaired_mjcf("<compiler><lengthrange inttotal='9' accel='3'/></compiler>" + one_body(""), "");
    repaired_mjcf("<compiler><lengthrange useexisting='false'/></compiler>" + one_body(""),
                  "\"useexisting\" of <lengthrange> is not supported");
}

TEST_CASE("repairs: files in which nothing moves load, and can stand in a scene") {
    const std::string table =
        urdf_robot(urdf_link("t", "<collision><geometry><box size='1 1 0.2'/></geometry></collision>"));
    const ScratchFolder folder("repairs");
    const Scene alone = load_scene(folder.write("table.urdf", table).string(), 10);
    CHECK(alone.world.nv() == 0);
    REQUIRE(alone.warnings.size() == 1);
    CHECK(alone.warnings[0].find("no body can move, so a simulation changes nothing") != std::string::npos);
    CHECK(end_of(alone).size() == 0);
    folder.write("scene.json", R"({"steps": 400, "models": [{"name": "table", "file": "table.urdf"},
        {"name": "ball", "position": [0, 0, 0.35], "model": {"bodies": [{"name": "ball", "joint": {"type": "free"},
         "mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0], "shapes": [{"type": "sphere", "radius": 0.2}]}]}}]})");
    const VecX<double> end = end_of(load_scene(folder.path("scene.json").string()));
    CHECK(std::abs(end[2] - 0.3) < 1e-3);  // the ball lies on the table

    for (const char* text : {"<mujoco/>", "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>",
                             "<mujocoinclude><asset/></mujocoinclude>"}) {
        const Scene scene = load_scene(folder.write("floor.xml", text).string(), 3);
        CHECK(scene.world.nv() == 0);
        CHECK(end_of(scene).size() == 0);
    }
    const Scene of_bodies = load_scene(
        folder.write("part.xml", "<mujocoinclude>\n<body><geom size='1'/></body></mujocoinclude>").string(),
        3);
    REQUIRE(!of_bodies.warnings.empty());
    CHECK(of_bodies.warnings[0].find("part.xml:2: <body> outside of <worldbody> is ignored; name a file") !=
          std::string::npos);
    const Scene part = load_scene(
        folder.write("part.xml", "<mujocoinclude>" + one_body("") + "</mujocoinclude>").string(), 3);
    CHECK(part.world.nv() == 1);
}

TEST_CASE("repairs: MJCF with global coordinates is the same model") {
    const MjcfText local = mjcf(
        "<worldbody><body name='a' pos='1 0 1'><joint name='j' axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 1 0 1' size='.1'/><body name='b' pos='1 0 1'>"
        "<joint name='k' pos='0 0 .5' axis='1 0 0'/><geom size='.2' pos='0 1 0'/></body></body></worldbody>");
    const MjcfText global = mjcf(
        "<compiler coordinate='global'/><worldbody><body name='a' pos='1 0 1'><joint name='j' axis='0 1 0'/>"
        "<geom type='capsule' fromto='1 0 1 2 0 2' size='.1'/><body name='b' pos='2 0 2'>"
        "<joint name='k' pos='2 0 2.5' axis='1 0 0'/><geom size='.2' pos='2 1 "
        "2'/></body></body></worldbody>");
    CHECK(global.warnings.empty());
    CHECK((end_of(local.scene()) - end_of(global.scene())).norm() < 1e-12);
    CHECK(global.body(1) == local.body(1));
    // A body without a position has the frame of its parent; its contents are where the file says.
    const MjcfText unplaced = mjcf(
        "<compiler coordinate='global'/><worldbody><body name='a' pos='1 0 1'><joint name='j' axis='0 1 0'/>"
        "<geom type='capsule' fromto='1 0 1 2 0 2' size='.1'/><body name='b'>"
        "<joint name='k' pos='2 0 2.5' axis='1 0 0'/><geom size='.2' pos='2 1 "
        "2'/></body></body></worldbody>");
    CHECK((end_of(local.scene()) - end_of(unplaced.scene())).norm() < 1e-9);
}

TEST_CASE("repairs: MJCF joints of type fixed, zero quaternions of keyframes, meshes without data") {
    CHECK_FALSE(repaired_mjcf(
                    "<worldbody><body name='b'><joint type='fixed'/><geom size='.1'/></body></worldbody>", "")
                    .body(0)
                    .contains("joint"));
    const MjcfText m = repaired_mjcf(
        "<worldbody><body name='b'><freejoint name='f'/><geom size='.1'/></body></worldbody>"
        "<keyframe><key name='k' qpos='1 2 3 0 0 0 0'/></keyframe>",
        "a quaternion of a keyframe is zero and is read as the identity");
    CHECK(json_equals(m.imported.model["keyframes"][0]["joints"]["f"]["quaternion"], {1, 0, 0, 0}));
    const MjcfText none = repaired_mjcf(
        "<asset><mesh name='m' builtin='supertorus' params='9 .2 1 1'/></asset><worldbody><body><freejoint/>"
        "<geom type='mesh' mesh='m'/><geom size='.1'/></body></worldbody>",
        "<mesh> with \"builtin\" is not supported; its geoms have no shape and no mass");
    CHECK(none.body(0)["shapes"].size() == 1);
}

TEST_CASE("repairs: references to parts that are left out go with them") {
    const std::string inside =
        "<worldbody><body name='b'><joint name='j'/><geom size='.1'/></body>%</worldbody>"
        "<equality><connect body1='b' body2='cord_9' anchor='0 0 0'/></equality>"
        "<contact><exclude body1='b' body2='cord_1'/></contact>"
        "<actuator><motor joint='cord_joint'/></actuator>"
        "<keyframe><key qpos='1 2 3'/></keyframe>";
    const auto with = [&](const std::string& part) {
        return inside.substr(0, inside.find('%')) + part + inside.substr(inside.find('%') + 1);
    };
    const MjcfText m = mjcf(with("<body><composite prefix='cord_'/></body>"));
    CHECK(m.warnings.size() == 4);  // composite, connect, motor, key
    CHECK_FALSE(m.imported.model.contains("equalities"));
    const std::string whole = complaint([&] { mjcf(with("")); });
    CAPTURE(whole);
    CHECK(whole.find("is not a") != std::string::npos);
}

TEST_CASE("repairs: keyframes of a part of another file") {
    const MjcfText m = repaired_mjcf(
        "<worldbody><geom size='.1'/></worldbody><keyframe><key qpos='1 2 3'/></keyframe>",
        "is of joints that are not in this file, and is ignored; load the file that includes this one");
    CHECK_FALSE(m.imported.model.contains("keyframes"));
}

TEST_CASE("repairs: <replicate> repeats its contents, each turned and moved from the one before") {
    const MjcfText m = repaired_mjcf(
        "<worldbody><replicate count='2' offset='0 1 0' euler='90 0 0'><replicate count='2' sep='-' "
        "offset='1 0 0' "
        "euler='0 90 0'><body name='Alice'><freejoint/><geom "
        "size='.1'/></body></replicate></replicate></worldbody>",
        "");
    // names and poses of the example in MuJoCo's reference
    const double h = std::sqrt(0.5);
    const std::vector<std::pair<std::string, std::vector<double>>> wanted{
        {"Alice-00", {0, 0, 0, 1, 0, 0, 0}},
        {"Alice-10", {1, 0, 0, h, 0, h, 0}},
        {"Alice-01", {0, 1, 0, h, h, 0, 0}},
        {"Alice-11", {1, 1, 0, .5, .5, .5, .5}}};
    const Scene scene = m.scene();
    REQUIRE(m.imported.model["bodies"].size() == 4);
    for (const auto& [name, pose] : wanted) {
        CAPTURE(name);
        const int body = scene.world.model.body_index("m/" + name);
        REQUIRE(body >= 0);
        const VecX<double> q = scene.x0.segment<7>(scene.world.model.bodies[body].q0);
        CHECK((q - Eigen::Map<const VecX<double>>(pose.data(), 7)).norm() < 1e-12);
    }
}

TEST_CASE("repairs: repetition k of <replicate> is turned by k times each of its angles") {
    const Scene scene =
        repaired_mjcf(
            "<worldbody><replicate count='3' offset='.3 0 .1' euler='20 30 40'><body name='b'><freejoint/>"
            "<geom size='.1'/></body></replicate></worldbody>",
            "")
            .scene();
    // in MuJoCo 3.12.1
    const double third[] = {0.549024184451, 0.190887413328, 0.139356714694, 0.513482036424,
                            0.528912320415, 0.169530665468, 0.654100381478};
    const int body = scene.world.model.body_index("m/b2");
    REQUIRE(body >= 0);
    const VecX<double> q = scene.x0.segment<7>(scene.world.model.bodies[body].q0);
    CHECK((q - Eigen::Map<const VecX<double>>(third, 7)).norm() < 1e-11);
}

TEST_CASE("repairs: a fixed body of MJCF may have the name of a joint of another") {
    const Scene scene =
        mjcf(
            "<worldbody><body name='door'><geom size='.1'/><body name='leaf'><joint name='door'/>"
            "<geom size='.1'/></body></body></worldbody>")
            .scene();
    CHECK(scene.world.nv() == 1);
    CHECK(scene.world.model.joint_index("m/door") == scene.world.model.body_index("m/leaf"));
}

TEST_CASE("a scene takes the walls of an MJCF file, and says that floor, time step and gravity stay behind") {
    const ScratchFolder folder("repairs");
    folder.write("room.xml",
                 "<mujoco><option timestep='0.004' gravity='0 0 -1'/><worldbody><geom name='floor' "
                 "type='plane' size='1 1 1'/>"
                 "<geom name='shelf' type='box' size='1 1 .1' pos='0 0 1'/><body name='ball' pos='0 0 "
                 "1.2'><freejoint/>"
                 "<geom size='.1' mass='1'/></body></worldbody></mujoco>");
    const auto load = [&](const std::string& more) {
        return load_scene(
            folder
                .write("scene.json", "{" + more + R"("$schema": "scene.schema.json", "steps": 1500,
            "models": [{"name": "room", "file": "room.xml", "position": [3, 0, 0.5]} // in the next room
        ]})")
                .string());
    };
    const Scene scene = load("");
    REQUIRE(scene.warnings.size() == 1);
    CHECK(scene.warnings[0].find(
              "room.xml: the scene does not take over the file's floor, time step 0.004 and gravity "
              "[0.0,0.0,-1.0]; to have them, write \"ground\": true, \"time_step\": 0.004 and \"gravity\": "
              "[0.0,0.0,-1.0] into the scene") != std::string::npos);
    const VecX<double> end = end_of(scene);  // the ball lies on the shelf, which came with the instance
    CHECK((end.head<3>() - Vec3<double>(3, 0, 1.7)).norm() < 1e-3);
    CHECK(load("\"ground\": true, \"time_step\": 0.004, \"gravity\": [0, 0, -1], ").warnings.empty());
    const Scene floorless = load("\"time_step\": 0.004, \"gravity\": [0, 0, -1], ");
    REQUIRE(floorless.warnings.size() == 1);
    CHECK(floorless.warnings[0].find("the file's floor; to have it, write \"ground\": true into the scene") !=
          std::string::npos);
}

TEST_CASE("an arm that floats because its root has mass is noted, a walking robot is not") {
    std::string chain = first_link;
    for (const char* name : {"b", "c", "d"}) {
        const std::string parent(1, static_cast<char>(name[0] - 1));
        chain += urdf_link(name) + urdf_joint(std::string("j") + name, "continuous", parent, name);
    }
    repaired_urdf(urdf_robot(chain), "the root \"a\" floats, because it has mass; --base fixed mounts it",
                  true);
    repaired_urdf(urdf_robot(chain + urdf_link("leg") + urdf_joint("hip", "continuous", "a", "leg")), "");
}

}  // namespace
}  // namespace costate::test
