// Files that MJCF names: what it includes, meshes; and the other assets.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "scenes/import/mesh/png_file.hpp"
#include "scenes/import/mjcf/mjcf_compiler.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/scratch_folder.hpp"

namespace costate::test {
namespace {

// A folder of its own, with files in it
struct MjcfFolder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("costate_mjcf_" + std::to_string(std::random_device()()));
    MjcfFolder() { std::filesystem::create_directories(path / "parts"); }
    ~MjcfFolder() { std::filesystem::remove_all(path); }
    std::filesystem::path write(const std::string& name, const std::string& text) const {
        std::ofstream(path / name) << text;
        return path / name;
    }
};

// A cube of edge 2 about (0, 0, 1), as OBJ
const char* const cube_text =
    "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nv -1 -1 2\nv 1 -1 2\nv 1 1 2\nv -1 1 2\n"
    "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

TEST_CASE("MJCF: included files, and complaints that name them") {
    const MjcfFolder folder;
    folder.write("parts/leg.xml",
                 "<mujocoinclude>\n<body name='leg'><joint/><geom size='.1'/></body>\n<geom name='floor' "
                 "type='plane' size='1 1 "
                 "1'/></mujocoinclude>");
    folder.write(
        "options.xml",
        "<mujocoinclude><option timestep='.25'/>\n<default><geom friction='.25'/></default></mujocoinclude>");
    const auto main = folder.write("main.xml",
                                   "<mujoco><include file='options.xml'/><worldbody><include "
                                   "file='parts/leg.xml'/></worldbody></mujoco>");
    const ImportedModel m = import_model(main);
    CHECK((m.model["bodies"][0]["name"] == "leg" && m.scene["time_step"] == .25 &&
           m.scene["shapes"][0]["friction"] == .5));
    CHECK(m.places.at("/bodies/0") == (folder.path / "parts/leg.xml").string() + ":2");
    folder.write(
        "parts/leg.xml",
        "<mujocoinclude>\n<body name='leg'>\n<joint axis='0 0 0'/><geom size='.1'/></body></mujocoinclude>");
    CHECK(complaint([&] {
              import_model(main);
          }).find((folder.path / "parts/leg.xml").string() + ":3: axis=\"0 0 0\"") == 0);
}

TEST_CASE("MJCF: a model is attached with its names, its pose and its actuators") {
    const MjcfFolder folder;
    folder.write("parts/leg.xml", R"(<mujoco><compiler angle="radian"/><default><joint damping="3"/></default>
        <worldbody><geom name="table" size=".1"/><body name="leg" pos="0 0 1"><joint name="hip" axis="0 1 0"/>
          <geom name="thigh" size=".1" density="500"/><site name="foot"/>
          <body name="shin" pos="0 0 -1"><joint name="knee" axis="0 1 0"/><geom size=".05"/></body></body>
          <body name="other"><joint name="else"/><geom size=".1"/></body></worldbody>
        <tendon><fixed name="pull"><joint joint="hip" coef="1"/><joint joint="knee" coef="2"/></fixed>
          <fixed name="lost"><joint joint="else" coef="1"/></fixed></tendon>
        <equality><tendon tendon1="pull" polycoef=".1"/><tendon tendon1="lost" tendon2="pull"/></equality>
        <actuator><motor name="m" joint="knee"/><motor name="t" tendon="pull"/><motor joint="else"/></actuator>
        <contact><exclude body1="leg" body2="shin"/><exclude body1="leg" body2="other"/></contact>
        <sensor><gyro site="foot"/><contact name="lies" geom1="thigh" geom2="table"/></sensor><keyframe><key qpos="0 0 0"/></keyframe></mujoco>)");
    const auto main =
        folder.write("main.xml", R"(<mujoco><asset><model name="leg" file="parts/leg.xml"/></asset>
        <worldbody><body name="trunk"><freejoint/><geom size=".2"/><frame pos="1 0 0" euler="0 0 90">
          <replicate count="2" offset="0 0 2"><attach model="leg" body="leg" prefix="a/"/></replicate></frame></body>
          <attach model="leg" prefix="b/"/></worldbody></mujoco>)");
    const ImportedModel m = import_model(main);
    const Json& bodies = m.model["bodies"];
    std::vector<std::string> names;
    for (const Json& body : bodies)
        names.push_back(body["name"]);
    CHECK(names == std::vector<std::string>{"trunk", "a/leg0", "a/shin0", "a/leg1", "a/shin1", "b/leg",
                                            "b/shin", "b/other"});
    CHECK(
        (bodies[1]["parent"] == "trunk" && bodies[2]["parent"] == "a/leg0" && !bodies[5].contains("parent")));
    CHECK((bodies[1]["joint"]["name"] == "a/hip0" && bodies[1]["joint"]["damping"] == 3));
    CHECK(json_equals(bodies[1]["joint"]["position"], {1, 0, 1}));
    CHECK(json_equals(bodies[3]["joint"]["position"], {1, 0, 3}));
    CHECK(json_equals(bodies[1]["joint"]["quaternion"], {std::sqrt(0.5), 0, 0, std::sqrt(0.5)}));
    CHECK(json_value(bodies[1]["mass"]) == doctest::Approx(500 * 4 * M_PI / 3 * 1e-3));
    CHECK((m.model["tendons"].size() == 4 && m.model["tendons"][1]["joints"][1]["joint"] == "a/knee1"));
    CHECK((m.model["actuators"].size() == 7 && m.model["actuators"][3]["tendon"] == "a/pull1"));
    const Json& equalities = m.model["equalities"];
    REQUIRE(equalities.size() == 4);
    CHECK((equalities[1]["tendon_a"] == "a/pull1" && equalities[3]["tendon_a"] == "b/lost" &&
           equalities[3]["tendon_b"] == "b/pull"));
    // the table comes along to the world, and does not with the leg alone
    CHECK((m.model["exclude"].size() == 4 && m.model["sensors"].size() == 4));
    CHECK(m.model["sensors"][3]["shapes"] == Json{"b/thigh", "world/b/table"});
    CHECK((m.scene["shapes"].size() == 1 && m.scene["shapes"][0]["name"] == "b/table"));
    CHECK(m.warnings.empty());
    folder.write("parts/leg.xml", "<mujoco><worldbody><body name='arm'/></worldbody></mujoco>");
    CHECK(complaint([&] { import_model(main); }).find("is not a body of the attached model") !=
          std::string::npos);
    const auto round = folder.write("round.xml", R"(<mujoco><asset><model name="me" file="round.xml"/></asset>
        <worldbody><attach model="me"/></worldbody></mujoco>)");
    CHECK(complaint([&] { import_model(round); }).find("20 files deep") != std::string::npos);
}

TEST_CASE("MJCF: <option> of an attached model does not count, that of the attaching file counts for both") {
    const MjcfFolder folder;
    const auto attached = [&](const std::string& outer, const std::string& inner) {
        folder.write("arm.xml",
                     "<mujoco><option>" + inner +
                         "</option><worldbody><body name='arm'><joint name='h' limited='true' range='-1 1' "
                         "damping='2'/><geom size='.1'/></body></worldbody></mujoco>");
        return import_model(
            folder.write("main.xml", "<mujoco><option density='1.2'>" + outer +
                                         "</option><asset><model name='m' file='arm.xml'/></asset>"
                                         "<worldbody><attach model='m' prefix='a/'/></worldbody></mujoco>"));
    };
    const std::string off = "<flag limit='disable' damper='disable'/>";
    const ImportedModel inner = attached("", off), outer = attached(off, "");
    const Json& body = inner.model["bodies"][0];
    CHECK((body["joint"].contains("limits") && body["joint"]["damping"] == 2));
    CHECK(body.contains("drag_box"));
    CHECK(inner.scene["medium"]["density"] == 1.2);
    const Json& joint = outer.model["bodies"][0]["joint"];
    CHECK_FALSE((joint.contains("limits") || joint.contains("damping")));
}

TEST_CASE("MJCF: an OBJ file of points alone is their hull") {
    const MjcfFolder folder;
    std::string points = cube_text;
    points.erase(points.find("f "));
    folder.write("parts/points.obj", points);
    const auto main =
        folder.write("main.xml", R"(<mujoco><asset><mesh file="parts/points.obj"/></asset><worldbody>
        <body><freejoint/><geom type="mesh" mesh="points"/></body></worldbody></mujoco>)");
    const ImportedModel m = import_model(main);
    CHECK(json_value(m.model["bodies"][0]["mass"]) == doctest::Approx(8000));
    CHECK(m.model["bodies"][0]["shapes"][0]["vertices"].size() == 8);
}

#ifdef COSTATE_HAVE_ASSIMP
TEST_CASE("MJCF: meshes touch by their hull, weigh what they enclose, and are seen") {
    const MjcfFolder folder;
    folder.write("parts/cube.obj", cube_text);
    const auto main = folder.write("main.xml", R"(<mujoco><compiler meshdir="parts"/>
        <asset><mesh file="cube.obj" scale=".1 .2 -.3"/><mesh name="moved" file="cube.obj" refpos="0 0 1"/>
            <material name="red" rgba="255 -1 0 1"/></asset>
        <worldbody><body name="b"><freejoint/><geom type="mesh" mesh="cube" pos="0 0 1" density="1000"/>
            <geom type="mesh" mesh="moved" contype="0" conaffinity="0" mass="0" material="red"/></body></worldbody></mujoco>)");
    const ImportedModel m = import_model(main);
    const Json& body = m.model["bodies"][0];
    CHECK(json_value(body["mass"]) == doctest::Approx(8 * 6.0));  // 0.2 x 0.4 x 0.6 m
    CHECK(json_value(body["com"][2]) == doctest::Approx(1 - .3));
    CHECK(json_value(body["inertia"][0]) == doctest::Approx(48 * (.4 * .4 + .6 * .6) / 12));
    CHECK((body["shapes"].size() == 1 && body["shapes"][0]["vertices"].size() == 8 &&
           json_equals(body["shapes"][0]["scale"], {.1, .2, .3})));
    REQUIRE(body["visuals"].size() == 1);
    CHECK((body["visuals"][0]["type"] == "mesh" && json_equals(body["visuals"][0]["position"], {0, 0, -1}) &&
           json_equals(body["visuals"][0]["rgba"], {1, 0, 0, 1})));
    CHECK(m.warnings.empty());
    CHECK_NOTHROW(load_scene(main.string()));
}
#endif

TEST_CASE("MJCF: hulls keep as many vertices as maxhullvert says, or the caller") {
    const auto text = [](const char* most) {
        return std::string(
                   "<mujoco><asset><mesh name=\"cube\" vertex=\"0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 "
                   "1 1\" ") +
               most +
               "/></asset><worldbody><body name=\"b\"><freejoint/><geom type=\"mesh\" "
               "mesh=\"cube\"/></body></worldbody></mujoco>";
    };
    const MjcfFolder folder;
    const auto kept = [&](const char* most, int by_caller) {
        ImportOptions options;
        options.hull_vertices = by_caller;
        const ImportedModel m = import_model(folder.write("main.xml", text(most)), options);
        return m.model["bodies"][0]["shapes"][0]["vertices"].size();
    };
    CHECK(kept("", 100) == 8);
    CHECK(kept("maxhullvert=\"-1\"", 100) == 8);
    CHECK(kept("maxhullvert=\"5\"", 100) == 5);
    CHECK(kept("maxhullvert=\"6\"", 4) == 4);
    CHECK(complaint([&] { kept("maxhullvert=\"3\"", 100); }).find("too few") != std::string::npos);
}

TEST_CASE("MJCF: geoms fitted to a mesh have size, place and mass as in MuJoCo") {
    const auto fitted = [](const char* compiler, const std::string& geom) {
        return mjcf(std::string("<compiler ") + compiler + R"(/><asset>
            <mesh name="m" scale="1 2 1.5" vertex="0 0 0 .3 .02 .01 .05 .2 0 .01 .03 .1 .3 .25 .15"
                face="0 2 1 0 1 3 0 3 2 1 2 4 1 4 3 2 3 4"/></asset>
            <worldbody><body name="b"><freejoint/><geom mesh="m" pos=".1 .2 .3" quat="1 2 3 4" )" +
                    geom + "/></body></worldbody>");
    };
    // of MuJoCo 2.2.2, which keeps vertices in single precision
    constexpr double single = 2e-7;
    const Vec3<double> box(0.0675192655363, 0.107532906625, 0.190556066368),
        bounds(0.106773186475, 0.182357117534, 0.304798439145),
        centre(0.0923370101217, 0.277214278194, 0.554297366814);
    const Quaternion<double> turn{0.0252057502553, {0.951423844734, 0.303342672276, -0.046266197185}};
    const auto check = [&](const char* compiler, const std::string& geom, const char* key,
                           const std::vector<double>& size) {
        CAPTURE(geom);
        const MjcfText m = fitted(compiler, geom);
        CHECK(m.imported.warnings.empty());
        const Json shape = m.body(0)["shapes"][0];
        for (size_t k = 0; k < size.size(); ++k)
            CHECK((size.size() == 1 ? json_value(shape[key]) : json_value(shape[key][k])) ==
                  doctest::Approx(size[k]).epsilon(single));
        const auto p = shape["position"].get<std::vector<double>>(),
                   q = shape["quaternion"].get<std::vector<double>>();
        const MjcfPose pose{{p[0], p[1], p[2]}, {q[0], {q[1], q[2], q[3]}}};
        // the axes are those of MuJoCo, but for half turns about one of them
        const Mat3<double> R = rotation_matrix(turn).transpose() * rotation_matrix(pose.q);
        CHECK((R.cwiseAbs() - Mat3<double>::Identity()).norm() < single);
        return std::pair(pose, json_value(m.body(0)["mass"]));
    };
    const auto [pose, mass] = check("", "type='box'", "half_extents", {box[0], box[1], box[2]});
    CHECK((pose.p - centre).norm() < single);
    CHECK(mass == doctest::Approx(11.0683239216656).epsilon(2 * single));
    check("", "type='ellipsoid'", "semi_axes", {box[0], box[1], box[2]});
    check("", "type='sphere'", "radius", {0.121869412843});
    check("", "type='capsule'", "radius", {0.0875260860807});
    CHECK(check("", "type='capsule'", "half_length", {0.146793023328}).second ==
          doctest::Approx(9.87445579332386).epsilon(2 * single));
    check("", "type='cylinder' fitscale='1.2'", "radius", {0.105031303297});
    check("", "type='cylinder' fitscale='1.2'", "half_length", {0.228667279642});

    const char* aabb = "fitaabb='true'";
    const MjcfPose bounding =
        check(aabb, "type='box'", "half_extents", {bounds[0], bounds[1], bounds[2]}).first;
    Vec3<double> lower = Vec3<double>::Constant(1), upper = -lower;  // of the mesh, in the axes of its box
    const MjcfPose geom{{.1, .2, .3}, {1 / std::sqrt(30), Vec3<double>(2, 3, 4) / std::sqrt(30)}};
    for (const Vec3<double>& v : {Vec3<double>(0, 0, 0), Vec3<double>(.3, .02, .01), Vec3<double>(.05, .2, 0),
                                  Vec3<double>(.01, .03, .1), Vec3<double>(.3, .25, .15)}) {
        const Vec3<double> x =
            (inverse(bounding) * geom * MjcfPose{v.cwiseProduct(Vec3<double>(1, 2, 1.5))}).p;
        lower = lower.cwiseMin(x);
        upper = upper.cwiseMax(x);
    }
    CHECK(((lower + bounds).norm() < single && (upper - bounds).norm() < single));
    check(aabb, "type='ellipsoid'", "semi_axes", {bounds[0], bounds[1], bounds[2]});
    check(aabb, "type='sphere'", "radius", {bounds[2]});
    check(aabb, "type='capsule'", "half_length", {bounds[2] - bounds[1]});
    check(aabb, "type='cylinder'", "radius", {bounds[1]});
}

TEST_CASE("MJCF: height fields, inline meshes and visual geoms") {
    const MjcfText m =
        mjcf(R"(<asset><hfield name="hill" nrow="2" ncol="3" size="1 2 .5 .1" elevation="0 0 0 0 4 8"/>
        <mesh name="tip" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>
        <worldbody><geom name="hill" type="hfield" hfield="hill"/>
        <body name="b"><freejoint/><geom type="mesh" mesh="tip" density="6"/>
        <geom type="box" size="1 2 3" contype="0" conaffinity="0" mass="0" rgba="0 1 0 .5"/></body></worldbody>)");
    const Json hill = m.imported.scene["shapes"][0];
    CHECK((json_equals(hill["heights"][0], {0, .25, .5}) && json_equals(hill["heights"][1], {0, 0, 0}) &&
           json_equals(hill["cell"], {1, 4})));
    CHECK(json_value(m.body(0)["mass"]) == doctest::Approx(1));
    CHECK((m.body(0)["visuals"].size() == 1 && m.body(0)["visuals"][0]["type"] == "box" &&
           json_equals(m.body(0)["visuals"][0]["rgba"], {0, 1, 0, .5})));
    CHECK_NOTHROW(m.scene());
}

// The bytes of hexadecimal digits
std::string bytes_of(const std::string& digits) {
    std::string out;
    for (size_t i = 0; i + 1 < digits.size(); i += 2)
        out += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    return out;
}

// The heights of a height field 0.5 high whose attributes are given, in the order of the rows
std::vector<double> heights_of(const ScratchFolder& folder, const std::string& attributes) {
    const std::filesystem::path file = folder.write(
        "m.xml", "<mujoco><asset><hfield name='h' size='1 2 .5 .1' " + attributes +
                     "/></asset><worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>");
    const ImportedModel model = import_model(file, {});
    std::vector<double> out;
    for (const Json& row : model.scene["shapes"][0]["heights"])
        for (const Json& z : row)
            out.push_back(z.get<double>());
    return out;
}

// Pictures of 2 x 3 points with the values 10 20 30, 40 250 60, and their heights in MuJoCo 2.2.2: the lowest row first
TEST_CASE("MJCF: height fields in PNG files are those of MuJoCo, whatever the picture's colours") {
    if (!reads_png()) {
        MESSAGE("skipped: this build cannot read PNG files");
        return;
    }
    const ScratchFolder folder("hfield");
    const std::string head = "89504e470d0a1a0a0000000d494844520000000300000002";
    const std::pair<const char*, std::string> pictures[] = {
        {"gray", "0800000000b81f39c6000000104944415478da63e0129163d0f86503000404019b0c24c3b8"},
        {"gray, 16 bits",
         "1000000000e88fe585000000164944415478da63e04a1649964b66d048fe956c930c0016df03eda09d0352"},
        {"rgb",
         "08020000001216f14d0000001d4944415478da63e0623f21c27e428efd048306fb895fec276cd84f000037640675c4ae"
         "c350"},
        {"rgba",
         "08060000009d74661a0000001b4944415478da63e0623fd12002c47240cca001247e01b10d1003006ea50975f6cc2d66"},
        {"palette",
         "0803000000aaaa962800000012504c54450a07c81407c81e07c82807c8fa07c83c07c816a06e57000000104944415478"
         "da63606064626066610500002e0010fad8c70c"}};
    for (const auto& [kind, rest] : pictures) {
        CAPTURE(kind);
        folder.write("h.png", bytes_of(head + rest + "0000000049454e44ae426082"));
        const std::vector<double> z = heights_of(folder, "file='h.png'");
        const double expected[] = {0.125, 1, 5. / 24, 0, 1. / 24, 2. / 24};
        REQUIRE(z.size() == 6);
        for (size_t i = 0; i < 6; ++i)
            CHECK(z[i] == doctest::Approx(0.5 * expected[i]).epsilon(1e-12));
    }
    const std::string whole = bytes_of(head + pictures[0].second + "0000000049454e44ae426082");
    for (const size_t length : {0, 7, 20, 40, 50}) {
        folder.write("h.png", whole.substr(0, length));
        CHECK(complaint([&] { heights_of(folder, "file='h.png'"); }).find("export it again") !=
              std::string::npos);
    }
    std::string huge = whole;
    huge[16] = 1;
    folder.write("h.png", huge);
    CHECK(complaint([&] { heights_of(folder, "file='h.png'"); }).find("use a smaller picture") !=
          std::string::npos);
}

TEST_CASE("MJCF: height fields in MuJoCo's own format, and without heights") {
    const ScratchFolder folder("hfield_binary");
    const float numbers[] = {1, 2, 3, 4, 5, 9};
    std::string bytes = bytes_of("0200000003000000");
    bytes.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
    folder.write("h.bin", bytes);
    CHECK(heights_of(folder, "file='h.bin'") == std::vector<double>{0, .0625, .125, .1875, .25, .5});
    folder.write("h.png", bytes);
    CHECK(heights_of(folder, "file='h.png' content_type='image/vnd.mujoco.hfield'").size() == 6);
    CHECK(heights_of(folder, "nrow='2' ncol='3'") == std::vector<double>(6, 0));
    for (const std::string& broken :
         {bytes.substr(0, 5), bytes.substr(0, 20), bytes + "x", std::string(8, '\xff')}) {
        folder.write("h.bin", broken);
        CHECK(complaint([&] {
                  heights_of(folder, "file='h.bin'");
              }).find("its size is not that of its grid") != std::string::npos);
    }
    folder.write("m.xml", "<mujoco><asset><hfield file='none.bin' size='1 1 1 1'/></asset></mujoco>");
    const ImportedModel none = import_model(folder.path("m.xml"), {});
    REQUIRE(none.warnings.size() == 1);
    CHECK(none.warnings[0].find("there is no file for height field") != std::string::npos);
    CHECK(complaint([&] { heights_of(folder, "nrow='2000' ncol='2000'"); }).find("a million") !=
          std::string::npos);
}

}  // namespace
}  // namespace costate::test
