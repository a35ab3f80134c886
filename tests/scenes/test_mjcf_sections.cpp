// Contact filters, actuators, equalities, keyframes, assets and options of MJCF, and what is not supported.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "core/dynamics/kinematics.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/walk.hpp"

namespace costate::test {
namespace {

// Free balls, one for each (contype, conaffinity)
std::string balls(const std::vector<std::array<int, 2>>& kinds) {
    std::string text = "<worldbody>";
    for (size_t i = 0; i < kinds.size(); ++i)
        text += "<body><freejoint/><geom name='g" + std::to_string(i) + "' size='.1' contype='" +
                std::to_string(kinds[i][0]) + "' conaffinity='" + std::to_string(kinds[i][1]) + "'/></body>";
    return text + "</worldbody>";
}

TEST_CASE("MJCF: geoms meet where contype and conaffinity say so") {
    std::mt19937 random(7);
    for (int trial = 0; trial < 20; ++trial) {
        std::vector<std::array<int, 2>> kinds;
        for (int i = 0; i < 12; ++i)
            kinds.push_back({static_cast<int>(random() % 8), static_cast<int>(random() % 8)});
        const Scene s = mjcf(balls(kinds)).scene();
        const auto index = [&](size_t i) { return s.world.shapes.index("m/g" + std::to_string(i)); };
        int wrong = 0;
        for (size_t i = 0; i < kinds.size(); ++i)
            for (size_t j = i + 1; j < kinds.size(); ++j) {
                const bool meet = (kinds[i][0] & kinds[j][1]) != 0 || (kinds[j][0] & kinds[i][1]) != 0;
                const int a = index(i), b = index(j);
                wrong += meet !=
                         (a >= 0 && b >= 0 && (s.world.shapes.is_pair(a, b) || s.world.shapes.is_pair(b, a)));
            }
        CHECK(wrong == 0);
    }
    // A scene's own ground is like MuJoCo's default geom: it meets what only has a contype.
    Json json = mjcf(balls({{1, 0}, {2, 2}})).scene_json();
    json["ground"] = true;
    const Scene s = scene_from_json(json, "m.json");
    CHECK(s.world.shapes.is_pair(s.world.shapes.index("m/g0"), s.world.shapes.index("ground")));
    CHECK(!s.world.shapes.is_pair(s.world.shapes.index("m/g1"), s.world.shapes.index("ground")));
}

TEST_CASE("MJCF: parents, children, the world, excluded pairs") {
    const Scene s = mjcf(R"(<worldbody><geom name="floor" type="plane" size="1 1 1"/>
        <body name="a"><joint pos="0 0 1"/><geom name="a" size=".1"/>
            <body name="weld"><geom name="weld" size=".1"/>
                <body name="b"><joint/><geom name="b" size=".1"/>
                    <body name="c"><joint/><geom name="c" size=".1"/></body></body></body></body>
        <body name="d"><freejoint/><geom name="d" size=".1"/></body>
        <body name="base"><geom name="base" size=".1"/>
            <body name="link"><joint/><geom name="link" size=".1"/></body></body></worldbody>
        <contact><exclude body1="a" body2="d"/><exclude body1="world" body2="d"/>
            <exclude body1="base" body2="link"/></contact>)")
                        .scene();
    const ShapeSet& set = s.world.shapes;
    const auto meet = [&](const char* a, const char* b) {
        const auto index = [&](const std::string& name) {
            return set.index(name == "floor" ? name : "m/" + name);
        };
        return set.is_pair(index(a), index(b)) || set.is_pair(index(b), index(a));
    };
    CHECK((!meet("a", "weld") && !meet("a", "b") && !meet("weld", "b") && !meet("b", "c")));
    CHECK((meet("a", "c") && meet("weld", "c") && meet("a", "floor") && meet("weld", "floor") &&
           meet("b", "floor")));
    CHECK((!meet("a", "d") && !meet("floor", "d") && meet("b", "d")));
    // excluded is a body without those that are fixed to it, as in MuJoCo
    CHECK((meet("weld", "d") && meet("base", "d") && !meet("base", "link") && meet("floor", "link")));
}

std::string driven(const std::string& actuators, const std::string& defaults = "") {
    return "<default>" + defaults + "</default>" + one_body("", "<joint name='h' ref='30' range='-90 90'/>") +
           "<actuator>" + actuators + "</actuator>";
}

TEST_CASE("MJCF: actuators by their affine law") {
    const auto first = [](const std::string& actuators, const std::string& defaults = "") {
        return mjcf("<compiler angle='radian'/>" + driven(actuators, defaults))
            .imported.model["actuators"][0];
    };
    const Json motor = first("<motor joint='h' gear='3' ctrlrange='-1 2'/>");
    CHECK((motor["type"] == "motor" && motor["gear"] == 3 && json_equals(motor["control_limits"], {-1, 2}) &&
           motor["name"] == "h"));
    // servos push against the reference, where our coordinate is 0: kp (ctrl - gear (q + ref))
    const Json servo = first("<position name='p' joint='h' kp='10' kv='2' gear='2' forcerange='-5 5'/>");
    CHECK((servo["type"] == "general" && servo["gain"] == 10 &&
           json_equals(servo["bias"], {-10 * 2 * 30.0, -10, -2}) &&
           json_equals(servo["force_limits"], {-5, 5})));
    const Json speed = first("<velocity joint='h' kv='4'/>");
    CHECK((speed["type"] == "velocity" && speed["kd"] == 4));
    const Json general = first("<general joint='h' gainprm='3' biastype='affine' biasprm='1 0 -2'/>");
    CHECK((general["type"] == "general" && general["gain"] == 3 && json_equals(general["bias"], {1, 0, -2})));
    // biastype none
    CHECK(first("<general joint='h' gainprm='3' biasprm='1 0 -2'/>")["bias"] == Json{0.0, 0.0, 0.0});
    // one default for all kinds, shortcuts and all
    const Json inherited = first("<position joint='h'/>", "<general gainprm='7' ctrlrange='-1 1'/>");
    CHECK((inherited["gain"] == 7 && json_equals(inherited["bias"], {-7 * 30.0, -7, 0}) &&
           json_equals(inherited["control_limits"], {-1, 1})));
    const Json range = first("<position joint='h' inheritrange='.5'/>");
    CHECK(json_equals(range["control_limits"], {-45, 45}));

    const MjcfText at_zero =
        mjcf(one_body("", "<joint name='h' actuatorfrcrange='-3 6'/>") +
             "<actuator><position joint='h' kp='10' kv='2' gear='-3' forcerange='-5 .5'/></actuator>");
    const Json limited = at_zero.imported.model["actuators"][0];
    CHECK((limited["type"] == "servo" && limited["kp"] == 10 && limited["kd"] == 2 &&
           json_equals(limited["force_limits"], {-2, .5})));
}

TEST_CASE(
    "MJCF: a range of actuator forces of a joint does not count tendons and sites, which gives a warning") {
    const auto warnings = [](const std::string& actuator, const std::string& range) {
        const MjcfText m =
            mjcf("<worldbody><site name='base'/><body><joint name='h' " + range +
                 "/><geom size='.1'/><body pos='0 0 1'><joint name='k'/><geom size='.1'/>"
                 "<site name='end'/></body></body></worldbody><tendon><fixed name='f'><joint joint='h' "
                 "coef='1'/></fixed><fixed name='g'><joint joint='k' coef='1'/></fixed><spatial name='s'>"
                 "<site site='base'/><site site='end'/></spatial></tendon><actuator><motor " +
                 actuator + "/></actuator>");
        return m.warnings.size();
    };
    for (const char* actuator : {"tendon='f'", "tendon='s'", "site='end'"}) {
        CAPTURE(actuator);
        CHECK(warnings(actuator, "actuatorfrcrange='-1 1'") == warnings(actuator, "") + 1);
    }
    for (const char* actuator : {"tendon='g'", "site='base'", "joint='h'", "joint='k'"}) {
        CAPTURE(actuator);
        CHECK(warnings(actuator, "actuatorfrcrange='-1 1'") == warnings(actuator, ""));
    }
}

TEST_CASE("MJCF: numbers that an attribute does not give are those of its defaults") {
    const MjcfText m =
        mjcf(R"(<default><geom size=".1 .2" friction=".5 .02 .003" solimp=".8 .9 .01 .4 3" solref=".05 .7"/>
        <general gainprm="4" biastype="affine" biasprm="1 -5 -.5"/></default>
      <worldbody><body name="b"><joint name="j"/><geom type="capsule" size=".05" friction=".6" solimp=".7" solref=".03"
        condim="6"/></body></worldbody><actuator><general name="a" joint="j" biasprm="2"/></actuator>)");
    const Json& shape = m.body(0)["shapes"][0];
    CHECK((shape["radius"] == 0.05 && shape["half_length"] == 0.2));
    CHECK((shape["solimp"] == Json{0.7, 0.9, 0.01, 0.4, 3.0} && shape["solref"] == Json{0.03, 0.7}));
    CHECK(json_value(shape["friction"]) == doctest::Approx(std::sqrt(0.6)));
    CHECK(json_value(shape["torsional_friction"]) == doctest::Approx(0.02));
    const Json& actuator = m.imported.model["actuators"][0];
    CAPTURE(actuator.dump());
    CHECK((actuator["gain"] == 4 && actuator["bias"] == Json{2.0, -5.0, -0.5}));
}

TEST_CASE("MJCF: actuators without counterpart are left out, and keyframes still fit") {
    const MjcfText m =
        mjcf(driven("<general joint='h' gaintype='user'/><motor name='a' tendon='t'/><motor name='b' "
                    "joint='h'/><general joint='h' dyntype='user'/>") +
             "<keyframe><key ctrl='1 2 3 4'/></keyframe>");
    CHECK(m.imported.model["actuators"].size() == 1);
    CHECK(m.imported.model["keyframes"][0]["controls"] == Json{{"b", 3.0}});
    CHECK(m.warnings.size() == 3);
    CHECK(m.warnings[2].find("m.xml:2: <general> with dyntype=\"user\" is not supported") == 0);
}

TEST_CASE("MJCF: dynamics of actuators, and the activations of keyframes") {
    const MjcfText m = mjcf(
        driven("<motor name='m' joint='h'/>"
               "<general name='f' joint='h' dyntype='filter' dynprm='.2' actlimited='true' actrange='-1 2'/>"
               "<general joint='h' dyntype='user'/>"
               "<general name='g' joint='h' dyntype='filter' actearly='true'/>"
               "<position name='p' joint='h' kp='3' timeconst='.1'/>"
               "<position name='q' joint='h' kp='3' timeconst='0'/>"
               "<intvelocity name='i' joint='h' kp='5' kv='.5' actrange='-2 3'/>"
               "<cylinder name='c' joint='h' timeconst='.3' diameter='2' bias='1 2 3'/>"
               "<general name='d' joint='h' dyntype='filter' dynprm='0'/>") +
        "<keyframe><key act='1 2 3 4 5 6 7' ctrl='0 0 0 0 0 0 0 0 0'/></keyframe>");
    const Json& a = m.imported.model["actuators"];
    REQUIRE(a.size() == 7);
    CHECK(!a[0].contains("dynamics"));
    CHECK(a[1]["dynamics"] == Json{{"type", "filter"}, {"time_constant", 0.2}, {"limits", {-1.0, 2.0}}});
    CHECK(a[2]["dynamics"] == Json{{"type", "filter"}, {"time_constant", 1.0}, {"early", true}});
    CHECK(a[3]["dynamics"] == Json{{"type", "exact_filter"}, {"time_constant", 0.1}});
    CHECK(!a[4].contains("dynamics"));
    CHECK(a[5]["dynamics"] == Json{{"type", "integrator"}, {"limits", {-2.0, 3.0}}});
    CHECK((a[5]["gain"] == 5 && a[5]["bias"][1] == -5 && a[5]["bias"][2] == -0.5));
    CHECK(a[6]["dynamics"] == Json{{"type", "filter"}, {"time_constant", 0.3}});
    CHECK(json_value(a[6]["gain"]) == doctest::Approx(std::acos(-1.0)));
    CHECK((a[6]["bias"][1] == 2 && a[6]["bias"][2] == 3));
    // each actuator with dynamics has its number, also those that are left out
    CHECK(m.imported.model["keyframes"][0]["activations"] ==
          Json{{"f", 1.0}, {"g", 3.0}, {"p", 4.0}, {"i", 5.0}, {"c", 6.0}});
    CHECK(m.warnings.size() == 2);
    const Scene scene = m.scene();
    CHECK((scene.world.na() == 5 && scene.x0.tail(5) == (VecX<double>(5) << 1, 3, 4, 5, 6).finished()));
}

TEST_CASE("MJCF: muscles, with the force that their scale gives, and the lengths at which they settle") {
    const std::string text =
        "<mujoco><worldbody><body><joint name='h' axis='0 1 0' limited='true' range='-60 30' ref='30'/>"
        "<inertial pos='0 0 0' mass='1' diaginertia='.1 .2 .1'/><body><joint name='free'/><inertial pos='0 0 "
        "0' "
        "mass='1' diaginertia='.1 .1 .1'/></body></body></worldbody><actuator><muscle name='a' joint='h' "
        "gear='-2' "
        "scale='50'/><muscle name='b' joint='h' lengthrange='-1 2' force='30' timeconst='.02 .03' "
        "tausmooth='.5' range='.8 "
        "1.2' "
        "lmin='.4' fvmax='1.5'/><general name='c' joint='h' lengthrange='-1 2' dyntype='muscle' dynprm='.1 "
        ".2 .7' "
        "gaintype='muscle' biastype='muscle' gainprm='.7 1 20 200 .5 1.6 1.5 1.3 1.2' biasprm='.7 1 20 200 "
        ".5 1.6 "
        "1.5 1.3 1.2'/><muscle name='d' joint='free'/></actuator></mujoco>";
    const ImportedModel imported = parse_model(text, "m.xml", {}, nullptr);
    REQUIRE(imported.warnings.size() == 1);
    check_complaint(imported.warnings[0], "m.xml:1: ", "does not settle, so it does not pull",
                    "limit a joint");
    const Json& a = imported.model["actuators"];
    REQUIRE(a.size() == 4);
    const double degree = std::acos(-1.0) / 180;
    // l = gear (q + ref): from -2 (30) to -2 (-60) degrees, less -2 (30), and what MuJoCo 2.2.2 finds beyond these limits,
    // which are soft
    constexpr double beyond = 0.00113988;
    CHECK(json_value(a[0]["muscle"]["length_range"][0]) == doctest::Approx(-beyond).epsilon(1e-5));
    CHECK(json_value(a[0]["muscle"]["length_range"][1]) ==
          doctest::Approx(180 * degree + beyond).epsilon(1e-7));
    CHECK((!a[0].contains("muscle_scale") && json_value(a[0]["muscle"]["force"]) > 1));
    CHECK(a[0]["dynamics"] == Json{{"type", "muscle"}, {"rise_time", 0.01}, {"fall_time", 0.04}});
    const Json& b = a[1]["muscle"];
    CHECK((b["force"] == 30 && b["range"] == Json{0.8, 1.2} && b["lmin"] == 0.4 && b["fvmax"] == 1.5));
    CHECK(json_value(b["length_range"][0]) == doctest::Approx(-1 - 30 * degree));
    CHECK(a[1]["dynamics"] ==
          Json{{"type", "muscle"}, {"rise_time", 0.02}, {"fall_time", 0.03}, {"switch_width", 0.5}});
    CHECK((a[2]["muscle"]["force"] == 20 && a[2]["muscle"]["range"] == Json{0.7, 1.0}));
    CHECK(a[2]["dynamics"] ==
          Json{{"type", "muscle"}, {"rise_time", 0.1}, {"fall_time", 0.2}, {"switch_width", 0.7}});
    CHECK((a[3]["muscle"]["force"] == 0 && !a[3].contains("muscle_scale")));
}

TEST_CASE("MJCF: numbers of a muscle behind the type that a class gives") {
    const auto muscle = [](const std::string& defaults, const std::string& own) {
        return parse_model("<mujoco><default>" + defaults +
                               "</default><worldbody><body><joint name='h' range='-1 1' "
                               "limited='true'/><inertial pos='0 0 0' "
                               "mass='1' diaginertia='.1 .2 .1'/></body></worldbody><actuator>" +
                               own + "</actuator></mujoco>",
                           "m.xml", {}, nullptr);
    };
    const std::string type =
        "<general dyntype='muscle' gaintype='muscle' biastype='muscle' dynprm='.01 .04' "
        "gainprm='.75 1.05 -1 200 .5 1.6 1.5 1.3 1.2' biasprm='.75 1.05 -1 200 .5 1.6 1.5 1.3 1.2'/>";
    const ImportedModel m =
        muscle(type,
               "<general joint='h' lengthrange='1 2' gainprm='.4 1.1 90 1 0 1.8 10 1.4 1.3' "
               "biasprm='.4 1.1 90 1 0 1.8 10 1.4 1.3'/>");
    REQUIRE((m.warnings.empty() && m.model["actuators"].size() == 1));
    CHECK(m.model["actuators"][0]["muscle"] == Json{{"force", 90.0},
                                                    {"length_range", {1.0, 2.0}},
                                                    {"range", {0.4, 1.1}},
                                                    {"fpmax", 1.4},
                                                    {"lmin", 0.0},
                                                    {"lmax", 1.8},
                                                    {"vmax", 10.0},
                                                    {"fvmax", 1.3}});
    // without a bias it does not resist
    const ImportedModel soft =
        muscle("<general gaintype='muscle' gainprm='.4 1.1 90 1 .3 1.8 10 1.4 1.3'/>",
               "<general joint='h' lengthrange='1 2'/><muscle joint='h' lengthrange='1 2' force='3'/>");
    CHECK((soft.model["actuators"][0]["muscle"]["fpmax"] == 0 &&
           soft.model["actuators"][1]["muscle"]["fpmax"] == 1.4));
    CHECK((soft.model["actuators"][1]["muscle"]["force"] == 3 &&
           soft.model["actuators"][1]["muscle"]["vmax"] == 10));
    for (const char* other : {"gaintype='muscle'", "biastype='muscle'",
                              "gaintype='muscle' biastype='muscle' gainprm='.4 1.1 90 1 0 1.8 10 1.4 1.3'"}) {
        const ImportedModel none = muscle("", std::string("<general joint='h' ") + other + "/>");
        CHECK((!none.model.contains("actuators") && none.warnings.size() == 1));
    }
}

TEST_CASE("MJCF: equalities hold at the reference") {
    const MjcfText m = mjcf(R"(<option gravity="0 0 -1"/><worldbody>
        <body name="a" pos="0 0 1" euler="0 30 0"><joint name="a" axis="0 1 0"/><geom size=".1" mass="1" pos=".3 0 0"/></body>
        <body name="b" pos="1 0 1"><joint name="b" axis="0 1 0" ref="20"/><geom size=".1" mass="1" pos=".3 0 0"/></body>
        <body name="c" pos="2 0 1" euler="10 20 30"><freejoint/><geom size=".1" mass="1"/></body></worldbody>
        <equality><weld name="w" body1="b" body2="c" anchor=".1 0 0"/>
            <connect body1="a" body2="b" anchor=".2 .1 0" active="false"/>
            <joint joint1="a" joint2="b" polycoef=".1 -2 0 0 0"/><connect body1="c" anchor="0 0 .2" active="true"/></equality>)");
    const Json& e = m.imported.model["equalities"];
    REQUIRE(e.size() == 3);
    CHECK((e[0]["name"] == "w" && json_equals(e[0]["point_b"], {.1, 0, 0})));
    CHECK((e[1]["type"] == "coupling" && e[1]["offset"] == .1 && e[1]["ratio"] == -2));
    CHECK((e[2]["body_b"] == "world" && json_equals(e[2]["point_a"], {0, 0, .2})));
    const Json bent =
        mjcf(R"(<worldbody><body><joint name="a"/><geom size=".1" mass="1"/><body><joint name="b"/>
        <geom size=".1" mass="1"/></body></body></worldbody><equality><joint joint1="a" joint2="b" polycoef=".1 -2 .3"/></equality>)")
            .imported.model["equalities"][0];
    CHECK((json_equals(bent["polynomial"], {.1, -2, .3, 0, 0}) && !bent.contains("ratio")));
    const MjcfText pulleys = mjcf(
        R"(<worldbody><body><joint name="a"/><geom size=".1" mass="1"/><site name="s"/><body><joint name="b"/>
        <geom size=".1" mass="1"/></body></body><site name="w"/></worldbody><tendon><fixed name="t"><joint joint="a" coef="1"/></fixed>
        <fixed name="u"><joint joint="b" coef="2"/></fixed><spatial name="v"><site site="s"/><site site="w"/></spatial></tendon>
        <equality><tendon tendon1="t" tendon2="u"/><tendon tendon1="u" polycoef=".2"/><tendon tendon1="v"/></equality>)");
    const Json& of_tendons = pulleys.imported.model["equalities"];
    REQUIRE(of_tendons.size() == 2);
    CHECK((of_tendons[0]["tendon_a"] == "t" && of_tendons[0]["tendon_b"] == "u" &&
           of_tendons[0]["ratio"] == 1));
    CHECK((of_tendons[1]["tendon_a"] == "u" && of_tendons[1]["offset"] == .2 &&
           !of_tendons[1].contains("tendon_b")));
    REQUIRE(pulleys.warnings.size() == 1);
    CHECK(pulleys.warnings[0].find("spatial") != std::string::npos);
    CHECK(m.warnings.size() == 1);
    // points and axes of the welded bodies are one at the reference
    const Scene s = m.scene();
    const Model& model = s.world.model;
    Kinematics<double> k(model);
    VecX<double> q = s.x0.head(model.nq), v = VecX<double>::Zero(model.nv);
    kinematics(model, s.theta.data(), q.data(), v.data(), k);
    const auto pose = [&](int body) {
        return body < 0 ? Transform<double>::identity()
                        : Transform<double>{k.X[body].R, k.world_position(model, body)};
    };
    for (const int n : {0, 2}) {
        const Equality& equality = model.equalities[n];
        const Vec3<double> a = transform_point(pose(equality.body_a),
                                               load3(s.theta.data() + model.anchor_a.at(n))),
                           b = transform_point(pose(equality.body_b),
                                               load3(s.theta.data() + model.anchor_b.at(n)));
        CHECK((a - b).norm() < 1e-14);
        if (n == 0) CHECK((pose(equality.body_b).R * equality.R_ba - pose(equality.body_a).R).norm() < 1e-14);
    }
    // a pose that is not that of the reference
    const Json weld = mjcf(R"(<worldbody><body name="a"><freejoint/><geom size="1"/></body></worldbody>
        <equality><weld body1="a" relpose="1 2 3 0 0 0 2"/></equality>)")
                          .imported.model["equalities"][0];
    CHECK((weld["body_b"] == "world" && json_equals(weld["point_a"], {1, 2, 3}) &&
           json_equals(weld["quaternion"], {0, 0, 0, -1})));
}

TEST_CASE("MJCF: keyframes by name, with references taken off; instances start in one") {
    const MjcfText m = mjcf(R"(<worldbody>
        <body name="a" pos="0 0 5"><freejoint name="root"/><geom size=".1"/>
            <body name="b"><joint name="h" ref="90"/><geom size=".1" pos="0 0 1"/>
                <body name="c"><joint name="s" type="ball"/><geom size=".1" pos="0 0 1"/></body></body></body>
        </worldbody><actuator><position name="p" joint="h" kp="3"/></actuator>
        <keyframe><key name="up" qpos="1 2 3 1 0 0 0 2 1 0 0 0"/>
            <key name="home" qpos="4 5 6 0 0 0 1 3 0 1 0 0" qvel="1 2 3 4 5 6 7 8 9 10" ctrl=".5"/><key/></keyframe>)");
    const Json& keys = m.imported.model["keyframes"];
    REQUIRE(keys.size() == 3);
    CHECK((keys[0]["name"] == "up" &&
           json_value(keys[0]["joints"]["h"]) == doctest::Approx(2 - std::acos(0.0)) &&
           keys[2]["name"] == "key"));
    const double h = 3 - std::acos(0.0);
    const Scene home = m.scene();
    const int nq = home.world.model.nq;
    CHECK((home.x0.head(nq) - (VecX<double>(12) << 4, 5, 6, 0, 0, 0, 1, h, 0, 1, 0, 0).finished()).norm() <
          1e-14);
    CHECK((home.x0.tail(10) - VecX<double>::LinSpaced(10, 1, 10)).norm() < 1e-14);
    CHECK(home.z0[0] == .5);

    Json json = m.scene_json();
    json["models"][0]["keyframe"] = "up";
    json["models"][0]["position"] = {0, 0, 10};
    json["models"][0]["rpy_deg"] = {0, 0, 90};
    json["initial"] = {{"joints", {{"m/h", 0.25}}}};
    const Scene up = scene_from_json(json, "m.json");
    CHECK((up.x0.head<3>() - Vec3<double>(-2, 1, 13)).norm() < 1e-14);
    CHECK(up.x0[7] == 0.25);  // what the scene says itself comes last
    CHECK(up.x0[6] == doctest::Approx(std::sqrt(0.5)));
    json["models"][0]["keyframe"] = "down";
    CHECK(complaint([&] {
              scene_from_json(json, "m.json");
          }).find("#/models/0/keyframe: the model has no keyframe of this name") != std::string::npos);
}

TEST_CASE("MJCF: gravity, time step, and what no scene can say") {
    const Json scene =
        mjcf("<option timestep='.005' gravity='0 0 -2' integrator='RK4'/>" + one_body("")).imported.scene;
    CHECK((scene["time_step"] == .005 && json_equals(scene["gravity"], {0, 0, -2})));
    CHECK(mjcf(one_body("")).imported.scene["time_step"] == .002);
    CHECK(json_equals(mjcf("<option><flag gravity='disable' energy='enable'/></option>" + one_body(""))
                          .imported.scene["gravity"],
                      {0, 0, 0}));

    const MjcfText m = mjcf(
        "<option viscosity='.1'/>\n<tendon>\n<spatial name='t'/>\n</tendon>\n<sensor>\n<rangefinder "
        "site='s'/>\n"
        "<rangefinder site='s'/>\n</sensor>\n" +
        one_body("<plugin/>", "<joint bounce='1'/>"));
    REQUIRE(m.warnings.size() == 4);
    const auto says = [&](const std::string& begin) {
        return std::any_of(m.warnings.begin(), m.warnings.end(),
                           [&](const std::string& w) { return w.compare(0, begin.size(), begin) == 0; });
    };
    CHECK(says("m.xml:4: <spatial> in <tendon> runs over no site of a body"));
    CHECK(says("m.xml:7: <rangefinder>"));
    CHECK(says("m.xml:10: attribute \"bounce\" of <joint>"));
    CHECK(says("m.xml:10: <plugin> is not supported"));
    CHECK(complaint([] {
              mjcf("<tendon>\n<spatial name='t'/></tendon>" + one_body(""), true);
          }).find("m.xml:3: <spatial> in <tendon>") == 0);
    CHECK_NOTHROW(mjcf("<option solver='CG'/><size njmax='5'/><visual/><statistic extent='1'/>" +
                           one_body("<camera/><light/>"),
                       true));
    // softness other than MuJoCo's usual one
    CHECK_NOTHROW(mjcf(one_body("<geom size='1' solref='.02 1' condim='3'/>"), true));
    CHECK(mjcf("<default><geom solref='.01 1'/></default>" + one_body("<geom size='1'/>")).warnings.size() ==
          1);
    // of two signs: the usual one
    CHECK_NOTHROW(mjcf(one_body("<geom size='1' solref='-1 1'/>"), true));
}

TEST_CASE("MJCF: an equality of bodies that do not move relative to each other holds nothing") {
    const MjcfText m = mjcf(
        "<worldbody><body name='a'><joint/><geom size='.1'/>"
        "<body name='b'/></body>\n<body name='c'/></worldbody><equality>\n<weld body1='c'/>"
        "<connect body1='b' body2='a' anchor='0 0 0'/><weld body1='b' body2='c'/></equality>");
    CHECK(m.imported.model["equalities"].size() == 1);
    CHECK(m.warnings.size() == 2);
    CHECK(m.warnings[0].find("m.xml:4: <weld> holds two bodies that do not move") == 0);
}

TEST_CASE("MJCF: equalities between sites move the sites together") {
    const auto last_frames = [](const char* kind) {
        const MjcfText file =
            mjcf(std::string("<option gravity='0 0 0'><flag contact='disable'/></option><worldbody><body "
                             "name='a'><freejoint/><geom size='.1'/>"
                             "<site name='s' pos='.1 .2 0' euler='20 30 40'/></body><body name='b' pos='.5 0 "
                             ".1'><freejoint/>"
                             "<geom size='.1'/><site name='t' pos='0 .1 -.1' euler='-10 50 "
                             "5'/></body></worldbody><equality><") +
                 kind + " site1='s' site2='t'/></equality>");
        CHECK(file.warnings.empty());
        const Scene scene = file.scene();
        const Model& m = scene.world.model;
        const VecX<double> x = walk(scene, 3000);
        Kinematics<double> k(m);
        kinematics(m, scene.theta.data(), x.data(), x.data() + m.nq, k);
        std::vector<Transform<double>> frames;
        for (size_t n = 0; n < m.sites.size(); ++n) {
            const Transform<double>& X = k.X[m.sites[n].body];
            const Vec3<double> p = load3(scene.theta.data() + m.site_position.at(static_cast<int>(n)));
            frames.push_back(
                {X.R * m.sites[n].R_BS, Vec3<double>(k.world_position(m, m.sites[n].body) + X.R * p)});
        }
        return frames;
    };
    const auto connected = last_frames("connect"), welded = last_frames("weld");
    CHECK((connected[0].p - connected[1].p).norm() < 1e-9);
    CHECK((connected[0].R - connected[1].R).norm() > 0.1);
    CHECK((welded[0].p - welded[1].p).norm() < 1e-9);
    CHECK((welded[0].R - welded[1].R).norm() < 1e-9);
}

TEST_CASE("MJCF: sites are frames of bodies") {
    const MjcfText m =
        mjcf(one_body("<site name='s' pos='1 2 3' quat='0 0 2 0'/><site fromto='0 0 0 0 0 2' name='t'/>") +
             "<worldbody><site/></worldbody>");
    CHECK(m.warnings.empty());                 // that of the world is for tendons
    if (!m.body(0).contains("sites")) return;  // scenes without sites leave them out
    const Json& sites = m.body(0)["sites"];
    CHECK((sites.size() == 2 && sites[0]["name"] == "s" && json_equals(sites[0]["position"], {1, 2, 3}) &&
           json_equals(sites[0]["quaternion"], {0, 0, 1, 0})));
    CHECK(json_equals(sites[1]["position"], {0, 0, 1}));
    CHECK_NOTHROW(m.scene());
}

TEST_CASE("keyframes and the world of a model: what is wrong in them") {
    const auto refuse = [](const std::string& pointer, const std::string& json, const std::string& what,
                           const std::string& remedy) {
        Json scene = base();
        scene["models"][0]["model"]["keyframes"] =
            parse_json(R"([{"name": "k", "joints": {"elbow": 1}, "controls": {"torque": 2}}])", "t");
        scene["models"][0]["model"]["world"] =
            parse_json(R"({"time_step": 0.1, "shapes": [{"name": "s", "type": "plane"}]})", "t");
        CHECK_NOTHROW(scene_of(scene));
        scene[Json::json_pointer("/models/0/model" + pointer)] = parse_json(json, "value");
        check_complaint(complaint([&] { scene_of(scene); }), "test.json#/models/0/model", what, remedy);
    };
    refuse("/keyframes/0/name", "\"\"", "is empty", "give it a name");
    refuse("/keyframes/0/joints/elbow", "[1]", "must be a number", "write a number");
    refuse("/keyframes/0/joints/knee", "1", "not a movable joint", "correct or remove it");
    refuse("/keyframes/0/velocities", R"({"elbow": "fast"})", "must be a number", "write a number");
    refuse("/keyframes/0/controls/elbwo", "1", "not an actuator, the nearest is \"elbow\"",
           "correct or remove it");
    refuse("/keyframes/0/qpos", "[1]", "unknown key of keyframe", "correct or remove it");
    refuse("/keyframes/1", R"({"name": "k"})", "already a keyframe", "rename");
    refuse("/world/time_step", "0", "must be positive", "use a number above 0");
    refuse("/world/shapes/0/radius", "1", "has no meaning here", "remove it");
    refuse("/world/wind", "1", "unknown key of model_world", "correct or remove it");
}

}  // namespace
}  // namespace costate::test
