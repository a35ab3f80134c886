// Geometry of URDF: primitives, contact, mesh files and their search path, visuals, and conversion to JSON.
#include <doctest/doctest.h>

#include <cstdlib>

#include "scenes/import/pose.hpp"
#include "tests/support/urdf_text.hpp"

namespace costate::test {
namespace {

std::string collision(const std::string& geometry, const std::string& kind = "collision") {
    return "<" + kind + "><geometry>" + geometry + "</geometry></" + kind + ">";
}

struct UrdfFolder : ScratchFolder {
    UrdfFolder() : ScratchFolder("urdf_files") {}
    ImportedModel load(const std::string& link, const ImportOptions& options = {}) const {
        return import_model(write("robot/robot.urdf", urdf_robot(urdf_link("a", urdf_inertial() + link))),
                            options);
    }
};

TEST_CASE("URDF geometry: primitives, names, contact") {
    const ImportedModel robot = import_text(urdf_robot(urdf_link(
        "a", urdf_inertial() +
                 "<contact><lateral_friction value='0.7'/><restitution value='0.2'/></contact>" +
                 collision("<box size='1 2 3'/>") + collision("<cylinder radius='1' length='4'/>") +
                 collision("<capsule radius='1' length='4'/>") +
                 "<collision><origin xyz='1 2 3'/><geometry><sphere radius='0.5'/></geometry></collision>")));
    CHECK(robot.warnings.empty());
    const Json& shapes = robot.model["bodies"][0]["shapes"];
    CHECK(shapes[0] ==
          parse_json(R"({"type": "box", "half_extents": [0.5, 1.0, 1.5], "friction": 0.7, "restitution": 0.2,
                                         "self_collision": false, "name": "a.1"})",
                     ""));
    for (const int k : {1, 2})
        CHECK((shapes[k]["radius"] == 1.0 && shapes[k]["half_length"] == 2.0));
    CHECK(shapes[3]["position"] == Json::array({1.0, 2.0, 3.0}));
    CHECK(robot.places.at("/bodies/0/shapes/3") == robot.places.at("/bodies/0"));  // all on one line
    const ImportedModel plane = import_text(urdf_robot(urdf_link("a", collision("<plane normal='1 0 0'/>"))));
    const auto q = plane.model["bodies"][0]["shapes"][0]["quaternion"].get<std::vector<double>>();
    const Vec3<double> normal = Eigen::Quaterniond(q[0], q[1], q[2], q[3]) * Vec3<double>::UnitZ();
    CHECK((normal - Vec3<double>::UnitX()).norm() < 1e-15);
}

TEST_CASE("URDF contact of Bullet: a spring takes the place of restitution, inertia is scaled") {
    const auto link_with = [](const std::string& contact) {
        return import_text(urdf_robot(urdf_link("a", urdf_inertial() + "<contact>" + contact + "</contact>" +
                                                         collision("<sphere radius='1'/>"))));
    };
    const ImportedModel rigid = link_with("<restitution value='0.2'/><damping value='7'/>");
    CHECK(rigid.warnings.empty());
    CHECK(rigid.model["bodies"][0]["shapes"][0]["restitution"] == 0.2);
    CHECK(!rigid.model["bodies"][0]["shapes"][0].contains("damping"));

    const ImportedModel soft = link_with(
        "<stiffness value='30000'/><damping value='1000'/><inertia_scaling value='3'/><restitution "
        "value='0.2'/>");
    REQUIRE(soft.warnings.size() == 1);
    CHECK(soft.warnings[0].find("<restitution> beside <stiffness> is ignored") != std::string::npos);
    const Json& shape = soft.model["bodies"][0]["shapes"][0];
    CHECK((shape["stiffness"] == 30000 && shape["damping"] == 1000 && !shape.contains("restitution")));
    for (size_t i = 0; i < 6; ++i)
        CHECK(soft.model["bodies"][0]["inertia"][i].get<double>() ==
              3 * rigid.model["bodies"][0]["inertia"][i].get<double>());
    CHECK_THROWS_AS(link_with("<stiffness value='0'/>"), SceneError);
    CHECK_THROWS_AS(link_with("<inertia_scaling value='-1'/>"), SceneError);
}

TEST_CASE("URDF settings of Gazebo: friction, springs and weight of links; Bullet's <contact> goes before") {
    const auto read = [](const std::string& settings, const std::string& contact = "",
                         const ImportOptions& options = {}) {
        return import_text(
            urdf_robot(urdf_link("a", urdf_inertial() + contact + collision("<sphere radius='1'/>")) +
                       "<gazebo reference='a'>" + settings + "</gazebo>"),
            options);
    };
    const std::string all =
        "<mu1>0.9</mu1><mu2 "
        "value='0.9'/><kp>1e6</kp><kd>100.0</kd><maxVel>0.1</maxVel><minDepth>0.001</minDepth>"
        "<turnGravityOff>true</turnGravityOff><selfCollide>false</selfCollide><material>Gazebo/Red</"
        "material>";
    const ImportedModel robot = read(all);
    CHECK(robot.warnings.empty());
    const Json body = robot.model["bodies"][0], shape = body["shapes"][0];
    CHECK((shape["friction"] == 0.9 && shape["stiffness"] == 1e6 && shape["damping"] == 100));
    CHECK(body["gravity_compensation"] == 1);

    const auto shape_of = [&](const std::string& settings, const std::string& contact = "") {
        return read(settings, contact).model["bodies"][0]["shapes"][0];
    };
    const std::string bullet = "<contact><lateral_friction value='0.5'/><restitution value='0.2'/></contact>";
    CHECK(shape_of("<mu1>0.9</mu1>", bullet)["friction"] == 0.5);
    CHECK(shape_of("<mu1>0.9</mu1>", bullet)["restitution"] == 0.2);
    CHECK(!shape_of(all, bullet).contains("restitution"));
    CHECK(shape_of("<mu1>1e14</mu1><mu2>1e14</mu2>")["friction"] == 100);
    CHECK(!shape_of("<kp>1e12</kp><kd>1</kd>").contains("damping"));
    CHECK(!shape_of("<kd>1</kd>").contains("damping"));
    CHECK(!read("<gravity>1</gravity>").model["bodies"][0].contains("gravity_compensation"));
    CHECK(read("<gravity>false</gravity>").model["bodies"][0]["gravity_compensation"] == 1);

    const auto said = [&](const std::string& settings, const ImportOptions& options = {}) {
        const ImportedModel model = read(settings, "", options);
        return model.warnings.empty() ? "" : model.warnings[0];
    };
    CHECK(said("<mu1>1</mu1><mu2>0.5</mu2>").find("<mu2> in <gazebo> differs from mu1") != std::string::npos);
    CHECK(said("<selfCollide>true</selfCollide>").find("with --self-collision") != std::string::npos);
    ImportOptions colliding;
    colliding.self_collision = true;
    CHECK(said("<selfCollide>true</selfCollide>", colliding).empty());
    CHECK(complaint([&] { read("<mu1>slippery</mu1>"); }).find("value=\"slippery\" of <mu1>") !=
          std::string::npos);
}

TEST_CASE("URDF: Drake's friction of a shape goes before that of its link") {
    const ImportedModel robot = import_text(urdf_robot(
        urdf_link("a", urdf_inertial() + "<contact><lateral_friction value='0.7'/></contact>" +
                           collision("<box size='1 2 3'/>") +
                           "<collision><geometry><sphere radius='1'/></geometry><drake:proximity_properties>"
                           "<drake:compliant_hydroelastic/><drake:mu_dynamic "
                           "value='0.4'/></drake:proximity_properties></collision>")));
    CHECK((robot.model["bodies"][0]["shapes"][0]["friction"] == 0.7 &&
           robot.model["bodies"][0]["shapes"][1]["friction"] == 0.4));
    REQUIRE(robot.warnings.size() == 1);
    CHECK(robot.warnings[0].find("<drake:proximity_properties> describes a soft contact") !=
          std::string::npos);
}

TEST_CASE("URDF: Drake's groups keep links from colliding that --self-collision lets collide") {
    const auto read = [](const std::string& filters, bool self_collision = true) {
        ImportOptions options;
        options.self_collision = self_collision;
        options.base = Base::floating;
        std::string text;
        for (const char* name : {"a", "b", "c", "d"})
            text += urdf_link(name, urdf_inertial() + collision("<sphere radius='1'/>"));
        for (const char* name : {"b", "c", "d"})
            text += urdf_joint(name, "fixed", "a", name, "");
        return import_text(urdf_robot(text + filters), options);
    };
    const auto group = [](const std::string& name, const std::string& members, const std::string& ignored) {
        std::string text = "<drake:collision_filter_group name='" + name + "'>" + members;
        for (const char link : ignored)
            text += "<drake:ignored_collision_filter_group name='" + std::string(1, link) + "'/>";
        return text + "</drake:collision_filter_group>";
    };
    const auto member = [](const std::string& link) { return "<drake:member link='" + link + "'/>"; };
    const std::string own = group("G", member("a") + member("b") + member("c"), "G");
    CHECK(read(own).model["exclude"] == Json::parse(R"([["a", "b"], ["a", "c"], ["b", "c"]])"));
    CHECK(read(own).warnings.empty());
    CHECK(!read(own, false).model.contains("exclude"));
    const std::string two = group("G", member("b"), "H") +
                            group("H", member("d") + "<drake:member_group name='I'/>", "") +
                            group("I", member("c") + "<drake:member_group name='H'/>", "");
    CHECK(read(two).model["exclude"] == Json::parse(R"([["b", "c"], ["b", "d"]])"));
    CHECK(read("<drake:collision_filter_group name='G' ignore='true'/>").warnings.empty());
    CHECK(read(group("G", member("e"), "G")).warnings[0].find("\"e\" is not a link") != std::string::npos);
    CHECK(read(group("G", member("a"), "J")).warnings[0].find("\"J\" is not a group, the nearest is \"G\"") !=
          std::string::npos);
}

TEST_CASE("URDF: with --self-collision, links of a base that stands still do not collide with it") {
    ImportOptions options;
    options.self_collision = true;
    std::string text;
    for (const char* name : {"base", "table", "arm", "flange", "hand", "ball"})
        text += urdf_link(name, urdf_inertial() + collision("<sphere radius='1'/>"));
    text += urdf_joint("table", "fixed", "base", "table", "") +
            urdf_joint("arm", "continuous", "base", "arm", "") +
            urdf_joint("flange", "fixed", "arm", "flange", "") +
            urdf_joint("hand", "continuous", "flange", "hand", "") +
            urdf_joint("ball", "floating", "base", "ball", "");
    const auto excluded = [&](Base base) {
        options.base = base;
        return import_text(urdf_robot(text), options).model.value("exclude", Json());
    };
    CHECK(excluded(Base::fixed) == Json::parse(R"([["base", "arm"], ["base", "flange"]])"));
    CHECK(excluded(Base::floating).is_null());
}

TEST_CASE("URDF visuals: kept with their colours for a viewer") {
    const UrdfFolder folder;
    folder.write("robot/wedge.obj", wedge_obj());
    const std::string text = urdf_robot(
        "<material name='red'><color rgba='2 0 0 1'/></material>" +
        urdf_link("a", urdf_inertial() +
                           "<visual><geometry><box size='2 2 2'/></geometry><material name='red'/></visual>" +
                           "<visual><origin xyz='0 0 1'/><geometry><mesh filename='wedge.obj' scale='-1 2 "
                           "1'/></geometry>"
                           "<material name='green'><color rgba='0 1 0 0.5'/></material></visual>" +
                           collision("<sphere radius='1'/>", "visual")));
    const Scene scene = load_scene(folder.write("robot/robot.urdf", text).string(), 1);
    REQUIRE(scene.visuals.size() == 3);
    CHECK((scene.visuals[0].type == ShapeType::box && scene.visuals[0].size == Vec3<double>(1, 1, 1)));
    CHECK(scene.visuals[0].rgba == std::array<double, 4>{1, 0, 0, 1});
    CHECK(scene.visuals[1].file == std::filesystem::canonical(folder.path("robot/wedge.obj")));
    CHECK(scene.visuals[1].size == Vec3<double>(-1, 2, 1));
    CHECK(scene.visuals[1].rgba == std::array<double, 4>{0, 1, 0, 0.5});
    CHECK(scene.visuals[1].X_BV.p == Vec3<double>(0, 0, 1));
    CHECK(scene.visuals[2].rgba == std::array<double, 4>{0.5, 0.5, 0.5, 1});
    for (const Visual& visual : scene.visuals)
        CHECK(visual.body == 0);
    CHECK(scene.world.shapes.pairs().empty());  // visuals do not collide
}

TEST_CASE("visuals in JSON are checked") {
    const auto refuse = [](const char* visual, const std::string& place, const std::string& what) {
        Json model = parse_json(
            R"({"bodies": [{"name": "b", "mass": 1, "inertia": [1, 1, 1, 0, 0, 0], "joint": {"type": "free"}}]})",
            "");
        model["bodies"][0]["visuals"] = Json::array({parse_json(visual, "")});
        const Json scene{{"steps", 1}, {"models", Json::array({Json{{"name", "b"}, {"model", model}}})}};
        check_complaint(complaint([&] { scene_from_json(scene, "s.json"); }),
                        "s.json#/models/0/model/bodies/0/visuals/0" + place, what, "");
    };
    refuse(R"({"type": "plane"})", "/type", "no choice");
    refuse(R"({"type": "box"})", "", "has no \"half_extents\"");
    refuse(R"({"type": "box", "half_extents": [1, 1, 1], "radius": 1})", "/radius", "has no meaning");
    refuse(R"({"type": "sphere", "radius": 1, "half_length": 1})", "/half_length", "has no meaning");
    refuse(R"({"type": "sphere", "radius": 1, "file": "x"})", "/file", "has no meaning");
    refuse(R"({"type": "sphere", "radius": 1, "semi_axes": [1, 1, 1]})", "/semi_axes", "has no meaning");
    refuse(R"({"type": "sphere", "radius": 0})", "/radius", "must be positive");
    refuse(R"({"type": "mesh", "file": ""})", "/file", "is empty");
    refuse(R"({"type": "sphere", "radius": 1, "rgba": [1, 1, 1]})", "/rgba", "must have 4");
    refuse(R"({"type": "sphere", "radius": 1, "rgba": [1, 2, 1, 1]})", "/rgba/1", "is above 1");
    refuse(R"({"type": "sphere", "radius": 1, "colour": 1})", "/colour", "unknown key");
}

#ifdef COSTATE_HAVE_ASSIMP
std::vector<Vec3<double>> hull_of(const ImportedModel& robot) {
    const Json& shape = robot.model["bodies"][0]["shapes"][0];
    std::vector<Vec3<double>> out;
    Vec3<double> scale(1, 1, 1);
    if (shape.contains("scale"))
        for (int c = 0; c < 3; ++c)
            scale[c] = shape["scale"][c].get<double>();
    for (const Json& v : shape["vertices"])
        out.push_back(
            scale.cwiseProduct(Vec3<double>(v[0].get<double>(), v[1].get<double>(), v[2].get<double>())));
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    });
    return out;
}

void check_points(const std::vector<Vec3<double>>& points, const std::vector<Vec3<double>>& expected) {
    REQUIRE(points.size() == expected.size());
    for (size_t i = 0; i < points.size(); ++i)
        CHECK((points[i] - expected[i]).norm() < 1e-7);
}

TEST_CASE("URDF meshes: OBJ, STL and DAE as convex hulls, scaled and mirrored") {
    const UrdfFolder folder;
    folder.write("robot/wedge.obj", wedge_obj());
    folder.write("robot/ascii.stl", ascii_stl(wedge_triangles()));
    folder.write("robot/binary.stl", binary_stl(wedge_triangles()));
    folder.write("robot/wedge.dae", wedge_dae());
    for (const char* name : {"wedge.obj", "ascii.stl", "binary.stl", "wedge.dae"}) {
        CAPTURE(name);
        const ImportedModel robot = folder.load(collision("<mesh filename='" + std::string(name) + "'/>"));
        CHECK(robot.warnings.empty());
        check_points(hull_of(robot), {{0, 0, 0}, {0, 0, 0.3}, {0, 0.2, 0}, {0.1, 0, 0}});
    }
    check_points(hull_of(folder.load(collision("<mesh filename='wedge.obj' scale='-10 1 2'/>"))),
                 {{-1, 0, 0}, {0, 0, 0}, {0, 0, 0.6}, {0, 0.2, 0}});
}

TEST_CASE("URDF meshes: a density gives the mass of the hull") {
    const UrdfFolder folder;
    folder.write("robot/wedge.obj", wedge_obj());
    const std::string link = "<inertial><density value='1000'/></inertial>" +
                             collision("<mesh filename='wedge.obj' scale='2 1 1'/>");
    const ImportedModel robot =
        import_model(folder.write("robot/robot.urdf", urdf_robot(urdf_link("a", link))), {});
    const Json& body = robot.model["bodies"][0];
    CHECK(body["mass"].get<double>() == doctest::Approx(1000 * 0.2 * 0.2 * 0.3 / 6));
    const Vec3<double> centre = vec3_of(body["com"]);
    CHECK((centre - Vec3<double>(0.05, 0.05, 0.075)).norm() < 1e-7);
}

TEST_CASE("URDF meshes: a hull in place of a mesh that is not convex is said, with file and line") {
    const UrdfFolder folder;
    // The wedge with its slope pushed in by half
    folder.write("robot/dent.obj",
                 "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.15 0.15 0.15\n"
                 "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 5\nf 3 4 5\nf 4 2 5\n");
    const ImportedModel robot = folder.load(collision("<mesh filename='dent.obj'/>"));
    REQUIRE(robot.warnings.size() == 1);
    check_complaint(robot.warnings[0], folder.path("robot/robot.urdf").string() + ":2: ",
                    "\"dent.obj\" is not convex; its convex hull is used", "split it");
    CHECK(robot.model["bodies"][0]["shapes"][0]["vertices"].size() == 4);
    ImportOptions strict;
    strict.strict = true;
    CHECK(complaint([&] {
              folder.load(collision("<mesh filename='dent.obj'/>"), strict);
          }).find("is not convex") != std::string::npos);
}

TEST_CASE("URDF meshes: each object of an OBJ file is a convex part") {
    const UrdfFolder folder;
    const std::string text = wedge_obj();
    std::string twice = "o first\n" + text + "o second\n";
    // the same wedge, 3 to the side, with indices from the last vertex
    twice += "v 3 0 0\nv 4 0 0\nv 3 1 0\nv 3 0 1\nf -4 -2/1 -3/1/1\nf -4 -3 -1\nf -4 -1 -2\nf -3 -2 -1\n";
    folder.write("robot/two.obj", twice);
    const ImportedModel robot = folder.load(collision("<mesh filename='two.obj'/>"));
    CHECK(robot.warnings.empty());
    const Json& shapes = robot.model["bodies"][0]["shapes"];
    REQUIRE(shapes.size() == 2);
    CHECK((shapes[0]["name"] == "a.1" && shapes[1]["name"] == "a.2"));
    CHECK((shapes[1]["vertices"].size() == 4 && shapes[1]["vertices"][0][0].get<double>() >= 3));
    folder.write("robot/two.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 5\no x\nf 1 2 3\n");
    CHECK(complaint([&] { folder.load(collision("<mesh filename='two.obj'/>")); }).find("does not contain") !=
          std::string::npos);
}

TEST_CASE("URDF meshes: objects of an OBJ file that bound a solid together are one convex part") {
    const UrdfFolder folder;
    const char* corners[] = {"v 0 0 0\n", "v 1 0 0\n", "v 0 1 0\n", "v 0 0 1\n"};
    std::string text;
    for (const auto& [i, j, k] :
         {std::array{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}})  // each face an object
        text += std::string("g face\n") + corners[i] + corners[j] + corners[k] + "f -3 -2 -1\n";
    // a square pyramid in two objects: its base in one, which is flat, and its sides; and a wedge by itself
    text += "o base\nv 3 0 0\nv 4 0 0\nv 4 1 0\nv 3 1 0\nf -4 -1 -2 -3\n";
    text += "o sides\nv 3.5 0.5 1\nf -5 -4 -1\nf -4 -3 -1\nf -3 -2 -1\nf -2 -5 -1\n";
    text += "o wedge\nv 0 0 5\nv 1 0 5\nv 0 1 5\nv 0 0 6\nf -4 -2 -3\nf -4 -3 -1\nf -4 -1 -2\nf -3 -2 -1\n";
    folder.write("robot/faces.obj", text);
    const ImportedModel robot = folder.load(collision("<mesh filename='faces.obj'/>"));
    CHECK(robot.warnings.empty());
    const Json& shapes = robot.model["bodies"][0]["shapes"];
    REQUIRE(shapes.size() == 3);
    CHECK(shapes[0]["vertices"].size() == 4);
    CHECK(shapes[1]["vertices"].size() == 5);
    CHECK(shapes[2]["vertices"].size() == 4);
    CHECK(shapes[2]["vertices"][0][2].get<double>() >= 5);
}

TEST_CASE("URDF meshes: a mesh of separate convex surfaces collides as these") {
    const UrdfFolder folder;
    const std::string table =
        wedge_obj() + "v 3 0 0\nv 4 0 0\nv 3 1 0\nv 3 0 1\nf -4 -2 -3\nf -4 -3 -1\nf -4 -1 -2\nf -3 -2 -1\n";
    folder.write("robot/table.obj", table);
    const ImportedModel robot = folder.load(collision("<mesh filename='table.obj'/>"));
    CHECK(robot.warnings.empty());
    const Json& shapes = robot.model["bodies"][0]["shapes"];
    REQUIRE(shapes.size() == 2);
    CHECK((shapes[0]["vertices"].size() == 4 && shapes[1]["vertices"].size() == 4));
    // a third surface that is not convex: all have one hull
    folder.write("robot/table.obj",
                 table +
                     "v 0 5 0\nv 1 5 0\nv 0 6 0\nv 0 5 1\nv 0.15 5.15 0.15\nf -5 -3 -4\nf -5 -4 -2\n"
                     "f -5 -2 -3\nf -4 -3 -1\nf -3 -2 -1\nf -2 -4 -1\n");
    const ImportedModel dented = folder.load(collision("<mesh filename='table.obj'/>"));
    REQUIRE(dented.warnings.size() == 1);
    CHECK(dented.warnings[0].find("\"table.obj\" is not convex") != std::string::npos);
    CHECK(dented.model["bodies"][0]["shapes"].size() == 1);
}

TEST_CASE("URDF meshes: an extruded L is not convex, though all its corners lie on its hull") {
    const UrdfFolder folder;
    folder.write("robot/ell.obj",
                 "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 0 1\nv 2 0 1\nv 2 1 1\nv 1 1 "
                 "1\nv 1 2 1\nv 0 2 1\n"
                 "f 1 4 3 2\nf 1 6 5 4\nf 7 8 9 10\nf 7 10 11 12\n"
                 "f 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n");
    const ImportedModel robot = folder.load(collision("<mesh filename='ell.obj'/>"));
    REQUIRE(robot.warnings.size() == 1);
    CHECK(robot.warnings[0].find("\"ell.obj\" is not convex") != std::string::npos);
}

TEST_CASE(
    "URDF meshes: a box of many flat triangles in single precision is convex, far from its origin too") {
    const UrdfFolder folder;
    for (const double away : {0.0, 1.0, 100.0}) {
        CAPTURE(away);
        const Mat3<double> R = rotation_matrix(quaternion_exp<double>({0.3, -0.5, 0.7}));
        std::vector<FileTriangle> triangles;
        constexpr int n = 8;
        for (int side = 0; side < 6; ++side)
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j) {
                    const auto corner = [&](int k, int l) -> Eigen::Vector3f {
                        Vec3<double> x;
                        x[side / 2] = side % 2;
                        x[(side / 2 + 1) % 3] = double(i + k) / n;
                        x[(side / 2 + 2) % 3] = double(j + l) / n;
                        return (R * x + Vec3<double>(away, -away, away)).cast<float>();
                    };
                    triangles.push_back({corner(0, 0), corner(1, 0), corner(1, 1)});
                    triangles.push_back({corner(0, 0), corner(1, 1), corner(0, 1)});
                }
        folder.write("robot/box.stl", binary_stl(triangles));
        CHECK(folder.load(collision("<mesh filename='box.stl'/>")).warnings.empty());
    }
}
#endif

TEST_CASE("URDF meshes: package:// and relative paths with a search path") {
    const UrdfFolder folder;
    for (const char* place : {"robot/meshes/w.obj", "robot/my_arm/meshes/w.obj", "elsewhere/other/w.obj",
                              "elsewhere/w.obj", "pkg/meshes/w.obj"})
        folder.write(place, wedge_obj());
    folder.write("pkg/package.xml", "<package/>");
    const std::filesystem::path root = std::filesystem::canonical(folder.path("."));
    const auto found = [&](const std::string& name, const std::string& from,
                           const std::vector<std::string>& search) -> std::string {
        ImportOptions options;
        for (const std::string& place : search)
            options.search.push_back(folder.path(place));
        const std::string visual = collision("<mesh filename='" + name + "'/>", "visual");
        const ImportedModel robot =
            import_model(folder.write(from + "/robot.urdf", urdf_robot(urdf_link("a", visual))), options);
        if (!robot.model["bodies"][0].contains("visuals")) return robot.warnings.at(0);
        return std::filesystem::path(robot.model["bodies"][0]["visuals"][0]["file"].get<std::string>())
            .lexically_relative(root)
            .string();
    };
    CHECK(found("meshes/w.obj", "robot", {}) == "robot/meshes/w.obj");
    CHECK(found("./meshes/w.obj", "robot", {}) == "robot/meshes/w.obj");
    CHECK(found("package://robot/meshes/w.obj", "robot", {}) == "robot/meshes/w.obj");
    // beside the file
    CHECK(found("package://my_arm/meshes/w.obj", "robot", {}) == "robot/my_arm/meshes/w.obj");
    // upwards by name
    CHECK(found("package://robot/meshes/w.obj", "robot/deep/urdf", {}) == "robot/meshes/w.obj");
    // the folder over "urdf"
    CHECK(found("../meshes/w.obj", "robot/urdf", {}) == "robot/meshes/w.obj");
    // the package by its package.xml
    CHECK(found("../../meshes/w.obj", "pkg/a/b", {}) == "pkg/meshes/w.obj");
    CHECK(found("model://other/w.obj", "robot", {"elsewhere"}) == "elsewhere/other/w.obj");
    CHECK(found("package://other/w.obj", "robot", {"elsewhere/other"}) == "elsewhere/other/w.obj");
    CHECK(found("w.obj", "robot", {"elsewhere"}) == "elsewhere/w.obj");
    CHECK(found("w.obj", "robot", {}).find("visual mesh is ignored, because there is no file \"w.obj\"") !=
          std::string::npos);
    CHECK(found("package://nothing/w.obj", "robot", {}).find("there is no file") != std::string::npos);
    setenv("ROS_PACKAGE_PATH", folder.path("elsewhere").c_str(), 1);
    CHECK(found("package://other/w.obj", "robot", {}) == "elsewhere/other/w.obj");
    unsetenv("ROS_PACKAGE_PATH");
}

TEST_CASE("URDF meshes: the folder that MuJoCo's <compiler> names, and Isaac Gym's <sdf>") {
    const UrdfFolder folder;
    folder.write("robot/parts/w.obj", wedge_obj());
    const auto load = [&](const std::string& settings, const std::string& name) {
        const std::string mesh = "<collision><geometry><mesh filename='" + name +
                                 "'/></geometry><sdf resolution='256'/></collision>";
        return import_model(
            folder.write("robot/robot.urdf", urdf_robot("<mujoco>" + settings + "</mujoco>" +
                                                        urdf_link("a", urdf_inertial() + mesh))),
            {});
    };
    const std::string compiler = "<compiler meshdir='parts' discardvisual='false'/>";
    for (const char* name : {"w.obj", "package://elsewhere/w.obj", "parts/w.obj", "../w.obj"}) {
        CAPTURE(name);
        const ImportedModel robot = load(compiler, name);
        CHECK(robot.warnings.empty());
        CHECK(hull_of(robot).size() == 4);
    }
    CHECK(load("<compiler meshdir='.' strippath='false'/>", "parts/w.obj").warnings.empty());
    const auto warning = [&](const std::string& settings) { return load(settings, "w.obj").warnings.at(0); };
    CHECK(warning("<compiler meshdir='.' strippath='false'/>").find("there is no file \"w.obj\"") !=
          std::string::npos);
    CHECK(
        warning("<compiler meshdir='parts' boundmass='1'/>").find("attribute \"boundmass\" of <compiler>") !=
        std::string::npos);
    CHECK(warning(compiler + "<option gravity='0 0 0'/>").find("<option> in <mujoco>") != std::string::npos);
}

TEST_CASE("URDF: through JSON text, the same model to the last bit") {
    const std::string text = urdf_robot(
        urdf_link("a",
                  "<inertial><origin xyz='0.1 0.2 0.3' rpy='0.4 0.5 0.6'/><mass value='1.1'/><inertia "
                  "ixx='0.1' iyy='0.11' izz='0.12' "
                  "ixy='0.001'/></inertial>" +
                      collision("<box size='0.1 0.3 0.7'/>")) +
        urdf_link("b") +
        urdf_joint("j", "revolute", "a", "b",
                   "<origin rpy='0.1 0.2 0.3'/><axis xyz='1 2 3'/><limit lower='-1' upper='1' effort='2'/>"));
    const ImportedModel robot = import_text(text);
    const Json again = parse_json(robot.model.dump(), "robot.json");
    CHECK(again == robot.model);
    const ScratchFolder folder("through");
    const Scene direct = load_scene(folder.write("robot.urdf", text).string(), 1),
                through = load_scene(folder.write("robot.json", again.dump()).string(), 1);
    CHECK((direct.theta == through.theta && direct.x0 == through.x0));
    CHECK(direct.world.model.bodies[1].turn[1] == through.world.model.bodies[1].turn[1]);
}

}  // namespace
}  // namespace costate::test
