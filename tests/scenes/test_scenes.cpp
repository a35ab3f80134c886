// Scenes: loading, and messages about faults.
#include <doctest/doctest.h>

#include "scenes/format/names.hpp"
#include "tests/support/scene_text.hpp"

using namespace costate;

TEST_CASE("scenes: the world has the values of the scene") {
    const Scene s = scene_of(base());
    const Model& m = s.world.model;
    CHECK(s.name == "test");
    CHECK(s.steps == 100);
    CHECK(s.world.settings.time_step == 0.01);
    CHECK((m.nq == 9 && m.nv == 8 && m.nu == 2));
    CHECK(names_of(m.bodies, &Body::name) == std::vector<std::string>{"arm/upper", "arm/lower", "ball"});
    CHECK(names_of(m.bodies, &Body::joint_name) ==
          std::vector<std::string>{"arm/shoulder", "arm/elbow", "ball"});
    CHECK(names_of(m.actuators, &Actuator::name) == std::vector<std::string>{"arm/torque", "arm/elbow"});
    CHECK(names_of(s.world.shapes.shapes, &Shape::name) ==
          std::vector<std::string>{"ground", "arm/tip", "ball"});
    CHECK(m.bodies[0].axis == Vec3<double>::UnitY());
    CHECK(s.theta[m.placement.at(0) + 2] == 1);
    CHECK(s.theta[s.world.shapes.friction.at(2)] == 0.7);
    CHECK(s.x0.head<9>() == (VecX<double>(9) << 0, 0.25, 1, 0, 0.5, 1, 0, 0, 0).finished());
    CHECK(s.x0.segment<3>(9 + 2) == Vec3<double>(1, 2, 3));
    CHECK(s.z0.size() == 101);  // one torque per step, and a constant servo target
    CHECK(s.z0[0] == 0.5);
    CHECK(s.z0[100] == 0.25);
    CHECK((s.plan.channels()[0].optimize && !s.plan.channels()[1].optimize));
    CHECK(s.optimize.method == Method::adam);
    CHECK(scene_from_json(base(), "test.json", 7).steps == 7);
}

TEST_CASE("scenes: \"steps\" is optional if the caller gives a length or needs none") {
    Json endless = base();
    endless.erase("steps");
    CHECK(complaint([&] { scene_from_json(endless, "test.json"); }).find("has no \"steps\"") !=
          std::string::npos);
    CHECK(scene_from_json(endless, "test.json", 7).steps == 7);
    CHECK(scene_from_json(endless, "test.json", {}, {}, 9).steps == 9);
    CHECK(scene_from_json(base(), "test.json", {}, {}, 9).steps == 100);
    CHECK(scene_from_json(base(), "test.json", 7, {}, 9).steps == 7);
}

TEST_CASE("scenes: orientations, copies, schedules, knots, variables") {
    const auto orientation = [](const char* text) {
        return read_orientation(Node(parse_json(text, "t"), "t"));
    };
    const Quaternion<double> scaled = orientation(R"({"quaternion": [3, 0, 0, 4]})");
    CHECK(scaled.w == doctest::Approx(0.6).epsilon(1e-15));
    CHECK(scaled.v.z() == doctest::Approx(0.8).epsilon(1e-15));
    const Mat3<double> R = rotation_matrix(orientation(R"({"rpy_deg": [90, 0, 90]})"));  // z to -y, then to x
    CHECK((R * Vec3<double>::UnitZ() - Vec3<double>::UnitX()).norm() < 1e-15);

    const Scene row = changed(
        {{"/models/1/copies", R"({"count": 3, "offset": [0, 2, 0]})"},
         {"/objective", "[]"},
         {"/parameters", "[]"},
         {"/exclude", R"([["ball*", "ball*"]])"},
         {"/initial/velocities", R"({"ball*": {"angular": [0, 0, 1]}, "ball1": {"linear": [4, 0, 0]}})"}});
    const std::vector<std::string> names = names_of(row.world.model.bodies, &Body::name);
    CHECK(names == std::vector<std::string>{"arm/upper", "arm/lower", "ball0", "ball1", "ball2"});
    CHECK(row.x0.segment<3>(2 + 14) == Vec3<double>(1, 4, 0.5));
    CHECK(row.x0.tail<18>() ==
          (VecX<double>(18) << 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1).finished());
    CHECK(row.world.shapes.index("ball2") == 4);

    const Scene driven =
        changed({{"/controls", R"([{"actuators": ["arm/torque"], "schedule": [[0, 1], [0.5, 3]]},
                                                    {"actuators": ["*elbow"], "optimize": {"knots": 3}, "initial": 2}])"}});
    VecX<double> u(2);
    driven.plan.evaluate(driven.z0.data(), 25, u.data());
    CHECK(u == (VecX<double>(2) << 2, 2).finished());
    CHECK(driven.plan.channels()[1].times == std::vector<double>{0, 0.5, 1});
    CHECK((!driven.plan.channels()[0].optimize && driven.plan.channels()[1].optimize));

    const Scene moving = changed(
        {{"/initial/optimize", R"({"joints": ["arm/*"], "velocities": ["ball"]})"},
         {"/parameters/-", R"({"path": "bodies/arm/*/mass", "optimize": true, "scale": "log", "upper": 9})"},
         {"/parameters/-", R"({"path": "bodies/ball/com[1]", "value": 0.01, "optimize": true})"},
         {"/objective/-",
          R"({"term": "configuration", "joints": ["*elbow"], "target": 0.5, "at": "running"})"}});
    const Model& m = moving.world.model;
    CHECK(moving.initial_state == std::vector<int>{0, 1, 10, 11, 12, 13, 14, 15});
    REQUIRE(moving.parameters.size() == 3);
    CHECK((moving.parameters[1].index == m.mass.at(1) && moving.parameters[1].scale == ParameterScale::log &&
           moving.parameters[1].upper == 9));
    CHECK((moving.parameters[2].index == m.com.at(2) + 1 && moving.theta[m.com.at(2) + 1] == 0.01));
    CHECK((moving.objective[1].dofs == std::vector<int>{1} && moving.objective[1].q_target[1] == 0.5 &&
           moving.objective[1].running));
}

TEST_CASE("scenes: \"optimise\" is read as \"optimize\", with a warning") {
    const Scene current = changed({{"/initial/optimize", R"({"joints": ["arm/*"]})"},
                                   {"/controls/0/optimize", R"("held")"},
                                   {"/parameters/0/optimize", "true"}});
    const Scene old = changed({{"/initial/optimise", R"({"joints": ["arm/*"]})"},
                               {"/controls/0/optimize", "null"},
                               {"/controls/0/optimise", R"("held")"},
                               {"/parameters/0/optimise", "true"}});
    CHECK(current.warnings.empty());
    REQUIRE(old.warnings.size() == 1);
    CHECK(old.warnings[0] == "test.json: \"optimise\" is read as \"optimize\"; use the latter");
    CHECK(old.initial_state == current.initial_state);
    CHECK((old.plan.channels()[0].optimize && !old.plan.channels()[0].per_step));
    CHECK(old.parameters.size() == 1);
    CHECK(complaint([] {
              changed({{"/controls/0/optimise", R"("held")"}});
          }).find("optimise") != std::string::npos);
}

TEST_CASE("scenes: terms about a tree or all bodies; other actuators") {
    const Scene s =
        changed({{"/objective",
                  R"([{"term": "centre_of_mass", "tree": "arm/lower", "target": [0, 0, 1], "axes": [1, 0, 1]},
                                                {"term": "kinetic_energy", "weight": 2}])"},
                 {"/models/0/model/actuators/0",
                  R"({"joint": "shoulder", "type": "general", "gain": 2, "bias": [1, -3, -4],
                                                                 "control_limits": [-1, 1], "force_limits": [-5, 6]})"},
                 {"/models/0/model/actuators/1", R"({"joint": "elbow", "type": "velocity", "kd": 7})"},
                 {"/controls", "[]"}});
    REQUIRE(s.objective.size() == 2);
    CHECK((s.objective[0].bodies.begin == 0 && s.objective[0].bodies.end == 2));
    CHECK((s.objective[0].target == Vec3<double>(0, 0, 1) && s.objective[0].axes == Vec3<double>(1, 0, 1)));
    CHECK((s.objective[1].bodies.begin == 0 && s.objective[1].bodies.end == 3 && s.objective[1].weight == 2));
    const Model& m = s.world.model;
    CHECK((m.actuators[0].type == ActuatorType::general && s.theta[m.actuators[0].control.lower] == -1));
    CHECK(s.theta[m.actuators[0].force.upper] == 6);
    CHECK((s.theta[m.actuator.gain.at(0)] == 2 && s.theta[m.actuator.bias.at(0) + 2] == -4));
    CHECK((m.actuators[1].type == ActuatorType::velocity && s.theta[m.actuator.kd.at(1)] == 7));
}

TEST_CASE("scenes: every shape") {
    const Scene s = changed({{"/models/1/model/bodies/0/shapes", R"([
        {"name": "roll", "type": "cylinder", "radius": 0.1, "half_length": 0.2, "margin": 0.01, "group": 2, "mask": 5},
        {"name": "egg", "type": "ellipsoid", "semi_axes": [0.1, 0.2, 0.3], "self_collision": false},
        {"name": "wedge", "type": "mesh", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "scale": [0.1, 0.1, 0.2]}])"},
                             {"/parameters", "[]"},
                             {"/ground", "false"},
                             {"/shapes", R"([{"name": "hill", "type": "height_field", "cell": [0.5, 0.5],
                                              "heights": [[0, 0, 0], [0, 0.1, 0], [0, 0, 0]]}])"}});
    const ShapeSet& set = s.world.shapes;
    const auto at = [&](const char* name) { return static_cast<size_t>(set.index(name)); };
    CHECK(set.shapes[at("ball/roll")].type == ShapeType::cylinder);
    CHECK(s.theta[set.margin.at(set.index("ball/roll"))] == 0.01);
    CHECK(s.theta[set.size.at(set.index("ball/egg")) + 2] == 0.3);
    REQUIRE(set.shapes[at("ball/wedge")].hull != nullptr);
    CHECK(set.shapes[at("ball/wedge")].hull->faces.size() == 4);
    CHECK(s.theta[set.size.at(set.index("ball/wedge")) + 2] == 0.2);
    REQUIRE(set.shapes[at("hill")].terrain != nullptr);
    CHECK(set.shapes[at("hill")].terrain->triangles.size() == 8);
    CHECK(set.is_pair(set.index("arm/tip"), set.index("ball/egg")));
}

TEST_CASE("scenes: names") {
    CHECK(matches("arm/*", "arm/joint1"));
    CHECK(matches("*/F*_hip", "robot0/FR_hip"));
    CHECK(matches("**", ""));
    CHECK(!matches("arm/*1", "arm/joint12"));
    CHECK(!matches("arm", "arm/joint1"));
    CHECK(edit_distance("fricton", "friction") == 1);
    CHECK(edit_distance("mass", "amss") == 1);
    CHECK(edit_distance("", "abc") == 3);
}

TEST_CASE("scenes: every wrong value is named with its place, the reason and a remedy") {
    struct Wrong {
        // place: where the message points, if not at the value itself
        const char *pointer, *value, *place, *what, *remedy;
    };
    const std::vector<Wrong> cases{
        {"/stepps", "3", "", "unknown key of scene, the nearest is \"steps\"", "correct or remove it"},
        {"/models/0/model/bodies/0/joint/dampng", "3", "", "the nearest is \"damping\"", "correct"},
        {"/steps", "0", "", "is 0", "use a whole number from 1 to 1000000000"},
        {"/steps", "1.5", "", "is 1.5", "use a whole number"},
        {"/steps", "2000000000", "", "is 2e+09", "use a whole number"},
        {"/steps", "\"10\"", "", "must be a number, is string", "write a number"},
        {"/steps", "null", "#", "has no \"steps\"", "add it"},
        {"/time_step", "0", "", "must be positive, is 0", "use a number above 0"},
        {"/gravity", "[0, 1]", "", "must have 3 entries, has 2", "give all of them"},
        {"/models/0/model/bodies/1/mass", "-1", "", "must be positive, is -1", "use a mass above 0 kg"},
        {"/models/0/model/bodies/1",
         R"({"name": "lower", "parent": "upper", "joint": {"name": "elbow", "type": "prismatic"}})", "",
         "a moving body needs mass", "use a mass above 0 kg"},
        {"/models/0/model/bodies/1/inertia", "[1, 1, -1, 0, 0, 0]", "", "is not positive definite",
         "use six zeros for a point mass, or the inertia of a solid"},
        {"/models/0/model/bodies/1/inertia", "[1, 1, 3, 0, 0, 0]", "",
         "the largest greater than the sum of the others", "use"},
        {"/models/0/model/bodies/1/inertia", "null", "#/models/0/model/bodies/1", "no \"inertia\"", "give"},
        {"/models/1/model/bodies/0/inertia", "[0, 0, 0, 0, 0, 0]", "#/models",
         "joint \"ball\" moves no inertia", "give body \"ball\" inertia"},
        {"/models/0/model/bodies/0/joint/axis", "[0, 0, 0]", "", "its length is 0",
         "use for example [0, 0, 1]"},
        {"/models/0/model/bodies/0/joint/limits", "[1, 1]", "", "not below", "write [lower, upper]"},
        {"/models/1/model/bodies/0/joint/limits", "[0, 1]", "", "the joint is free", "remove it"},
        {"/models/0/model/bodies/1/joint/type", "\"free\"", "", "the parent of a free joint is the world",
         "leave out \"parent\""},
        {"/models/0/model/bodies/1/joint/type", "\"hinge\"", "", "no choice is named \"hinge\"",
         "correct the name"},
        {"/models/0/model/bodies/1/parent", "\"uper\"", "",
         "no body is named \"uper\", the nearest is \"upper\"", "correct the name"},
        {"/models/0/model/bodies/1/name", "\"upper\"", "", "there is already a body named \"upper\"",
         "rename"},
        {"/models/0/model/bodies/1/shapes/0/half_extents", "[1, 1, 1]", "", "the shape is a sphere",
         "remove it"},
        {"/models/0/model/bodies/1/shapes/0/radius", "0", "", "must be positive", "use"},
        {"/models/0/model/bodies/1/shapes/0/type", "\"box\"", "#/models/0/model/bodies/1/shapes/0/radius",
         "the shape is a box", "remove it"},
        {"/models/0/model/bodies/1/shapes/0",
         R"({"type": "mesh", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]})",
         "#/models/0/model/bodies/1/shapes/0/vertices", "the points span no volume",
         "give four or more that are not in one plane"},
        {"/models/0/model/bodies/1/shapes/0",
         R"({"type": "height_field", "cell": [1, 1], "heights": [[0, 0], [0]]})",
         "#/models/0/model/bodies/1/shapes/0/heights/1", "", ""},
        {"/models/0/quaternion", "[0, 0, 0, 0]", "", "its length is 0", "use [1, 0, 0, 0]"},
        {"/models/-", R"({"name": "ball", "model": {"bodies": [{"name": "ball"}]}})", "#/models/2",
         "there is already a body named \"ball\"", "rename"},
        {"/models/1/name", "\"two*\"", "", "may not contain *", "rename it"},
        {"/models/0/model/actuators/0/joint", "\"sholder\"", "", "the nearest is \"shoulder\"",
         "correct the name"},
        {"/models/0/file", "\"arm.json\"", "", "given twice", "keep"},
        {"/models/1", R"({"name": "ball", "file": "../ball.json"})", "#/models/1/file",
         "in the scene's folder", "use a relative path without .."},
        {"/models/1", R"({"name": "ball", "file": "no.json"})", "#/models/1/file", "there is no file no.json",
         "correct the path"},
        {"/models/1/copies", R"({"count": 1000000, "offset": [0, 0, 0]})", "#/models/1/copies/count",
         "is 1e+06", "use a whole number from 1 to 100000"},
        {"/initial/joints/arm~1elbw", "1", "", "the nearest is \"arm/elbow\"", "correct the name"},
        {"/initial/joints/ball", "1", "", "must be an object", "write an object"},
        {"/controls/0/actuators/0", "\"arm/torqe\"", "",
         "no actuator is named \"arm/torqe\", the nearest is \"arm/torque\"", "correct the name"},
        {"/controls/-", R"({"actuators": ["arm/*"]})", "#/controls/1/actuators/0",
         "\"arm/torque\" is controlled twice", "name it in one place"},
        {"/controls/0", R"({"actuators": ["arm/torque"], "schedule": [[0, 1], [0, 2]]})",
         "#/controls/0/schedule/1/0", "not later", "sort the knots"},
        {"/parameters/0/path", "\"shapes/ball/fricton\"", "", "the nearest is \"shapes/ball/friction\"",
         "correct"},
        {"/parameters/0/value", "-1", "", "must not be negative", "use 0 or more"},
        {"/parameters/0", R"({"path": "bodies/ball/inertia[0]", "value": 9})", "#/parameters/0/value",
         "violates the triangle inequality", "use"},
        {"/parameters/0", R"({"path": "bodies/ball/pseudo_inertia"})", "#/parameters/0/path",
         "can only be optimized", "add \"optimize\": true"},
        {"/parameters/0", R"({"path": "bodies/bal/pseudo_inertia", "optimize": true})", "#/parameters/0/path",
         "the nearest is \"bodies/ball/pseudo_inertia\"", "correct"},
        {"/parameters/0", R"({"path": "bodies/ball/pseudo_inertia", "optimize": true, "lower": 1})",
         "#/parameters/0/lower", "its own scale", "remove it"},
        {"/objective/0/body", "\"bal\"", "", "the nearest is \"ball\"", "correct the name"},
        {"/objective/0", R"({"term": "effort", "at": "end"})", "#/objective/0/at", "has no effort",
         "use \"running\""},
        {"/objective/0/joints", "[\"*\"]", "", "the term is position", "remove it"},
        {"/optimize/method", "\"sgd\"", "", "no choice is named \"sgd\"", "correct the name"},
        {"/exclude", "[[\"ball\", \"wrold\"]]", "#/exclude/0/1", "the nearest is \"world\"",
         "correct the name"},
    };
    for (const Wrong& c : cases) {
        CAPTURE(c.pointer);
        std::string place = *c.place ? c.place : std::string("#") + c.pointer;
        if (const size_t at = place.find("arm~1elbw"); at != std::string::npos)
            place.replace(at, std::string::npos, "\"arm/elbw\"");
        check_complaint(complaint([&] {
                            changed({{c.pointer, c.value}});
                        }),
                        "test.json" + place + ": ", c.what, c.remedy);
    }
}

TEST_CASE("scenes: broken text") {
    const auto of = [](const std::string& text) { return complaint([&] { parse_json(text, "a.json"); }); };
    check_complaint(of("{\n \"a\": 1,\n }"), "a.json:3:2: ", "broken JSON", "check commas");
    check_complaint(of("{\"a\": [1, 2"), "a.json:1:12: ", "ends too early", "close");
    check_complaint(of("{\"a\": {\"b\": 1, \"b\": 2}}"), "a.json#/a/b: ", "duplicate key", "remove one");
    check_complaint(of("[0, {\"b/c\": 1, \"b/c\": 2}]"), "a.json#/1/\"b/c\": ", "duplicate key",
                    "remove one");
    check_complaint(of("[NaN]"), "a.json:1:2: ", "no number NaN", "use a finite number");
    check_complaint(of("[-Infinity]"), "a.json:1:3: ", "no number Infinity", "use a finite number");
    check_complaint(of("[1e999]"), "a.json:1:", "out of range", "use a finite number");
    check_complaint(of(std::string(100, '[')), "a.json#/0/0/", "nested deeper than 64", "flatten");
    check_complaint(of("{\"a\nb\": 1 2}"), "a.json:1:", "broken JSON", "check");
    check_complaint(of(""), "a.json:1:1: ", "ends too early", "close");

    Json infinite = base();
    infinite["time_step"] = std::numeric_limits<double>::infinity();
    check_complaint(complaint([&] { scene_of(infinite); }), "test.json#/time_step: ", "must be finite",
                    "use a finite number");
    check_complaint(complaint([] { load_scene("thrw"); }), "thrw: ", "the nearest is \"throw\"",
                    "give a name");
    check_complaint(complaint([] { load_scene("no/such.json"); }), "no/such.json: ", "no such file",
                    "check the path");
    check_complaint(complaint([] { load_scene("throw", 0); }), find_scene("throw").string(),
                    "cannot run 0 steps", "use 1 to");
}
