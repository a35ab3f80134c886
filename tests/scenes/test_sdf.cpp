// Small models in SDFormat: the same mechanism as in URDF, frames, joints of all types and directions, loops,
// worlds.
#include <doctest/doctest.h>

#include "tests/support/sdf_text.hpp"

namespace costate::test {
namespace {

// A shape of a leg on a box that floats, once in each format.
const char* const leg_urdf = R"(<robot name="m">
  <link name="base"><inertial><origin xyz="0.01 0 0"/><mass value="3"/>
      <inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.4 0.3 0.2"/></geometry></collision></link>
  <link name="thigh"><inertial><origin xyz="0 0 -0.125" rpy="0.3 0 0"/><mass value="2"/>
      <inertia ixx="0.03" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="shank"><inertial><mass value="1"/>
      <inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.25"/><geometry><sphere radius="0.0625"/></geometry></collision></link>
  <joint name="hip" type="revolute"><origin xyz="0.125 0 -0.125"/><parent link="base"/><child link="thigh"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="20" velocity="9"/>
    <dynamics damping="0.25" friction="0.125"/></joint>
  <joint name="knee" type="prismatic"><origin xyz="0 0 -0.25"/><parent link="thigh"/><child link="shank"/>
    <axis xyz="0 0 1"/><limit lower="-0.125" upper="0.125" effort="0" velocity="9"/></joint>
</robot>)";
const char* const leg_sdf = R"(<sdf version="1.9"><model name="m">
  <link name="base"><inertial><pose>0.01 0 0 0 0 0</pose><mass>3</mass>
      <inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz><ixy>0.01</ixy></inertia></inertial>
    <collision name="c"><geometry><box><size>0.4 0.3 0.2</size></box></geometry></collision></link>
  <link name="thigh"><pose relative_to="hip"/><inertial><pose>0 0 -0.125 0.3 0 0</pose><mass>2</mass>
      <inertia><ixx>0.03</ixx><iyy>0.03</iyy><izz>0.01</izz></inertia></inertial></link>
  <link name="shank"><pose relative_to="thigh">0 0 -0.25 0 0 0</pose><inertial><mass>1</mass>
      <inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz></inertia></inertial>
    <collision name="c"><pose>0 0 -0.25 0 0 0</pose>
      <geometry><sphere><radius>0.0625</radius></sphere></geometry></collision></link>
  <joint name="hip" type="revolute"><pose relative_to="base">0.125 0 -0.125 0 0 0</pose>
    <parent>base</parent><child>thigh</child>
    <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper><effort>20</effort></limit>
      <dynamics><damping>0.25</damping><friction>0.125</friction></dynamics></axis></joint>
  <joint name="knee" type="prismatic"><parent>thigh</parent><child>shank</child>
    <axis><xyz>0 0 1</xyz><limit><lower>-0.125</lower><upper>0.125</upper></limit></axis></joint>
</model></sdf>)";

TEST_CASE("SDFormat: a mechanism has the model and the motion of its URDF") {
    const ImportedModel sdf = import_sdf_text(leg_sdf), urdf = parse_model(leg_urdf, "m.urdf", {}, "robot");
    CHECK(sdf.warnings.empty());
    CHECK(sdf.model["actuators"] == urdf.model["actuators"]);
    REQUIRE(sdf.model["bodies"].size() == 3);
    for (size_t k = 1; k < 3; ++k)
        for (const char* key : {"name", "parent", "joint", "mass", "shapes"})
            CHECK(sdf.model["bodies"][k].value(key, Json()) == urdf.model["bodies"][k].value(key, Json()));
    const Scene a = sdf_scene(leg_sdf), b = parse_scene(leg_urdf, TextFormat::urdf, "m.urdf");
    CHECK((a.theta - b.theta).cwiseAbs().maxCoeff() < 1e-15);
    CHECK(a.x0 == b.x0);
    for (const int steps : {1, 100, 400})  // falls for 140 steps
        CHECK((state_after(a, steps) - state_after(b, steps)).cwiseAbs().maxCoeff() < 1e-11);
}

TEST_CASE("SDFormat frames: poses, axes and joints refer to frames, joints and models") {
    const Scene scene = sdf_scene(sdf_file(sdf_model(
        sdf_pose("0 0 5 0 0 0") + sdf_link("a", sdf_pose("1 0 0 0 0 1.5707963267948966")) +
        "<frame name='f' attached_to='a'>" + sdf_pose("1 0 0 0 0 0") + "</frame>" +
        sdf_link("b", sdf_pose("0 0 1 0 0 0", "f")) +
        sdf_joint("j", "revolute", "f", "b",
                  sdf_pose("0 0.5 0 0 0 0") + "<axis><xyz expressed_in='__model__'>2 0 0</xyz></axis>"))));
    const Transform<double> a = pose_of(scene, scene.x0, "m/a"), b = pose_of(scene, scene.x0, "m/b");
    CHECK((b.p - a.p - Vec3<double>(0, 1, 1)).norm() < 1e-12);  // x of f is y of the model
    CHECK((b.R - a.R).norm() < 1e-12);
    // about an axis along x of the model, through 0.5 m along y of b, which points to -x of the model
    VecX<double> turned = scene.x0;
    turned[7] = 1.25;
    const Transform<double> after = pose_of(scene, turned, "m/b");
    const Vec3<double> anchor(-0.5, 0, 0);
    const Mat3<double> R = rotation_matrix(quaternion_exp<double>({1.25, 0, 0}));
    CHECK((after.p - (b.p + anchor - R * anchor)).norm() < 1e-12);
    CHECK((after.R - R * b.R).norm() < 1e-12);
}

TEST_CASE("SDFormat joints: types, limits, dynamics, motors") {
    const auto joint_of = [](const std::string& type, const std::string& content) {
        const ImportedModel m = import_sdf_text(
            sdf_file(sdf_model(sdf_link("a") + sdf_link("b") + sdf_joint("j", type, "a", "b", content))));
        const Json& body = m.model["bodies"][1];
        return body.contains("joints") ? body["joints"] : Json::array({body["joint"]});
    };
    const auto limit = [](const std::string& content) { return "<limit>" + content + "</limit>"; };
    CHECK(joint_of("fixed", "")[0] == Json{{"name", "j"}, {"type", "fixed"}});
    CHECK(joint_of("ball", "")[0]["type"] == "spherical");
    CHECK(joint_of("continuous", sdf_axis("0 0 1", limit("<lower>-1</lower><upper>1</upper>")))[0].contains(
              "limits") == false);
    const Json one_sided =
        joint_of("prismatic", sdf_axis("0 0 1", limit("<lower>-0.5</lower>")))[0]["limits"];
    CHECK(one_sided == Json::array({-0.5, 1e6}));
    const Json spring = joint_of(
        "revolute", sdf_axis("0 3 0",
                             "<dynamics><damping>1</damping><friction>2</friction><spring_stiffness>3"
                             "</spring_stiffness><spring_reference>0.5</spring_reference></dynamics>" +
                                 limit("<lower>-2</lower><upper>2</upper><stiffness>1000</stiffness>"
                                       "<dissipation>7</dissipation>")))[0];
    CHECK(spring["axis"] == Json::array({0.0, 1.0, 0.0}));
    CHECK((spring["damping"] == 1.0 && spring["dry_friction"] == 2.0 && spring["stiffness"] == 3.0 &&
           spring["rest"] == 0.5 && spring["limit_stiffness"] == 1000.0 && spring["limit_damping"] == 7.0));
    // left-handed, 4 rad/m
    CHECK(joint_of("screw", sdf_axis() + "<thread_pitch>4</thread_pitch>")[0]["pitch"] == -0.25);
    const Json two =
        joint_of("universal", sdf_pose("0 0 0.5 0 0 0") + sdf_axis("1 0 0") +
                                  "<axis2><xyz>0 1 0</xyz><dynamics><damping>4</damping></dynamics></axis2>");
    REQUIRE(two.size() == 3);
    CHECK((two[0]["name"] == "j.1" && two[0]["position"] == Json::array({0.0, 0.0, 0.5})));
    CHECK((two[1]["name"] == "j.2" && two[1]["damping"] == 4.0 && two[2]["type"] == "fixed"));
    // a range of one number: locked there
    const Json locked =
        joint_of("prismatic", sdf_axis("1 0 0", limit("<lower>0.25</lower><upper>0.25</upper>")));
    CHECK((locked[0]["type"] == "fixed" && locked[0]["position"] == Json::array({0.25, 0.0, 0.0})));
    CHECK(complaint([&] { joint_of("universal", sdf_axis()); }).find("has no <axis2>; add it") !=
          std::string::npos);
    CHECK(complaint([&] { joint_of("revolute", sdf_axis("0 0 0")); }).find("m.sdf:5: ") == 0);
}

TEST_CASE("SDFormat: a joint against the direction of the tree turns the same way") {
    const std::string links =
        sdf_link("a") + sdf_link("b", sdf_pose("0 0 1 0 0 0.5")) + sdf_link("c", sdf_pose("0 1 1 0.5 0 0"));
    const std::string first = sdf_joint("ab", "revolute", "a", "b", sdf_axis("1 0 0"));
    // c carries b, which a carries, too: no loop
    const Scene reversed = sdf_scene(sdf_file(
        sdf_model(links + first +
                  sdf_joint("cb", "universal", "c", "b",
                            sdf_pose("0.25 0 0 0 0 0", "b") + sdf_axis("0 1 0") +
                                "<axis2><xyz>0 0 1</xyz><dynamics><spring_stiffness>5</spring_stiffness>"
                                "<spring_reference>1</spring_reference></dynamics></axis2>"))));
    const Scene forward = sdf_scene(sdf_file(
        sdf_model(links + first +
                  sdf_joint("cb", "universal", "b", "c",
                            sdf_pose("0.25 0 0 0 0 0", "b") +
                                "<axis><xyz>0 0 -1</xyz><dynamics><spring_stiffness>5</spring_stiffness>"
                                "<spring_reference>1</spring_reference></dynamics></axis>"
                                "<axis2><xyz>0 -1 0</xyz></axis2>"))));
    REQUIRE(reversed.world.model.bodies.size() == forward.world.model.bodies.size());
    CHECK((state_after(reversed, 300) - state_after(forward, 300)).cwiseAbs().maxCoeff() < 1e-11);
    CHECK(reversed.world.model.joint_index("m/cb.2") == forward.world.model.joint_index("m/cb.1"));
}

TEST_CASE("SDFormat: a joint that closes a loop becomes equalities that hold") {
    // a parallelogram of bars of 1 m; the coupler hangs on two cranks, of which one closes the loop
    const std::string cranks = sdf_link("left", sdf_pose("0 0 -0.5 0 0 0")) +
                               sdf_link("right", sdf_pose("1 0 -0.5 0 0 0")) +
                               sdf_link("coupler", sdf_pose("0.5 0 -1 0 0 0"));
    const std::string hinges =
        sdf_joint("l", "revolute", "world", "left", sdf_pose("0 0 0.5 0 0 0") + sdf_axis("0 1 0")) +
        sdf_joint("r", "revolute", "world", "right", sdf_pose("0 0 0.5 0 0 0") + sdf_axis("0 1 0")) +
        sdf_joint("lc", "revolute", "left", "coupler", sdf_pose("-0.5 0 0 0 0 0") + sdf_axis("0 1 0"));
    for (const char* type : {"revolute", "ball"}) {
        const Scene scene = sdf_scene(sdf_file(sdf_model(
            cranks + hinges +
            sdf_joint("rc", type, "right", "coupler", sdf_pose("0.5 0 0 0 0 0") + sdf_axis("0 1 0")))));
        REQUIRE(scene.world.model.equalities.size() == (type == std::string("ball") ? 1 : 2));
        VecX<double> x0 = scene.x0;
        Scene pushed = scene;
        pushed.x0[scene.world.model.nq] = pushed.x0[scene.world.model.nq + 1] = 1.5;
        for (int k = 0; k < scene.world.nv(); ++k)
            if (k != scene.world.model.bodies[scene.world.model.joint_index("m/lc")].v0)
                pushed.x0[scene.world.model.nq + k] = 1.5;
        pushed.x0[scene.world.model.nq + scene.world.model.bodies[scene.world.model.joint_index("m/lc")].v0] =
            -1.5;
        const VecX<double> x = state_after(pushed, 300);
        const Transform<double> coupler = pose_of(scene, x, "m/coupler"),
                                right = pose_of(scene, x, "m/right");
        const Vec3<double> end = transform_point(coupler, Vec3<double>(0.5, 0, 0)),
                           tip = transform_point(right, Vec3<double>(0, 0, -0.5));
        CHECK((end - tip).norm() < 1e-3);
        CHECK((x - x0).cwiseAbs().maxCoeff() > 0.1);                  // it moved
        CHECK((coupler.R - Mat3<double>::Identity()).norm() < 1e-2);  // a parallelogram
    }
    // joints that an equality cannot replace are closed by another one of their loop
    const ImportedModel slider = import_sdf_text(sdf_file(
        sdf_model(cranks + hinges + sdf_joint("rc", "prismatic", "right", "coupler", sdf_axis("1 0 0")))));
    REQUIRE(slider.model["equalities"].size() == 2);
    CHECK(slider.model["equalities"][0]["name"] == "lc.1");
    const ImportedModel two = import_sdf_text(
        sdf_file(sdf_model(sdf_link("a") + sdf_link("b") + sdf_joint("j", "prismatic", "a", "b") +
                           sdf_joint("k", "prismatic", "a", "b"))));
    REQUIRE(two.warnings.size() == 1);
    CHECK(two.warnings[0].find("joint \"k\" closes a loop and is left out") != std::string::npos);
}

TEST_CASE("SDFormat mimic couples joints") {
    const ImportedModel m = import_sdf_text(
        "<sdf version='1.11'>" +
        sdf_model(sdf_link("a") + sdf_link("b") + sdf_link("c") + sdf_joint("j", "revolute", "a", "b") +
                  sdf_joint("k", "revolute", "a", "c",
                            sdf_axis("0 0 1",
                                     "<mimic joint='j'><multiplier>2</multiplier><offset>0.5</offset>"
                                     "<reference>0.25</reference></mimic>"))) +
        "</sdf>");
    REQUIRE(m.model["equalities"].size() == 1);
    const Json& e = m.model["equalities"][0];
    CHECK((e["joint_a"] == "k" && e["joint_b"] == "j" && e["ratio"] == 2.0 && e["offset"] == 0.0));
}

TEST_CASE("SDFormat bases: free, static, fixed to the world, and as asked for") {
    const auto joint_of = [](const std::string& content, Base base) {
        const ImportedModel m = import_sdf_text(sdf_file(sdf_model(sdf_link("a") + content)), {.base = base});
        return m.model["bodies"][0].value("joint", Json{{"type", "fixed"}})["type"];
    };
    CHECK(joint_of("", Base::automatic) == "free");
    CHECK(joint_of("", Base::fixed) == "fixed");
    CHECK(joint_of("<static>1</static>", Base::automatic) == "fixed");
    CHECK(joint_of("<static>1</static>", Base::floating) == "fixed");
    const std::string to_world = sdf_joint("j", "fixed", "world", "a", "");
    CHECK(joint_of(to_world, Base::automatic) == "fixed");
    CHECK(joint_of(to_world, Base::floating) == "free");
}

TEST_CASE("SDFormat masses: rotated frames, repairs, defaults") {
    const auto body = [](const std::string& content) {
        return import_sdf_text(sdf_file(sdf_model("<link name='a'>" + content + "</link>")));
    };
    const ImportedModel rotated = body(
        "<inertial><pose>1 2 3 1.5707963267948966 0 0</pose><mass>2</mass><inertia>"
        "<ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz></inertia></inertial>");
    const Json& inertia = rotated.model["bodies"][0]["inertia"];
    CHECK(rotated.model["bodies"][0]["com"] == Json::array({1.0, 2.0, 3.0}));
    CHECK(inertia[1].get<double>() == doctest::Approx(0.15));
    CHECK(inertia[2].get<double>() == doctest::Approx(0.2));
    const ImportedModel none = body("");
    CHECK((none.model["bodies"][0]["mass"] == 1.0 && none.model["bodies"][0]["inertia"][0] == 1.0));
    REQUIRE(none.warnings.size() == 1);
    CHECK(none.warnings[0].find("without <inertial> has the mass 1 kg") != std::string::npos);
    const std::string flat =
        "<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>9</izz></inertia></inertial>";
    CHECK(body(flat).warnings.size() == 1);
    CHECK_THROWS_AS(
        import_sdf_text(sdf_file(sdf_model("<link name='a'>" + flat + "</link>")), {.strict = true}),
        SceneError);
    CHECK(body(sdf_inertial() + "<gravity>0</gravity>").model["bodies"][0]["gravity_compensation"] == 1);
    CHECK_THROWS_AS(body(sdf_inertial("-1")), SceneError);
    CHECK_THROWS_AS(body(sdf_inertial("nan")), SceneError);
}

TEST_CASE("SDFormat collisions: geometry and surface") {
    const auto shape = [](const std::string& geometry, const std::string& more = "") {
        const ImportedModel m =
            import_sdf_text(sdf_file(sdf_model(sdf_link("a", sdf_collision(geometry, more)))));
        return m.model["bodies"][0]["shapes"][0];
    };
    CHECK(shape("<box><size>1 2 3</size></box>")["half_extents"] == Json::array({0.5, 1.0, 1.5}));
    const Json capsule = shape("<capsule><radius>1</radius><length>4</length></capsule>");
    CHECK((capsule["type"] == "capsule" && capsule["radius"] == 1.0 && capsule["half_length"] == 2.0));
    CHECK(shape("<cylinder><radius>1</radius><length>4</length></cylinder>")["type"] == "cylinder");
    CHECK(shape("<ellipsoid><radii>1 2 3</radii></ellipsoid>")["semi_axes"] == Json::array({1.0, 2.0, 3.0}));
    CHECK(shape("<plane><normal>0 0 1</normal></plane>")["type"] == "plane");
    const Json soft =
        shape(sdf_ball,
              "<pose>0 0 1 0 0 0</pose><surface><friction><ode><mu>0.5</mu><mu2>0.5</mu2></ode></friction>"
              "<contact><collide_bitmask>3</collide_bitmask><ode><kp>1e5</kp><kd>10</kd></ode></contact></"
              "surface>");
    CHECK((soft["friction"] == 0.5 && soft["stiffness"] == 1e5 && soft["damping"] == 10.0 &&
           soft["group"] == 3 && soft["mask"] == 3 && soft["position"] == Json::array({0.0, 0.0, 1.0}) &&
           soft["self_collision"] == false));
    const std::string bounce = "<surface><bounce><restitution_coefficient>0.5</restitution_coefficient>";
    CHECK(shape(sdf_ball, bounce + "<threshold>0.1</threshold></bounce></surface>")["restitution"] == 0.5);
    CHECK(shape(sdf_ball, bounce + "</bounce></surface>").contains("restitution") ==
          false);  // above 10^5 m/s only
    CHECK_THROWS_AS(shape("<sphere><radius>0</radius></sphere>"), SceneError);
    CHECK_THROWS_AS(shape("<box><size>1 -1 1</size></box>"), SceneError);
}

TEST_CASE("SDFormat links of one model collide if they say so") {
    const auto scene = [](const std::string& model, const std::string& link,
                          const ImportOptions& options = {}) {
        const std::string ball = sdf_collision(sdf_ball) + link;
        return sdf_scene(
            sdf_file(sdf_model(model + sdf_link("a", ball) + sdf_link("b", sdf_pose("0 0 1 0 0 0") + ball))),
            options);
    };
    const auto collide = [](const Scene& s) {
        return s.world.shapes.is_pair(s.world.shapes.index("m/a"), s.world.shapes.index("m/b"));
    };
    CHECK(!collide(scene("", "")));
    CHECK(collide(scene("<self_collide>1</self_collide>", "")));
    CHECK(!collide(scene("<self_collide>1</self_collide>", "<self_collide>0</self_collide>")));
    CHECK(collide(scene("", "", {.self_collision = true})));
    // a link and the one that carries it, moving or not
    const std::string hinge = sdf_joint("hinge", "revolute", "a", "b", sdf_axis());
    CHECK(!collide(scene("<self_collide>1</self_collide>" + hinge, "")));
    CHECK(!collide(
        scene("<self_collide>1</self_collide>" + hinge + sdf_joint("base", "fixed", "world", "a"), "")));
}

TEST_CASE("SDFormat worlds: gravity, time step, floor, several models") {
    const std::string world =
        "<world name='w'><gravity>0 0 -5</gravity><physics name='p' "
        "type='ode'><max_step_size>0.004</max_step_size>"
        "</physics>" +
        sdf_model("<static>1</static><link name='l'>" +
                      sdf_collision("<plane><normal>0 0 1</normal></plane>",
                                    "<surface><friction><ode><mu>100</mu></ode></friction></surface>") +
                      sdf_collision("<box><size>1 1 1</size></box>", sdf_pose("0 0 0.5 0 0 0"), "box") +
                      "</link>",
                  "floor") +
        sdf_model(sdf_pose("0 0 2 0 0 0") + sdf_link("a", sdf_collision(sdf_ball)), "one") +
        sdf_model(sdf_pose("0 0 3 0 0 0") + sdf_link("a", sdf_collision(sdf_ball)), "two") + "</world>";
    const Scene scene = sdf_scene(sdf_file(world));
    CHECK(scene.world.settings.time_step == 0.004);
    CHECK(scene.world.model.nv == 12);
    const ShapeSet& shapes = scene.world.shapes;
    REQUIRE(shapes.shapes.size() == 4);
    const int one = shapes.index("m/one::a"), two = shapes.index("m/two::a"),
              floor = shapes.index("floor::l.2");
    REQUIRE((one >= 0 && two >= 0 && floor >= 0));
    CHECK(shapes.is_pair(one, two));
    // 100 of the floor stands for a product with the coefficient of the other shape
    CHECK(scene.theta[shapes.friction.at(floor)] == 1);
    CHECK(scene.warnings.empty());
    // one rests on the box, two on one
    const VecX<double> x = state_after(scene, 500);
    CHECK(pose_of(scene, x, "m/one::a").p.z() == doctest::Approx(1.1).epsilon(0.01));
    CHECK(pose_of(scene, x, "m/two::a").p.z() == doctest::Approx(1.3).epsilon(0.01));
}

}  // namespace
}  // namespace costate::test
