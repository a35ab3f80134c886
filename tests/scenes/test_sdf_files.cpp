// Files of SDFormat that name others: included models, meshes and height maps.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/support/sdf_text.hpp"

namespace costate::test {
namespace {

std::string include(const std::string& uri, const std::string& more = "") {
    return "<include><uri>" + uri + "</uri>" + more + "</include>\n";
}
std::string world(const std::string& content) { return sdf_file("<world name='w'>" + content + "</world>"); }

// A folder with the model "part" of two versions, and one in a folder of its own beside that of the robot.
struct SdfFolder : ScratchFolder {
    SdfFolder() : ScratchFolder("sdf_files") {
        write("models/part/model.config",
              "<model><name>part</name><sdf version='1.4'>old.sdf</sdf><sdf "
              "version='1.6'>part.sdf</sdf></model>");
        write("models/part/old.sdf", "<sdf version='1.4'>" + sdf_model(sdf_link("old"), "part") + "</sdf>");
        write("models/part/part.sdf",
              "<sdf version='1.6'>" +
                  sdf_model(sdf_pose("0 0 3 0 0 0") +
                                sdf_link("link", sdf_pose("1 0 0 0 0 0") + sdf_collision(sdf_ball)) +
                                "<frame name='tip' attached_to='link'>" + sdf_pose("0 0 0.5 0 0 0") +
                                "</frame>",
                            "part") +
                  "</sdf>");
        write("models/pair/model.sdf",
              sdf_file(sdf_model(include("model://part", "<name>left</name><pose>0 1 0 0 0 0</pose>") +
                                     include("../part/part.sdf", "<name>right</name>") +
                                     sdf_joint("j", "revolute", "left::link", "right::tip"),
                                 "pair")));
    }
    Scene load(const std::string& text, const ImportOptions& options = {}) const {
        ImportOptions all = options;
        all.search.push_back(path("models"));
        return load_scene(write("robot/robot.sdf", text).string(), {}, all);
    }
    std::string complaint_of(const std::string& text, const ImportOptions& options = {}) const {
        return complaint([&] { load(text, options); });
    }
};

TEST_CASE("SDFormat includes: the latest version, names, poses, static") {
    const SdfFolder folder;
    const Scene scene = folder.load(
        world(include("model://part") +
              include("model://part", "<name>moved</name><pose>0 2 0 0 0 1.5707963267948966</pose>") +
              include("model://part", "<name>still</name><static>true</static><pose>0 -9 3 0 0 0</pose>")));
    CHECK(scene.warnings.empty());
    CHECK(scene.world.model.nv == 12);
    CHECK((pose_of(scene, scene.x0, "robot/part::link").p - Vec3<double>(1, 0, 3)).norm() < 1e-12);
    CHECK((pose_of(scene, scene.x0, "robot/moved::link").p - Vec3<double>(0, 3, 0)).norm() < 1e-12);
    CHECK(pose_of(scene, scene.x0, "robot/still::link").p.z() == 3);
}

TEST_CASE("SDFormat includes: models in models, joined by their links and frames") {
    const SdfFolder folder;
    const Scene scene = folder.load(
        sdf_file(sdf_model(sdf_link("base") + include("model://pair", "<pose>10 0 0 0 0 0</pose>") +
                           sdf_joint("mount", "fixed", "base", "pair::left::tip", "") +
                           "<frame name='above' attached_to='pair::right::link'>" + sdf_pose("0 0 1 0 0 0") +
                           "</frame>" + sdf_link("top", sdf_pose("0 0 1 0 0 0", "above")) +
                           sdf_joint("t", "fixed", "pair::right::link", "top", ""))));
    CHECK(scene.world.model.nv == 7);
    const auto p = [&](const char* body) { return pose_of(scene, scene.x0, std::string("m/") + body).p; };
    const Vec3<double> left = p("pair::left::link"), right = p("pair::right::link");
    CHECK((left - p("base") - Vec3<double>(11, 1, 0)).norm() < 1e-12);
    CHECK((right - p("base") - Vec3<double>(11, 0, 3)).norm() < 1e-12);
    CHECK((p("top") - right - Vec3<double>(0, 0, 2)).norm() < 1e-12);
    CHECK(scene.world.model.joint_index("m/pair::j") >= 0);
}

TEST_CASE("SDFormat includes: the parts of a merged model are those of the model around it") {
    const SdfFolder folder;
    folder.write(
        "models/more/model.sdf",
        sdf_file(sdf_model("<include merge='true'><uri>model://part</uri><pose>0 0 1 0 0 0</pose></include>" +
                               sdf_link("extra", sdf_pose("0 1 0 0 0 0", "tip")) +
                               sdf_joint("e", "revolute", "link", "extra"),
                           "more")));
    const Scene scene = folder.load(sdf_file(sdf_model(
        sdf_joint("j", "fixed", "base", "tip", "") + sdf_link("base", sdf_pose("0 0 -1 0 0 0", "extra")) +
        "<include merge='1'><uri>model://more</uri><pose>5 0 0 0 0 0</pose></include>")));
    CHECK(scene.warnings.empty());
    CHECK(scene.world.model.nv == 7);
    const auto p = [&](const char* body) { return pose_of(scene, scene.x0, std::string("m/") + body).p; };
    CHECK((p("extra") - p("link") - Vec3<double>(0, 1, 0.5)).norm() < 1e-12);
    CHECK((p("base") - p("extra") - Vec3<double>(0, 0, -1)).norm() < 1e-12);
    CHECK(scene.world.model.joint_index("m/e") >= 0);
}

TEST_CASE("SDFormat includes: a folder of models beside that of the worlds is searched") {
    const SdfFolder folder;
    const Scene scene = load_scene(
        folder.write("worlds/w.world", world(include("model://part") + include("part", "<name>other</name>")))
            .string());
    CHECK(scene.world.model.nv == 12);
}

TEST_CASE("SDFormat: the folders of Gazebo's models are searched") {
    const SdfFolder folder;
    const std::string file = folder.write("deep/alone/w.sdf", world(include("model://part"))).string();
    CHECK(load_scene(file).world.model.nv == 0);
    const std::string list = "/nowhere:" + folder.path("models").string();
    ::setenv("GZ_SIM_RESOURCE_PATH", list.c_str(), 1);
    CHECK(load_scene(file).world.model.nv == 6);
    ::unsetenv("GZ_SIM_RESOURCE_PATH");
}

TEST_CASE("SDFormat includes: placement frames") {
    const SdfFolder folder;
    const Scene scene = folder.load(
        world(include("model://part", "<placement_frame>tip</placement_frame><pose>0 0 9 0 0 0</pose>")));
    CHECK((pose_of(scene, scene.x0, "robot/part::link").p - Vec3<double>(0, 0, 8.5)).norm() < 1e-12);
}

TEST_CASE("SDFormat includes: what is missing or leads out is said, and no network is used") {
    const SdfFolder folder;
    const Scene scene =
        folder.load(world(include("model://part") + include("model://nothing") + include("model://sun") +
                          include("https://fuel.gazebosim.org/1.0/OpenRobotics/models/part",
                                  "<name>fuel</name><pose>0 9 0 0 0 0</pose>")));
    REQUIRE(scene.warnings.size() == 1);
    CHECK(scene.warnings[0].find(
              "robot.sdf:3: an included model is left out, because there is no file \"model://nothing\"; "
              "name the folder") != std::string::npos);
    CHECK(scene.world.model.nv == 12);
    CHECK(folder.complaint_of(world(include("model://nothing")), {.strict = true})
              .find(":2: an included model") != std::string::npos);
    const std::string needed =
        folder.complaint_of(sdf_file(sdf_model(sdf_link("a") + include("model://nothing", "<name>n</name>") +
                                               sdf_joint("j", "fixed", "a", "n::l", ""))));
    CHECK(needed.find(
              ":4: there is no file for the included model \"model://nothing\", which the file needs; ") !=
          std::string::npos);
    folder.write("out.txt", "");
    CHECK(folder.complaint_of(world(include("../out.txt"))).find("leads out of the model's folder") !=
          std::string::npos);
    CHECK(folder.complaint_of(world(include("ftp://a/b"))).find("is not a path") != std::string::npos);
    folder.write("models/round/model.sdf", sdf_file(sdf_model(include("model://round"), "round")));
    CHECK(folder.complaint_of(world(include("model://round"))).find("is more than 20 files deep") !=
          std::string::npos);
}

TEST_CASE("SDFormat meshes and height maps") {
    const SdfFolder folder;
    const std::string still = "<static>1</static>";
    folder.write("models/part/meshes/wedge.obj", wedge_obj());
    const std::string mesh = "<mesh><uri>model://part/meshes/wedge.obj</uri><scale>1 1 -2</scale></mesh>";
    const std::string shown =
        "<visual name='v'><geometry>" + mesh +
        "</geometry><material><diffuse>1 0 0 1</diffuse></material><transparency>0.5</transparency></visual>";
#ifdef COSTATE_HAVE_ASSIMP
    const Scene scene = folder.load(sdf_file(sdf_model(sdf_link("a", sdf_collision(mesh) + shown))));
    CHECK(scene.warnings.empty());
    CHECK(scene.world.shapes.shapes.size() == 2);  // and the ground
    REQUIRE(scene.visuals.size() == 1);
#endif
    const Scene without = folder.load(sdf_file(sdf_model(
        sdf_link("a", sdf_collision("<mesh><uri>no.obj</uri></mesh>") + sdf_collision(sdf_ball, "", "d")))));
    REQUIRE(without.warnings.size() == 1);
    CHECK(without.warnings[0].find(
              "robot.sdf:3: collision mesh is ignored, because there is no file \"no.obj\"; ") !=
          std::string::npos);
    const std::string far = "<mesh><uri>https://a.org/b.dae</uri></mesh>";
    CHECK(
        folder.load(sdf_file(sdf_model(sdf_link("a", sdf_collision(far) + sdf_collision(sdf_ball, "", "d")))))
            .warnings.size() == 1);
    const std::string map = "<heightmap><uri>map.tif</uri><size>10 10 1</size></heightmap>";
    folder.write("robot/map.tif", "II*");
    CHECK(folder
              .load(sdf_file(
                  sdf_model(still + sdf_link("a", sdf_collision(map) + sdf_collision(sdf_ball, "", "d")))))
              .warnings[0]
              .find("a height map is left out") != std::string::npos);
}

}  // namespace
}  // namespace costate::test
