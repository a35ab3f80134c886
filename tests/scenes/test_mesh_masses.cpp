// Masses that bodies of MJCF get from meshes: "inertia" of <mesh>, against closed forms and MuJoCo.
#include <Eigen/Eigenvalues>

#include <doctest/doctest.h>

#include "scenes/format/inertia.hpp"
#include "scenes/import/mesh/mesh_mass.hpp"
#include "tests/support/mjcf_text.hpp"

namespace costate::test {
namespace {

// A prism along z over the L of 0.3 m x 0.1 m below 0.1 m x 0.1 m, 0.4 m high
const std::string prism_vertices =
    "vertex='0 0 0  .3 0 0  .3 .1 0  .1 .1 0  .1 .2 0  0 .2 0  0 0 .4  .3 0 .4  .3 .1 .4  .1 .1 .4  .1 .2 .4 "
    " 0 "
    ".2 .4'";
const std::string first_facets = "0 2 1  6 7 8  ";
const std::string other_facets =
    "0 3 2  6 8 9  0 4 3  6 9 10  0 5 4  6 10 11  0 1 7  0 7 6  1 2 8  1 8 7  "
    "2 3 9  2 9 8  3 4 10  3 10 9  4 5 11  4 11 10  5 0 6  5 6 11";
const std::string prism = prism_vertices + " face='" + first_facets + other_facets + "'";
const std::string open_prism = prism_vertices + " face='" + other_facets + "'";

struct Weighed {
    double mass;
    Vec3<double> com;
    std::array<double, 6> inertia;  // xx yy zz xy xz yz
    std::vector<std::string> warnings;
};

// A free body of one mesh of 100 kg/m^3
Weighed weighed(const std::string& mesh, const std::string& geom = "", const std::string& compiler = "",
                bool strict = false) {
    const MjcfText m = mjcf(
        "<compiler " + compiler + "/><asset>\n<mesh name='part' " + mesh +
            "/></asset><worldbody><body><freejoint/><geom type='mesh' mesh='part' density='100' contype='0' "
            "conaffinity='0' " +
            geom + "/></body></worldbody>",
        strict);
    const Json& body = m.body(0);
    Weighed out{json_value(body["mass"]), Vec3<double>::Zero(), {}, m.warnings};
    for (int k = 0; k < 3 && body.contains("com"); ++k)
        out.com[k] = json_value(body["com"][k]);
    for (size_t k = 0; k < 6; ++k)
        out.inertia[k] = json_value(body["inertia"][k]);
    return out;
}

void check(const Weighed& w, double mass, const Vec3<double>& com, const std::array<double, 6>& inertia,
           double tolerance) {
    CHECK(std::abs(w.mass - mass) < tolerance * mass);
    CHECK((w.com - com).norm() < tolerance);
    for (size_t k = 0; k < 6; ++k) {
        CAPTURE(k);
        CHECK(std::abs(w.inertia[k] - inertia[k]) < tolerance * (inertia[0] + inertia[1] + inertia[2]));
    }
}

// MuJoCo's figures have the digits of single precision.
constexpr double single = 3e-7;

// Against MuJoCo 2.2.2: centre of mass and inertia. Its mass was that of the box with the same moments per
// mass, a rule that 3.1.0 gave up for the volume.
void check_2_2_2(const Weighed& w, double mass, const Vec3<double>& com, std::array<double, 6> inertia) {
    const Mat3<double> I = inertia_matrix(w.inertia.data()) / w.mass;
    const Vec3<double> e = Eigen::SelfAdjointEigenSolver<Mat3<double>>(I).eigenvalues();
    const Vec3<double> squares(e[1] + e[2] - e[0], e[2] + e[0] - e[1], e[0] + e[1] - e[2]);
    CHECK(100 * (6 * squares).cwiseSqrt().prod() == doctest::Approx(mass).epsilon(10 * single));
    for (double& x : inertia)
        x *= w.mass / mass;
    check(w, w.mass, com, inertia, single);
}

TEST_CASE("mesh masses: legacy, MuJoCo's default, counts every pyramid as positive") {
    // from the centre of mass, the wall at x = 0.1 m is seen from inside: its pyramid counts instead of being
    // taken away
    const Vec3<double> com{0.124179088429, 0.0776559074607, 0.2};
    const double behind = 0.04 * (com.x() - 0.1) / 3, mass = 100 * (0.016 + 2 * behind);
    const std::array<double, 6> inertia{
        0.0311982325987, 0.0403796302522, 0.0199929936469, 0.00362543527675, 0, 0};
    for (const char* kind : {"", " inertia='legacy'"}) {
        const Weighed w = weighed(prism + kind);
        CHECK(w.mass == doctest::Approx(mass).epsilon(single));
        check_2_2_2(w, 1.96487846331, com, inertia);
    }
    check_2_2_2(weighed(prism + " scale='-1 2 .5'"), 1.96445199268, {-0.124294961386, 0.154230263453, 0.1},
                {0.0280609598877, 0.021027616697, 0.03619609298, -0.00724808851794, 0, 0});
    check_2_2_2(weighed(prism + " refpos='.1 .2 .3' refquat='1 2 3 4'", "pos='1 2 3' quat='1 0 1 0'"),
                1.96487850601, {0.922835265009, 1.9506719054, 3.13101545986},
                {0.0386245220669, 0.022135120233, 0.0308112209062, -0.00399869734394, -0.00374374206786,
                 0.00439847262466});
    const Weighed given = weighed(prism, "mass='3'");
    CHECK(given.mass == doctest::Approx(3).epsilon(1e-14));
    CHECK(given.inertia[0] == doctest::Approx(0.0476338356513).epsilon(single));
}

TEST_CASE("mesh masses: exact is the volume enclosed, mirrored and inside out too") {
    // two boxes of 1.2 and 0.4 kg, centres (0.15, 0.05) and (0.05, 0.15)
    const std::array<double, 6> inertia{1.2 * (0.01 + 0.16) / 12 + 0.4 * (0.01 + 0.16) / 12 + 0.3 * 0.01,
                                        1.2 * (0.09 + 0.16) / 12 + 0.4 * (0.01 + 0.16) / 12 + 0.3 * 0.01,
                                        1.2 * 0.1 / 12 + 0.4 * 0.02 / 12 + 0.3 * 0.02,
                                        0.3 * 0.01,
                                        0,
                                        0};
    const Vec3<double> com(0.125, 0.075, 0.2);
    check(weighed(prism + " inertia='exact'"), 1.6, com, inertia, 1e-13);
    check(weighed(prism, "", "exactmeshinertia='true'"), 1.6, com, inertia, 1e-13);
    const Weighed mirrored = weighed(prism + " inertia='exact' scale='-1 1 1'");
    check(mirrored, 1.6, {-0.125, 0.075, 0.2}, {inertia[0], inertia[1], inertia[2], -inertia[3], 0, 0},
          1e-13);
    CHECK(mirrored.warnings.empty());
    // the attribute of the mesh overrules the compiler's
    CHECK(weighed(prism + " inertia='legacy'", "", "exactmeshinertia='true'").mass > 1.66);
}

TEST_CASE("mesh masses: convex is of the hull, and so are points without faces") {
    // the L and the triangle that closes its corner: (0.1, 0.1), (0.3, 0.1), (0.1, 0.2), 0.4 kg
    const Vec3<double> com =
        (1.6 * Vec3<double>(0.125, 0.075, 0.2) + 0.4 * Vec3<double>(0.5 / 3, 0.4 / 3, 0.2)) / 2;
    for (const std::string& mesh :
         {prism + " inertia='convex'", prism_vertices, prism_vertices + " inertia='exact'"}) {
        CAPTURE(mesh);
        const Weighed w = weighed(mesh);
        CHECK(w.mass == doctest::Approx(2).epsilon(1e-12));
        CHECK((w.com - com).norm() < 1e-12);
        CHECK(w.warnings.empty());
    }
}

TEST_CASE("mesh masses: a shell is its surface, whose density is by area") {
    for (const auto& [mesh, geom] :
         {std::pair{prism + " inertia='shell'", ""}, {prism, "shellinertia='true'"}}) {
        const Weighed w = weighed(mesh, geom);
        CHECK(w.mass == doctest::Approx(100 * (2 * 0.04 + 0.4 * 1.0)).epsilon(1e-12));
        // walls of 0.3, 0.1, 0.2, 0.1, 0.1, 0.2 m by 0.4 m, and two ends of 0.04 m^2
        const double x = 0.4 * (0.3 * 0.15 + 0.1 * 0.3 + 0.2 * 0.2 + 0.1 * 0.1 + 0.1 * 0.05) + 0.08 * 0.125;
        CHECK(w.com.x() == doctest::Approx(x / 0.48).epsilon(1e-12));
        CHECK(w.com.z() == doctest::Approx(0.2).epsilon(1e-12));
    }
    // a hollow cube of side 2 a: I = m (2 a)^2 5/18
    TriangleMesh cube = hull_surface(
        {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1}, {1, 1, 1}});
    const MassProperties<double> hollow = mesh_mass(cube, MeshInertia::shell);
    CHECK(hollow.m == doctest::Approx(24));
    CHECK((hollow.I - 24 * 4 * 5.0 / 18 * Mat3<double>::Identity()).norm() < 1e-12);
}

TEST_CASE("mesh masses: kinds agree on what is convex, wherever it lies") {
    std::vector<Vec3<double>> points;
    for (int i = 0; i < 40; ++i)
        points.emplace_back(5 + std::sin(i), 2 * std::sin(2 * i + 1), std::cos(3 * i) - 7);
    const TriangleMesh hull = hull_surface(points);
    const MassProperties<double> exact = mesh_mass(hull, MeshInertia::exact);
    CHECK(is_closed(hull));
    for (const MeshInertia kind : {MeshInertia::legacy, MeshInertia::convex}) {
        const MassProperties<double> other = mesh_mass(hull, kind);
        CHECK(other.m == doctest::Approx(exact.m).epsilon(1e-12));
        CHECK((other.c - exact.c).norm() < 1e-12);
        CHECK((other.I - exact.I).norm() < 1e-12 * exact.I.norm());
    }
}

TEST_CASE("mesh masses: of a surface that is not closed, MuJoCo's guess, which is said") {
    // without the facets of the first triangle at both ends
    const Weighed guess = weighed(open_prism);
    check_2_2_2(guess, 1.93961210302, {0.116500397831, 0.0816020696392, 0.2},
                {0.0283253981791, 0.0374822908452, 0.0204462114025, 0.00367495683251, 0, 0});
    CHECK(guess.mass > 1.2);
    CHECK(guess.mass < 1.6);
    REQUIRE(guess.warnings.size() == 1);
    check_complaint(guess.warnings[0], "m.xml:3: ", "a mesh is not closed: \"part\"", "close it");
    CHECK(weighed(open_prism, "", "", true).mass == guess.mass);
    // facets around less than nothing: exact has no sense, legacy always has
    const std::string facets = prism_vertices + " face='2 9 8  0 2 1  3 4 10  0 1 7'";
    const Weighed exact = weighed(facets + " inertia='exact'"), legacy = weighed(facets);
    CHECK(exact.mass == legacy.mass);
    CHECK(exact.inertia == legacy.inertia);
    REQUIRE(exact.warnings.size() == 1);
    check_complaint(exact.warnings[0],
                    "m.xml:3: ", "read as \"legacy\", because a mesh is not closed: \"part\"", "close it");
    CHECK(complaint([] { weighed(prism_vertices + " face='0 1 2  0 2 3'"); }).find("encloses no volume") !=
          std::string::npos);
    CHECK(weighed(prism_vertices + " face='0 1 2  0 2 3' inertia='shell'").mass > 0);
    CHECK(complaint([] { weighed(prism_vertices + " face='0 1 12'"); }).find("has an invalid vertex index") !=
          std::string::npos);
}

}  // namespace
}  // namespace costate::test
