// What is made of MJCF, section by section; MuJoCo's meaning of each is in its XML reference.
#include <doctest/doctest.h>

#include <cmath>

#include "core/dynamics/kinematics.hpp"
#include "scenes/import/mesh/solid.hpp"
#include "tests/support/mjcf_text.hpp"

namespace costate::test {
namespace {

const double pi = std::acos(-1.0);

Mat3<double> rotation(const Json& object) {
    if (!object.contains("quaternion")) return Mat3<double>::Identity();
    const Json& q = object["quaternion"];
    return Eigen::Quaterniond(json_value(q[0]), json_value(q[1]), json_value(q[2]), json_value(q[3]))
        .toRotationMatrix();
}

TEST_CASE("MJCF: angles, ranges and autolimits of the compiler") {
    const std::string joints =
        one_body("", "<joint name='j' range='-90 45' ref='30' springref='60' stiffness='2'/>");
    const Json degrees = mjcf(joints).body(0)["joint"];
    CHECK(json_equals(degrees["limits"], {-pi / 2 - pi / 6, pi / 4 - pi / 6}));
    CHECK(json_value(degrees["rest"]) == doctest::Approx(pi / 6).epsilon(1e-14));
    CHECK(degrees["stiffness"] == 2);
    const std::string radians = one_body("", "<joint name='j' range='-1 2' ref='.5' limited='true'/>");
    CHECK(json_equals(
        mjcf("<compiler angle='radian' autolimits='false'/>" + radians).body(0)["joint"]["limits"],
        {-1.5, 1.5}));
    CHECK(!mjcf(one_body("", "<joint range='-1 2' limited='false'/>")).body(0)["joint"].contains("limits"));
    const Json slide = mjcf(one_body("", "<joint type='slide' range='-1 2' ref='.5'/>")).body(0)["joint"];
    CHECK((slide["type"] == "prismatic" && json_equals(slide["limits"], {-1.5, 1.5})));
    const Json ball = mjcf(one_body("", "<joint type='ball' range='0 90'/>")).body(0)["joint"];
    CHECK((ball["type"] == "spherical" && std::abs(json_value(ball["greatest_angle"]) - pi / 2) < 1e-14));
    const MjcfText sprung = mjcf(one_body("", "<joint type='ball' stiffness='2' springref='30'/>"));
    CHECK(sprung.warnings.empty());
    CHECK((sprung.body(0)["joint"]["stiffness"] == 2 && !sprung.body(0)["joint"].contains("rest")));
}

TEST_CASE("MJCF: one turn said in five ways, and euler sequences") {
    const auto turn = [](const std::string& compiler, const std::string& said) {
        return rotation(mjcf(compiler + "<worldbody><body " + said +
                             "><joint type='slide'/><geom size='1'/></body></worldbody>")
                            .body(0)["joint"]);
    };
    const Mat3<double> wanted = Eigen::AngleAxisd(pi / 2, Vec3<double>::UnitY()).toRotationMatrix();
    for (const char* said : {"quat='1 0 1 0'", "axisangle='0 2 0 90'", "euler='0 90 0'",
                             "xyaxes='0 0 -1 0 1 0'", "xyaxes='0 0 -3 0 1 5'", "zaxis='4 0 0'"}) {
        CAPTURE(said);
        CHECK((turn("", said) - wanted).norm() < 1e-14);
    }
    const auto about = [](double degrees, int axis) {
        return Eigen::AngleAxisd(degrees * pi / 180, Vec3<double>::Unit(axis)).toRotationMatrix();
    };
    CHECK((turn("", "euler='10 20 30'") - about(10, 0) * about(20, 1) * about(30, 2)).norm() < 1e-14);
    CHECK(
        (turn("<compiler eulerseq='zyx'/>", "euler='10 20 30'") - about(10, 2) * about(20, 1) * about(30, 0))
            .norm() < 1e-14);
    CHECK(
        (turn("<compiler eulerseq='XYZ'/>", "euler='10 20 30'") - about(30, 2) * about(20, 1) * about(10, 0))
            .norm() < 1e-14);
    CHECK((turn("<compiler angle='radian'/>", "euler='0 0 1'") - about(180 / pi, 2)).norm() < 1e-14);
    CHECK((turn("", "zaxis='0 0 -1'").col(2) + Vec3<double>::UnitZ()).norm() < 1e-14);
}

TEST_CASE("MJCF: defaults nest, childclass reaches down, the innermost word counts") {
    const MjcfText m = mjcf(R"(
        <default>
            <joint damping="1" armature="2"/>
            <default class="leg"><joint damping="3"/><default class="knee"><joint axis="0 1 0"/></default></default>
            <default class="arm"><joint armature="5"/></default>
        </default>
        <worldbody>
            <body name="a"><joint name="j0"/><geom size="1"/>
                <body name="b" childclass="leg"><joint name="j1"/><geom size="1"/>
                    <body name="c"><joint name="j2" class="knee"/><geom size="1"/>
                        <body name="d" childclass="arm"><joint name="j3" damping="7"/><geom size="1"/></body>
                    </body>
                </body>
            </body>
        </worldbody>)");
    const auto joint = [&](size_t i) { return m.body(i)["joint"]; };
    CHECK((joint(0)["damping"] == 1 && joint(0)["armature"] == 2));
    CHECK((joint(1)["damping"] == 3 && joint(1)["armature"] == 2));
    CHECK(
        (joint(2)["damping"] == 3 && joint(2)["armature"] == 2 && json_equals(joint(2)["axis"], {0, 1, 0})));
    CHECK((joint(3)["damping"] == 7 && joint(3)["armature"] == 5));
}

// MuJoCo 2.2.2 gives these files the same joints.
TEST_CASE("MJCF: a class of defaults inherits from its parent as of its own section") {
    const auto damping = [](const std::string& sections) {
        const MjcfText m =
            mjcf(sections + "<worldbody><body><joint class='leg'/><geom size='1'/></body></worldbody>");
        return json_value(m.body(0)["joint"]["damping"]);
    };
    const std::string leg = "<default class='leg'><joint armature='2'/></default>",
                      knees = "<joint damping='3'/>";
    CHECK(damping("<default><joint damping='1'/>" + leg + "</default><default>" + knees + "</default>") == 1);
    CHECK(damping("<default>" + knees + "</default><default>" + leg + "</default>") == 3);
    CHECK(damping("<default>" + leg + knees + "</default>") == 3);
}

// Moments of a solid of revolution with the radius r(z), per density: slices of discs.
template <class Radius> Vec3<double> sliced(Radius r, double half, double& volume) {
    const int n = 200000;  // midpoints
    const double dz = 2 * half / n;
    double across = 0, along = 0;
    volume = 0;
    for (int i = 0; i < n; ++i) {
        const double z = -half + (i + 0.5) * dz, r2 = r(z) * r(z), area = pi * r2;
        volume += area * dz;
        along += 0.5 * area * r2 * dz;
        across += area * (0.25 * r2 + z * z) * dz;
    }
    return {across, across, along};
}

TEST_CASE("MJCF: volumes and moments of geoms") {
    double volume;
    const double r = 0.3, L = 0.5;
    const auto capsule = [&](double z) {
        return std::abs(z) < L ? r : std::sqrt(std::max(0.0, r * r - (std::abs(z) - L) * (std::abs(z) - L)));
    };
    Vec3<double> moments = sliced(capsule, L + r, volume);
    Solid solid = solid_of(ShapeType::capsule, {r, L, 0});
    CHECK(solid.volume == doctest::Approx(volume).epsilon(1e-9));
    CHECK((solid.volume * solid.moments - moments).norm() < 1e-8 * moments.norm());
    moments = sliced([&](double) { return r; }, L, volume);
    solid = solid_of(ShapeType::cylinder, {r, L, 0});
    CHECK((solid.volume * solid.moments - moments).norm() < 1e-8 * moments.norm());
    moments = sliced([&](double z) { return r * std::sqrt(1 - z * z / (L * L)); }, L, volume);
    solid = solid_of(ShapeType::ellipsoid, {r, r, L});
    CHECK(solid.volume == doctest::Approx(volume).epsilon(1e-9));
    CHECK((solid.volume * solid.moments - moments).norm() < 1e-8 * moments.norm());
    CHECK(solid_of(ShapeType::sphere, {r, 0, 0}).moments == Vec3<double>::Constant(0.4 * r * r));
    CHECK((solid_of(ShapeType::box, {1, 2, 3}).moments - Vec3<double>(13, 10, 5) / 3).norm() < 1e-15);
    CHECK(solid_of(ShapeType::box, {1, 2, 3}).volume == 48);
}

TEST_CASE("MJCF: mass of geoms, inertials, and the compiler's say in it") {
    const std::string two =
        "<worldbody><body name='b'><joint/><geom type='box' size='.1 .1 .1' pos='1 0 0' density='500'/>"
        "<geom type='box' size='.1 .1 .1' pos='-1 0 0' density='500'/><inertial pos='0 0 1' mass='3' "
        "diaginertia='1 2 "
        "2.5'/></body></worldbody>";
    const Json given = mjcf(two).body(0), inferred = mjcf("<compiler inertiafromgeom='true'/>" + two).body(0);
    CHECK((given["mass"] == 3 && json_equals(given["com"], {0, 0, 1}) &&
           json_equals(given["inertia"], {1, 2, 2.5, 0, 0, 0})));
    CHECK(json_value(inferred["mass"]) == doctest::Approx(8));  // two cubes of 8 l and 4 kg
    const double own = 8 * 0.02 / 3;
    CHECK(json_equals(inferred["inertia"], {own, own + 8, own + 8, 0, 0, 0}));
    const Json scaled = mjcf("<compiler settotalmass='6'/>" + two).body(0);
    CHECK((json_value(scaled["mass"]) == doctest::Approx(6) &&
           json_equals(scaled["inertia"], {2, 4, 5, 0, 0, 0})));
    const Json bound = mjcf("<compiler boundmass='5' boundinertia='1.5'/>" + two).body(0);
    CHECK((bound["mass"] == 5 && json_equals(bound["inertia"], {1.5, 2, 2.5, 0, 0, 0})));
    const std::string odd =
        "<worldbody><body><joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 3'/></body></worldbody>";
    CHECK(json_equals(mjcf("<compiler balanceinertia='true'/>" + odd).body(0)["inertia"],
                      {5.0 / 3, 5.0 / 3, 5.0 / 3, 0, 0, 0}));
    const Json full = mjcf(
                          "<worldbody><body><joint/><inertial pos='0 0 0' mass='1' fullinertia='3 4 5 .1 .2 "
                          ".3'/></body></worldbody>")
                          .body(0);
    CHECK(json_equals(full["inertia"], {3, 4, 5, .1, .2, .3}));
    const Json turned = mjcf(
                            "<worldbody><body><joint/><inertial pos='0 0 0' quat='1 0 0 1' mass='1' "
                            "diaginertia='3 4 5'/></body></worldbody>")
                            .body(0);
    CHECK(json_equals(turned["inertia"], {4, 3, 5, 0, 0, 0}));
    // groups that do not count, and a mass that says more than a density
    const Json some =
        mjcf(
            "<compiler inertiagrouprange='0 1'/><worldbody><body><joint/><geom size='1' mass='2' "
            "density='9'/><geom size='1' group='3'/></body></worldbody>")
            .body(0);
    CHECK(some["mass"] == 2);
}

// MuJoCo's own way through the joints of a body: each turns or shifts it in place.
Transform<double> place_as_mujoco(const std::vector<Vec3<double>>& anchors,
                                  const std::vector<Vec3<double>>& axes, const std::vector<bool>& slides,
                                  const VecX<double>& q) {
    Transform<double> X{Eigen::AngleAxisd(pi / 2, Vec3<double>::UnitX()).toRotationMatrix(), {0.1, 0.2, 0.3}};
    for (size_t k = 0; k < axes.size(); ++k) {
        const double x = q[static_cast<Eigen::Index>(k)];
        if (slides[k]) {
            X.p += X.R * axes[k] * x;
            continue;
        }
        const Vec3<double> anchor = X.p + X.R * anchors[k];
        X.R = X.R * Eigen::AngleAxisd(x, axes[k]).toRotationMatrix();
        X.p = anchor - X.R * anchors[k];
    }
    return X;
}

TEST_CASE("MJCF: several joints of a body, each about a point of its own, in order") {
    const MjcfText m = mjcf(R"(<worldbody><body name="b" pos=".1 .2 .3" euler="90 0 0"><geom size=".1"/>
        <joint name="a" axis="0 0 1" pos=".5 0 0"/><joint name="s" type="slide" axis="0 1 0" pos="3 3 3"/>
        <joint name="c" axis="1 0 0" pos="0 .2 .7"/><joint name="d" axis="0 1 0" pos="0 .9 .7"/></body></worldbody>)");
    CHECK(m.body(0)["joints"].size() == 5);  // and one back to the body's frame
    const Scene s = m.scene();
    const Model& model = s.world.model;
    const std::vector<Vec3<double>> anchors{{.5, 0, 0}, {3, 3, 3}, {0, .2, .7}, {0, .9, .7}};
    const std::vector<Vec3<double>> axes{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}, {0, 1, 0}};
    Kinematics<double> k(model);
    const VecX<double> v = VecX<double>::Zero(4);
    for (const auto& q : {VecX<double>(VecX<double>::Zero(4)),
                          VecX<double>((VecX<double>(4) << 0.3, -0.4, 1.1, -2).finished())}) {
        kinematics(model, s.theta.data(), q.data(), v.data(), k);
        const Transform<double> wanted = place_as_mujoco(anchors, axes, {false, true, false, false}, q);
        const int b = model.body_index("m/b");
        CHECK((k.world_position(model, b) - wanted.p).norm() < 1e-14);
        CHECK((k.X[b].R - wanted.R).norm() < 1e-14);
    }
}

TEST_CASE("MJCF: frames, free and ball joints, properties of joints") {
    const MjcfText m = mjcf(R"(<default><joint armature="9" damping="9"/></default><worldbody>
        <frame pos="1 0 0" euler="0 0 90"><body name="a" pos="1 0 0"><freejoint name="root"/><geom size="1" pos="0 0 1"/>
            <body name="b" pos="0 0 2"><joint type="ball" pos="0 0 -1" damping="1" armature="2" frictionloss="3"/>
            <geom size="1"/></body></body></frame>
        </worldbody>)");
    const Json root = m.body(0)["joint"];
    CHECK((root["type"] == "free" && root["name"] == "root" && !root.contains("armature")));
    CHECK(json_equals(root["position"], {1, 1, 0}));
    CHECK((rotation(root).col(0) - Vec3<double>::UnitY()).norm() < 1e-14);
    const Json ball = m.body(1)["joints"];
    CHECK((ball[0]["type"] == "spherical" && json_equals(ball[0]["position"], {0, 0, 1}) &&
           json_equals(ball[1]["position"], {0, 0, 1})));
    CHECK((ball[0]["damping"] == 1 && ball[0]["armature"] == 2 && ball[0]["dry_friction"] == 3));
    CHECK(m.scene().world.model.nv == 9);
}

TEST_CASE("MJCF: geoms from one point to another; friction between equals, and margin") {
    const Json shapes = mjcf(one_body(R"(<geom name="c" type="capsule" size=".1" fromto="0 0 0 0 2 0"/>
        <geom name="x" type="box" size=".1" fromto="0 0 1 0 0 0" friction=".49" margin=".02"/>
        <geom name="e" type="ellipsoid" size=".1 .2 .3"/><geom name="y" type="cylinder" size=".1 .3" group="7"/>)"))
                            .body(0)["shapes"];
    CHECK((shapes[1]["radius"] == .1 && shapes[1]["half_length"] == 1 &&
           json_equals(shapes[1]["position"], {0, 1, 0})));
    CHECK(std::abs(std::abs(rotation(shapes[1])(1, 2)) - 1) < 1e-14);
    CHECK((json_equals(shapes[2]["half_extents"], {.1, .1, .5}) &&
           json_value(shapes[2]["friction"]) == doctest::Approx(.7) &&
           json_value(shapes[2]["margin"]) == .02));
    CHECK((json_equals(shapes[3]["semi_axes"], {.1, .2, .3}) && shapes[4]["half_length"] == .3));
    CHECK((shapes[0]["name"] == "b" && shapes[1]["name"] == "c"));
}

}  // namespace
}  // namespace costate::test
