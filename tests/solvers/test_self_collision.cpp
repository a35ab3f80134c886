// Contacts between the links of a URDF model.
#include <doctest/doctest.h>

#include "tests/support/urdf_text.hpp"

namespace costate::test {
namespace {

// Three balls of 0.1 m on a fixed base, the first and the third 0.15 m apart, and another ball on the world
std::string chain(const std::string& root) {
    const std::string ball =
        urdf_inertial() + "<collision><geometry><sphere radius='0.1'/></geometry></collision>";
    const auto at = [](const std::string& x) {
        return "<origin xyz='" + x +
               " 0 1'/><axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='5' velocity='2'/>";
    };
    return urdf_robot(urdf_link(root, "") + urdf_link("a", ball) + urdf_link("b", ball) +
                      urdf_link("c", ball) + urdf_link("d", ball) +
                      urdf_joint("ja", "revolute", root, "a", at("0")) +
                      urdf_joint("jb", "revolute", "a", "b",
                                 "<origin xyz='0.1 0 0'/><axis xyz='0 0 1'/><limit lower='-1' upper='1'/>") +
                      urdf_joint("jc", "revolute", "b", "c",
                                 "<origin xyz='0.05 0 0'/><axis xyz='0 0 1'/><limit lower='-1' upper='1'/>") +
                      urdf_joint("jd", "revolute", root, "d", at("0.05")));
}

TEST_CASE("URDF: self-collision is off by default, and never between neighbouring links") {
    const ScratchFolder folder("self_collision");
    const auto pairs = [](const Scene& scene) {
        std::string text;
        for (const auto& [a, b] : scene.world.shapes.pairs()) {
            const auto name = [&](int i) { return scene.world.shapes.shapes[i].name.substr(2); };
            const std::string one = name(a), two = name(b);
            if (one.size() == 1 && two.size() == 1) text += one + two + " ";
        }
        return text;
    };
    for (const std::string root : {"base", "world"}) {
        CAPTURE(root);
        const std::string file = folder.write("robot.urdf", chain(root)).string();
        const Scene off = load_scene(file);
        ImportOptions options;
        options.self_collision = true;
        const Scene on = load_scene(file, {}, options);
        CHECK(pairs(off) == "");
        CHECK(pairs(on) == "ac ad bd cd ");
        CHECK(off.world.shapes.pairs().size() == 4);  // with the ground
        CHECK(off.warnings.empty());
        REQUIRE(on.warnings.size() == 1);
        CHECK(on.warnings[0].find("\"r/a\" and \"r/d\" by 150 mm") != std::string::npos);

        Json scene{{"steps", 1}, {"models", {{{"name", "r"}, {"file", "robot.urdf"}}}}};
        const auto of_scene = [&] { return scene_from_json(scene, folder.path("scene.json")); };
        CHECK(pairs(of_scene()) == "");
        scene["models"][0]["self_collision"] = true;
        CHECK(pairs(of_scene()) == "ac ad bd cd ");
        // two copies of the robot still collide
        scene["models"][0]["self_collision"] = false;
        scene["models"].push_back({{"name", "s"}, {"file", "robot.urdf"}, {"position", {5, 0, 0}}});
        CHECK(of_scene().world.shapes.pairs().size() == 16);
    }
    CHECK(complaint([] {
              changed({{"/models/0/self_collision", "true"}});
          }).find("each shape has its own") != std::string::npos);
}

}  // namespace
}  // namespace costate::test
