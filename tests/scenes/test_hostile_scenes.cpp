// Scenes that need more memory than a machine has: refused in one line before allocation.
#include "tests/support/scene_text.hpp"

namespace costate::test {
namespace {

Json chain(int length, int copies) {
    Json bodies = Json::array();
    for (int i = 0; i < length; ++i) {
        bodies.push_back(parse_json(
            R"({"joint": {"type": "revolute"}, "mass": 1, "inertia": [1, 1, 1, 0, 0, 0]})", "body"));
        bodies.back()["name"] = "b" + std::to_string(i);
        if (i > 0) bodies.back()["parent"] = "b" + std::to_string(i - 1);
    }
    Json scene =
        parse_json(R"({"steps": 1, "models": [{"name": "m", "copies": {"offset": [1, 0, 0]}}]})", "chain");
    scene["models"][0]["model"]["bodies"] = bodies;
    scene["models"][0]["copies"]["count"] = copies;
    return scene;
}

TEST_CASE("hostile scenes: chains whose mass matrix is too large") {
    check_complaint(complaint([] { scene_of(chain(3001, 1)); }),
                    "test.json#/models/0: ", "body \"b3000\" is carried by more than 3000",
                    "use shorter chains");
    check_complaint(complaint([] { scene_of(chain(2000, 10)); }),
                    "test.json#/models/0: ", "more than 20000000 numbers", "use fewer or shorter chains");
    CHECK(scene_of(chain(100, 10)).world.nv() == 1000);
}

TEST_CASE("hostile scenes: too many knots") {
    Json scene = chain(1, 20);
    scene["models"][0]["model"]["actuators"] =
        parse_json(R"([{"joint": "b0", "type": "motor"}])", "actuators");
    scene["controls"] = parse_json(R"([{"actuators": ["*"], "optimize": {"knots": 1000000}}])", "controls");
    check_complaint(complaint([&] { scene_of(scene); }),
                    "test.json#/controls/0: ", "more than 10000000 knots", "use fewer");
}

TEST_CASE("hostile scenes: names with control characters for terminals or tables") {
    for (const char* name : {"\"a\\nb\"", "\"\\u001b[2Ja\""})
        for (const char* of :
             {"/models/0/name", "/models/0/model/bodies/0/name", "/models/0/model/actuators/0/name"}) {
            CAPTURE(of);
            check_complaint(complaint([&] {
                                changed({{of, name}});
                            }),
                            std::string("test.json#") + of + ": ", "may not contain line breaks",
                            "rename it");
        }
}

TEST_CASE("hostile scenes: a direction may have any length, even if its square overflows") {
    const Scene scene = changed({{"/ground", R"({"normal": [1e200, 0, 0]})"},
                                 {"/models/0/model/bodies/0/joint/axis", "[0, 1e308, 0]"}});
    CHECK((scene.world.shapes.shapes[0].R_BS.col(2) - Vec3<double>::UnitX()).norm() < 1e-15);
    CHECK((scene.world.model.bodies[0].axis - Vec3<double>::UnitY()).norm() < 1e-15);
}

}  // namespace
}  // namespace costate::test
