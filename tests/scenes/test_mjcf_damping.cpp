// Springs and dampers that MJCF gives by time constants and damping ratios.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/mjcf_text.hpp"

namespace costate::test {
namespace {

Json model_of(const std::string& inside) {
    return parse_model("<mujoco>" + inside + "</mujoco>", "m.xml", {}, nullptr).model;
}

// The joint of a name
Json joint_of_model(const Json& model, const std::string& name) {
    for (const Json& body : model["bodies"])
        for (const Json& joint :
             body.contains("joints") ? body["joints"] : Json::array({body.value("joint", Json())}))
            if (joint.is_object() && joint.value("name", "") == name) return joint;
    return {};
}

// A hinge that carries a slide that carries a ball joint that carries a hinge
std::string chain(const std::string& defaults, const std::string& slide, const std::string& more = "") {
    return "<compiler angle='radian'/>" + defaults + R"(<worldbody>
        <body name="a"><joint name="a" axis="0 1 0" armature=".05" ref=".3" springref=".5"/>
            <geom type="capsule" fromto="0 0 0 .3 0 0" size=".04" mass="1.5"/>
        <body name="b" pos=".3 0 0"><joint name="b" type="slide" axis="1 0 .2")" +
           slide + R"(/><geom size=".05" mass=".7" pos=".02 .03 0"/>
        <body name="c" pos=".1 .1 0"><joint name="c" type="ball" springdamper=".3 .4"/>
            <geom type="box" size=".05 .02 .07" mass=".4" pos=".1 0 0"/>
        <body name="d" pos=".1 .2 0"><joint name="d" springdamper="0 0" stiffness="3" damping=".4"/>
            <geom size=".03" mass=".2" pos=".05 0 0"/></body></body></body></body></worldbody>)" +
           more;
}

// Stiffness and damping that MuJoCo 2.2.2 compiles for this chain
TEST_CASE("MJCF springdamper: stiffness and damping are those of MuJoCo's compiler") {
    const Json model = model_of(chain("<default><joint springdamper='.2 .7'/></default>",
                                      " springdamper='.1 1.2' stiffness='9' damping='8'"));
    const auto is = [&](const char* joint, const char* key, double wanted) {
        CAPTURE(joint);
        CAPTURE(key);
        CHECK(joint_of_model(model, joint)[key].get<double>() == doctest::Approx(wanted).epsilon(1e-12));
    };
    is("a", "stiffness", 9.37394026314753);
    is("a", "damping", 1.83729229157692);
    is("a", "rest", .2);
    is("b", "stiffness", 79.4928619047055);
    is("b", "damping", 22.8939442285552);
    is("c", "stiffness", 0.370348581917617);
    is("c", "damping", 0.0355534638640913);
    is("d", "stiffness", 3);
    is("d", "damping", .4);
    CHECK(!joint_of_model(model, "b").contains("rest"));
    CHECK(!joint_of_model(model, "c").contains("rest"));
}

TEST_CASE("MJCF springdamper: flags, locked joints, wrong numbers") {
    const std::string one = one_body("", "<joint name='j' springdamper='.1 1'/>");
    const auto joint = [&](const std::string& flag) {
        return joint_of_model(model_of("<option><flag " + flag + "='disable'/></option>" + one), "j");
    };
    CHECK((joint("gravity").contains("stiffness") && joint("gravity").contains("damping")));
    CHECK((!joint("spring").contains("stiffness") && joint("spring").contains("damping")));
    CHECK((joint("damper").contains("stiffness") && !joint("damper").contains("damping")));
    const std::string held = "<worldbody><body name='a'><joint springdamper='.1 1'/></body></worldbody>";
    CHECK(model_of(held)["bodies"].size() == 1);
    CHECK(complaint([] {
              model_of(one_body("", "<joint springdamper='1 -1'/>"));
          }).find("must be two positive numbers") != std::string::npos);
    const MjcfText free = mjcf(one_body("", "<joint type='free' springdamper='.1 1'/>"));
    REQUIRE(free.warnings.size() == 1);
    CHECK(free.warnings[0].find("springs of free joints") != std::string::npos);
}

// The inertias on the diagonal of MuJoCo's mass matrix, dof_M0: 0.334008100628931 of a, 1.3 of b
TEST_CASE("MJCF dampratio: the gain is 2 ratio sqrt(kp m), with m of all that is driven") {
    const double of_a = 0.334008100628931, of_b = 1.3;
    const Json model = model_of(chain("<default><position kp='30' dampratio='.5'/></default>", "", R"(
        <tendon><fixed name="t"><joint joint="a" coef=".5"/><joint joint="b" coef="-2"/></fixed>
            <spatial name="s"><site site="w"/><site site="p"/></spatial></tendon>
        <worldbody><site name="w" pos="0 0 2"/><body><joint name="e" type="slide"/><geom size=".1" mass="3"/>
            <site name="p"/></body></worldbody>
        <actuator><position name="on_a" joint="a"/><position name="on_b" joint="b" gear="3" dampratio="1.5"/>
            <position name="on_t" tendon="t"/><general name="general" joint="b" gainprm="7" biastype="affine"
            biasprm=".1 -7 .2"/><position name="free" joint="b" dampratio="0"/><position name="on_s" tendon="s" gear="2"/>
        </actuator>)"));
    const auto actuator = [&](size_t n) { return model["actuators"][n]; };
    // kd of a servo, and minus the last bias of a general actuator
    const auto has = [&](size_t n, double ratio, double kp, double inertia) {
        const double gain = actuator(n).contains("kd") ? actuator(n)["kd"].get<double>()
                                                       : -actuator(n)["bias"][2].get<double>();
        return std::abs(gain - 2 * ratio * std::sqrt(kp * inertia)) < 1e-12 * gain;
    };
    CHECK(has(0, .5, 30, of_a));
    CHECK(has(1, 1.5, 30, of_b / 9));
    CHECK(has(2, .5, 30, of_a / .25 + of_b / 4));
    CHECK(has(3, .2, 7, of_b));
    CHECK(!actuator(4).contains("kd"));
    CHECK(has(5, .5, 30, 3. / 4));
    for (const Json& each : model["actuators"])
        CHECK(!each.contains(damping_ratio_key));
}

}  // namespace
}  // namespace costate::test
