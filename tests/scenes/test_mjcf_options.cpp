// <option> and its <flag>s: what MJCF switches off does nothing here.
#include <doctest/doctest.h>

#include <algorithm>

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/scratch_folder.hpp"

namespace costate::test {
namespace {

std::string flag(const std::string& name) { return "<option><flag " + name + "='disable'/></option>\n"; }

// The velocities after some steps under a control of 1 everywhere
VecX<double> velocities_after(const MjcfText& m, int steps) {
    Json json = m.scene_json();
    json["steps"] = steps;
    Scene scene = scene_from_json(json, "m.json");
    scene.z0.setOnes();
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    VecX<double> last;
    rollout.forward(scene.theta, scene.x0, scene.z0, [&](int, const double* x, const double*) {
        last = Eigen::Map<const VecX<double>>(x, scene.world.nx());
    });
    return last.segment(scene.world.model.nq, scene.world.model.nv);
}

// A cart half sunk into the floor, as that of dm_control's cartpole
const std::string cart = R"(<worldbody><geom name="floor" type="plane" size="1 1 1"/>
    <body name="cart"><joint name="slider" type="slide" axis="1 0 0" range="-1 1" limited="true"/>
        <geom type="box" size=".2 .15 .1" mass="1"/>
        <body name="pole" pos="0 0 .05"><joint name="hinge" axis="0 1 0" damping=".1" stiffness="2" frictionloss=".3"/>
            <geom type="capsule" fromto="0 0 0 0 0 1" size=".045" mass=".1"/></body></body></worldbody>
    <actuator><motor joint="slider" gear="10" ctrllimited="true" ctrlrange="-1 1"/></actuator>)";

TEST_CASE("MJCF flags: without contact shapes touch nothing, and what they held moves") {
    const MjcfText on = mjcf(cart), off = mjcf(flag("contact") + cart);
    CHECK(!on.scene().world.shapes.pairs().empty());
    CHECK(off.scene().world.shapes.pairs().empty());
    CHECK(off.warnings.empty());
    CHECK(std::abs(velocities_after(off, 20)[0]) > 0.1);
    Json with_ground = off.scene_json();
    with_ground["ground"] = true;
    CHECK(scene_from_json(with_ground, "m.json").world.shapes.pairs().empty());
}

TEST_CASE("MJCF flags: limits, dry friction, springs, dampers, equalities, control ranges, actuators") {
    const auto joint = [](const std::string& name, size_t body) {
        return mjcf(flag(name) + cart).body(body)["joint"];
    };
    const Json hinge = mjcf(cart).body(1)["joint"];
    const auto without = [&](std::initializer_list<const char*> keys) {
        Json rest = hinge;
        for (const char* key : keys)
            rest.erase(key);
        return rest;
    };
    CHECK((hinge.contains("damping") && hinge.contains("stiffness") && hinge.contains("dry_friction")));
    CHECK(joint("damper", 1) == without({"damping"}));
    CHECK(joint("spring", 1) == without({"stiffness"}));
    CHECK(joint("passive", 1) == without({"damping", "stiffness"}));
    CHECK(joint("frictionloss", 1) == without({"dry_friction"}));
    CHECK(joint("constraint", 1) == without({"dry_friction"}));
    CHECK(joint("limit", 1) == hinge);
    CHECK(mjcf(cart).body(0)["joint"].contains("limits"));
    for (const char* name : {"limit", "constraint"})
        CHECK(!joint(name, 0).contains("limits"));

    const std::string weld = "<equality><weld body1='cart'/></equality>";
    CHECK(mjcf(cart + weld).imported.model["equalities"].size() == 1);
    for (const char* name : {"equality", "constraint"})
        CHECK(!mjcf(flag(name) + cart + weld).imported.model.contains("equalities"));
    CHECK(mjcf(flag("constraint") + cart).scene().world.shapes.pairs().empty());

    CHECK(!mjcf(flag("clampctrl") + cart).imported.model["actuators"][0].contains("control_limits"));
    CHECK_NOTHROW(
        mjcf(flag("limit") + cart + "<actuator><position joint='slider' inheritrange='1'/></actuator>"));
    const MjcfText idle = mjcf(flag("actuation") + cart + "<keyframe><key ctrl='.5'/></keyframe>");
    CHECK(!idle.imported.model.contains("actuators"));
    CHECK(!idle.imported.model["keyframes"][0].contains("controls"));
    REQUIRE(idle.warnings.size() == 1);
    check_complaint(idle.warnings[0], "m.xml:2: ", "leaves out all actuators", "remove the flag");
}

TEST_CASE(
    "MJCF flags: the last one counts, what is enabled or of MuJoCo's solver is passed over, what is not "
    "known is "
    "refused") {
    CHECK(!mjcf(flag("contact") + "<option><flag contact='enable'/></option>" + cart)
               .scene()
               .world.shapes.pairs()
               .empty());
    CHECK(mjcf("<option><flag energy='enable' warmstart='disable' gravity='enable'/></option>" + cart)
              .warnings.empty());
    for (const auto& [name, consequence] :
         {std::pair("filterparent", "a body never collides with its parent"),
          {"eulerdamp", "joint damping is implicit"},
          {"refsafe", "at least two time steps"}}) {
        const MjcfText m = mjcf(flag(name) + cart);
        REQUIRE(m.warnings.size() == 1);
        check_complaint(m.warnings[0], "m.xml:2: ", consequence, "remove the flag");
    }
    CHECK(complaint([] { mjcf("<option><flag contact='off'/></option>" + cart); }).find("contact=\"off\"") !=
          std::string::npos);
}

TEST_CASE("MJCF: integrators other than Euler and implicitfast give a warning") {
    for (const auto& [name, remedy] :
         {std::pair("RK4", "use a smaller timestep where that matters, or MuJoCo's law, which has it"),
          {"implicit", "use a smaller timestep where that matters"}}) {
        const MjcfText m = mjcf("<option integrator='" + std::string(name) + "'/>" + cart);
        REQUIRE(m.warnings.size() == 1);
        check_complaint(
            m.warnings[0], "m.xml:2: ",
            "integrator=\"" + std::string(name) + "\" is not supported: a step is semi-implicit Euler",
            remedy);
    }
    for (const std::string name : {"Euler", "implicitfast"})
        CHECK(mjcf("<option integrator='" + name + "'/>" + cart).warnings.empty());
}

TEST_CASE("MJCF options: which contacts there are, and which actuators") {
    const std::string pair = "<contact><pair geom1='floor' geom2='box'/></contact>";
    std::string two = cart;
    two.replace(two.find("<geom type=\"box\""), 5, "<geom name='box'");
    const auto pairs = [&](const std::string& option) {
        const Scene s = mjcf(option + two + pair).scene();
        const ShapeSet& set = s.world.shapes;
        const auto meet = [&](int a, int b) { return set.is_pair(a, b) || set.is_pair(b, a); };
        const int floor = set.index("floor"), box = set.index("m/box"), pole = set.index("m/pole");
        return std::pair(meet(floor, box), meet(floor, pole));
    };
    CHECK(pairs("") == std::pair(true, true));
    CHECK(pairs("<option collision='predefined'/>") == std::pair(true, false));
    CHECK(!mjcf("<option collision='dynamic'/>" + two + pair).imported.model.contains("pairs"));

    const MjcfText override = mjcf("<option o_margin='1'><flag override='enable'/></option>" + cart);
    REQUIRE(override.warnings.size() == 1);
    check_complaint(override.warnings[0], "m.xml:2: ", "contacts keep their own numbers", "give the numbers");

    const MjcfText sleep = mjcf("<option><flag sleep='enable'/></option>" + cart);
    REQUIRE(sleep.warnings.size() == 1);
    check_complaint(sleep.warnings[0], "m.xml:2: ", "bodies do not sleep", "remove the flag");

    const Json actuators = mjcf("<option actuatorgroupdisable='0 3'/>" + cart +
                                "<actuator><motor name='b' joint='hinge' group='2'/></actuator>")
                               .imported.model["actuators"];
    CHECK((actuators.size() == 1 && actuators[0]["name"] == "b"));
    for (const std::string kind : {"pid", "dcmotor", "adhesion", "plugin", "engine"}) {
        const MjcfText m =
            mjcf(cart + "<actuator><" + kind + " joint='hinge'/><motor name='b' joint='hinge'/></actuator>");
        REQUIRE(m.warnings.size() == 1);
        check_complaint(m.warnings[0],
                        "m.xml:", "<" + kind + "> as an actuator is not supported and is ignored",
                        "use motor, position");
        CHECK(m.imported.model["actuators"].size() == 2);
    }
}

TEST_CASE(
    "MJCF: by MuJoCo's law solref is used, so nothing warns of it, and cone and integrator are the file's") {
    const std::string soft = "<default><geom solref='.01 1'/></default>";
    const auto lines = [&](const std::string& option, std::optional<ContactLaw> law) {
        ImportOptions options;
        options.law = law;
        return parse_model("<mujoco>" + option + soft + cart + "</mujoco>", "m.xml", options, nullptr)
            .warnings;
    };
    CHECK(lines("", {}).size() == 1);
    CHECK(lines("", ContactLaw::rigid).size() == 1);
    CHECK(lines("", ContactLaw::mujoco).empty());
    const std::string staged = "<option integrator='RK4'/>",
                      filter = "<actuator><general joint='slider' dyntype='filter' dynprm='.1'/></actuator>";
    CHECK(lines(staged, ContactLaw::mujoco).empty());
    REQUIRE(lines(staged + filter, ContactLaw::mujoco).size() == 1);
    CHECK(lines(staged + filter, ContactLaw::mujoco)[0].find("for activations of actuators") !=
          std::string::npos);
    const std::string noslip = "<option noslip_iterations='4'/>";
    CHECK(lines(noslip, ContactLaw::rigid).size() == 1);
    REQUIRE(lines(noslip, ContactLaw::mujoco).size() == 1);
    const std::string weld = "<equality><weld body1='cart' torquescale='2'/></equality>";
    CHECK(lines(weld, ContactLaw::rigid).size() == 1);
    REQUIRE(lines(weld, ContactLaw::mujoco).size() == 1);
    CHECK(lines(weld, ContactLaw::mujoco)[0].find("torquescale is not supported") != std::string::npos);
    CHECK(lines(noslip, ContactLaw::mujoco)[0].find("noslip_iterations is not supported") !=
          std::string::npos);
    const auto cone = [&](const std::string& option, std::optional<ContactLaw> law) {
        const ImportOptions options{.strict = true, .law = law};
        const Json scene =
            parse_model("<mujoco>" + option + cart + "</mujoco>", "m.xml", options, nullptr).scene;
        return scene.value(Json::json_pointer("/contact/cone"), "");
    };
    for (const std::string given : {"elliptic", "pyramidal"})
        for (const std::optional<ContactLaw> law : {std::optional<ContactLaw>(), {ContactLaw::mujoco}})
            CHECK(cone("<option cone='" + given + "'/>", law) == given);
    CHECK(cone("", ContactLaw::mujoco) == "pyramidal");
    CHECK(cone("", {}).empty());
    const auto integrator = [](const std::string& option, std::optional<ContactLaw> law) {
        ImportOptions options;
        options.law = law;
        const Json scene =
            parse_model("<mujoco>" + option + cart + "</mujoco>", "m.xml", options, nullptr).scene;
        return scene.value(Json::json_pointer("/solver/integrator"), "");
    };
    CHECK(integrator("", ContactLaw::mujoco) == "mujoco_euler");
    CHECK(integrator("<option integrator='RK4'/>", ContactLaw::mujoco) == "mujoco_rk4");
    const std::string late = "<flag eulerdamp='disable'/></option>";
    CHECK(integrator("<option>" + late, ContactLaw::mujoco) == "mujoco_explicit");
    CHECK(integrator("<option integrator='implicitfast'>" + late, ContactLaw::mujoco) ==
          "mujoco_implicitfast");
    for (const std::string given : {"implicit", "implicitfast"})
        CHECK(integrator("<option integrator='" + given + "'/>", ContactLaw::mujoco) ==
              "mujoco_implicitfast");
    CHECK(integrator("<option integrator='implicitfast'/>", {}).empty());
    // a scene's law counts, too
    const ScratchFolder folder("law");
    folder.write("m.xml", "<mujoco>" + soft + cart + "</mujoco>");
    Json json{{"steps", 1}, {"models", Json::array({Json{{"name", "m"}, {"file", "m.xml"}}})}};
    const auto of_softness = [&] {
        const Scene s = scene_from_json(json, folder.path("scene.json"));
        return std::ranges::count_if(
            s.warnings, [](const std::string& line) { return line.find("solref") != std::string::npos; });
    };
    CHECK(of_softness() == 1);
    json["contact"] = Json{{"law", "mujoco"}};
    CHECK(of_softness() == 0);
}

TEST_CASE("MJCF: what classes of defaults set and costate does not support gives a warning") {
    const auto warnings = [](const std::string& defaults, const std::string& content) {
        return mjcf("<default>\n" + defaults +
                    "\n<default class='other'><joint bounce='1'/></default></default>\n" + content)
            .warnings;
    };
    const std::string two =
        "<worldbody><body><joint name='j'/><joint name='k' axis='0 1 0'/><geom "
        "size='.1'/></body></worldbody>";
    const std::vector<std::string> once = warnings("<joint bounce='1'/>", two);
    REQUIRE(once.size() == 1);
    check_complaint(once[0], "m.xml:3: ", "attribute \"bounce\" of <joint> is not supported", "remove it");
    CHECK(once[0].find("more") == std::string::npos);  // one place, although two joints have it
    CHECK(warnings("", two).empty());                  // no element is of the other class
    CHECK(warnings("<geom bounce='1'/>", two).size() == 1);
    CHECK(warnings("<mesh bounce='1'/>", two).empty());
    const std::string motor = two + "<actuator><position joint='j'/></actuator>";
    CHECK(warnings("<position delay='1'/>", motor).size() == 1);
    CHECK(warnings("<position timeconst='.1'/>", motor).empty());
    CHECK(warnings("<position timeconst='.1' actearly='true'/>", motor).empty());
    CHECK(warnings("<muscle timeconst='.1 .2' force='3'/>", motor).empty());
    CHECK(warnings("<muscle timeconst='.1 .2' force='3'/>", two + "<actuator><motor joint='j'/></actuator>")
              .empty());
    const std::string tendon = two + "<tendon><fixed><joint joint='j' coef='1'/></fixed></tendon>";
    CHECK(warnings("<tendon bounce='1'/>", tendon).size() == 1);
    CHECK(warnings("<equality bounce='1'/>", two + "<equality><joint joint1='j'/></equality>").size() == 1);
    // a default of joints is none of the equality that has their name
    CHECK(warnings("<joint armature='1'/>", two + "<equality><joint joint1='j'/></equality>").empty());
    // the fluid forces of ellipsoids matter in a fluid
    CHECK(warnings("<geom fluidshape='ellipsoid' fluidcoef='1 1 1 1 1'/>", two).empty());
    CHECK(warnings("<geom fluidshape='ellipsoid'/>", "<option density='1'/>" + two).size() == 1);
    CHECK(warnings("<geom fluidshape='none'/>", "<option density='1'/>" + two).empty());
}

TEST_CASE("MJCF: floating bodies whose frames MuJoCo aligns with their inertia give a warning") {
    const auto warnings = [](const std::string& compiler, const std::string& joint) {
        return mjcf("<compiler " + compiler +
                    "/><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 1'>" + joint +
                    "<geom pos='1 0 0' size='.1'/></body></worldbody>")
            .warnings.size();
    };
    CHECK(warnings("", "<freejoint/>") == 0);
    CHECK(warnings("", "<freejoint align='true'/>") == 1);
    CHECK(warnings("", "<joint type='free' align='true'/>") == 1);
    CHECK(warnings("alignfree='true'", "<freejoint/>") == 1);
    CHECK(warnings("alignfree='true'", "<freejoint align='false'/>") == 0);
    CHECK(warnings("alignfree='true'", "<joint type='ball'/>") == 0);
}

}  // namespace
}  // namespace costate::test
