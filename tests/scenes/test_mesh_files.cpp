// Meshes in files: what is read of OBJ, STL and DAE, what is said of broken ones, and scenes that name them;
// hulls of what files are full of, points in a plane but for their last bit.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "collision/shapes/hull.hpp"
#include "scenes/import/mesh/mesh_file.hpp"
#include "scenes/import/mesh/mesh_hull.hpp"
#include "tests/support/mesh_texts.hpp"
#include "tests/support/probe.hpp"
#include "tests/support/scene_text.hpp"

using namespace costate;
using namespace costate::test;

namespace {

std::string mesh_complaint(const std::filesystem::path& file) {
    try {
        read_mesh_file(file);
    } catch (const MeshFileError& e) {
        CHECK(std::string(e.what()).find('\n') == std::string::npos);
        CHECK(std::string(e.what()).find(file.string()) != std::string::npos);
        CHECK(!e.remedy.empty());
        return e.what();
    }
    return "no complaint";
}

}  // namespace

TEST_CASE("mesh files: a turned grid of points rounded to single precision has the hull of a box") {
    Rng g(1);
    for (int trial = 0; trial < 60; ++trial) {
        CAPTURE(trial);
        const int n = 1 + trial % 6;  // points along an edge, less one
        const Mat3<double> R = rotation_matrix(quaternion_exp<double>(g.vec3(Regime::random)));
        const Vec3<double> size(g.uniform(0.1, 1), g.uniform(0.1, 1), g.uniform(0.1, 1)),
            at = 3 * g.vec3(Regime::random);
        std::vector<Vec3<double>> points;
        for (int i = 0; i <= n; ++i)
            for (int j = 0; j <= n; ++j)
                for (int k = 0; k <= n; ++k)
                    points.push_back(
                        (R * size.cwiseProduct(Vec3<double>(i, j, k) / n) + at).cast<float>().cast<double>());
        const auto hull = convex_hull(points);
        CHECK(hull->vertices.size() == 8);
        CHECK(hull->edges.size() == 12);
        REQUIRE(hull->faces.size() == 6);
        for (const HullFace& face : hull->faces)
            CHECK((R.transpose() * face.normal).cwiseAbs().maxCoeff() > 1 - 1e-6);
    }
}

// A cylinder of many facets: n sides, the caps full of points; and points at random on the sides of a cube,
// rounded to a digit that moves through the tolerances of the hull.
TEST_CASE("mesh files: a hull is closed and convex however its points are rounded") {
    Rng g(2);
    for (int trial = 0; trial < 120; ++trial) {
        CAPTURE(trial);
        const Mat3<double> R = rotation_matrix(quaternion_exp<double>(g.vec3(Regime::random)));
        const double digit = std::pow(10.0, -4 - trial / 2 % 7);
        std::vector<Vec3<double>> points;
        const int n = 3 + trial % 30;
        const auto add = [&](const Vec3<double>& x) {
            points.push_back((R * x / digit).array().round().matrix() * digit);
        };
        for (int i = 0; i < 6 * n; ++i) {
            const double angle = 2 * 3.14159265358979 * (i % n) / n, radius = (1 + i / n % 3) / 3.0;
            Vec3<double> x =
                trial % 2 == 0
                    ? Vec3<double>(radius * std::cos(angle), radius * std::sin(angle), i / n < 3 ? -1 : 1)
                    : Vec3<double>(g.uniform(-1, 1), g.uniform(-1, 1), g.uniform(-1, 1));
            if (trial % 2 == 1) x[i % 3] = x[i % 3] > 0 ? 1 : -1;
            add(x);
        }
        const auto hull = convex_hull(points);
        CHECK(hull->vertices.size() + hull->faces.size() == hull->edges.size() + 2);
        for (const HullEdge& edge : hull->edges)
            CHECK((edge.left >= 0 && edge.right >= 0));
        double above = 0;
        for (const HullFace& face : hull->faces)
            for (const Vec3<double>& x : points)
                above = std::max(above, face.normal.dot(x - face.origin));
        CHECK(above < 4e-6);
    }
}

#ifdef COSTATE_HAVE_ASSIMP

namespace {

// Six times the volume that the triangles enclose: positive if they run anticlockwise from outside.
double six_volumes(const TriangleMesh& mesh) {
    double sum = 0;
    const auto at = [&](int v) { return mesh.vertices[v]; };
    for (const auto& [a, b, c] : mesh.triangles)
        sum += at(a).dot(at(b).cross(at(c)));
    return sum;
}

// The base scene in a folder, the ball's shape and one of the world replaced.
Scene scene_with(const ScratchFolder& folder, const char* ball, const char* world) {
    Json json = base();
    json["models"][1]["model"]["bodies"][0]["shapes"] = parse_json(ball, "ball");
    json["shapes"] = parse_json(world, "world");
    json.erase("parameters");
    return scene_from_json(json, folder.path("scene.json"));
}

}  // namespace

TEST_CASE("mesh files: one wedge from OBJ, ASCII and binary STL, and DAE") {
    const ScratchFolder folder("mesh_files");
    const std::string binary = binary_stl(wedge_triangles());
    for (const auto& [name, text] : {std::pair{"wedge.obj", wedge_obj()},
                                     {"wedge.stl", ascii_stl(wedge_triangles())},
                                     {"binary.STL", binary},
                                     {"wedge.dae", wedge_dae()}}) {
        CAPTURE(name);
        const TriangleMesh mesh = read_mesh_file(folder.write(name, text));
        CHECK(mesh.vertices.size() == 4);  // shared, although an STL repeats them
        CHECK(mesh.triangles.size() == 4);
        CHECK(six_volumes(mesh) == doctest::Approx(0.1 * 0.2 * 0.3).epsilon(1e-6));
        Vec3<double> top = Vec3<double>::Zero();
        for (const Vec3<double>& v : mesh.vertices)
            top = top.cwiseMax(v);
        CHECK((top - Vec3<double>(0.1, 0.2, 0.3)).norm() < 1e-7);
    }
}

TEST_CASE("mesh files: polygons are cut, what has no area is left out, no other file is opened") {
    const ScratchFolder folder("mesh_polygons");
    const char* text =
        "mtllib nowhere.mtl\nv 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 1 0 0\nusemtl none\nf 1 2 3 4\nf 1 5 2\nl "
        "1 3\n";
    const TriangleMesh square = read_mesh_file(folder.write("square.obj", text));
    CHECK(square.triangles.size() == 2);
}

// assimp reads a file with a polygon.
TEST_CASE("mesh files: OBJ files of triangles are read as by assimp") {
    const ScratchFolder folder("mesh_plain");
    const std::string points =
        "# four\r\nv 0 0 0\r\nv  1.5 0.1 -2e-1\nv 0 1e0 0.3\nvn 0 0 1\nvt 0 0\nv 0.7 0.7 1.25\n";
    for (const std::string faces :
         {"f 1 2 3\nf 2 1 4\nf 3 2 4\nf 1 3 4\n", "o a\nf 1/1 2/1 3/1\n\no b\ng c\nf 2//1 1//1 4//1\n",
          "f -4 -3 -2\r\nf -3/1/1 -4/1/1 -1/1/1\ns off\nusemtl none\n"}) {
        CAPTURE(faces);
        const TriangleMesh here = read_mesh_file(folder.write("here.obj", points + faces));
        const TriangleMesh there = read_mesh_file(
            folder.write("there.obj", points + faces + "v 5 5 5\nv 6 5 5\nv 6 6 5\nv 5 6 5\nf 5 6 7 8\n"));
        REQUIRE(there.triangles.size() == here.triangles.size() + 2);
        CHECK(there.vertices.size() == here.vertices.size() + 4);
        for (size_t k = 0; k < here.triangles.size(); ++k)
            for (size_t i = 0; i < 3; ++i)
                CHECK((here.vertices[here.triangles[k][i]] - there.vertices[there.triangles[k][i]]).norm() <
                      1e-7);
    }
}

TEST_CASE("mesh files: broken ones get a clear line") {
    const ScratchFolder folder("mesh_broken");
    const std::string binary = binary_stl(wedge_triangles()), ascii = ascii_stl(wedge_triangles());
    const auto said = [&](const char* name, const std::string& text) {
        return mesh_complaint(folder.write(name, text));
    };
    CHECK(mesh_complaint(folder.path("none.obj")).find("there is no file") == 0);
    CHECK(mesh_complaint(folder.path("")).find("is neither .obj nor .stl nor .dae") != std::string::npos);
    CHECK(said("wedge.ply", wedge_obj()).find("is neither .obj") != std::string::npos);
    for (const char* name : {"empty.obj", "empty.stl", "empty.dae"})
        CHECK(said(name, "").find("is empty") != std::string::npos);
    for (const char* name : {"noise.obj", "noise.stl", "noise.dae"}) {
        CAPTURE(name);
        CHECK(said(name, "this is no mesh at all, however one reads it, is it?\n") != "no complaint");
        CHECK(said(name, std::string(500, '\xff')) != "no complaint");
        CHECK(said(name, std::string(500, '\0')) != "no complaint");
    }
    // binary STL: cut short; a count of triangles that no file can hold
    for (const size_t bytes : {1ul, 80ul, 84ul, 100ul, binary.size() - 1}) {
        CAPTURE(bytes);
        CHECK(said("short.stl", binary.substr(0, bytes)) != "no complaint");
    }
    CHECK(said("short.stl", binary.substr(0, 84 + 2 * 50))
              .find("is not a readable STL file: it states 4 triangles "
                    "and has room for 2") != std::string::npos);
    std::string many = binary;
    std::memset(many.data() + 80, 0xff, 4);
    CHECK(said("many.stl", many) != "no complaint");
    // ASCII STL and DAE: cut short anywhere
    for (size_t bytes = 1; bytes + 4 < ascii.size(); bytes += 7) {
        CAPTURE(bytes);
        CHECK(said("short.stl", ascii.substr(0, bytes)) != "no complaint");
    }
    const std::string dae = wedge_dae();
    for (size_t bytes = 1; bytes + 20 < dae.size(); bytes += 29) {
        CAPTURE(bytes);
        CHECK(said("short.dae", dae.substr(0, bytes)) != "no complaint");
    }
    // a corner without its list of vertices, which brings assimp down
    std::string lost = dae;
    lost.replace(lost.find("semantic=\"VERTEX\""), 17, "semantic=\"NOTHING\"");
    CHECK(said("lost.dae", lost) != "no complaint");
    // numbers that are none
    const float nan = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();
    for (const float bad : {nan, infinity, -infinity}) {
        auto triangles = wedge_triangles();
        triangles[2][1].y() = bad;
        CHECK(said("bad.stl", binary_stl(triangles)).find("not finite") != std::string::npos);
    }
    for (const char* bad : {"nan", "inf", "1e999"})
        CHECK(said("bad.obj", std::string("v 0 0 0\nv 1 0 0\nv 0 1 ") + bad + "\nf 1 2 3\n") !=
              "no complaint");
    CHECK(said("index.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n") != "no complaint");
    CHECK(said("cloud.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n") == "no complaint");  // points of a hull
    CHECK(said("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n").find("in one plane") != std::string::npos);
    CHECK(said("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n").find("no triangle with an area") !=
          std::string::npos);
}

TEST_CASE("mesh files: in scenes, as the hull of a body's shape and as terrain") {
    const ScratchFolder folder("mesh_scene");
    folder.write("parts/wedge.stl", binary_stl(wedge_triangles()));
    folder.write("ramp.obj", "v 0 0 0\nv 4 0 1\nv 4 3 1\nv 0 3 0\nf 1 2 3 4\n");
    const Scene s =
        scene_with(folder, R"([{"type": "mesh", "file": "parts/wedge.stl", "scale": [10, 10, 10]}])",
                   R"([{"name": "ramp", "type": "triangle_mesh", "file": "ramp.obj"},
                                   {"name": "roof", "type": "triangle_mesh", "vertices": [[0, 0, 9], [0, 1, 9], [1, 0, 9]],
                                    "triangles": [[0, 1, 2]]}])");
    const ShapeSet& set = s.world.shapes;
    const auto at = [&](const char* name) { return set.shapes[set.index(name)]; };
    REQUIRE((at("ball").hull && at("ramp").terrain && at("roof").terrain));
    CHECK((at("ball").hull->vertices.size() == 4 && at("ball").hull->faces.size() == 4));
    CHECK(s.theta[set.size.at(set.index("ball")) + 2] == 10);
    CHECK(at("ramp").terrain->triangles.size() == 2);
    CHECK(at("ramp").terrain->normal(0).z() > 0);
    CHECK(at("roof").terrain->normal(0).z() < 0);

    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    CHECK(std::isfinite(rollout.forward(s.theta, s.x0, s.z0)));

    folder.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
    folder.write("broken.stl", "no");
    const auto said = [&](const char* ball, const char* world) {
        return complaint([&] { scene_with(folder, ball, world); });
    };
    const std::string place = folder.path("scene.json").string(),
                      shape = place + "#/models/1/model/bodies/0/shapes/0", fixed = place + "#/shapes/0";
    const char *none = "[]",
               *triangle =
                   R"([{"name": "t", "type": "triangle_mesh", "vertices": [[0, 0, 0], [1, 0, 0], [2, 0, 0]],
                                              "triangles": [[0, 1, 2]]}])";
    check_complaint(said(R"([{"type": "mesh", "file": "nothing.stl"}])", none),
                    shape + "/file: ", "there is no file", "correct");
    check_complaint(said(R"([{"type": "mesh", "file": "../wedge.stl"}])", none),
                    shape + "/file: ", "in the scene's folder", "use");
    check_complaint(said(R"([{"type": "mesh", "file": "broken.stl"}])", none),
                    shape + "/file: ", "broken.stl is not a readable STL file", "export");
    check_complaint(said(R"([{"type": "mesh", "file": "flat.obj"}])", none),
                    shape + "/file: ", "span no volume", "give");
    check_complaint(said(R"([{"type": "mesh"}])", none), shape + ": ", "neither \"vertices\" nor \"file\"",
                    "add one");
    check_complaint(said(R"([{"type": "mesh", "file": "flat.obj", "vertices": []}])", none),
                    shape + "/vertices: ", "from a file", "remove it");
    check_complaint(said(R"([{"type": "mesh", "file": "flat.obj", "triangles": []}])", none),
                    shape + "/triangles: ", "the shape is a mesh", "remove it");
    check_complaint(said(R"([{"type": "triangle_mesh", "file": "flat.obj"}])", none),
                    shape + "/type: ", "must be fixed in the world", "use a mesh");
    check_complaint(said(R"([{"type": "height_field", "cell": [1, 1], "heights": [[0, 0], [0, 0]]}])", none),
                    shape + "/type: ", "must be fixed in the world", "use a mesh");
    check_complaint(said(none, triangle), fixed + "/vertices: ", "triangle 0 is flat", "give triangles");
    check_complaint(
        said(none, R"([{"name": "t", "type": "triangle_mesh", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
                                    "triangles": [[0, 1, 3]]}])"),
        fixed + "/triangles/0/2: ", "is 3", "use a whole number from 0 to 2");
    check_complaint(said(none, R"([{"name": "t", "type": "triangle_mesh", "vertices": []}])"), fixed + ": ",
                    "has no \"triangles\"", "add it");
}

#else

TEST_CASE("mesh files: a hull of too many vertices becomes a coarse one, with a warning and its error") {
    const ScratchFolder folder("mesh_coarse");
    constexpr int count = max_hull_vertices + 5000;
    std::string text;
    for (int i = 0; i < count; ++i) {  // a spiral from pole to pole of a sphere of 0.1 m
        const double z = 1 - (2 * i + 1.0) / count, r = std::sqrt(1 - z * z), angle = 2.399963 * i;
        char line[80];
        std::snprintf(line, sizeof line, "v %.7f %.7f %.7f\n", 0.1 * r * std::cos(angle),
                      0.1 * r * std::sin(angle), 0.1 * z);
        text += line;
    }
    for (int i = 1; i + 2 <= count; i += 3)
        text += "f " + std::to_string(i) + " " + std::to_string(i + 1) + " " + std::to_string(i + 2) + "\n";
    folder.write("ball.obj", text);
    const HullsReadOnce once;
    const Scene s = scene_with(
        folder, R"([{"name": "ball", "type": "mesh", "file": "ball.obj", "scale": [1, 1, 2]}])", "[]");
    CHECK(s.world.shapes.shapes[s.world.shapes.index("ball")].hull->vertices.size() == coarse_hull_vertices);
    REQUIRE(s.warnings.size() >= 1);
    check_complaint(
        s.warnings[0], folder.path("scene.json").string() + "#/models/1/model/bodies/0/shapes/0/file: ",
        "more than 100000 vertices; its 10000 outermost are used, beyond which it reaches by up to 0.0",
        "use a mesh with fewer vertices");
    // between neighbours of 10000 evenly spread vertices, about 3.5 / sqrt(10000) apart as angles, is a
    // sagitta
    const double left_out = hull_of_points(read_mesh_file(folder.path("ball.obj")).vertices).left_out;
    CHECK(left_out > 0);
    CHECK(left_out < 0.1 * 0.035 * 0.035 / 2);
}

TEST_CASE("mesh files: without assimp it is said how to get it") {
    const ScratchFolder folder("mesh_none");
    CHECK(mesh_complaint(folder.write("wedge.obj", wedge_obj())).find("without assimp") != std::string::npos);
}

#endif
