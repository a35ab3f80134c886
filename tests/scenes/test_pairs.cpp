// Pairs of shapes with parameters of their own, in scenes, models and MJCF.
#include <doctest/doctest.h>

#include "tests/support/mjcf_text.hpp"
#include "tests/support/walk.hpp"

namespace costate::test {
namespace {

// A box slides on the ground; `pairs` of the scene, and `more` keys of the box.
Scene sliding_box(const std::string& pairs, const std::string& more = "") {
    return scene_from_json(
        parse_json(R"({"steps": 100, "time_step": 0.001, "ground": true, "contact": {"compliance": 0},
            "solver": {"type": "ncp"}, "models": [{"name": "box", "position": [0, 0, 0.1], "model": {"bodies": [
            {"name": "box", "joint": {"type": "free"}, "mass": 1, "inertia": [0.01, 0.01, 0.01, 0, 0, 0],
             "shapes": [{"type": "box", "half_extents": [0.1, 0.1, 0.1])" +
                       more + "}]}]" + pairs +
                       R"(}}], "initial": {"velocities": {"box": {"linear": [1, 0, 0]}}}})",
                   "box"),
        "box.json");
}
double speed_after(const Scene& s) { return walk(s, 100)[s.world.nq()]; }

std::string pair_refused(const std::string& pairs) {
    return complaint([&] { sliding_box(pairs); });
}

bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("pairs: a contact has the friction of its pair, whatever groups say") {
    const double g = 9.81;
    CHECK(speed_after(sliding_box("")) == doctest::Approx(1 - 0.1 * g).epsilon(1e-9));
    const std::string pair = R"(, "pairs": [{"shapes": ["box", "world/ground"], "friction": 0.3}])";
    CHECK(speed_after(sliding_box(pair)) == doctest::Approx(1 - 0.3 * 0.1 * g).epsilon(1e-9));
    CHECK(speed_after(sliding_box(pair, R"(, "mask": 0)")) ==
          doctest::Approx(1 - 0.3 * 0.1 * g).epsilon(1e-9));
    const Scene without = sliding_box("", R"(, "mask": 0)");
    CHECK(speed_after(without) == doctest::Approx(1));  // falls
    const Scene smooth = sliding_box(R"(, "pairs": [{"shapes": ["box", "world/ground"], "condim": 1}])");
    CHECK(speed_after(smooth) == doctest::Approx(1).epsilon(1e-12));
    // its margin lifts the box
    const Scene lifted =
        sliding_box(R"(, "pairs": [{"shapes": ["box", "world/ground"], "margin": 0.02, "friction": 0}])");
    CHECK(walk(lifted, 300)[2] > 0.118);
}

TEST_CASE("pairs: their numbers are parameters with names") {
    const Scene s = sliding_box(
        R"(, "pairs": [{"name": "p", "shapes": ["box", "world/ground"], "friction": 0.3, "condim": 4, "torsional_friction": 0.01}])");
    REQUIRE(s.world.shapes.own_pairs.size() == 1);
    CHECK(s.world.shapes.condim == 4);
    CHECK(s.theta[s.world.shapes.pair_friction.at(0)] == 0.3);
    CHECK(s.theta[s.world.shapes.pair_torsional_friction.at(0)] == 0.01);
    const auto has = [&](const std::string& path) {
        return std::ranges::any_of(s.world.model.layout.entries(),
                                   [&](const auto& e) { return e.path == path; });
    };
    CHECK((has("pairs/box/p/friction") && has("pairs/box/p/margin") && has("pairs/box/p/rolling_friction")));
}

TEST_CASE("pairs: what cannot be is said in one line") {
    CHECK(says(pair_refused(R"(, "pairs": [{"shapes": ["box", "box"]}])"), "is the same shape"));
    CHECK(says(pair_refused(R"(, "pairs": [{"shapes": ["boxx", "world/ground"]}])"), "boxx"));
    CHECK(says(pair_refused(R"(, "pairs": [{"shapes": ["box", "world/ground"], "friction": -1}])"),
               "friction"));
    CHECK(says(pair_refused(R"(, "pairs": [{"shapes": ["box", "world/ground"], "condim": 5}])"), "condim"));
    CHECK(says(
        pair_refused(
            R"(, "pairs": [{"shapes": ["box", "world/ground"]}, {"name": "q", "shapes": ["world/ground", "box"]}])"),
        "has two pairs"));
    const Scene s = sliding_box(R"(, "pairs": [{"shapes": ["box", "world/table"]}])");
    CHECK(s.world.shapes.own_pairs.empty());
    CHECK((s.warnings.size() == 1 && says(s.warnings[0], "world/table")));
}

TEST_CASE("MJCF: a <pair> has its own numbers, and MuJoCo's defaults where it gives none") {
    const MjcfText m = mjcf(
        R"(<default><pair friction=".5 .5 .02 .003 .003"/></default><worldbody>
        <geom name="floor" type="plane" size="1 1 1" condim="4" friction="2 .1 .01"/>
        <body name="a"><freejoint/><geom name="a" size=".1" contype="0" conaffinity="0" margin=".004"/>
          <geom name="picture" size=".1" contype="0" conaffinity="0"/></body>
        <body name="b"><freejoint/><geom name="b" size=".1" friction=".8" solref=".04 1" solmix="3"/></body></worldbody>
        <contact><pair name="p" geom1="a" geom2="floor"/><pair geom1="floor" geom2="a" friction="1"/>
          <pair geom1="b" geom2="a" condim="6" friction=".7" margin=".006" solimp=".8 .9 .01"/></contact>)");
    // that constraints are rigid, that friction depends on the direction, and that two pairs have the same geoms
    CHECK(m.warnings.size() == 3);
    REQUIRE(m.imported.model["pairs"].size() == 2);
    const Json &first = m.imported.model["pairs"][0], &second = m.imported.model["pairs"][1];
    CHECK((first["name"] == "p" && first["shapes"] == Json{"a", "world/floor"}));
    CHECK((first["friction"] == 0.5 && !first.contains("margin") && !first.contains("condim")));
    CHECK((second["condim"] == 6 && second["friction"] == 0.7 && second["rolling_friction"] == 0.003));
    CHECK(json_value(second["margin"]) == doctest::Approx(0.006));
    CHECK((second["torsional_friction"] == 0.02 && !second.contains("solref") && second["solimp"][0] == 0.8));
    CHECK(m.body(0)["shapes"].size() == 1);  // the geom of a pair is a shape, the picture is not
    const Scene s = m.scene();
    CHECK(s.world.shapes.own_pairs.size() == 2);
    CHECK(s.world.shapes.is_pair(s.world.shapes.index("m/a"), s.world.shapes.index("floor")));
}

}  // namespace costate::test
