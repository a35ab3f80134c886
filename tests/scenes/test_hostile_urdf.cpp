// Impossible robots in URDF: each gives one line of message with the file, the line and a remedy.
#include <doctest/doctest.h>

#include <chrono>

#include "tests/support/urdf_text.hpp"

namespace costate::test {
namespace {

const std::string link_a = urdf_link("a"), link_b = urdf_link("b"), link_c = urdf_link("c");  // a line each

TEST_CASE("hostile URDF: truncated, not XML, no robot") {
    const std::string whole = urdf_robot(link_a + link_b + urdf_joint("j", "revolute", "a", "b"));
    CHECK(urdf_complaint(whole) == "");  // no message
    for (size_t length = 0; length + 2 < whole.size(); length += 7) {
        const std::string message = urdf_complaint(whole.substr(0, length));
        CAPTURE(message);
        CHECK(message.compare(0, 11, "robot.urdf:") == 0);
        CHECK(message.find('\n') == std::string::npos);
    }
    refuse_urdf("<collada version='1.4'/>", 1, "is not a robot description", "name a file");
    refuse_urdf("<robot name='r'/>", 1, "has no <link>", "add one");
    refuse_urdf(std::string(84, 'x') + std::string("\1\0\0\0", 4), 1, "binary", "name a robot");
}

TEST_CASE("hostile URDF: cycles, two parents, loose links") {
    refuse_urdf(
        urdf_robot(link_a + link_b + urdf_joint("j", "fixed", "a", "b") + urdf_joint("k", "fixed", "b", "a")),
        4, "cycle", "remove a joint");
    refuse_urdf(urdf_robot(link_a + urdf_joint("j", "fixed", "a", "a")), 3, "cycle", "remove a joint");
    refuse_urdf(urdf_robot(link_a + link_b + link_c + urdf_joint("j", "fixed", "b", "c") +
                           urdf_joint("k", "fixed", "c", "b")),
                5, "cycle that the root does not reach", "remove a joint");
    refuse_urdf(urdf_robot(link_a + link_b + link_c + urdf_joint("j", "fixed", "a", "c") +
                           urdf_joint("k", "fixed", "b", "c")),
                6, "which joint \"j\" already carries", "a link has one parent");
    refuse_urdf(urdf_robot(link_a + link_b), 3, "\"b\" has no joint to a parent", "add a joint");
}

TEST_CASE("hostile URDF: missing links and joints, duplicate and unfit names") {
    const std::string base = urdf_link("base");
    refuse_urdf(urdf_robot(base + urdf_joint("j", "fixed", "bsae", "base")), 3,
                "is not a link, the nearest is \"base\"", "correct it");
    refuse_urdf(urdf_robot(base + urdf_joint("j", "fixed", "base", "x")), 3, "is not a link", "correct it");
    refuse_urdf(urdf_robot(base + "<joint name='j' type='fixed'><child link='base'/></joint>"), 3,
                "has no <parent>", "add it");
    refuse_urdf(urdf_robot(link_a + link_a), 3, "is the name of another link", "rename one");
    refuse_urdf(urdf_robot(link_a + link_b + link_c + urdf_joint("j", "fixed", "a", "b") +
                           urdf_joint("j", "fixed", "b", "c")),
                6, "is the name of another joint", "rename one");
    refuse_urdf(urdf_robot(urdf_link("a*")), 2, "contains a *", "rename it");
    refuse_urdf(urdf_robot(urdf_link("")), 2, "is empty", "fill it in");
    refuse_urdf(urdf_robot(urdf_link(" a")), 2, "white space", "rename it");
    refuse_urdf(urdf_robot("<link/>"), 2, "has no \"name\"", "add it");
    refuse_urdf(urdf_robot(link_a + link_b + urdf_joint("j", "hinge", "a", "b")), 4, "is not known",
                "correct it");
    refuse_urdf(urdf_robot(link_a + link_b + urdf_joint("j", "continuous", "a", "b", "<mimic joint='j'/>")),
                4, "is the same joint", "name another");
    refuse_urdf(urdf_robot(link_a + link_b + link_c + urdf_joint("j", "planar", "a", "b", "") +
                           urdf_joint("k", "continuous", "a", "c", "<mimic joint='j'/>")),
                6, "couples a joint of type planar", "couple joints with one axis");
    // messages of the loader also have the line
    refuse_urdf(urdf_robot(link_a + link_b + urdf_joint("world", "continuous", "a", "b", "")), 4,
                "the name \"world\" is reserved", "rename it");
    refuse_urdf(urdf_robot(urdf_link("world") + urdf_link("world_link") +
                           urdf_joint("j", "continuous", "world", "world_link", "")),
                3, "already a body named \"world_link\"", "rename one");
}

TEST_CASE("hostile URDF: mass and inertia") {
    const auto with = [](const std::string& content) {
        return urdf_robot(link_a + "<link name='b'>\n" + content + "\n</link>\n" +
                          urdf_joint("j", "continuous", "a", "b", ""));
    };
    refuse_urdf(with(urdf_inertial("-1")), 4, "must not be negative", "use 0 or more");
    refuse_urdf(with(urdf_inertial("nan")), 4, "beyond the range", "use finite");
    refuse_urdf(with(urdf_inertial("inf")), 4, "beyond the range", "use finite");
    refuse_urdf(with(urdf_inertial("1e999")), 4, "beyond the range", "use finite");
    refuse_urdf(with(urdf_inertial("heavy")), 4, "is not a list of numbers", "write numbers");
    refuse_urdf(with("<inertial>\n<inertia ixx='1' iyy='1' izz='1'/></inertial>"), 4, "has no <mass>",
                "add it");
    const auto inertia = [&](const std::string& text) {
        return with("<inertial><mass value='1'/>\n<inertia " + text + "/></inertial>");
    };
    refuse_urdf(inertia("ixx='1' iyy='1'"), 5, "has no \"izz\"", "add it");
    refuse_urdf(inertia("ixx='1' iyy='1' izz='1' ixy='-nan'"), 5, "beyond the range", "use finite");
}

TEST_CASE("hostile URDF: numbers of joints and geometry") {
    const auto joint = [](const std::string& type, const std::string& content) {
        return urdf_robot(link_a + link_b + urdf_joint("j", type, "a", "b", "\n" + content));
    };
    refuse_urdf(joint("continuous", "<axis xyz='0 0 0'/>"), 5, "has no direction", "use for example");
    refuse_urdf(joint("continuous", "<axis xyz='0 1'/>"), 5, "too few", "write 3");
    refuse_urdf(joint("continuous", "<origin xyz='0 nan 0'/>"), 5, "beyond the range", "use finite");
    refuse_urdf(joint("continuous", "<origin rpy='0 0 0 0 0'/>"), 5, "too many", "write 3");
    refuse_urdf(joint("continuous", "<dynamics damping='-1'/>"), 5, "must not be negative", "use 0 or more");
    refuse_urdf(joint("continuous", "<dynamics friction='-1'/>"), 5, "must not be negative", "use 0 or more");
    refuse_urdf(joint("revolute", "<limit lower='-inf' upper='1'/>"), 5, "beyond the range", "use finite");
    refuse_urdf(joint("revolute", "<limit lower='-1' upper='1' effort='-1'/>"), 5, "must not be negative",
                "use 0 or more");
    const auto shape = [](const std::string& geometry) {
        return urdf_robot(urdf_link("a", urdf_inertial() + "<collision>\n" + geometry + "</collision>"));
    };
    refuse_urdf(shape("<geometry><sphere radius='-1'/></geometry>"), 3, "must be positive",
                "use a number above 0");
    refuse_urdf(shape("<geometry><box size='1 0 1'/></geometry>"), 3, "must be positive",
                "use three lengths");
    refuse_urdf(shape("<geometry><cylinder radius='1' length='-1'/></geometry>"), 3, "must be positive",
                "use a number above 0");
    refuse_urdf(shape("<geometry/>"), 3, "is empty", "put a box");
    refuse_urdf(shape(""), 2, "has no <geometry>", "add it");
    refuse_urdf(shape("<geometry><plane normal='0 0 0'/></geometry>"), 3, "has no direction", "use 0 0 1");
    refuse_urdf(shape("<geometry><mesh filename='m.obj' scale='1 0 1'/></geometry>"), 3, "must not be 0",
                "use three");
}

TEST_CASE("hostile URDF: huge counts and deep chains end soon") {
    const auto start = std::chrono::steady_clock::now();
    std::string links, joints;
    for (int i = 0; i < 5000; ++i) {
        links += urdf_link("l" + std::to_string(i));
        if (i > 0)
            joints += urdf_joint("j" + std::to_string(i), "fixed", "l" + std::to_string(i - 1),
                                 "l" + std::to_string(i), "");
    }
    refuse_urdf(urdf_robot(links + joints), 4098, "exceeds the 4096 links", "use fewer");
    std::string nested = "<link name='a'>";
    for (int i = 0; i < 100000; ++i)
        nested += "<visual>\n";
    CHECK(urdf_complaint(urdf_robot(nested)).find("nested deeper") != std::string::npos);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("hostile URDF: paths outside the folder") {
    const ScratchFolder folder("climb");
    folder.write("secret/wedge.obj", wedge_obj());
    folder.write("robot/meshes/wedge.obj", wedge_obj());
    std::filesystem::create_symlink(folder.path("secret/wedge.obj"), folder.path("robot/meshes/link.obj"));
    const auto load = [&](const std::string& name, const char* kind = "collision") {
        const std::string link = urdf_inertial() + "<" + kind + "><geometry>\n<mesh filename='" + name +
                                 "'/></geometry></" + kind + ">";
        return complaint(
            [&] { import_model(folder.write("robot/robot.urdf", urdf_robot(urdf_link("a", link)))); });
    };
    CHECK(load("meshes/wedge.obj") == "no complaint");
    CHECK(load("package://robot/meshes/wedge.obj") == "no complaint");
    const std::string begin = folder.path("robot/robot.urdf").string() + ":3: ";
    std::filesystem::create_symlink("/etc/passwd", folder.path("robot/meshes/passwd.obj"));
    for (const char* kind : {"collision", "visual"}) {
        for (const char* name :
             {"../secret/wedge.obj", "meshes/../../secret/wedge.obj", "../nowhere.obj", "meshes/link.obj"})
            CHECK(load(name, kind) == "no complaint");
        for (const std::string& name :
             {std::string("../../../../../../../../etc/passwd"), std::string("meshes/passwd.obj"),
              std::string("package://robot/../secret/wedge.obj"),
              std::string("file://") + folder.path("secret/wedge.obj").string(),
              folder.path("secret/wedge.obj").string()})
            check_complaint(load(name, kind), begin, "leads out of the robot's folder", "name its folder");
    }
    check_complaint(load("http://example.org/wedge.obj"), begin, "is not a path", "use package://");
    check_complaint(load(""), begin, "is empty", "fill it in");
    folder.write("robot/meshes/broken.stl", "solid nothing\n");
    CHECK(load("meshes/broken.stl").compare(0, begin.size(), begin) == 0);
    CHECK(load("meshes") == "no complaint");  // a folder is not a file: a warning about a missing file
}

}  // namespace
}  // namespace costate::test
