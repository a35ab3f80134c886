// Inertias of robot files that no solid has, and links without mass or inertia: what is read instead, what the
// warning says, and that "strict" refuses what changes the motion.
#include "scenes/format/inertia.hpp"
#include "tests/support/repaired_robot.hpp"

namespace costate::test {

TEST_CASE("repairs: the inertia of a link without mass counts only where the link moves") {
    const std::string inertia = "<inertial><mass value='0'/><inertia ixx='1' iyy='1' izz='1'/></inertial>";
    const std::string hinge = urdf_joint("j", "continuous", "a", "b", "<axis xyz='0 0 1'/>");
    const std::string mounted = urdf_robot(urdf_link("a", inertia) + second_link + hinge);
    CHECK(repaired_urdf(mounted, "")["bodies"].size() == 2);
    const std::string carried = urdf_robot(urdf_link("a", "") + second_link + hinge +
                                           urdf_link("c", inertia) + urdf_joint("k", "fixed", "b", "c", ""));
    repaired_urdf(carried, "belongs to a link without mass and is ignored");
}

TEST_CASE("repairs: inertias of no solid become near ones of the same axes") {
    const auto repaired = [](const Vec3<double>& moments, double mass = 1) {
        // in turned axes, to see that they are kept
        const Mat3<double> R = Eigen::AngleAxisd(0.7, Vec3<double>(1, 2, 3).normalized()).toRotationMatrix();
        Mat3<double> I = R * moments.asDiagonal() * R.transpose();
        const bool changed = !make_physical(I, mass).empty();
        const Mat3<double> back = R.transpose() * I * R;
        CHECK((back - Mat3<double>(back.diagonal().asDiagonal())).norm() < 1e-12 * back.norm());
        CHECK(unphysical(I) == "");
        return std::pair(Vec3<double>(back.diagonal()), changed);
    };
    const auto close = [](const std::pair<Vec3<double>, bool>& result, const Vec3<double>& wanted,
                          bool changed) {
        CAPTURE(result.first.transpose());
        CHECK((result.first - wanted).norm() < 1e-12 * wanted.norm());
        CHECK(result.second == changed);
    };
    close(repaired({1, 2, 2.5}), {1, 2, 2.5}, false);
    close(repaired({1e-9, 2, 2}), {1e-9, 2, 2}, false);  // thin, but a solid
    // The nearest that obeys the triangle inequality: t (1, 1, -1) with 3 t = 4 - 1 - 2
    close(repaired({1, 2, 4}), {4. / 3, 7. / 3, 11. / 3}, true);
    close(repaired({1, 1, 2 + 1e-7}), {1, 1, 2 + 1e-7}, false);  // digits of a decimal
    close(repaired({-1, 2, 2}), {0.002, 2, 2}, true);
    close(repaired({0, 2, 2}), {2e-6, 2, 2}, false);
    close(repaired({-1e-7, 2, 2}), {2e-6, 2, 2}, false);
    // A ball of water of 4/3 pi 0.3^3 1000 kg has the radius 0.3 m
    const double mass = 4. / 3 * std::acos(-1.0) * 27;
    close(repaired({-1, -2, -3}, mass), Vec3<double>::Constant(0.4 * mass * 0.09), true);
    close(repaired({0, 0, -3}, mass), Vec3<double>::Constant(0.4 * mass * 0.09), true);
}

TEST_CASE("repairs: inertias in URDF and MJCF") {
    const auto urdf = [](const std::string& inertia) {
        return urdf_robot(urdf_link("a", "<inertial><mass value='1'/><inertia " + inertia + "/></inertial>"));
    };
    const Json a =
        repaired_urdf(urdf("ixx='1' iyy='2' izz='4'"),
                      "inertia of link \"a\": its principal moments 1, 2, 4 are those of no solid and "
                      "become 1.33333, 2.33333, 3.66667; write that of a solid");
    CHECK(json_equals(a["bodies"][0]["inertia"], {4. / 3, 7. / 3, 11. / 3, 0, 0, 0}));
    repaired_urdf(urdf("ixx='1' iyy='1' izz='2.000001'"), "");
    const double ball = solid_ball(1)(0, 0);
    CHECK(json_equals(
        repaired_urdf(urdf_robot(urdf_link("a", "<inertial><mass value='1'/></inertial>")),
                      "has a mass but no <inertia>; that of a ball of water is used")["bodies"][0]["inertia"],
        {ball, ball, ball, 0, 0, 0}));
    const MjcfText m = repaired_mjcf(
        "<worldbody><body name='b'><joint/><inertial pos='0 0 0' mass='1' diaginertia='1 2 "
        "4'/></body></worldbody>",
        "inertia of body \"b\": its principal moments 1, 2, 4 are those of no solid and become 1.33333");
    CHECK(json_equals(m.body(0)["inertia"], {4. / 3, 7. / 3, 11. / 3, 0, 0, 0}));
    // balanceinertia is MuJoCo's rule, and needs no warning
    const MjcfText balanced = repaired_mjcf(
        "<compiler balanceinertia='true'/><worldbody><body name='b'><joint/><inertial pos='0 0 0' mass='1' "
        "diaginertia='1 2 4'/></body></worldbody>",
        "");
    CHECK(json_equals(balanced.body(0)["inertia"], {7. / 3, 7. / 3, 7. / 3, 0, 0, 0}));
    CHECK_FALSE(
        repaired_mjcf("<worldbody><body><joint/><inertial mass='1' diaginertia='1 1 1'/></body></worldbody>",
                      "has no \"pos\"; the centre of mass is put at the body's origin")
            .body(0)
            .contains("com"));
}

TEST_CASE("repairs: a point mass that turns about itself becomes a ball, others stay points") {
    const std::string point = "<mass value='1'/><inertia ixx='0' iyy='0' izz='0'/></inertial>";
    const double ball = solid_ball(1)(0, 0);
    const Json free =
        repaired_urdf(urdf_robot(urdf_link("a", "<inertial>" + point)), "turns but has no inertia");
    CHECK(json_equals(free["bodies"][0]["inertia"], {ball, ball, ball, 0, 0, 0}));
    const auto hinged = [&](const std::string& xyz) {
        return urdf_robot(first_link + urdf_link("b", "<inertial><origin xyz='" + xyz + "'/>" + point) +
                          urdf_joint("j", "continuous", "a", "b", "<axis xyz='0 0 1'/>"));
    };
    CHECK(repaired_urdf(hinged("0 0 1"), "turns but has no inertia")["bodies"][1]["inertia"][0] == ball);
    CHECK(repaired_urdf(hinged("1 0 0"), "")["bodies"][1]["inertia"][0] == 0);
    // Three joints turn the point about one centre, two do not
    const auto chain = [&](const std::string& type) {
        const std::string turn = "<limit lower='-1' upper='1' effort='5' velocity='2'/>";
        return urdf_robot(urdf_link("world", "") + urdf_joint("base", "fixed", "world", "a", "") +
                          first_link + urdf_link("pitch", "") + urdf_link("roll", "") +
                          urdf_link("head",
                                    "<inertial><origin xyz='.1 -.2 0'/><mass value='1'/>"
                                    "<inertia ixx='0' iyy='1e-35' izz='0'/></inertial>") +
                          urdf_joint("p", type, "a", "pitch", "<axis xyz='0 1 0'/>" + turn) +
                          urdf_joint("r", "revolute", "pitch", "roll", "<axis xyz='1 0 0'/>" + turn) +
                          urdf_joint("y", "revolute", "roll", "head", "<axis xyz='0 0 1'/>" + turn));
    };
    CHECK(repaired_urdf(chain("revolute"), "turns but has no inertia")["bodies"][3]["inertia"][0] == ball);
    CHECK(repaired_urdf(chain("fixed"), "")["bodies"][3]["inertia"][0] == 0);
}

}  // namespace costate::test
