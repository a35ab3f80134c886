// Warnings about scenes that start with overlapping shapes or with joints beyond their limits.
#include <doctest/doctest.h>

#include <map>

#include "tests/support/scene_text.hpp"

namespace costate::test {
namespace {

// The warnings of the base scene with some values changed
std::vector<std::string> warned(std::initializer_list<std::pair<const char*, const char*>> changes) {
    return changed(changes).warnings;
}

TEST_CASE("start: shapes that overlap are named with their depth, from a millimetre on") {
    CHECK(warned({}).empty());
    // the box of half height 0.3 m stands at 0.3 m
    CHECK(warned({{"/models/1/position", "[1, 0, 0.3]"}}).empty());
    CHECK(warned({{"/models/1/position", "[1, 0, 0.2991]"}}).empty());
    const std::vector<std::string> sunk = warned({{"/models/1/position", "[1, 0, 0.2875]"}});
    REQUIRE(sunk.size() == 1);
    check_complaint(sunk[0], "test.json: ", "shapes overlap at the start: \"ball\" and \"ground\" by 12.5 mm",
                    "separate them");
    // a spring is pressed in at rest
    CHECK(warned({{"/models/1/position", "[1, 0, 0.2875]"}, {"/ground/stiffness", "1000"}}).empty());
    // of five pairs the deepest three
    Json json = base();
    json["models"][1]["copies"] = {{"count", 5}, {"offset", {1, 0, -0.01}}};
    json["models"][1]["position"] = {2, 0, 0.295};
    json.erase("initial");
    json.erase("objective");
    json.erase("parameters");
    json["models"][0]["position"] = {0, 0, 3};
    const std::vector<std::string> several = scene_of(json).warnings;
    REQUIRE(several.size() == 1);
    check_complaint(several[0], "test.json: ",
                    "\"ball4\" and \"ground\" by 45 mm, \"ball3\" and \"ground\" by 35 mm, \"ball2\" and "
                    "\"ground\" by 25 mm and 2 more",
                    "separate them");
}

TEST_CASE("start: robots that float and that nothing can hold are named, with the remedy") {
    const auto floating = [](const std::map<std::string, std::string>& changes) {
        Json json = parse_json(R"({"name": "falls", "steps": 5, "models": [{"name": "r", "model": {"bodies": [
            {"name": "trunk", "joint": {"type": "free"}, "mass": 1, "inertia": [1, 1, 1, 0, 0, 0],
             "shapes": [{"type": "sphere", "radius": 0.1}]},
            {"name": "leg", "parent": "trunk", "joint": {"name": "hip", "type": "revolute", "axis": [0, 1, 0]},
             "mass": 1, "inertia": [1, 1, 1, 0, 0, 0]}]}}]})",
                               "");
        for (const auto& [pointer, value] : changes)
            json[Json::json_pointer(pointer)] = parse_json(value, "");
        return scene_of(json).warnings;
    };
    const std::vector<std::string> falls = floating({});
    REQUIRE(falls.size() == 1);
    check_complaint(falls[0],
                    "test.json: ", "robots float and no shape can hold them, so they fall: \"r/trunk\"",
                    "add \"ground\": true");
    const std::vector<std::string> through = floating({{"/ground", "true"},
                                                       {"/models/0/position", "[0, 0, 1]"},
                                                       {"/exclude", R"([["world", "r/trunk"]])"}});
    REQUIRE(through.size() == 1);
    CHECK(through[0].find("give them shapes that collide") != std::string::npos);
    CHECK(floating({{"/ground", "true"}, {"/models/0/position", "[0, 0, 1]"}}).empty());
    CHECK(floating({{"/gravity", "[0, 0, 0]"}}).empty());
    CHECK(floating({{"/equalities",
                     R"([{"name": "string", "type": "connect", "body_a": "r/trunk", "body_b": "world"}])"}})
              .empty());
    // a table that is fixed holds a robot that holds another
    const std::string table = R"({"name": "t", "position": [0, 0, -1], "model": {"bodies": [{"name": "t",
        "shapes": [{"type": "box", "half_extents": [1, 1, 0.1]}]}]}})";
    CHECK(floating({{"/models/1", table}}).empty());
}

TEST_CASE("start: joints beyond their limits are named with the excess, from a milliradian on") {
    const auto shoulder = [](const char* q) {
        return warned({{"/initial/joints/arm~1shoulder", q}, {"/models/0/position", "[0, 0, 3]"}});
    };
    for (const char* within : {"2", "-1.999", "2.0009"})
        CHECK(shoulder(within).empty());
    const std::vector<std::string> above = shoulder("2.25"), below = shoulder("-2.5");
    REQUIRE((above.size() == 1 && below.size() == 1));
    check_complaint(above[0], "test.json: ", "joints start beyond their limits: \"arm/shoulder\" by 0.25 rad",
                    "change \"joints\" of");
    CHECK(below[0].find("by 0.5 rad") != std::string::npos);
    const std::vector<std::string> slide = warned(
        {{"/models/0/model/bodies/1/joint/limits", "[-0.1, 0.1]"}, {"/initial/joints/arm~1elbow", "0.125"}});
    REQUIRE(slide.size() == 1);
    CHECK(slide[0].find("\"arm/elbow\" by 0.025 m;") != std::string::npos);
}

}  // namespace
}  // namespace costate::test
