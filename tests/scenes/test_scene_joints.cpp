// Joints and equalities of the scene format: loading, and messages about faults.
#include <algorithm>
#include <cmath>

#include "adjoint/check/gradcheck.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/format/names.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/scene_text.hpp"

using namespace costate;

namespace {

// The base with other joints of the ball and further changes; "null" removes a joint.
Scene with_ball_joint(const char* joint,
                      std::initializer_list<std::pair<const char*, const char*>> more = {}) {
    Json json = base();
    json["initial"] = Json::object();
    json["models"][1]["model"]["bodies"][0]["joint"] = parse_json(joint, "joint");
    for (const auto& [pointer, value] : more)
        json[Json::json_pointer(pointer)] = parse_json(value, "value");
    return scene_of(json);
}

}  // namespace

TEST_CASE("scene joints: joints of several links, of several joints, and locked ones") {
    const auto joints = [](const Scene& s) {
        std::vector<std::string> names = names_of(s.world.model.bodies, &Body::joint_name);
        return std::vector<std::string>(names.begin() + 2, names.end());
    };
    using Names = std::vector<std::string>;
    const Scene planar =
        with_ball_joint(R"({"type": "planar", "axis": [0, 1, 0], "damping": [1, 2, 3], "stiffness": 4,
                                             "limits": [null, [-1, 2], null], "dry_friction": [0, 0, 5]})");
    const Model& m = planar.world.model;
    CHECK((m.nv == 5 && m.nq == 5 && joints(planar) == Names{"ball.1", "ball.2", "ball.3"}));
    CHECK(names_of(m.bodies, &Body::name) == Names{"arm/upper", "arm/lower", "ball.1", "ball.2", "ball"});
    CHECK((m.bodies[2].axis == Vec3<double>::UnitX() && m.bodies[3].axis == -Vec3<double>::UnitZ()));
    CHECK((m.bodies[4].joint == JointType::revolute && m.bodies[4].axis == Vec3<double>::UnitY()));
    CHECK(planar.theta.segment<5>(m.damping.at(0)) == (VecX<double>(5) << 0.1, 0, 1, 2, 3).finished());
    CHECK(planar.theta.segment<3>(m.stiffness.at(2)) == Vec3<double>(4, 4, 4));
    CHECK((m.dry_dofs == std::vector<int>{4} && m.limits.size() == 2 && m.limits[1].body == 3 &&
           planar.theta[m.limits[1].range.upper] == 2));
    CHECK(planar.theta.segment<3>(m.placement.at(2)) == Vec3<double>(1, 0, 0.5));
    CHECK((planar.theta[m.mass.at(2)] == 0 && planar.theta[m.mass.at(4)] == 0.5));

    const Scene screw = with_ball_joint(R"({"type": "helical", "pitch": 0.1, "name": "thread"})");
    CHECK((screw.theta[screw.world.model.pitch.at(2)] == 0.1 && joints(screw) == Names{"ball/thread"}));
    const Scene pin = with_ball_joint(R"({"type": "cylindrical", "name": "pin"})");
    CHECK((pin.world.model.nv == 4 && joints(pin) == Names{"ball/pin.1", "ball/pin.2"}));
    CHECK(pin.world.model.bodies[2].joint == JointType::prismatic);
    const Scene socket = with_ball_joint(R"({"type": "spherical", "greatest_angle": 0.7})");
    REQUIRE(socket.world.model.limits.size() == 2);
    CHECK(
        (socket.world.model.limits[1].ball && socket.theta[socket.world.model.limits[1].range.upper] == 0.7));
    const Scene held = with_ball_joint(R"({"type": "planar", "locked": true, "damping": [1, 2, 3]})");
    CHECK((held.world.model.nv == 2 && held.world.model.bodies.size() == 3 && joints(held) == Names{"ball"}));
    CHECK(held.theta.segment<3>(held.world.model.placement.at(2)) == Vec3<double>(1, 0, 0.5));

    Json several = base();
    several["initial"] = Json::object();
    Json& ball = several["models"][1]["model"]["bodies"][0];
    ball.erase("joint");
    ball["joints"] =
        parse_json(R"([{"type": "continuous", "position": [0, 0, 1]}, {"name": "lift", "type": "prismatic"},
                                    {"type": "universal", "axis": [1, 0, 0], "axis2": [0, 1, 0]}])",
                   "joints");
    const Scene s = scene_of(several);
    CHECK((s.world.model.nv == 6 && joints(s) == Names{"ball.1", "ball/lift", "ball.3.1", "ball.3.2"}));
    CHECK(s.world.model.bodies[4].name == "ball.3");

    // a body does not collide with its parent, even with links in between
    const Scene arm =
        changed({{"/models/0/model/bodies/1/joint/type", "\"planar\""},
                 {"/initial/joints", "{}"},
                 {"/models/0/model/actuators/1/joint", "\"elbow.2\""},
                 {"/models/0/model/bodies/0/shapes", R"([{"type": "sphere", "radius": 0.1}])"}});
    CHECK(names_of(arm.world.model.bodies, &Body::name) ==
          Names{"arm/upper", "arm/lower.1", "arm/lower.2", "arm/lower", "ball"});
    CHECK((arm.world.model.actuators[1].name == "arm/elbow.2" && arm.world.model.actuators[1].v == 2));
    const int upper = arm.world.shapes.index("arm/upper"), tip = arm.world.shapes.index("arm/tip");
    for (const auto& [a, b] : arm.world.shapes.pairs())
        CHECK(std::minmax(a, b) != std::minmax(upper, tip));
}

TEST_CASE("scene joints: equalities hold at the start of the scene, with its parameters") {
    const Scene s = changed(
        {{"/models/0/rpy_deg", "[0, 0, 90]"},
         {"/models/0/model/equalities",
          R"([{"name": "gears", "type": "coupling", "joint_a": "elbow", "joint_b": "shoulder", "offset": 0.25,
                                   "ratio": 2},
                                  {"name": "hook", "type": "weld", "body_a": "lower", "body_b": "world", "point_b": [1, 0, 0],
                                   "rpy_deg": [0, 0, 0]}])"},
         {"/initial/joints/ball", R"({"rpy_deg": [0, 0, 90]})"},
         {"/parameters/-", R"({"path": "joints/arm/elbow/placement", "value": [0, 0, -0.5]})"},
         {"/parameters/-", R"({"path": "equalities/pin/anchor_b[2]", "value": 7})"},
         {"/equalities",
          R"([{"name": "grip", "type": "weld", "body_a": "arm/lower", "body_b": "ball",
                                   "point_a": [0, 0, 0.1]},
                                  {"name": "pin", "type": "connect", "body_a": "ball", "body_b": "world"}])"}});
    const Model& m = s.world.model;
    const auto at = [&](const ParameterSlice& slice, int index) {
        return Vec3<double>(s.theta.segment<3>(slice.at(index)));
    };
    CHECK(names_of(m.equalities, &Equality::name) ==
          std::vector<std::string>{"arm/gears", "arm/hook", "grip", "pin"});
    CHECK((m.equalities[0].v_a == 1 && m.equalities[0].v_b == 0));
    CHECK((s.theta[m.coupling.at(0)] == 0.25 && s.theta[m.coupling.at(0) + 1] == 2));
    // The model stands at (0, 0, 1), turned from x to y.
    CHECK((at(m.anchor_b, 1) - Vec3<double>(0, 1, 1)).norm() < 1e-15);
    CHECK((m.equalities[1].R_ba * Vec3<double>::UnitX() - Vec3<double>::UnitY()).norm() < 1e-15);
    // The point of the arm is at (0, 0, 1 - 0.5 + 0.25 + 0.1), the ball at (1, 0, 0.5); both are turned from
    // x to y.
    CHECK((at(m.anchor_b, 2) - Vec3<double>(0, 1, 0.35)).norm() < 1e-15);
    CHECK((m.equalities[2].R_ba - Mat3<double>::Identity()).norm() < 1e-15);
    CHECK((at(m.anchor_b, 3) - Vec3<double>(1, 0, 7)).norm() < 1e-15);
}

TEST_CASE("scene joints: wrong joints and equalities") {
    struct Case {
        const char *joint, *place, *what, *remedy;
    };
    const Case joints[] = {
        {R"({"type": "continuous", "limits": [-1, 1]})", "limits", "the joint is continuous", "remove it"},
        {R"({"type": "helical"})", "", "has no \"pitch\"", "add it"},
        {R"({"type": "revolute", "pitch": 1})", "pitch", "the joint is revolute", "remove it"},
        {R"({"type": "universal"})", "", "has no \"axis2\"", "add it"},
        {R"({"type": "universal", "axis2": [0, 0, -3]})", "axis2", "is parallel to \"axis\"",
         "use another direction"},
        {R"({"type": "gimbal"})", "", "has no \"axes\"", "add it"},
        {R"({"type": "gimbal", "axes": [[1, 0, 0], [0, 1, 0]]})", "axes", "must have 3 entries, has 2",
         "give all"},
        {R"({"type": "gimbal", "axes": [[1, 0, 0], [0, 0, 0], [0, 0, 1]]})", "axes/1", "has no direction",
         "use for example"},
        {R"({"type": "gimbal", "axes": [[0, 0, 1], [1, 0, 0], [0, 0, 1]]})", "axes",
         "are in one plane (gimbal lock)", "use directions that span the space"},
        {R"({"type": "gimbal", "axis": [1, 0, 0], "axes": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]})", "axis",
         "the joint is gimbal", "remove it"},
        {R"({"type": "universal", "axis2": [1, 0, 0], "axes": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]})", "axes",
         "the joint is universal", "remove it"},
        {R"({"type": "cylindrical", "axis2": [1, 0, 0]})", "axis2", "the joint is cylindrical", "remove it"},
        {R"({"type": "cylindrical", "damping": [1, 2, 3]})", "damping", "must have 2 entries, has 3",
         "give all"},
        {R"({"type": "planar", "limits": [[0, 1], null]})", "limits", "must have 3 entries, has 2",
         "give all"},
        {R"({"type": "planar", "limits": [[1, 1], null, null]})", "limits/0", "not below",
         "write [lower, upper]"},
        {R"({"type": "revolute", "dry_friction": -1})", "dry_friction", "must not be negative",
         "use 0 or more"},
        {R"({"type": "spherical", "greatest_angle": 3.2})", "greatest_angle", "must be below pi",
         "leave it out"},
        {R"({"type": "spherical", "greatest_angle": 0})", "greatest_angle", "must be positive", "use"},
        {R"({"type": "spherical", "limits": [0, 1]})", "limits", "the joint is spherical", "remove it"},
        {R"({"type": "free", "greatest_angle": 1})", "greatest_angle", "the joint is free", "remove it"},
        {R"({"type": "free", "locked": 1})", "locked", "must be true or false", "write"}};
    for (const Case& c : joints) {
        CAPTURE(c.joint);
        const std::string key = (*c.place ? "/" : "") + std::string(c.place);
        const std::string place = "test.json#/models/1/model/bodies/0/joint" + key + ": ";
        check_complaint(complaint([&] { with_ball_joint(c.joint); }), place, c.what, c.remedy);
    }
    const char* body = "/models/1/model/bodies/0/joints";
    check_complaint(complaint([&] {
                        changed({{body, "[]"}});
                    }),
                    std::string("test.json#") + body, "given twice", "keep");
    const auto alone = [&](const char* several) {
        Json json = base();
        json["models"][1]["model"]["bodies"][0].erase("joint");
        json[Json::json_pointer(body)] = parse_json(several, "value");
        return complaint([&] { scene_of(json); });
    };
    check_complaint(alone("[]"), std::string("test.json#") + body + ": ", "is empty", "name a joint");
    check_complaint(alone(R"([{"type": "revolute"}, {"type": "free"}])"),
                    std::string("test.json#") + body + "/1/type: ", "cannot be combined with other joints",
                    "use it as the only");

    const Case equalities[] = {
        {R"({"name": "e", "type": "connect", "body_a": "bal", "body_b": "world"})", "/body_a",
         "the nearest is \"ball\"", "correct"},
        {R"({"name": "e", "type": "connect", "body_a": "ball"})", "", "has no \"body_b\"", "add it"},
        {R"({"name": "e", "type": "weld", "body_a": "ball", "body_b": "ball"})", "/body_b",
         "does not move relative to \"ball\"", "name"},
        {R"({"name": "e", "type": "connect", "body_a": "ball", "body_b": "world", "rpy_deg": [0, 0, 0]})",
         "/rpy_deg", "the equality is a connect", "remove it"},
        {R"({"name": "e", "type": "weld", "body_a": "ball", "body_b": "world", "ratio": 2})", "/ratio",
         "is a weld", "remove it"},
        {R"({"name": "e", "type": "coupling", "body_a": "ball"})", "/body_a", "is a coupling", "remove it"},
        {R"({"name": "e", "type": "coupling", "joint_a": "ball", "joint_b": "arm/elbow"})", "/joint_a",
         "this joint is free", "name"},
        {R"({"name": "e", "type": "coupling", "joint_a": "arm/elbow", "joint_b": "arm/elbow"})", "/joint_b",
         "to itself", "name"},
        {R"({"name": "e", "type": "coupling", "tendon_a": "arm/none"})", "/tendon_a", "arm/none", "correct"},
        {R"({"name": "e", "type": "coupling", "joint_a": "arm/elbow", "tendon_b": "t"})", "/tendon_b",
         "there is no \"tendon_a\"", "remove it"},
        {R"({"name": "e", "type": "coupling", "joint_a": "arm/elbow", "ratio": 2})", "/ratio",
         "there is no \"joint_b\"", "remove it"},
        {R"({"name": "e", "type": "glue"})", "/type", "no choice is named \"glue\"", "correct"},
        {R"({"type": "weld"})", "", "has no \"name\"", "add it"}};
    for (const Case& c : equalities) {
        CAPTURE(c.joint);
        const std::string list = "[" + std::string(c.joint) + "]";
        check_complaint(complaint([&] {
                            changed({{"/equalities", list.c_str()}});
                        }),
                        "test.json#/equalities/0" + std::string(c.place) + ": ", c.what, c.remedy);
    }
    const char* twice = R"([{"name": "e", "type": "connect", "body_a": "ball", "body_b": "world"},
                            {"name": "e", "type": "connect", "body_a": "ball", "body_b": "arm/upper"}])";
    check_complaint(complaint([&] {
                        changed({{"/equalities", twice}});
                    }),
                    "test.json#/equalities/1: ", "there is already a equality named \"e\"", "rename");
}

TEST_CASE("scene joints: planar, universal, gimbal and cylindrical joints move as they say") {
    const auto ball_at = [](const char* joint, std::initializer_list<double> q) {
        Scene s = with_ball_joint(joint);
        std::copy(q.begin(), q.end(), s.x0.data() + 2);
        StepScratch<double> scratch(s.world);
        observe(s.world, s.theta.data(), s.x0.data(), scratch);
        const Model& m = s.world.model;
        const int ball = m.body_index("ball");
        return Transform<double>{scratch.kinematics.X[ball].R, scratch.kinematics.world_position(m, ball)};
    };
    const auto turn = [](const Vec3<double>& axis, double angle) {
        return Eigen::AngleAxisd(angle, axis).toRotationMatrix();
    };
    const Vec3<double> home(1, 0, 0.5), x = Vec3<double>::UnitX(), y = Vec3<double>::UnitY(),
                                        z = Vec3<double>::UnitZ();
    const auto check = [](const Transform<double>& X, const Vec3<double>& p, const Mat3<double>& R) {
        CHECK((X.p - p).norm() < 1e-15);
        CHECK((X.R - R).norm() < 1e-15);
    };
    check(ball_at(R"({"type": "planar"})", {2, 3, 0.4}), home + Vec3<double>(2, 3, 0), turn(z, 0.4));
    check(ball_at(R"({"type": "planar", "axis": [1, 0, 0]})", {2, 3, 0.4}), home + Vec3<double>(0, 2, 3),
          turn(x, 0.4));
    check(ball_at(R"({"type": "planar", "axis2": [0, 2, 5]})", {2, 3, 0.4}), home + Vec3<double>(-3, 2, 0),
          turn(z, 0.4));
    check(ball_at(R"({"type": "universal", "axis": [1, 0, 0], "axis2": [0, 1, 0]})", {0.3, 0.4}), home,
          turn(x, 0.3) * turn(y, 0.4));
    check(ball_at(R"({"type": "gimbal", "axes": [[0, 0, 2], [0, 1, 0], [1, 0, 0]]})", {0.3, 0.4, 0.5}), home,
          turn(z, 0.3) * turn(y, 0.4) * turn(x, 0.5));
    check(ball_at(R"({"type": "cylindrical", "axis": [0, 1, 0]})", {2, 0.4}), home + 2 * y, turn(y, 0.4));
    check(ball_at(R"({"type": "helical", "pitch": 0.5, "axis": [0, 1, 0]})", {0.4}), home + 0.2 * y,
          turn(y, 0.4));
}

namespace {

// The ball on one gimbal of every property, or on three hinges with massless bodies between, with a servo on
// the second axis and a term on the body.
Scene gimbal_scene(bool written_out) {
    Json json = base();
    json["steps"] = 200;
    json["initial"] = Json::object();
    json["models"][1]["model"] =
        parse_json(R"({"bodies": [{"name": "ball", "mass": 0.5, "com": [0.1, 0.02, 0.2],
        "inertia": [0.02, 0.03, 0.025, 0.001, 0.002, -0.001],
        "joint": {"name": "neck", "type": "gimbal", "axes": [[0, 0.2, 1], [0, 1, 0], [1, 0, 0.1]],
                  "rpy_deg": [10, 20, 30], "limits": [null, [-0.2, 0.45], [-1, 1]], "limit_stiffness": 50,
                  "damping": [0.01, 0.02, 0.03], "armature": 0.001, "stiffness": [0.5, 0, 0.7],
                  "rest": [0.1, 0, -0.2], "dry_friction": [0, 0.01, 0]}}],
        "actuators": [{"name": "servo", "joint": "neck.2", "type": "servo", "kp": 2, "kd": 0.1}]})",
                   "gimbal");
    if (written_out) {
        Json& bodies = json["models"][1]["model"]["bodies"];
        Json ball = bodies[0];
        bodies = parse_json(R"([
            {"name": "one",
             "joint": {"name": "neck.1", "type": "revolute", "axis": [0, 0.2, 1], "rpy_deg": [10, 20, 30],
                       "damping": 0.01, "armature": 0.001, "stiffness": 0.5, "rest": 0.1}},
            {"name": "two", "parent": "one",
             "joint": {"name": "neck.2", "type": "revolute", "axis": [0, 1, 0], "limits": [-0.2, 0.45],
                       "limit_stiffness": 50, "damping": 0.02, "armature": 0.001, "dry_friction": 0.01}}])",
                            "hinges");
        ball["parent"] = "two";
        ball["joint"] =
            parse_json(R"({"name": "neck.3", "type": "revolute", "axis": [1, 0, 0.1], "limits": [-1, 1],
                                       "limit_stiffness": 50, "damping": 0.03, "armature": 0.001,
                                       "stiffness": 0.7, "rest": -0.2})",
                       "hinge");
        bodies.push_back(ball);
    }
    json["initial"] = parse_json(R"({"joints": {"ball/neck.1": 0.3, "ball/neck.2": 0.4, "ball/neck.3": -0.6},
                                     "velocities": {"ball/neck.*": 2}})",
                                 "initial");
    json["controls"] = parse_json(R"([{"actuators": ["ball/servo"], "initial": 0.2}])", "controls");
    json["parameters"] = Json::array();
    json["objective"] =
        parse_json(R"([{"term": "position", "body": "ball", "point": [0.3, 0.1, 0.2], "target": [1, 2, 3]}])",
                   "objective");
    if (written_out) json["objective"][0]["body"] = "ball/ball";
    return scene_of(json);
}

}  // namespace

TEST_CASE("scene joints: a gimbal is three hinges, with the same motion and gradients") {
    const Scene gimbal = gimbal_scene(false), hinges = gimbal_scene(true);
    CHECK((gimbal.world.model.nq == 5 && gimbal.world.model.nv == 5));
    CHECK((gimbal.x0 == hinges.x0 && gimbal.x0[4] == -0.6));
    REQUIRE(gimbal.theta.size() == hinges.theta.size());
    double losses[2];
    Gradient gradients[2];
    for (const Scene* s : {&gimbal, &hinges}) {
        Simulation simulation(s->world, s->objective);
        Rollout<Simulation> rollout(simulation, s->plan, s->steps);
        const int k = s == &hinges;
        losses[k] = rollout.forward(s->theta, s->x0, s->z0);
        rollout.backward(s->theta, s->z0, gradients[k]);
    }
    CHECK(losses[0] == doctest::Approx(losses[1]).epsilon(1e-13));
    const auto check = [](const VecX<double>& x, const VecX<double>& y) {
        CHECK(x.norm() > 1e-3);
        CHECK((x - y).norm() <= 1e-11 * y.norm());
    };
    check(gradients[0].controls, gradients[1].controls);
    check(gradients[0].initial_state, gradients[1].initial_state);
    check(gradients[0].parameters, gradients[1].parameters);
}

TEST_CASE("scene joints: a coupling of a scene makes one joint follow another, and a weld carries a body") {
    const Scene s = changed({{"/initial", R"({"velocities": {"arm/shoulder": 0.5, "arm/elbow": 0.15}})"},
                             {"/models/0/model/bodies/1/shapes", "[]"},
                             {"/time_step", "0.001"},
                             {"/equalities", R"([{"name": "rack", "type": "coupling", "joint_a": "arm/elbow",
                                                  "joint_b": "arm/shoulder", "ratio": 0.3},
                                                 {"name": "grip", "type": "weld", "body_a": "ball", "body_b": "arm/lower"}])"}});
    StepScratch<double> scratch(s.world);
    VecX<double> x = s.x0, next(x.size()), u = VecX<double>::Zero(s.world.nu());
    double most = 0;
    for (int t = 0; t < 500; ++t, x.swap(next)) {
        step(s.world, {s.theta.data(), x.data(), u.data()}, scratch, next.data());
        CHECK(std::abs(x[1] - 0.3 * x[0]) < 1e-3);
        most = std::max(most, std::abs(x[0]));
        for (const double e : scratch.rows.error)
            CHECK(std::abs(e) < 2e-3);
    }
    CHECK(most > 0.1);
}

TEST_CASE("scene joints: gradients of the linkage and of the slider against central differences") {
    for (const auto& [name, steps] :
         {std::pair<const char*, int>{"four_bar", 1000}, {"slider_dry_friction", 4000}}) {
        CAPTURE(name);
        const Scene s = load_scene(name, steps);
        Simulation simulation{s.world, s.objective};
        Rollout<Simulation> rollout{simulation, s.plan, s.steps};
        GradcheckOptions options;
        options.components = 12;
        options.directions = 4;
        const GradcheckReport r = gradcheck(rollout, s.theta, s.x0, s.z0, options);
        for (const GradcheckKind* k : {&r.controls, &r.initial_state, &r.parameters}) {
            CAPTURE(k->worst);
            CHECK(k->max_relative_error <= 1e-6);
            CHECK(k->taylor_order >= 1.95);
            CHECK(k->rejected < 0.1);
        }
    }
}
