// Wrong and hostile files of SDFormat: errors of one line that name file, line and remedy, and nothing on stderr.
#include <doctest/doctest.h>

#include <iostream>
#include <sstream>

#include "tests/support/sdf_text.hpp"

namespace costate::test {
namespace {

// Collects what is written to std::cerr, and what libsdformat writes there.
struct Cerr {
    std::ostringstream text;
    std::streambuf* own = std::cerr.rdbuf(text.rdbuf());
    ~Cerr() { std::cerr.rdbuf(own); }
};

void refuse(const std::string& text, int line, const std::string& what, const std::string& remedy) {
    CAPTURE(text.substr(0, 500));
    const Cerr cerr;
    check_complaint(complaint([&] { import_sdf_text(text); }), "m.sdf:" + std::to_string(line) + ": ", what,
                    remedy);
    CHECK(cerr.text.str() == "");
}

TEST_CASE("SDFormat errors name file, line and remedy") {
    const auto model = [](const std::string& content) { return sdf_file(sdf_model(content)); };
    const std::string two = sdf_link("a") + sdf_link("b");
    refuse("<sdf version='1.9'><model name='m'>", 1, "broken XML", "use the same name");
    refuse("<sdf><model name='m'/></sdf>", 1, "has no \"version\"", "add it");
    refuse("<sdf version='1.9'/>", 1, "has neither a <model> nor a <world>", "add one");
    refuse("<robot name='r'/>", 1, "is not the root element <sdf>", "name");
    refuse(model(""), 1, "at least one link", "add a <link>");
    refuse(model(sdf_link("a") + sdf_link("a")), 3, "already exists", "rename one of the two");
    refuse(model("<link/>"), 3, "Required attribute[name]", "add it");
    refuse(model(sdf_link("__l__")), 3, "reserved", "use another name");
    refuse(model(sdf_link("a*")), 3, "has a name with a *", "rename it");
    refuse(model(two + sdf_joint("j", "revolute", "a", "c")), 5, "name[c]", "name a link or a frame");
    refuse(model(two + sdf_joint("j", "revolute", "a", "a")), 5, "different frame names", "name two links");
    refuse(model(two + sdf_joint("j", "hinge", "a", "b")), 5, "type=\"hinge\" of <joint> is not known",
           "correct it");
    refuse(model(two + sdf_joint("j", "screw", "a", "b", sdf_axis() + "<thread_pitch>0</thread_pitch>")), 5,
           "thread pitch of 0", "use a prismatic joint");
    refuse(
        model(two + sdf_joint("j", "revolute", "a", "b", "<axis><xyz expressed_in='f'>0 0 1</xyz></axis>")),
        5, "[f]", "name a link or a frame");
    refuse(model(sdf_link("a", sdf_pose("0 0 1 0 0 0", "f"))), 3, "relative_to name[f]",
           "name a link or a frame");
    refuse(model(sdf_link("a", sdf_pose("0 0 x 0 0 0"))), 3, "<pose> has a value that it cannot have",
           "correct it");
    refuse(model(sdf_link("a", sdf_pose("0 0 nan 0 0 0"))), 3, "<pose> has a value that it cannot have",
           "correct it");
    refuse(model(sdf_link("a") + "<frame name='f'>" + sdf_pose("", "g") + "</frame><frame name='g'>" +
                 sdf_pose("", "f") + "</frame>"),
           4, "cycle", "give one of these frames another reference");
    refuse(model(sdf_link(
               "a", "<collision name='c'><geometry><box><size>1 1</size></box></geometry></collision>")),
           3, "<size> has a value", "correct it");
    refuse(model(sdf_link("a::b")), 3, "contains ::", "rename it");
    // an assertion of the library
    refuse("<sdf version='1.7'><world name='w'>" +
               sdf_model(sdf_link("n::l", sdf_collision(sdf_ball, sdf_pose("0 0 0 0 0 0", "far")))) +
               "</world></sdf>",
           1, "cannot be read by libsdformat: Pose attribute 'relative_to' does not start with n",
           "correct the file");
    const std::string ball = sdf_collision(sdf_ball);
    CHECK(import_sdf_text(model(sdf_link("a", ball + ball))).model["bodies"][0]["shapes"].size() == 2);
}

TEST_CASE("SDFormat: unknown elements are told, later versions are read") {
    const ImportedModel typo = import_sdf_text(sdf_file(sdf_model(sdf_link("a", "<gravty>0</gravty>"))));
    REQUIRE(typo.warnings.size() == 1);
    CHECK(typo.warnings[0].find("m.sdf:3: ") == 0);
    CHECK(typo.warnings[0].find("<gravty> in <link> is not known") != std::string::npos);
    const ImportedModel later =
        import_sdf_text("<?xml version='1.0'?><!-- <sdf version='1'> -->\n<sdf version='1.12'>" +
                        sdf_model(sdf_link("a")) + "</sdf>");
    REQUIRE(later.warnings.size() == 1);
    CHECK(later.warnings[0].find("m.sdf:2: SDFormat 1.12 is read as version 1.9") == 0);
    const ImportedModel older = import_sdf_text("<sdf version='1.4'>" + sdf_model(sdf_link("a")) + "</sdf>");
    CHECK(older.model["bodies"].size() == 1);
}

TEST_CASE("SDFormat: a link with the name of the world is the world") {
    const ImportedModel m = import_sdf_text(sdf_file(
        sdf_model("<link name='world'/>" + sdf_link("a") + sdf_joint("j", "fixed", "world", "a", ""))));
    CHECK(m.model["bodies"].size() == 1);
    REQUIRE(m.warnings.size() == 1);
    CHECK(m.warnings[0].find("is taken for the world") != std::string::npos);
}

TEST_CASE("SDFormat: sensors, plugins, lights and materials with faults do not matter") {
    const ImportedModel m = import_sdf_text(sdf_file(sdf_model(
        sdf_link("a",
                 "<sensor name='s' type='nonsense'/><visual name='v'><geometry>" + std::string(sdf_ball) +
                     "</geometry><material><script><name>Gazebo/Red</name></script></material></visual>") +
        "<plugin name='p::q' filename='f'><include name='a::b'><uri>no</uri></include></plugin>")));
    CHECK(m.warnings.empty());
    CHECK(m.model["bodies"][0]["visuals"].size() == 1);
}

TEST_CASE("SDFormat: what changes the motion and is left out gives a warning") {
    const auto warning = [](const std::string& content) {
        const ImportedModel m = import_sdf_text(sdf_file(sdf_model(content)));
        return m.warnings.size() == 1 ? m.warnings[0] : std::to_string(m.warnings.size()) + " warnings";
    };
    const auto says = [&](const std::string& content, const std::string& what) {
        CAPTURE(content);
        CHECK(warning(content).find(what) != std::string::npos);
    };
    says(sdf_link("a", "<enable_wind>1</enable_wind>"), "<enable_wind> is not supported");
    says(
        "<link name='a'><inertial "
        "auto='true'><mass>1</mass><inertia><ixx>1</ixx></inertia></inertial></link>",
        "an automatic <inertial> is not computed");
    says(sdf_link("a", "<kinematic>1</kinematic>"), "<kinematic> is not supported");
    says(sdf_link("a", "<velocity_decay><linear>0.1</linear></velocity_decay>"), "velocity_decay");
    says(sdf_link("a") + sdf_link("b") + sdf_joint("j", "gearbox", "a", "b"), "is left out: \"gearbox\"");
    says(sdf_link("a") + sdf_link("b") + sdf_joint("j", "revolute", "a", "b", ""), "moves along or about z");
    says(
        sdf_link("a", sdf_collision(
                          "<polyline><point>0 0</point><point>1 0</point><point>0 1</point><height>1</height>"
                          "</polyline>")),
        "geometry is not supported: \"polyline\"");
    says(sdf_link("a", sdf_collision(
                           sdf_ball,
                           "<surface><friction><ode><mu>1</mu><mu2>0.5</mu2></ode></friction></surface>")),
         "<mu2> differs");
    says(sdf_link("a", sdf_collision(
                           sdf_ball,
                           "<surface><friction><ode><mu>-1</mu><mu2>100</mu2></ode></friction></surface>")),
         "a negative coefficient of friction is read as 100");
    says(sdf_link("a") + "<link name='b'><inertial><mass>0</mass></inertial></link>",
         "has no mass and is fixed");
}

}  // namespace
}  // namespace costate::test
