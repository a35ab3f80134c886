// Files that robot files name: where they are found, and meshes that other software accepts.
#include <doctest/doctest.h>

#include <algorithm>

#include "scenes/format/files.hpp"
#include "scenes/import/mesh/mesh_file.hpp"
#include "scenes/import/mesh/mesh_mass.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/urdf_text.hpp"

namespace costate::test {

TEST_CASE(
    "repairs: files beside the robot's folder, for texts in memory in its package or repository alone") {
    for (const char* mark : {"package.xml", ".git/HEAD"}) {
        const ScratchFolder folder("repairs");
        folder.write("stls/wedge.obj", wedge_obj());
        folder.write("parts/ball.xml", "<mujocoinclude>" + one_body("") + "</mujocoinclude>");
        const std::string mesh =
            "<collision><geometry><mesh filename='../stls/wedge.obj'/></geometry></collision>";
        const auto urdf =
            folder.write("robots/robot.urdf", urdf_robot(urdf_link("a", urdf_inertial() + mesh)));
        const auto mjcf = folder.write(
            "robots/robot.xml",
            "<mujoco><compiler meshdir='../stls'/><asset><mesh file='wedge.obj'/></asset><worldbody><body>"
            "<freejoint/><geom type='mesh' mesh='wedge'/></body></worldbody><include "
            "file='../parts/ball.xml'/></mujoco>");
        const auto parsed = [](const std::filesystem::path& file, const ImportOptions& options) {
            return complaint([&] { parse_model(read_file(file), file, options, nullptr); });
        };
        for (const auto& file : {urdf, mjcf}) {
            CHECK(complaint([&] { import_model(file); }) == "no complaint");
            CHECK(parsed(file, {}).find("leads out of the") != std::string::npos);
            ImportOptions search;
            search.search = {folder.path("stls"), folder.path("parts")};
            CHECK(parsed(file, search) == "no complaint");
        }
        folder.write(mark, "");
        for (const auto& file : {urdf, mjcf})
            CHECK(parsed(file, {}) == "no complaint");
    }
}

TEST_CASE(
    "repairs: a backslash separates folders, a sphere of radius 0 is a point, one scale is that of all "
    "axes") {
    const ScratchFolder folder("repairs");
    folder.write("parts/wedge.obj", wedge_obj());
    const auto collision = [](const std::string& shape) {
        return "<collision><geometry>" + shape + "</geometry></collision>";
    };
    const auto file = folder.write(
        "robot.urdf",
        urdf_robot(urdf_link("a", urdf_inertial() + collision("<sphere radius='0.0'/>") +
                                      collision("<box size='0 0 0'/>") +
                                      collision("<mesh filename='parts\\wedge.obj' scale='.5'/>") +
                                      collision("<mesh filename='parts/wedge.obj' scale='.5 .5 .5'/>"))));
    const ImportedModel robot = import_model(file);
    REQUIRE(robot.warnings.size() == 1);
    CHECK(robot.warnings[0].find("<box> has no extent and is ignored") != std::string::npos);
    const Json& shapes = robot.model["bodies"][0]["shapes"];
    REQUIRE(shapes.size() == 3);
    CHECK(shapes[0]["radius"] == 1e-6);
    CHECK(shapes[1]["vertices"] == shapes[2]["vertices"]);
}

TEST_CASE("repairs: package:// finds the robot's own package in a folder of another name") {
    const ScratchFolder folder("repairs");
    folder.write("clone/package.xml", "");
    folder.write("clone/meshes/wedge.obj", wedge_obj());
    const auto shapes = [&](const std::string& mesh) {
        const std::string link =
            urdf_inertial() + "<collision><geometry><mesh filename='" + mesh + "'/></geometry></collision>";
        return import_model(folder.write("clone/urdf/robot.urdf", urdf_robot(urdf_link("a", link))))
            .model["bodies"][0]
            .contains("shapes");
    };
    CHECK(shapes("package://original/meshes/wedge.obj"));
    CHECK_FALSE(shapes("package://original/meshes/none.obj"));
}

#ifdef COSTATE_HAVE_ASSIMP
TEST_CASE("repairs: a flat collision mesh is as thick as a hundredth of its extent, behind its surface") {
    const ScratchFolder folder("repairs");
    folder.write("plate.obj", "v 0 0 1\nv 2 0 1\nv 2 1 1\nv 0 1 1\nf 1 2 3\nf 1 3 4\n");
    const std::string mesh = "<collision><geometry><mesh filename='plate.obj'/></geometry></collision>";
    const ImportedModel imported =
        import_model(folder.write("robot.urdf", urdf_robot(urdf_link("a", urdf_inertial() + mesh))));
    REQUIRE(imported.warnings.size() == 1);
    CHECK(imported.warnings[0].find("a flat collision mesh is given a thickness") != std::string::npos);
    double least = 1, most = 0;
    for (const Json& vertex : imported.model["bodies"][0]["shapes"][0]["vertices"]) {
        least = std::min(least, vertex[2].get<double>());
        most = std::max(most, vertex[2].get<double>());
    }
    CHECK(most == 1);
    CHECK(std::abs(least - 0.98) < 1e-12);
}
#endif

TEST_CASE("repairs: MSH files, MuJoCo's own format of meshes") {
    const auto file = [](std::int32_t vertices, std::vector<float> numbers,
                         std::vector<std::int32_t> corners) {
        const std::int32_t counts[] = {vertices, 1, 1, static_cast<std::int32_t>(corners.size() / 3)};
        std::string bytes(reinterpret_cast<const char*>(counts), sizeof counts);
        bytes.append(reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size());
        return bytes.append(reinterpret_cast<const char*>(corners.data()), 4 * corners.size());
    };
    const std::vector<float> corner{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, /* normal */ 0, 0, 1, /* texture */ 0,
                                    0};
    const std::vector<std::int32_t> faces{0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    const ScratchFolder folder("repairs");
    const auto read = [&](const std::string& bytes) { return read_mesh_file(folder.write("m.msh", bytes)); };
    const TriangleMesh mesh = read(file(4, corner, faces));
    REQUIRE(mesh.vertices.size() == 4);
    CHECK(mesh.vertices[3] == Vec3<double>(0, 0, 3));
    CHECK(mesh.triangles.size() == 4);
    CHECK(mesh.triangles[1] == std::array<int, 3>{0, 1, 3});
    CHECK(std::abs(mesh_mass(mesh, MeshInertia::exact).m - 1) < 1e-12);  // a sixth of 1 x 2 x 3
    const auto refuse = [&](const std::string& bytes, const char* what) {
        std::string said;
        try {
            read(bytes);
        } catch (const MeshFileError& e) {
            said = e.what();
        }
        CAPTURE(said);
        CHECK(said.find(what) != std::string::npos);
    };
    refuse("MSH", "cut short");
    refuse(file(5, corner, faces), "does not have the size");
    refuse(file(-4, corner, faces), "has no vertices");
    refuse(file(4, corner, {0, 1, 4}), "refers to a vertex");
    refuse(file(4, corner, {}), "has no triangle");
    std::vector<float> infinite = corner;
    infinite[1] = std::numeric_limits<float>::infinity();
    refuse(file(4, infinite, faces), "is not finite");
}

TEST_CASE("paths that are no files") {
    const ScratchFolder folder("repairs");
    const std::string path = folder.path("").string();
    CHECK(complaint([&] { load_scene(path); }).find("is a folder; name a file in it") != std::string::npos);
    CHECK(complaint([&] { load_scene(path + "/none.xml"); }).find("there is no such file") !=
          std::string::npos);
}

}  // namespace costate::test
