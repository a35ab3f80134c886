// Wrong or hostile MJCF: each fault gives one line of message with file and line.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <random>

#include "tests/support/mjcf_text.hpp"

namespace costate::test {
namespace {

// The message about the content of <mujoco>, which starts at line 2
void refuse_mjcf(const std::string& inside, int line, const std::string& what, const std::string& remedy) {
    check_complaint(complaint([&] { mjcf(inside); }), "m.xml:" + std::to_string(line) + ": ", what, remedy);
}
void refuse_in_body(const std::string& inside, const std::string& what, const std::string& remedy) {
    refuse_mjcf("<worldbody><body name='b'>\n" + inside + "\n</body></worldbody>", 3, what, remedy);
}
// The loader's message about a model from MJCF
void refuse_loading(const std::filesystem::path& file, const std::string& begin, const std::string& what,
                    const std::string& remedy) {
    check_complaint(complaint([&] { load_scene(file.string()); }), begin, what, remedy);
}

const std::string ball_geom = "<geom size='.1'/>";

TEST_CASE("hostile MJCF: numbers") {
    refuse_in_body("<joint damping='nan'/>" + ball_geom, "range of numbers", "use finite");
    refuse_in_body("<joint pos='0 0 1e999'/>" + ball_geom, "range of numbers", "use finite");
    refuse_in_body("<joint pos='0 0'/>" + ball_geom, "too few numbers", "write 3");
    refuse_in_body("<joint pos='0 0 0 0 0'/>" + ball_geom, "too many numbers", "write 3");
    refuse_in_body("<joint axis='0 0 0'/>" + ball_geom, "has no direction", "write an axis");
    refuse_in_body("<joint damping='-1'/>" + ball_geom, "must not be negative", "use 0 or more");
    refuse_in_body("<joint range='2 1'/>" + ball_geom, "is not a range", "write the lower end first");
    refuse_in_body("<joint limited='true'/>" + ball_geom, "limited but has no \"range\"", "add it");
    refuse_in_body("<joint limited='yes'/>" + ball_geom, "is not known", "correct it");
    refuse_mjcf("<compiler autolimits='false'/>\n" + one_body("", "<joint range='0 1'/>"), 3,
                "does not say whether it applies", "set autolimits");
    refuse_mjcf("<compiler eulerseq='xyw'/>", 2, "not a sequence of axes", "write three");
    refuse_mjcf("<compiler angle='turns'/>", 2, "is not known", "correct it");
    refuse_mjcf("<option timestep='0'/>" + one_body(""), 2, "must be positive", "use a number above 0");
    refuse_mjcf("<worldbody><body quat='0 0 0 0'/></worldbody>", 2, "has no direction", "write 1 0 0 0");
    refuse_mjcf("<worldbody><body quat='1 0 0 0'\n zaxis='0 0 1'/></worldbody>", 3, "a second time",
                "keep one");
    refuse_mjcf("<worldbody><body xyaxes='1 0 0 2 0 0'/></worldbody>", 2, "has no direction",
                "write an axis");
}

TEST_CASE("hostile MJCF: masses and inertias") {
    refuse_in_body("<joint/><inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/>", "must not be negative",
                   "use 0 or more");
    refuse_in_body("<joint/><inertial pos='0 0 0' mass='1' fullinertia='1 1 1 0 0 0' diaginertia='1 1 1'/>",
                   "a second time", "keep one");
    refuse_in_body("<joint/><inertial pos='0 0 0'/>", "has no \"mass\"", "add it");
    refuse_in_body("<inertial pos='0 0 0' mass='1'/><inertial pos='0 0 0' mass='1'/>",
                   "second <inertial> of its body", "keep one");
    refuse_in_body("<joint/><geom size='.1' mass='-2'/>", "must not be negative", "use 0 or more");
    refuse_in_body("<joint/><geom size='.1' density='-2'/>", "must not be negative", "use 0 or more");
    refuse_mjcf("<compiler settotalmass='nan'/>", 2, "range of numbers", "use finite");
}

TEST_CASE("hostile MJCF: geoms") {
    refuse_in_body("<geom/>", "without \"size\"", "add it");
    refuse_in_body("<geom size='0'/>", "incomplete for a sphere", "write 1 numbers above 0");
    refuse_in_body("<geom type='box' size='1 2'/>", "incomplete for a box", "write 3 numbers");
    refuse_in_body("<geom type='capsule' size='.1' fromto='1 1 1 1 1 1'/>", "has no length",
                   "give two points");
    refuse_in_body("<geom type='torus' size='1'/>", "is not known", "correct it");
    refuse_in_body("<geom type='mesh'/>", "without its name", "add \"mesh\"");
    refuse_in_body("<geom type='mesh' mesh='x'/>", "is not a mesh", "correct it");
    refuse_in_body("<geom type='hfield' hfield='x'/>", "is not a height field", "correct it");
    refuse_in_body("<geom size='1' friction='-1'/>", "must not be negative", "use 0 or more");
    refuse_in_body("<geom size='1' contype='1.5'/>", "out of range", "use a whole number");
    refuse_in_body("<geom size='1' contype='1e12'/>", "out of range", "use a whole number");
    std::string kinds = "<worldbody>\n";
    for (int i = 2; i < 40; ++i)
        kinds += "<geom size='1' contype='" + std::to_string(i) + "'/>\n";
    refuse_mjcf(kinds + "</worldbody>", 34, "33rd pair", "use at most 32");
    refuse_mjcf(
        "<asset><mesh name='a' vertex='0 0 0 1 0 0 0 1 0 1 1 0'/></asset>\n<worldbody><geom type='mesh' "
        "mesh='a'/></worldbody>",
        2, "spans no volume", "give points");
    refuse_mjcf("<asset><hfield name='a' nrow='2' ncol='2' size='1 1 1 1' elevation='1 2 3'/></asset>", 2,
                "has 3 numbers", "give nrow times ncol, 4");
    refuse_mjcf(
        "<asset><hfield name='a' nrow='1000000' ncol='1000000' size='1 1 1 1' elevation='1'/></asset>", 2,
        "has 1 numbers", "give nrow times ncol");
}

TEST_CASE("hostile MJCF: the tree") {
    refuse_mjcf("<worldbody>\n<joint/></worldbody>", 3, "cannot move", "put it into a <body>");
    refuse_mjcf("<worldbody><body><joint/>" + ball_geom + "<body>\n<freejoint/>" + ball_geom +
                    "</body></body></worldbody>",
                3, "not in the world", "move the body");
    refuse_in_body("<freejoint/><joint/>" + ball_geom, "combined with a free joint",
                   "give a free joint its own body");
    refuse_in_body("<joint/><freejoint/>" + ball_geom, "combined with a free joint",
                   "give a free joint its own body");
    std::string joints;
    for (int i = 0; i < 7; ++i)
        joints += "<joint/>";
    refuse_in_body(joints + ball_geom, "exceeds the 6 joints", "use fewer");
}

TEST_CASE("hostile MJCF: names") {
    const std::string two = "<worldbody><body name='a'><joint name='j'/>" + ball_geom + "</body>\n";
    refuse_mjcf(two + "<body name='a'>" + ball_geom + "</body></worldbody>", 3, "second body named \"a\"",
                "rename");
    refuse_mjcf(two + "<body><joint name='j'/>" + ball_geom + "</body></worldbody>", 3,
                "second joint named \"j\"", "rename");
    refuse_mjcf("<worldbody><geom name='g' size='1'/>\n<geom name='g' size='1'/></worldbody>", 3,
                "second geom named \"g\"", "rename");
    refuse_mjcf("<worldbody><body name='a*'/></worldbody>", 2, "reserved name", "rename");
    refuse_mjcf("<worldbody><body name='world'/></worldbody>", 2, "reserved name", "rename");
    refuse_mjcf(
        "<asset><mesh name='a' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>\n<mesh name='a' vertex='0 0 0 1 0 0 0 1 0 "
        "0 0 1'/></asset>",
        3, "second mesh", "rename");
    refuse_mjcf("<default><default class='a'/>\n<default class='a'/></default>", 3, "defines a class twice",
                "rename");
    refuse_mjcf("<default><default class='main'/></default>", 2, "defines a class twice", "rename");
    refuse_mjcf("<default><default/></default>", 2, "has no \"class\"", "add it");
    refuse_mjcf("<default><default class='leg'/></default>" + one_body("", "<joint class='lge'/>"), 2,
                "is not a class", "correct it");
    refuse_mjcf("<worldbody><body childclass='x'/></worldbody>", 2, "is not a class", "correct it");
    const std::string actuator = one_body("", "<joint name='j'/>") + "<actuator>\n";
    refuse_mjcf(actuator + "<motor joint='k'/></actuator>", 3, "is not a joint, the nearest is \"j\"",
                "correct it");
    refuse_mjcf(actuator + "<motor name='a' joint='j'/>\n<motor name='a' joint='j'/></actuator>", 4,
                "second actuator named", "rename");
    refuse_mjcf(actuator + "<motor joint='j' ctrllimited='true'/></actuator>", 3, "no \"ctrlrange\"",
                "add it");
    refuse_mjcf(actuator + "<motor joint='j' forcelimited='true'/></actuator>", 3, "no \"forcerange\"",
                "add it");
    refuse_mjcf(actuator + "<position joint='j' kp='-1'/></actuator>", 3, "must not be negative",
                "use 0 or more");
    refuse_mjcf(actuator + "<position joint='j' inheritrange='1'/></actuator>", 3, "no range to inherit",
                "give the joint a range");
    refuse_mjcf(one_body("") + "<contact>\n<exclude body1='b' body2='c'/></contact>", 3, "is not a body",
                "correct it");
    refuse_mjcf(one_body("") + "<equality>\n<weld body1='c'/></equality>", 3, "is not a body", "correct it");
    refuse_mjcf(one_body("") + "<equality>\n<connect body1='b'/></equality>", 3, "has no \"anchor\"",
                "add it");
    refuse_mjcf(one_body("") + "<equality>\n<joint joint1='c'/></equality>", 3, "is not a joint",
                "correct it");
    refuse_mjcf(one_body("") + "<keyframe>\n<key qpos='1 2'/></keyframe>", 3,
                "has 2 numbers, but the joints have 1", "write one number for each");
    refuse_mjcf(one_body("") + "<keyframe>\n<key ctrl='1'/></keyframe>", 3,
                "has 1 numbers, but the actuators are 0", "write one number for each");
    refuse_mjcf(one_body("") + "<keyframe><key name='a'/>\n<key name='a'/></keyframe>", 3, "second keyframe",
                "rename");
}

struct HostileFolder {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("costate_hostile_" + std::to_string(std::random_device()()));
    HostileFolder() { std::filesystem::create_directories(path / "robot"); }
    ~HostileFolder() { std::filesystem::remove_all(path); }
    std::filesystem::path write(const std::string& name, const std::string& text) const {
        std::ofstream(path / name, std::ios::binary) << text;
        return path / name;
    }
};

TEST_CASE("hostile MJCF: includes that are cyclic, repeated, outside the folder, or not text") {
    const HostileFolder folder;
    const std::string outside = "<mujocoinclude>" + one_body("") + "</mujocoinclude>";
    folder.write("outside.xml", outside);
    const auto at = [&](const std::string& name) { return (folder.path / "robot" / name).string(); };
    const auto refuse = [&](const std::string& include, const std::string& place, const std::string& what,
                            const std::string& remedy) {
        const auto main = folder.write("robot/main.xml", "<mujoco>\n" + include + "</mujoco>");
        refuse_loading(main, at(place) + ": ", what, remedy);
    };
    refuse("<include file='main.xml'/>", "main.xml:2", "or includes itself", "include each file once");
    folder.write("robot/a.xml", "<a>\n\n<include file='b.xml'/></a>");
    folder.write("robot/b.xml", "<b>\n<include file='a.xml'/></b>");
    refuse("<include file='a.xml'/>", "b.xml:2", "or includes itself", "include each file once");
    folder.write("robot/c.xml", "<c/>");
    refuse("<include file='c.xml'/>\n<include file='./c.xml'/>", "main.xml:3", "is included again",
           "include each file once");
    folder.write("outside.txt", "");
    refuse("<include file='../outside.txt'/>", "main.xml:2", "leads out of the model's folder",
           "name its folder");
    refuse("<include file='x/../../outside.txt'/>", "main.xml:2", "leads out of the model's folder",
           "name its folder");
    refuse("<include file='" + (folder.path / "outside.xml").string() + "'/>", "main.xml:2",
           "leads out of the model's folder", "name its folder");
    std::filesystem::create_symlink(folder.path / "outside.txt", folder.path / "robot" / "link.xml");
    refuse("<include file='link.xml'/>", "main.xml:2", "leads out of the model's folder", "name its folder");
    refuse("<include file='none.xml'/>", "main.xml:2", "there is no file", "correct the path");
    refuse("<include/>", "main.xml:2", "has no \"file\"", "add it");
    folder.write("robot/binary.xml", std::string("\x7f"
                                                 "ELF\x02\x01\0\0\xff\xfe",
                                                 10));
    refuse("<include file='binary.xml'/>", "binary.xml:1", "", "");
    folder.write("robot/cut.xml", "<mujocoinclude>\n<body name=\"x\">\n");
    refuse("<include file='cut.xml'/>", "cut.xml:2", "broken XML", "check the open tags");
    for (int i = 0; i < 30; ++i)
        folder.write("robot/n" + std::to_string(i) + ".xml",
                     "<n><include file='n" + std::to_string(i + 1) + ".xml'/></n>");
    refuse("<include file='n0.xml'/>", "n19.xml:1", "a nesting depth of 20", "include fewer");
    refuse_loading(folder.write("robot/main.xml", std::string("MJB\0\0\x01\x02\xfe", 8)),
                   at("main.xml") + ":1: ", "", "");
    refuse_loading(folder.write("robot/main.xml", "<mujoco>\n<worldbody>\n<body"),
                   at("main.xml") + ":3: ", "broken XML", "check");
}

TEST_CASE("hostile MJCF: meshes that are missing, outside the folder or not meshes") {
    const HostileFolder folder;
    folder.write("outside.obj", "v 0 0 0\n");
    const auto refuse = [&](const std::string& mesh, const std::string& what, const std::string& remedy) {
        const auto main =
            folder.write("robot/main.xml", "<mujoco><asset>\n<mesh name='m' file='" + mesh +
                                               "'/></asset><worldbody><body><joint/><geom type='mesh' "
                                               "mesh='m'/></body></worldbody></mujoco>");
        refuse_loading(main, main.string() + ":2: ", what, remedy);
    };
    refuse("none.obj", "is missing, but a body needs its mass", "name its folder");
    refuse(folder.path / "outside.obj", "leads out of the model's folder", "name its folder");
    folder.write("robot/flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
#ifdef COSTATE_HAVE_ASSIMP
    refuse("flat.obj", "encloses no volume", "close its surface");
#endif
}

TEST_CASE("hostile MJCF: huge inputs are refused or read in short time") {
    const auto begin = std::chrono::steady_clock::now();
    std::string deep = "<worldbody>";
    for (int i = 0; i < 95; ++i)
        deep += "<body>";
    CHECK(complaint([&] { mjcf(deep); }).find("broken XML") != std::string::npos);
    for (int i = 0; i < 95; ++i)
        deep += "</body>";
    CHECK_NOTHROW(mjcf(deep + "</worldbody>"));
    std::string wide = "<worldbody>\n";
    for (int i = 0; i < 100001; ++i)
        wide += "<body/>";
    refuse_mjcf(wide + "</worldbody>", 3, "exceeds the 100000 bodies", "use fewer");
    std::string repeated = "<worldbody>\n";
    for (int i = 0; i < 3; ++i)
        repeated += "<replicate count='1000'>";
    refuse_mjcf(repeated + "<site/></replicate></replicate></replicate></worldbody>", 3,
                "exceeds 10000 repetitions", "use fewer");
    std::string geoms = "<worldbody><body>";
    for (int i = 0; i < 20000; ++i)
        geoms += "<geom size='1'/>";
    CHECK_NOTHROW(mjcf(geoms + "</body></worldbody>"));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("hostile MJCF: faults found by the loader also have a line of the file") {
    const HostileFolder folder;
    const auto light = folder.write("robot/light.xml",
                                    "\n<mujoco><worldbody><body name='a'><joint/><inertial pos='0 0 0' "
                                    "mass='1'/></body></worldbody></mujoco>");
    refuse_loading(light, light.string() + ":2: ", "moves no inertia", "give body");
}

}  // namespace
}  // namespace costate::test
