// Which shapes may meet, and the table of shape types.
#include <algorithm>

#include <doctest/doctest.h>

#include "collision/shapes/shape.hpp"

using namespace costate;

TEST_CASE("build_shapes: who may touch whom") {
    ModelBuilder builder;
    const auto add = [&](const char* name, int parent, JointType joint) {
        BodySpec body;
        body.name = name;
        body.parent = parent;
        body.joint = joint;
        body.mass = {1, Vec3<double>::Zero(), Mat3<double>::Identity()};
        return builder.add_body(body);
    };
    add("base", -1, JointType::free);
    add("pad", builder.bodies().size() > 0 ? 0 : -1, JointType::fixed);
    add("arm", 1, JointType::revolute);
    add("hand", 2, JointType::revolute);
    add("table", -1, JointType::fixed);
    add("ball", -1, JointType::free);
    Model model = builder.build();
    std::vector<ShapeSpec> specs;
    for (const char* name : {"base", "pad", "arm", "hand", "table", "ball"})
        specs.push_back({name, ShapeType::sphere, model.body_index(name)});
    for (ShapeSpec& s : specs)
        s.size = {0.1, 0, 0};
    specs.push_back({"ground", ShapeType::plane});
    specs.push_back({"crate", ShapeType::box, model.body_index("ball")});
    specs.push_back({"wall", ShapeType::box});
    const ShapeSet set =
        build_shapes(model, specs, {{"hand", "ball"}, {"arm", "world"}, {"base", "hand"}, {"ball", "table"}});
    const std::vector<std::pair<int, int>> pairs = set.pairs();

    const auto touch = [&](const char* a, const char* b) {
        const int i = set.index(a), j = set.index(b);
        const bool listed = std::find(pairs.begin(), pairs.end(), std::pair(i, j)) != pairs.end();
        CHECK(listed == set.is_pair(i, j));
        return listed;
    };
    const auto either = [&](const char* a, const char* b) { return touch(a, b) || touch(b, a); };
    CHECK(touch("base", "ground"));
    CHECK(touch("pad", "hand"));
    CHECK(touch("base", "ball"));
    CHECK(touch("base", "table"));
    CHECK(touch("ball", "wall"));
    CHECK(touch("arm", "table"));
    CHECK(touch("base", "crate"));
    CHECK_FALSE(touch("table", "base"));     // the world comes second
    CHECK_FALSE(either("base", "pad"));      // one body
    CHECK_FALSE(either("base", "arm"));      // parent, through the fixed joint
    CHECK_FALSE(either("pad", "arm"));       // parent
    CHECK_FALSE(either("arm", "hand"));      // parent
    CHECK_FALSE(either("ball", "crate"));    // one body
    CHECK_FALSE(either("table", "ground"));  // the world
    CHECK_FALSE(either("hand", "ball"));     // excluded
    CHECK_FALSE(either("hand", "crate"));    // excluded
    CHECK_FALSE(either("base", "hand"));     // excluded, without the pad that is fixed to the base
    CHECK_FALSE(either("arm", "ground"));    // excluded, without the table that is fixed in the world
    CHECK_FALSE(either("ball", "table"));    // excluded, without the rest of the world
    CHECK(std::is_sorted(pairs.begin(), pairs.end()));
    CHECK(set.any_pair);
    CHECK(set.plane_pairs.size() == 5);
    CHECK(touch("crate", "wall"));
    REQUIRE(model.layout.find("shapes/hand/size") != nullptr);
    CHECK(model.layout.find("shapes/hand/friction")->offset == set.friction.at(set.index("hand")));
    CHECK(model.layout.nominal()[set.size.at(set.index("hand"))] == 0.1);
}

TEST_CASE("build_shapes: groups, masks and self-collision") {
    ModelBuilder builder;
    for (const char* name : {"trunk", "upper", "lower", "ball"}) {
        BodySpec body;
        const bool leg = name[0] == 'u' || name[0] == 'l';
        body.name = name;
        body.joint = leg ? JointType::revolute : JointType::free;
        body.parent = leg ? static_cast<int>(builder.bodies().size()) - 1 : -1;
        body.mass = {1, Vec3<double>::Zero(), Mat3<double>::Identity()};
        builder.add_body(body);
    }
    const auto pairs = [&](auto&& change) {
        Model model = builder.build();
        std::vector<ShapeSpec> specs;
        for (const char* name : {"trunk", "upper", "lower", "ball"})
            specs.push_back({name, ShapeType::sphere, model.body_index(name)});
        change(specs);
        const ShapeSet set = build_shapes(model, specs);
        std::string found;
        const auto initial = [&](int shape) { return set.shapes[shape].name.substr(0, 1); };
        for (const auto& [a, b] : set.pairs())
            found += initial(a) + initial(b) + " ";
        return found;
    };
    CHECK(pairs([](auto&) {}) == "tl tb ub lb ");
    CHECK(pairs([](auto& s) { s[0].self_collision = false; }) == "tb ub lb ");
    CHECK(pairs([](auto& s) { s[3].self_collision = false; }) == "tl tb ub lb ");
    CHECK(pairs([](auto& s) {
              s[3].group = 2;
              s[0].mask = 1;
          }) == "tl ub lb ");
    CHECK(pairs([](auto& s) {
              s[3].mask = 2;
              s[1].group = 2;
          }) == "tl ub ");
    CHECK(pairs([](auto& s) { s[3].group = 1u << 31; }) == "tl tb ub lb ");
    CHECK(pairs([](auto& s) { s[3].group = 0; }) == "tl ");
}

TEST_CASE("shape kinds: every record has the functions and names its type needs") {
    for (const ShapeKind& kind : shape_kinds) {
        CAPTURE(kind.name);
        CHECK(bool(kind.bounding_radius));
        CHECK(bool(kind.reach) != kind.unbounded);
        CHECK(bool(kind.formats[0].name));
    }
}
