// Convex decomposition of meshes: parts that fill the mesh, no more than allowed, in models of both formats.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/import/mesh/convex_parts.hpp"
#include "scenes/import/mesh/mesh_mass.hpp"
#include "scenes/read/world/robot_file.hpp"
#include "scenes/scene.hpp"
#include "tests/support/probe.hpp"
#include "tests/support/scratch_folder.hpp"

namespace costate::test {
namespace {

using PrismOutline = std::vector<std::array<double, 2>>;

// A prism with an outline, anticlockwise, as its lower face, cut into triangles: those of `caps`.
TriangleMesh extruded(const PrismOutline& outline, const std::vector<std::array<int, 3>>& caps,
                      double height) {
    TriangleMesh mesh;
    const int n = static_cast<int>(outline.size());
    for (const double z : {0.0, height})
        for (const auto& [x, y] : outline)
            mesh.vertices.emplace_back(x, y, z);
    for (const auto& [a, b, c] : caps) {
        mesh.triangles.push_back({a, c, b});
        mesh.triangles.push_back({n + a, n + b, n + c});
    }
    for (int i = 0; i < n; ++i) {
        const int j = (i + 1) % n;
        mesh.triangles.push_back({i, j, n + j});
        mesh.triangles.push_back({i, n + j, n + i});
    }
    return mesh;
}

TriangleMesh l_mesh() {
    return extruded({{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}},
                    {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}}, 1);
}

TriangleMesh u_mesh() {
    return extruded({{0, 0}, {3, 0}, {3, 3}, {2, 3}, {2, 1}, {1, 1}, {1, 3}, {0, 3}},
                    {{0, 1, 4}, {1, 2, 3}, {1, 3, 4}, {0, 4, 5}, {0, 5, 6}, {0, 6, 7}}, 2);
}

// A box without a lid, of edge 1, whose walls are 0.05 thick
TriangleMesh open_box_mesh() {
    TriangleMesh mesh;
    const auto square = [&](double from, double to, double z) {
        for (const auto& [x, y] : PrismOutline{{from, from}, {to, from}, {to, to}, {from, to}})
            mesh.vertices.emplace_back(x, y, z);
    };
    square(0, 1, 0);
    square(0, 1, 1);
    square(0.05, 0.95, 0.05);
    square(0.05, 0.95, 1);
    const auto face = [&](int a, int b, int c, int d) {
        mesh.triangles.push_back({a, b, c});
        mesh.triangles.push_back({a, c, d});
    };
    face(3, 2, 1, 0);
    face(8, 9, 10, 11);
    for (int i = 0; i < 4; ++i) {
        const int j = (i + 1) % 4;
        face(i, j, 4 + j, 4 + i);
        face(8 + i, 12 + i, 12 + j, 8 + j);
        face(4 + i, 4 + j, 12 + j, 12 + i);
    }
    return mesh;
}

TriangleMesh torus_mesh() {
    TriangleMesh mesh;
    constexpr int n = 24, m = 12;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j) {
            const double a = 2 * M_PI * i / n, b = 2 * M_PI * j / m, r = 1 + 0.3 * std::cos(b);
            mesh.vertices.emplace_back(r * std::cos(a), r * std::sin(a), 0.3 * std::sin(b));
            const int i1 = (i + 1) % n, j1 = (j + 1) % m;
            mesh.triangles.push_back({i * m + j, i1 * m + j, i1 * m + j1});
            mesh.triangles.push_back({i * m + j, i1 * m + j1, i * m + j1});
        }
    return mesh;
}

// Each triangle as four.
TriangleMesh refined(const TriangleMesh& mesh) {
    TriangleMesh out = mesh;
    out.triangles.clear();
    const auto middle = [&](int a, int b) {
        out.vertices.push_back(0.5 * (mesh.vertices[a] + mesh.vertices[b]));
        return static_cast<int>(out.vertices.size()) - 1;
    };
    for (const auto& [a, b, c] : mesh.triangles) {
        const int ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
        for (const std::array<int, 3>& t : {std::array{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}})
            out.triangles.push_back(t);
    }
    return out;
}

double enclosed_volume(const TriangleMesh& mesh) { return mesh_mass(mesh, MeshInertia::exact).m; }

double volume_of_hulls(const std::vector<TriangleMesh>& parts) {
    return std::accumulate(parts.begin(), parts.end(), 0.0, [](double sum, const TriangleMesh& part) {
        return sum + mesh_mass(part, MeshInertia::convex).m;
    });
}

std::string mesh_as_obj(const TriangleMesh& mesh, double scale) {
    std::string text;
    for (const Vec3<double>& v : mesh.vertices)
        text += "v " + std::to_string(scale * v.x()) + " " + std::to_string(scale * v.y()) + " " +
                std::to_string(scale * v.z()) + "\n";
    for (const auto& [a, b, c] : mesh.triangles)
        text +=
            "f " + std::to_string(a + 1) + " " + std::to_string(b + 1) + " " + std::to_string(c + 1) + "\n";
    return text;
}

}  // namespace

TEST_CASE("convex parts: meshes made of boxes fall into these boxes, however fine they are") {
    const struct {
        const char* name;
        TriangleMesh mesh;
        size_t boxes;
    } cases[] = {{"L", l_mesh(), 2}, {"U", u_mesh(), 3}, {"open box", open_box_mesh(), 5}};
    for (const auto& [name, mesh, boxes] : cases) {
        CAPTURE(name);
        for (const TriangleMesh& each : {mesh, refined(refined(mesh))}) {
            const std::vector<TriangleMesh> parts = convex_parts(each, 8, 0.01);
            CHECK(parts.size() == boxes);
            CHECK(volume_of_hulls(parts) == doctest::Approx(enclosed_volume(mesh)).epsilon(1e-9));
        }
        TriangleMesh inside_out = mesh;
        for (std::array<int, 3>& corners : inside_out.triangles)
            std::swap(corners[1], corners[2]);
        CHECK(volume_of_hulls(convex_parts(inside_out, 8, 0.01)) ==
              doctest::Approx(enclosed_volume(mesh)).epsilon(1e-9));
        // fewer than needed
        const std::vector<TriangleMesh> two = convex_parts(mesh, 2, 0.01);
        CHECK(two.size() == 2);
        CHECK(volume_of_hulls(two) > enclosed_volume(mesh) * (1 - 1e-9));
        CHECK(convex_parts(mesh, 1, 0.01).size() == 1);
    }
    CHECK(convex_parts(extruded({{0, 0}, {1, 0}, {0, 1}}, {{0, 1, 2}}, 1), 8, 0.01).size() == 1);
    CHECK_THROWS_AS(convex_parts(l_mesh(), 0, 0.01), std::invalid_argument);
}

TEST_CASE("convex parts: turned and curved meshes, whose parts cover all of them and little more") {
    Rng g(3);
    const Mat3<double> R = rotation_matrix(quaternion_exp<double>(g.vec3(Regime::random)));
    TriangleMesh turned = refined(u_mesh());
    for (Vec3<double>& v : turned.vertices)
        v = R * v;
    for (const TriangleMesh& mesh : {turned, torus_mesh()}) {
        const double whole = enclosed_volume(mesh), hull = mesh_mass(mesh, MeshInertia::convex).m;
        const std::vector<TriangleMesh> parts = convex_parts(mesh, 12, 0.02);
        CHECK((parts.size() > 3 && parts.size() <= 12));
        CHECK(volume_of_hulls(parts) > (1 - 1e-9) * whole);
        CHECK(volume_of_hulls(parts) - whole < 0.25 * (hull - whole));
        std::vector<std::shared_ptr<const Hull>> hulls;
        for (const TriangleMesh& part : parts)
            hulls.push_back(convex_hull(part.vertices));
        for (const auto& [a, b, c] : mesh.triangles) {
            const Vec3<double> x = (mesh.vertices[a] + mesh.vertices[b] + mesh.vertices[c]) / 3;
            CHECK(std::ranges::any_of(hulls, [&](const auto& h) {
                return std::ranges::all_of(
                    h->faces, [&](const HullFace& f) { return f.normal.dot(x - f.origin) < 1e-6; });
            }));
        }
        const std::vector<TriangleMesh> again = convex_parts(mesh, 12, 0.02);
        REQUIRE(again.size() == parts.size());
        for (size_t i = 0; i < parts.size(); ++i)
            CHECK(again[i].vertices == parts[i].vertices);
    }
}

#if defined(COSTATE_HAVE_TINYXML2) && defined(COSTATE_HAVE_ASSIMP)
TEST_CASE("convex parts: a ball falls into a U that is split, and rests on the hull of one that is not") {
    const ScratchFolder folder("convex_parts");
    folder.write("u.obj", mesh_as_obj(u_mesh(), 0.1));  // open towards +y, 0.1 wide
    const auto file = folder.write("main.xml", R"(<mujoco>
        <asset><mesh name="u" file="u.obj"/></asset>
        <worldbody><geom name="u" type="mesh" mesh="u" euler="90 0 0"/>
            <body name="ball" pos="0.15 -0.1 0.35"><freejoint/><geom name="ball" size="0.03"/></body></worldbody>
        <contact><pair geom1="u" geom2="ball" friction="0 0"/></contact></mujoco>)");
    for (const auto& [most, hulls, height] : {std::tuple(1, 1, 0.33), {8, 3, 0.13}}) {
        CAPTURE(most);
        ImportOptions options;
        options.decompose = most;
        const ImportedModel model = import_model(file, options);
        CHECK(model.scene["shapes"].size() == static_cast<size_t>(hulls));
        CHECK(model.model["pairs"].size() == static_cast<size_t>(hulls));
        CHECK(model.warnings.size() == (most == 1 ? 1 : 0));  // that the hull is used
        const Scene s = load_scene(file.string(), 1000, options);
        Simulation simulation(s.world, s.objective);
        Rollout<Simulation> rollout(simulation, s.plan, s.steps);
        double z = 0;
        rollout.forward(s.theta, s.x0, s.z0, [&](int, const double* x, const double*) { z = x[2]; });
        CHECK(z == doctest::Approx(height).epsilon(2e-3));
    }
}

TEST_CASE("convex parts: a link of a URDF gets a shape for each hull, and no warning") {
    const ScratchFolder folder("convex_link");
    folder.write("l.obj", mesh_as_obj(l_mesh(), 0.1));
    const auto file = folder.write("robot.urdf", R"(<robot name="r"><link name="a"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><mesh filename="l.obj"/></geometry></collision></link></robot>)");
    const auto shapes = [&](int most, size_t warnings) {
        ImportOptions options;
        options.decompose = most;
        const ImportedModel model = import_model(file, options);
        CHECK(model.warnings.size() == warnings);
        return model.model["bodies"][0]["shapes"];
    };
    CHECK(shapes(1, 1).size() == 1);
    const Json split = shapes(4, 0);
    REQUIRE(split.size() == 2);
    CHECK((split[0]["name"] == "a.1" && split[1]["name"] == "a.2"));
    for (const Json& shape : split)
        CHECK(shape["vertices"].size() == 8);
}
#endif

}  // namespace costate::test
