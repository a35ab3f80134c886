// Small URDF robots: inertials, joints, mimics, bases and geometry against formulas.
#include <doctest/doctest.h>

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "core/dynamics/kinematics.hpp"
#include "tests/support/urdf_text.hpp"

namespace costate::test {
namespace {

Scene urdf_scene(const std::string& text, const ImportOptions& options = {}, int steps = 1) {
    const ScratchFolder folder("urdf");
    return load_scene(folder.write("robot.urdf", text).string(), steps, options);
}

MassProperties<double> properties(const Scene& scene, const std::string& body) {
    const int index = scene.world.model.body_index("r/" + body);
    REQUIRE(index >= 0);
    return mass_properties(scene.world.model, scene.theta.data(), index);
}

VecX<double> state_at_end(const Scene& scene) {
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    VecX<double> last;
    rollout.forward(scene.theta, scene.x0, scene.z0, [&](int, const double* x, const double*) {
        last = Eigen::Map<const VecX<double>>(x, scene.world.nx());
    });
    return last;
}

// Poses of all bodies at a configuration
std::vector<Transform<double>> poses(const Scene& scene, const VecX<double>& q) {
    const Model& m = scene.world.model;
    Kinematics<double> k(m);
    const VecX<double> v = VecX<double>::Zero(m.nv);
    kinematics(m, scene.theta.data(), q.data(), v.data(), k);
    std::vector<Transform<double>> out;
    for (size_t i = 0; i < m.bodies.size(); ++i)
        out.push_back({k.X[i].R, k.world_position(m, static_cast<int>(i))});
    return out;
}

TEST_CASE("URDF inertials: rotated frames and off-diagonal terms") {
    const auto load = [](const std::string& rpy) {
        const std::string inertial =
            "<inertial><origin xyz='0.1 0.2 0.3' rpy='" + rpy +
            "'/><mass value='2'/>"
            "<inertia ixx='0.5' iyy='0.6' izz='0.7' ixy='0.01' ixz='0.02' iyz='0.03'/></inertial>";
        return properties(urdf_scene(urdf_robot(urdf_link("a", inertial))), "a");
    };
    const double turn = std::acos(-1.0) / 2;
    std::string yaw = "0 0 ";
    yaw += std::to_string(turn);
    // By 90 degrees about z, the inertial's x is the link's y and its y the link's -x
    const MassProperties<double> quarter = load("0 0 1.5707963267948966");
    CHECK(quarter.m == 2);
    CHECK(quarter.c == Vec3<double>(0.1, 0.2, 0.3));
    Mat3<double> expected;
    expected << 0.6, -0.01, -0.03, -0.01, 0.5, 0.02, -0.03, 0.02, 0.7;
    CHECK((quarter.I - expected).norm() < 1e-15);
    // roll, pitch, yaw about the fixed axes x, y, z, in this order: R = Rz(yaw) Ry(pitch) Rx(roll)
    const double a = 0.3, b = -0.7, c = 1.1;
    Mat3<double> Rx, Ry, Rz, I;
    Rx << 1, 0, 0, 0, std::cos(a), -std::sin(a), 0, std::sin(a), std::cos(a);
    Ry << std::cos(b), 0, std::sin(b), 0, 1, 0, -std::sin(b), 0, std::cos(b);
    Rz << std::cos(c), -std::sin(c), 0, std::sin(c), std::cos(c), 0, 0, 0, 1;
    I << 0.5, 0.01, 0.02, 0.01, 0.6, 0.03, 0.02, 0.03, 0.7;
    const Mat3<double> R = Rz * Ry * Rx;
    CHECK((load("0.3 -0.7 1.1").I - R * I * R.transpose()).norm() < 1e-15);
    CHECK(load("0 0 0").I == I);
}

TEST_CASE("URDF joints: types, axes, limits, dynamics, motors, placement") {
    const Scene scene = urdf_scene(
        urdf_robot(urdf_link("world", "") + urdf_link("a") + urdf_link("b") + urdf_link("c") +
                   urdf_link("d") + urdf_link("e") +
                   urdf_joint("turn", "revolute", "world", "a",
                              "<origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/><axis xyz='0 3 4'/>"
                              "<limit lower='-1' upper='2' effort='7' velocity='9'/><dynamics damping='0.5' "
                              "friction='0.25'/>") +
                   urdf_joint("wheel", "continuous", "a", "b", "<limit effort='3' velocity='1'/>") +
                   urdf_joint("slide", "prismatic", "b", "c",
                              "<axis xyz='0 0 -2'/><limit lower='0' upper='0.5' effort='0' velocity='1'/>") +
                   urdf_joint("glue", "fixed", "c", "d", "<origin xyz='0 0 1'/>") +
                   urdf_joint("stuck", "revolute", "d", "e", "<limit lower='0' upper='0' effort='5'/>")));
    const Model& m = scene.world.model;
    CHECK(m.nv == 3);
    REQUIRE(m.bodies.size() == 5);  // the link named "world" is the world
    const auto body = [&](const char* joint) { return m.bodies[m.joint_index(std::string("r/") + joint)]; };
    CHECK(body("turn").axis == Vec3<double>(0, 0.6, 0.8));
    CHECK(body("wheel").axis == Vec3<double>(1, 0, 0));  // the default of URDF
    CHECK(body("slide").axis == Vec3<double>(0, 0, -1));
    CHECK(body("slide").joint == JointType::prismatic);
    CHECK((body("glue").joint == JointType::fixed && body("stuck").joint == JointType::fixed));
    REQUIRE(m.limits.size() == 2);
    const auto ends = [&](const ParameterInterval& range) {
        return std::pair(scene.theta[range.lower], scene.theta[range.upper]);
    };
    CHECK(
        (ends(m.limits[0].range) == std::pair(-1.0, 2.0) && ends(m.limits[1].range) == std::pair(0.0, 0.5)));
    CHECK(scene.theta[m.damping.at(0)] == 0.5);
    CHECK(scene.theta[m.dry_friction.at(0)] == 0.25);
    REQUIRE(m.nu == 2);  // no motor without effort, nor where nothing moves
    CHECK((m.actuators[0].name == "r/turn" && m.actuators[1].name == "r/wheel"));
    CHECK((ends(m.actuators[0].control) == std::pair(-7.0, 7.0) && ends(m.actuators[1].control).second == 3));

    // At 0.5 rad and 0.25 m: q about (0, 0.6, 0.8) in the joint frame, which is turned by 90 degrees about z
    VecX<double> q(3);
    q << 0.5, 0, 0.25;
    const auto X = poses(scene, q);
    const Mat3<double> R = Eigen::Quaterniond(Eigen::AngleAxisd(std::acos(0.0), Vec3<double>::UnitZ()) *
                                              Eigen::AngleAxisd(0.5, Vec3<double>(0, 0.6, 0.8)))
                               .toRotationMatrix();
    CHECK((X[0].p - Vec3<double>(1, 2, 3)).norm() == 0);
    CHECK((X[0].R - R).norm() < 1e-15);
    CHECK((X[3].p - (X[0].p + R * Vec3<double>(0, 0, 0.75))).norm() < 1e-15);  // slid by -0.25, glued 1 above
}

TEST_CASE("URDF joints: planar and floating") {
    const std::string two = urdf_link("world", "") + urdf_link("a");
    const Scene plane =
        urdf_scene(urdf_robot(two + urdf_joint("p", "planar", "world", "a", "<axis xyz='0 0 1'/>")));
    CHECK(plane.world.nv() == 3);
    VecX<double> q(3);
    q << 0.3, -0.2, 0.7;
    const Transform<double> X = poses(plane, q).back();
    CHECK((X.p - Vec3<double>(0.3, -0.2, 0)).norm() < 1e-15);
    CHECK((X.R - Eigen::AngleAxisd(0.7, Vec3<double>::UnitZ()).toRotationMatrix()).norm() < 1e-15);

    // free where all before it is fixed, at the pose that this leads to
    const Scene free = urdf_scene(urdf_robot(two + urdf_link("b") +
                                             urdf_joint("j", "fixed", "world", "a", "<origin xyz='1 0 0'/>") +
                                             urdf_joint("f", "floating", "a", "b", "<origin xyz='0 2 5'/>")));
    CHECK(free.world.nv() == 6);
    CHECK(free.world.model.bodies[1].joint == JointType::free);
    CHECK(free.x0.head<3>() == Vec3<double>(1, 2, 5 + free.x0[2] - 5));
    // six joints in a row where its parent moves
    const Scene chain =
        urdf_scene(urdf_robot(two + urdf_link("b") + urdf_joint("j", "continuous", "world", "a", "") +
                              urdf_joint("f", "floating", "a", "b", "<origin xyz='0 0 1'/>")));
    CHECK(chain.world.nv() == 7);
    const Model& m = chain.world.model;
    for (const char* name : {"r/f.x", "r/f.y", "r/f.z", "r/f"})
        CHECK(m.joint_index(name) >= 0);
    VecX<double> at = m.neutral_configuration();
    at.segment<3>(1) << 0.1, 0.2, 0.3;
    CHECK((poses(chain, at).back().p - Vec3<double>(0.1, 0.2, 1.3)).norm() < 1e-15);
}

TEST_CASE("URDF mimic joints follow") {
    const Scene scene = urdf_scene(
        urdf_robot(urdf_link("world", "") + urdf_link("a") + urdf_link("b") +
                   urdf_joint("lead", "continuous", "world", "a", "<axis xyz='0 1 0'/><limit effort='1'/>") +
                   urdf_joint("follow", "continuous", "world", "b",
                              "<axis xyz='1 0 0'/><limit effort='1'/>"
                              "<mimic joint='lead' multiplier='-2' offset='0.3'/>")) +
            "<!-- the leader falls, for its centre of mass is off the axis -->",
        {}, 500);
    const Model& m = scene.world.model;
    REQUIRE(m.equalities.size() == 1);
    CHECK(m.nu == 1);  // the follower has no motor of its own
    const int lead = m.bodies[m.joint_index("r/lead")].q0, follow = m.bodies[m.joint_index("r/follow")].q0;
    CHECK(scene.x0[follow] == 0.3);
    Scene pushed = scene;
    pushed.x0[m.nq + lead] = 1;
    const VecX<double> x = state_at_end(pushed);
    CHECK(std::abs(x[lead]) > 0.05);
    CHECK(x[follow] == doctest::Approx(0.3 - 2 * x[lead]).epsilon(1e-3));
}

TEST_CASE("URDF bases: fixed or floating") {
    const std::string massive =
                          urdf_link("base") + urdf_link("b") + urdf_joint("j", "continuous", "base", "b", ""),
                      massless = urdf_link("base", "") + urdf_link("b") +
                                 urdf_joint("base", "continuous", "base", "b", "");
    const auto nv = [](const std::string& content, Base base) {
        ImportOptions options;
        options.base = base;
        return urdf_scene(urdf_robot(content), options).world.nv();
    };
    CHECK(nv(massive, Base::automatic) == 7);
    CHECK(nv(massive, Base::floating) == 7);
    CHECK(nv(massive, Base::fixed) == 1);
    CHECK(nv(massless, Base::automatic) == 1);
    ImportOptions floating;
    floating.base = Base::floating;
    refuse_urdf(
        urdf_robot(urdf_link("world", "") + urdf_link("b") + urdf_joint("j", "continuous", "world", "b", "")),
        2, "cannot float", "rename it", floating);
    const std::string said = import_text(urdf_robot(massive)).model["description"].get<std::string>();
    CHECK(said == "the root \"base\" floats, because it has mass");

    // in a scene, by its key
    const ScratchFolder folder("base");
    folder.write("robots/robot.urdf", urdf_robot(massive));
    const auto scene = [&](const char* base) {
        Json text = parse_json(
            R"({"steps": 1, "models": [{"name": "x", "file": "robots/robot.urdf", "position": [0, 0, 2]}]})",
            "s");
        if (*base != 0) text["models"][0]["base"] = base;
        return scene_from_json(text, folder.path("scene.json"));
    };
    CHECK(scene("").world.nv() == 7);
    CHECK(scene("").x0[2] == 2);
    CHECK(scene("floating").world.nv() == 7);
    CHECK(scene("fixed").world.nv() == 1);
    CHECK(scene("fixed").world.model.joint_index("x/j") == 1);
    CHECK(complaint([&] { scene("fxied"); }).find("the nearest is \"fixed\"") != std::string::npos);
    folder.write("robots/broken.urdf", "<robot name='r'>\n<link/></robot>");
    Json text = parse_json(R"({"steps": 1, "models": [{"name": "x", "file": "robots/broken.urdf"}]})", "s");
    check_complaint(complaint([&] { scene_from_json(text, folder.path("scene.json")); }),
                    folder.path("robots/broken.urdf").string() + ":2: ", "has no \"name\"", "add it");
    text["models"][0] =
        parse_json(R"({"name": "x", "base": "fixed", "model": {"bodies": [{"name": "b"}]}})", "s");
    CHECK(complaint([&] {
              scene_from_json(text, "s.json");
          }).find("s.json#/models/0/base: has no meaning here") == 0);
}

TEST_CASE("URDF links without mass") {
    // A leaf on a fixed joint is fine; so is one that moves something with mass, as long as something resists
    const Scene scene = urdf_scene(
        urdf_robot(urdf_link("a") + urdf_link("tool", "") + urdf_joint("j", "fixed", "a", "tool", "")));
    CHECK(properties(scene, "tool").m == 0);
    CHECK(scene.world.nv() == 6);
    const Scene cross =
        urdf_scene(urdf_robot(urdf_link("world", "") + urdf_link("hub", "") + urdf_link("b") +
                              urdf_joint("x", "continuous", "world", "hub", "<axis xyz='1 0 0'/>") +
                              urdf_joint("y", "continuous", "hub", "b", "<axis xyz='0 1 0'/>")));
    CHECK(cross.world.nv() == 2);
}

TEST_CASE("URDF: a parent \"world\" needs no link") {
    const Scene scene = urdf_scene(urdf_robot(urdf_link("a") + urdf_joint("j", "revolute", "world", "a")));
    CHECK(scene.world.model.bodies.size() == 1);
    CHECK(scene.world.nv() == 1);
    refuse_urdf(urdf_robot(urdf_link("a") + urdf_joint("j", "revolute", "a", "world")), 3, "is not a link",
                "correct it");
}

// Isaac Gym's <density>: the shapes of a link are solids.
TEST_CASE("URDF inertials: a density in the place of a mass") {
    const std::string dense = "<inertial><density value='500'/></inertial>";
    const std::string box = "<geometry><box size='0.2 0.4 0.6'/></geometry>";
    const auto load = [](const std::string& link) {
        return properties(urdf_scene(urdf_robot(urdf_link("a", link))), "a");
    };
    const MassProperties<double> turned = load(
        "<collision><origin xyz='0.1 0 0' rpy='0 0 1.5707963267948966'/>" + box + "</collision>" + dense);
    CHECK(turned.m == doctest::Approx(24));
    CHECK((turned.c - Vec3<double>(0.1, 0, 0)).norm() < 1e-15);
    const Vec3<double> moments(0.04 + 0.36, 0.16 + 0.36, 0.16 + 0.04);
    CHECK((turned.I - Mat3<double>((2 * moments).asDiagonal())).norm() < 1e-12);

    const auto ball = [](const std::string& x) {
        return "<collision><origin xyz='" + x +
               " 0 0'/><geometry><sphere radius='0.1'/></geometry></collision>";
    };
    const MassProperties<double> two = load(dense + ball("0.3") + ball("-0.1"));
    const double mass = 500 * 4.0 / 3 * std::acos(-1.0) * 1e-3, own = 0.4 * mass * 0.01;
    CHECK(two.m == doctest::Approx(2 * mass));
    CHECK((two.c - Vec3<double>(0.1, 0, 0)).norm() < 1e-15);
    const Vec3<double> of_two(2 * own, 2 * (own + 0.04 * mass), 2 * (own + 0.04 * mass));
    CHECK((two.I - Mat3<double>(of_two.asDiagonal())).norm() < 1e-12);

    CHECK(load("<inertial><density value='0'/></inertial><collision>" + box + "</collision>").m == 0);
    CHECK(
        load("<inertial><mass value='2'/><density value='500'/></inertial><collision>" + box + "</collision>")
            .m == 2);
    refuse_urdf(urdf_robot(urdf_link("a", dense)), 2, "has no volume", "write <mass>");
}

TEST_CASE("a lone model is put on the ground") {
    const std::string ball =
        urdf_inertial() +
        "<collision><origin xyz='0 0 0.2'/><geometry><sphere radius='0.3'/></geometry></collision>";
    const Scene drop = urdf_scene(urdf_robot(urdf_link("a", ball)), {}, 2000);
    CHECK(drop.name == "r");
    CHECK(drop.world.shapes.index("ground") >= 0);
    CHECK(drop.x0[2] == doctest::Approx(0.1 + 0.3 - 0.2).epsilon(1e-14));
    CHECK(drop.warnings.empty());
    CHECK(state_at_end(drop)[2] == doctest::Approx(0.1).epsilon(1e-2));  // it lies on the ground

    // joints start within their limits, the lowest point counts them in
    const std::string arm =
        urdf_inertial() +
        "<collision><origin xyz='0 0 -1'/><geometry><box size='0.2 0.2 0.2'/></geometry></collision>";
    const std::string content = urdf_link("base") + urdf_link("arm", arm) +
                                urdf_joint("j", "revolute", "base", "arm",
                                           "<axis xyz='0 1 0'/><limit lower='1' upper='2' effort='1'/>");
    const Scene floating = urdf_scene(urdf_robot(content));
    CHECK(floating.x0[7] == 1.5);
    CHECK(floating.x0[2] ==
          doctest::Approx(0.1 + std::cos(1.5) + 0.1 * (std::sin(1.5) + std::cos(1.5))).epsilon(1e-14));
    ImportOptions fixed;
    fixed.base = Base::fixed;
    const Scene held = urdf_scene(urdf_robot(content), fixed);
    CHECK(held.theta[held.world.shapes.position.at(held.world.shapes.index("ground")) + 2] ==
          doctest::Approx(-std::cos(1.5) - 0.1 * (std::sin(1.5) + std::cos(1.5))).epsilon(1e-14));
    CHECK(urdf_scene(urdf_robot(urdf_link("a"))).warnings.size() == 1);  // no shapes

    // so is a model in JSON
    const ScratchFolder folder("alone");
    const ImportedModel robot = import_text(urdf_robot(content));
    const Scene again = load_scene(folder.write("robot.json", robot.model.dump()).string(), 1);
    CHECK((again.x0 == floating.x0 && again.theta == floating.theta));
    // one whose file describes its world stays where that puts it
    const Scene world = parse_scene(
        "<mujoco><worldbody><body name='b' pos='1 2 -3'><freejoint/><geom size='.1' mass='1'/>"
        "<body><joint/><geom size='.1' mass='1'/></body></body></worldbody></mujoco>",
        TextFormat::mjcf, "w.xml");
    CHECK(world.x0.head<3>() == Vec3<double>(1, 2, -3));
    CHECK(world.world.shapes.index("ground") < 0);
    REQUIRE(world.warnings.size() == 1);
    CHECK(world.warnings[0].find("so they fall") != std::string::npos);

    const std::string broken =
        folder.write("broken.json", R"({"bodies": [{"name": "b", "mass": -1}]})").string();
    CHECK(complaint([&] { load_scene(broken); }).find(broken + ":1:27#/bodies/0/mass") == 0);
}

}  // namespace
}  // namespace costate::test
