// MuJoCo's law of contact in scenes, and softness, priority and condim of MJCF files.
#include <doctest/doctest.h>

#include "solvers/step/step.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/simulated.hpp"

using namespace costate;
using namespace costate::test;

namespace {

double parameter(const Scene& scene, const std::string& path, int number = 0) {
    const auto* entry = scene.world.model.layout.find(path);
    REQUIRE(entry != nullptr);
    return scene.theta[entry->offset + number];
}

}  // namespace

TEST_CASE("MuJoCo's law: softness is read with MuJoCo's defaults, and its numbers are parameters") {
    const Scene rigid = changed({});
    CHECK(rigid.world.model.layout.find("shapes/ground/solref") == nullptr);
    const Scene soft = changed({{"/contact", R"({"law": "mujoco", "impratio": 10})"},
                                {"/ground/solref", "[0.01, 2]"},
                                {"/models/0/model/bodies/0/joint/limit_solimp", "[0.8, 0.9, 0.01, 0.4, 3]"}});
    CHECK((soft.world.settings.impratio == 10 && soft.world.settings.cone == FrictionCone::elliptic));
    CHECK(soft.world.friction_law() == FrictionLaw::relaxed_cone);
    CHECK(
        (parameter(soft, "shapes/ground/solref") == 0.01 && parameter(soft, "shapes/ground/solref", 1) == 2));
    CHECK(parameter(soft, "shapes/ball/solref") == 0.02);
    CHECK(parameter(soft, "joints/arm/shoulder/limit_solimp", 3) == 0.4);
    CHECK(parameter(soft, "joints/arm/shoulder/limit_solref") == 0.02);
}

TEST_CASE("MuJoCo's law: what is wrong in it") {
    CHECK_THROWS_WITH(changed({{"/contact", R"({"law": "soft"})"}}), doctest::Contains("mujoco"));
    CHECK_THROWS_WITH(changed({{"/contact", R"({"law": "mujoco", "cone": "round"})"}}),
                      doctest::Contains("pyramidal"));
    CHECK_THROWS_WITH(changed({{"/ground/solref", "[0.01, -2]"}}), doctest::Contains("mixes"));
    CHECK_THROWS_WITH(changed({{"/ground/solimp", "[0.9, 1.5, 0.001, 0.5, 2]"}}),
                      doctest::Contains("solimp"));
    CHECK_THROWS_WITH(
        changed({{"/contact", R"({"law": "mujoco"})"}, {"/solver", R"({"impact": "located"})"}}),
        doctest::Contains("no restitution"));
    CHECK_THROWS_WITH(changed({{"/solver", R"({"integrator": "mujoco_euler"})"}}),
                      doctest::Contains("needs MuJoCo's law"));
    CHECK_THROWS_WITH(changed({{"/contact", R"({"law": "mujoco"})"},
                               {"/solver", R"({"integrator": "mujoco_rk4", "warm_start": true})"}}),
                      doctest::Contains("warm_start"));
    CHECK_THROWS_WITH(
        changed({{"/contact", R"({"law": "mujoco"})"},
                 {"/solver", R"({"integrator": "mujoco_rk4"})"},
                 {"/models/0/model/actuators/0/dynamics", R"({"type": "filter", "time_constant": 0.1})"}}),
        doctest::Contains("no stages for the dynamics"));
}

TEST_CASE("keys that the law of contact or the solver has no use for are named") {
    using Changes = std::initializer_list<std::pair<const char*, const char*>>;
    const auto warns = [](Changes changes, const std::vector<const char*>& wanted) {
        const Scene scene = changed(changes);
        REQUIRE(scene.warnings.size() == wanted.size());
        for (size_t i = 0; i < wanted.size(); ++i) {
            INFO(scene.warnings[i]);
            CHECK(scene.warnings[i].find(wanted[i]) != std::string::npos);
        }
    };
    const char *const soft = R"({"law": "mujoco"})", *const pgs = R"({"type": "pgs", "sweeps": 9})";
    warns({{"/contact", soft}, {"/ground/solref", "[0.01, 2]"}}, {});
    warns({{"/contact", R"({"erp": 0.1})"}, {"/ground/restitution", "0.5"}, {"/solver", pgs}}, {});
    warns({{"/contact", R"({"law": "mujoco", "erp": 0.1, "slop": 0.001})"}, {"/ground/restitution", "0.5"}},
          {"#/contact: \"erp\" and \"slop\" have no effect by MuJoCo's law",
           "#/ground: \"restitution\" has no effect by MuJoCo's law"});
    warns({{"/contact", R"({"cone": "pyramidal"})"}, {"/ground/solref", "[0.01, 2]"}},  // "cone" is imported
          {"#/ground: \"solref\" has no effect in rigid contact"});
    warns({{"/solver", R"({"type": "lcp", "sweeps": 9, "relaxed": true})"}},
          {"#/solver: \"sweeps\" has no effect on a solver without sweeps",
           "#/solver: \"relaxed\" has no effect on this solver"});
    warns({{"/contact", soft}, {"/solver", R"({"type": "ncp", "relaxed": false, "warm_contacts": 3})"}},
          {"\"relaxed\" has no effect: MuJoCo's law",
           "\"warm_contacts\" has no effect without \"warm_start\""});
}

TEST_CASE("MJCF: softness, mixing and condim are kept unless they are MuJoCo's defaults") {
    const MjcfText m = mjcf(
        "<option impratio='5'/><default><geom solref='.01 1' solimp='.8 .9'/></default><worldbody><body>"
        "<joint range='-1 1' limited='true' solreflimit='-100 -10' frictionloss='1' solimpfriction='.5'/>"
        "<geom size='.1' mass='1' solmix='2' priority='3' condim='1'/></body></worldbody>");
    const Json &joint = m.body(0)["joint"], &shape = m.body(0)["shapes"][0];
    CHECK(json_equals(shape["solref"], {.01, 1}));
    CHECK(json_equals(shape["solimp"], {.8, .9, .001, .5, 2}));
    CHECK((shape["solmix"] == 2 && shape["priority"] == 3 && shape["condim"] == 1));
    CHECK(json_equals(joint["limit_solref"], {-100, -10}));
    CHECK(json_equals(joint["friction_solimp"], {.5, .95, .001, .5, 2}));
    CHECK(!joint.contains("limit_solimp"));
    CHECK(m.imported.scene["contact"]["impratio"] == 5);
    REQUIRE(!m.warnings.empty());
    CHECK(m.warnings[0].find("\"law\": \"mujoco\"") != std::string::npos);
    CHECK_NOTHROW(m.scene());
}

TEST_CASE("MJCF: torsional and rolling friction are kept if a contact of the file has them") {
    const auto shape = [](const std::string& first, const std::string& second) {
        return mjcf("<worldbody><body><freejoint/><geom size='.1' " + first + "/><geom size='.2' " + second +
                    "/></body></worldbody>")
            .body(0)["shapes"][0];
    };
    const Json rolling = shape("condim='6' friction='.81 .02'", "");
    CHECK((rolling["condim"] == 6 && rolling["friction"] == 0.9));
    CHECK((rolling["torsional_friction"] == 0.02 && rolling["rolling_friction"] == 0.0001));
    const Json beside = shape("", "condim='4'");
    CHECK((beside["condim"] == 3 && beside["torsional_friction"] == 0.005));
    CHECK(!beside.contains("rolling_friction"));
    const Json sliding = shape("friction='1 .1 .1'", "condim='1'");
    CHECK((!sliding.contains("condim") && !sliding.contains("torsional_friction")));
    CHECK_THROWS_WITH(shape("condim='5'", ""), doctest::Contains("use 1, 3, 4 or 6"));
    CHECK_THROWS_WITH(shape("friction='1 -1'", ""), doctest::Contains("must not be negative"));
}

// Balls on a plane that is tilted by 30 degrees: condim="1" glides, the friction of a contact is the larger one
// or that of the higher priority.
TEST_CASE("MuJoCo's law: friction is the larger of a pair, by priority, or none with condim 1") {
    const auto slides = [](const char* law, const std::string& box, const std::string& floor) {
        const MjcfText m = mjcf(
            "<option timestep='.001' gravity='4.905 0 -8.4957'/><worldbody><geom type='plane' size='1 1 1' " +
            floor + "/><body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='1' " + box +
            "/></body></worldbody>");
        Json json = m.scene_json();
        json["contact"]["law"] = law;
        const Scene scene = scene_from_json(json, "m.json");
        return simulated(scene, 500)[0] > 0.05;
    };
    for (const char* law : {"rigid", "mujoco"}) {
        CAPTURE(law);
        CHECK(slides(law, "friction='.3'", "friction='.3'"));
        CHECK(!slides(law, "friction='.9'", "friction='.9'"));
        CHECK(slides(law, "friction='.9' condim='1'", "friction='.9' condim='1'"));
        CHECK(!slides(law, "friction='.9' condim='1'", "friction='.9'"));
    }
    CHECK(slides("rigid", "friction='.1'", "friction='.9'"));
    CHECK(!slides("mujoco", "friction='.1'", "friction='.9'"));
    CHECK(slides("mujoco", "friction='.1' priority='1'", "friction='.9'"));
    CHECK(!slides("mujoco", "friction='.9' priority='1'", "friction='.1'"));
    CHECK(slides("mujoco", "friction='.9' condim='1' priority='1'", "friction='.9'"));
}

TEST_CASE("MuJoCo's law: the margin of a contact is the sum of both, as everywhere") {
    const auto gap = [](const char* law) {
        const MjcfText m = mjcf(
            "<worldbody><geom type='plane' size='1 1 1' margin='.004'/><body pos='0 0 .11'>"
            "<freejoint/><geom size='.1' margin='.02' mass='1'/></body></worldbody>");
        Json json = m.scene_json();
        json["contact"]["law"] = law;
        const Scene scene = scene_from_json(json, "m.json");
        StepScratch<double> s(scene.world);
        VecX<double> next(scene.world.nx());
        const VecX<double> none(0);
        step(scene.world, {scene.theta.data(), scene.x0.data(), none.data()}, s, next.data());
        REQUIRE(s.contacts.points.size() == 1);
        return s.contacts.points[0].geometry.gap;
    };
    CHECK(gap("mujoco") == doctest::Approx(0.01 - 0.02 - 0.004));
    CHECK(gap("rigid") == doctest::Approx(0.01 - 0.02 - 0.004));
}

TEST_CASE("MJCF: a gap, a negative margin and one that leaves no range give a warning") {
    const auto warnings = [](const std::string& contact) {
        return mjcf("<worldbody><body><freejoint/>\n<geom size='.1' mass='1' " + contact +
                    "/></body></worldbody>")
            .warnings;
    };
    const auto of_limit = [](const std::string& margin) {
        return mjcf("<worldbody><body><joint axis='0 1 0' range='0 6' limited='true' margin='" + margin +
                    "'/>\n<geom size='.1' mass='1'/></body></worldbody>")
            .warnings;
    };
    CHECK(of_limit(".05").empty());  // of 6 degrees, 0.105 rad
    REQUIRE(of_limit(".06").size() == 1);
    CHECK(of_limit(".06")[0].find("leaves nothing of the range") != std::string::npos);

    CHECK(warnings("margin='.01' gap='0'").empty());
    const std::vector<std::string> gap = warnings("margin='.01' gap='.01'"),
                                   negative = warnings("margin='-.01'");
    REQUIRE((gap.size() == 1 && negative.size() == 1));
    CHECK(gap[0].find("has no effect on forces") != std::string::npos);
    CHECK(negative[0].find("a negative margin is not supported") != std::string::npos);
}

// Coordinates after n steps of MuJoCo 2.2.2 with Newton's method to 1e-14, with elliptic cones where nothing else is
// said. Its steps take gyroscopic torques explicitly. Without velocity products, its `implicit` is `implicitfast`.
// Those with connects and welds, of bodies that only slide, and of explicit damping and Runge-Kutta's method are of
// MuJoCo 3.12.1.
TEST_CASE("MuJoCo's law: motions are those of MuJoCo") {
    struct Motion {
        const char* what;
        std::string inside;
        int steps;
        std::vector<double> q;
        const char* integrator = "mujoco_euler";
    };
    const std::string slides =
        "<worldbody><geom type='plane' size='1 1 1'/>"
        "<body pos='0 0 .5'><joint name='a' type='slide' axis='0 0 1' damping='8'/>"
        "<joint name='b' type='slide' axis='1 0 .4' damping='5'/><geom size='.1' mass='1'/>"
        "<body pos='.1 0 -.2'><joint name='c' type='slide' axis='0 .3 1' damping='3'/>"
        "<geom size='.1' mass='2'/></body></body></worldbody>"
        "<actuator><position joint='b' kp='20'/><velocity joint='c' kv='2'/></actuator>"
        "<keyframe><key name='home' qpos='-.1 .2 .01'/></keyframe>";
    const Motion motions[] = {
        {"a ball that slides and rolls",
         "<option timestep='.002' impratio='3'/><worldbody><geom type='plane' size='1 1 1' friction='.2' "
         "solref='.01 .8' "
         "solmix='2'/><body pos='0 0 .3'><freejoint/><geom type='sphere' size='.1' mass='1' friction='.3' "
         "solimp='.7 "
         ".9 .01 .3 3'/></body></worldbody><keyframe><key name='home' qpos='0 0 .12 1 0 0 0' qvel='1 .5 0 0 "
         "3 "
         "0'/></keyframe>",
         300,
         {0.492848341389337, 0.22353008021141, 0.0997274641129271, -0.749891136625786, -0.295174327004264,
          0.591263363596509, -0.0307088709692976}},
        {"an arm at its limits, with dry friction",
         "<option timestep='.002'/><worldbody><body pos='0 0 1'><joint axis='0 1 0' range='-60 60' "
         "limited='true' "
         "frictionloss='.3' armature='.01' solreffriction='.05 1'/><geom type='capsule' fromto='0 0 0 .3 0 "
         "-.1' "
         "size='.03' mass='1'/><body pos='.3 0 -.1'><joint axis='0 1 0' solreflimit='-2000 -30' range='-30 "
         "30' "
         "limited='true'/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.03' "
         "mass='.5'/></body></body></worldbody>",
         500,
         {1.05127651594465, 0.492221362010208}},
        {"a loop of two links, and a coupled third",
         "<option timestep='.002'/><default><geom type='capsule' size='.03' mass='1' "
         "contype='0'/></default><worldbody>"
         "<body name='a' pos='0 0 1'><joint axis='0 1 0'/><geom fromto='0 0 0 .3 0 0'/></body>"
         "<body name='b' pos='.7 0 1'><joint name='k' axis='0 1 0'/><geom fromto='0 0 0 -.35 0 0'/></body>"
         "<body name='c' pos='0 0 2'><joint name='l' axis='1 0 0'/><geom fromto='0 0 0 0 .3 "
         "0'/></body></worldbody>"
         "<equality><connect body1='a' body2='b' anchor='.3 0 0'/>"
         "<joint joint1='l' joint2='k' polycoef='.1 .5 0 0 0' solref='.05 1'/></equality>",
         300,
         {0.0607269449432158, -0.0455656676801231, 0.0673335642023345}},
        {"a floating link that a soft weld turns to the end of an arm",
         "<option timestep='.002'/><default><geom type='capsule' size='.03' mass='1' contype='0'/></default>"
         "<worldbody><body name='a' pos='0 0 2'><joint type='ball'/><geom fromto='0 0 0 .5 0 0'/>"
         "<body name='b' pos='.5 0 0'><joint axis='0 1 .3'/><geom fromto='0 0 0 0 .2 -.6'/></body></body>"
         "<body name='c' pos='.1 .2 1.4'><freejoint/><geom fromto='0 0 0 .4 0 0'/></body></worldbody>"
         "<equality><weld body1='b' body2='c' solref='.03 .7' relpose='0 .2 -.5 .6 .3 -.6 .4'/></equality>",
         150,
         {0.623466065232048, 0.438252017231408, 0.571557734771881, -0.30421536897255, -1.71736298509262,
          0.22416348493533, 0.0565931319518109, 0.991648935309283, 0.702724059850478, -0.238693854430211,
          -0.67022570481877, 0.00128224985570069}},
        {"a ball on two slides that falls and slides",
         "<option timestep='.002'/><worldbody><geom type='plane' size='1 1 1' friction='.3'/>"
         "<body pos='0 0 .3'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
         "<geom size='.1' mass='2' friction='.2'/></body></worldbody>"
         "<keyframe><key name='home' qpos='0 -.15' qvel='2 0'/></keyframe>",
         150,
         {0.481303104067461, -0.198736680224866}},
        {"a held joint, and a limit with a margin",
         "<option timestep='.002'/><default><geom type='capsule' size='.03' "
         "contype='0'/></default><worldbody>"
         "<body pos='0 0 1'><joint name='h' axis='0 1 0'/><geom fromto='0 0 0 .3 0 0' mass='1'/>"
         "<body pos='.3 0 -.1'><joint axis='0 1 0' range='-30 30' limited='true' margin='.1'/>"
         "<geom fromto='0 0 0 .3 0 0' mass='.5'/></body></body></worldbody>"
         "<equality><joint joint1='h' polycoef='.1 0 0 0 0' solref='.05 1'/></equality>",
         300,
         {0.108570433264827, 0.425792579813765}},
        {"a joint that follows a polynomial of another",
         "<option timestep='.002'/><default><geom type='capsule' size='.03' mass='1' contype='0'/></default>"
         "<worldbody><body pos='.7 0 1'><joint name='k' axis='0 1 0'/><geom fromto='0 0 0 -.35 0 0'/></body>"
         "<body pos='0 0 2'><joint name='l' axis='1 0 0'/><geom fromto='0 0 0 0 .3 0'/></body></worldbody>"
         "<equality><joint joint1='l' joint2='k' polycoef='.1 .5 -.4 .3 .2' solref='.05 1'/></equality>"
         "<keyframe><key name='home' qpos='0 .1'/></keyframe>",
         100,
         {-0.834627667555798, -0.615805369832967}},
        {"a tendon whose length follows a polynomial of another's",
         "<option timestep='.002'/><default><geom type='capsule' size='.03' mass='1' contype='0'/></default>"
         "<worldbody><body pos='0 0 1'><joint name='a' axis='0 1 0'/><geom fromto='0 0 0 .3 0 0'/>"
         "<body pos='.3 0 0'><joint name='b' axis='0 1 0'/><geom fromto='0 0 0 .2 0 0'/></body></body>"
         "<body pos='0 1 1'><joint name='c' axis='1 0 0'/><geom fromto='0 0 0 0 .3 0'/></body></worldbody>"
         "<tendon><fixed name='s'><joint joint='a' coef='.7'/><joint joint='b' coef='-.4'/></fixed>"
         "<fixed name='t'><joint joint='c' coef='1.2'/></fixed></tendon><equality>"
         "<tendon tendon1='s' tendon2='t' polycoef='.05 .5 -.4 .3 .2' solref='.05 1'/></equality>",
         150,
         {0.835544726817218, 1.65329696338489, -0.22780542885101}},
        {"a ball that slides, spins and rolls with pyramids",
         "<option timestep='.002' impratio='3' cone='pyramidal'/><worldbody>"
         "<geom type='plane' size='1 1 1' friction='.2' solref='.01 .8' solmix='2'/>"
         "<body pos='0 0 .3'><freejoint/><geom type='sphere' size='.1' mass='1' friction='.3 .02 .01' "
         "condim='6' solimp='.7 .9 .01 .3 3'/></body></worldbody>"
         "<keyframe><key name='home' qpos='0 0 .12 1 0 0 0' qvel='1 .5 0 0 3 0'/></keyframe>",
         300,
         {0.443643756749975, 0.250162686495969, 0.0999560206434818, -0.0652326183596658, -0.385631564944368,
          0.912792541491113, -0.11765533485012}},
        {"a capsule on a plane, with pyramids along its axis",
         "<option timestep='.002' cone='pyramidal'/><worldbody><geom type='plane' size='1 1 1'/>"
         "<body><freejoint/><geom type='capsule' size='.05 .1' mass='1' friction='.3 .02' condim='4'/>"
         "</body></worldbody>"
         "<keyframe><key name='home' qpos='0 0 .08 1 1 .2 .3' qvel='1 .5 0 0 3 1'/></keyframe>",
         300,
         {0.344799163754206, 0.29431955777067, 0.0498578469581135, -0.706829143141125, -0.492144103591543,
          -0.507734361007901, 0.0198131864766137}},
        {"a box that slides on a ball, with pyramids",
         "<option timestep='.002' gravity='1 2 -9' cone='pyramidal'/><worldbody>"
         "<geom type='sphere' size='.3'/>"
         "<body><freejoint/><geom type='box' size='.2 .3 .1' mass='1' friction='.4'/></body></worldbody>"
         "<keyframe><key name='home' qpos='.02 .05 .39 1 0 .05 0' qvel='.3 .2 0 0 1 1'/></keyframe>",
         100,
         {0.0472403119735968, 0.0862668253898031, 0.401077059892722, 0.969861695344441, -0.16594167021241,
          0.170605375899965, 0.0522059355318291}},
        {"damped joints and servos in contact and at a limit",
         "<option timestep='.005'/><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .5'>"
         "<joint name='a' type='slide' axis='0 0 1' damping='8' armature='.1'/>"
         "<joint name='b' axis='0 1 0' damping='.4'/>"
         "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.03' mass='1'/><body pos='.3 0 0'>"
         "<joint name='c' axis='0 1 0' damping='.6' range='-30 60' limited='true'/>"
         "<geom type='capsule' fromto='0 0 0 .25 0 -.1' size='.03' mass='.7' friction='.5'/></body></body>"
         "</worldbody><actuator><position joint='b' kp='20'/><velocity joint='c' kv='2'/></actuator>"
         "<keyframe><key name='home' qpos='-.1 .2 .3'/></keyframe>",
         100,
         {-0.336470806795388, -0.093920861092185, 0.358839891109761}},
        {"the same on slides, with implicit servos",
         "<option timestep='.005' cone='pyramidal'/>" + slides,
         100,
         {-0.285140655499239, 0.146993249685021, 0.0317354299175063},
         "mujoco_implicitfast"},
        {"slides whose damping is explicit",
         "<option timestep='.005'/>" + slides,
         100,
         {-0.254374285187587, 0.159327758300457, -0.00524991067810933},
         "mujoco_explicit"},
        {"the same by Runge-Kutta's method",
         "<option timestep='.005'/>" + slides,
         60,
         {-0.231124784149874, 0.160095702790718, -0.0298586301428169},
         "mujoco_rk4"},
        {"links that fall and slide, by Runge-Kutta's method",
         "<option timestep='.004'/><worldbody><geom type='plane' size='1 1 1' friction='.6'/>"
         "<body name='torso' pos='0 0 .5'><freejoint/><geom type='capsule' fromto='-.2 0 0 .2 0 0' "
         "size='.05' mass='1'/>"
         "<body pos='.2 0 0'><joint axis='0 1 0' damping='.02' range='-50 40' limited='true'/>"
         "<geom type='capsule' fromto='0 0 0 .1 0 -.3' size='.04' mass='.4'/><body pos='.1 0 -.3'>"
         "<joint type='ball' damping='.002'/><geom type='capsule' fromto='0 0 0 .2 .1 0' size='.03' "
         "mass='.3'/>"
         "</body></body></body></worldbody><keyframe><key name='home' qpos='0 0 .5 .9 .3 .2 .1 .2 1 0 0 0' "
         "qvel='1 .5 0 1 2 -3 1 .5 -.2 .3'/></keyframe>",
         60,
         {0.266191707848909, 0.109719752522095, 0.23156970828137, 0.849292920462976, 0.164299105790917,
          0.482515306243656, -0.137427502081515, 0.766120502447321, 0.845584987640919, -0.0564044230036683,
          -0.340852418961181, 0.406969529854806},
         "mujoco_rk4"}};
    for (const Motion& motion : motions) {
        CAPTURE(motion.what);
        Json json = mjcf(motion.inside).scene_json();
        json["contact"]["law"] = "mujoco";
        json["solver"]["integrator"] = motion.integrator;
        const VecX<double> x = simulated(scene_from_json(json, "m.json"), motion.steps);
        const double turn =
            motion.q.size() == 7 && x[3] * motion.q[3] < 0 ? -1 : 1;  // q and -q are one rotation
        for (size_t i = 0; i < motion.q.size(); ++i) {
            CAPTURE(i);
            CHECK(std::abs((i >= 3 ? turn : 1) * x[static_cast<Eigen::Index>(i)] - motion.q[i]) < 1e-10);
        }
    }
}

// Rotations of free and ball joints would be of second order, as MuJoCo's.
TEST_CASE("MuJoCo's law: half the time step has a sixteenth of the error by Runge-Kutta's method") {
    Json json =
        mjcf(
            "<worldbody><body pos='0 0 2'><joint axis='0 1 0' damping='.1'/><geom size='.1' pos='.3 0 0' "
            "mass='1'/><body pos='.5 0 0'><joint axis='1 2 0' stiffness='3'/><geom size='.1' pos='.1 .4 0' "
            "mass='2'/></body></body></worldbody>")
            .scene_json();
    json["contact"]["law"] = "mujoco";
    json["solver"]["integrator"] = "mujoco_rk4";
    const auto after = [&](int steps) {  // 0.4 s
        json["time_step"] = 0.4 / steps;
        return simulated(scene_from_json(json, "m.json"), steps);
    };
    const VecX<double> truth = after(640);
    const double ratio = (after(20) - truth).norm() / (after(40) - truth).norm();
    CHECK((ratio > 14 && ratio < 18));
}
