// Spatial tendons: lengths and moment arms in closed form, a fixed tendon in their place, energy, and files. Adjoints:
// tests/core/test_spatial_tendon_passes.cpp.
#include <doctest/doctest.h>

#include "core/dynamics/spatial_tendon.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/probe.hpp"
#include "tests/support/walk.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Length, moment arms of all dofs, and rate of the first tendon.
struct PathValues {
    double length, rate;
    VecX<double> arm;
    PathValues(const Scene& scene, const std::vector<double>& q, const std::vector<double>& v) {
        const Model& m = scene.world.model;
        Kinematics<double> k(m);
        kinematics(m, scene.theta.data(), q.data(), v.data(), k);
        TendonPaths<double> paths(m);
        place_tendons(m, scene.theta.data(), k, paths);
        const Tendon& tendon = m.tendons[0];
        length = paths.length[0];
        rate = path_rate(tendon, paths, v.data());
        arm = VecX<double>::Zero(m.nv);
        for (size_t i = 0; i < tendon.dofs.size(); ++i)
            arm[tendon.dofs[i]] = paths.arm[tendon.first_arm + i];
    }
};

// Three sites: of the world at (3, 0, 0.5), and of two links of lengths 2 and 1 that turn about z.
const char* const crane =
    R"(<option gravity='0 0 0'/><default><geom contype='0' conaffinity='0'/></default><worldbody>
  <site name='post' pos='3 0 .5'/>
  <body name='a'><joint name='a' axis='0 0 1'/><geom size='.1' mass='1'/><site name='tip' pos='2 0 .5'/>
    <body name='b' pos='2 0 0'><joint name='b' axis='0 0 1'/><geom size='.1' mass='1'/><site name='hook' pos='1 0 .5'/></body></body>
  </worldbody>)";

Scene one_slider(const std::string& tendons, const std::string& actuators) {
    return scene_from_json(
        parse_json(
            R"({"steps": 200, "time_step": 0.002, "gravity": [0, 0, 0], "models": [{"name": "m",
        "position": [0.3, 0.2, 0.1], "rpy_deg": [0, 0, 30], "model": {"bodies": [
            {"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "mass": 2,
             "inertia": [0.1, 0.1, 0.1, 0, 0, 0], "sites": [{"name": "eye", "position": [0.5, 0, 0]}]}],
        "tendons": [)" +
                tendons + R"(], "actuators": [)" + actuators +
                R"(]}}], "initial": {"joints": {"m/cart": 0.1}, "velocities": {"m/cart": 0.4}},
        "controls": [)" +
                (actuators.empty() ? "" : R"({"actuators": ["*"], "initial": 0.7, "optimize": "held"})") +
                "]}",
            "slider"),
        "slider.json");
}

std::string refused(const std::string& tendon) {
    try {
        one_slider(tendon, "");
    } catch (const SceneError& e) {
        return e.what();
    }
    return "";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("MJCF: length, rate and moment arm of a spatial tendon are those of the law of cosines") {
    const MjcfText m =
        mjcf(std::string(crane) + R"(<tendon><spatial name='t' stiffness='5' damping='2' springlength='1 1.5'>
        <site site='post'/><site site='tip'/></spatial></tendon>)");
    CHECK(m.warnings.empty());
    CHECK(m.imported.model["tendons"][0]["path"] ==
          Json::array({{{"world", {3.0, 0.0, 0.5}}}, {{"site", "tip"}}}));
    for (const double a : {0.3, 1.2, -2.0}) {
        const PathValues at(m.scene(), {a, 0.7}, {-1.5, 4});
        const double l = std::sqrt(9 + 4 - 12 * std::cos(a)), arm = 6 * std::sin(a) / l;
        CHECK(at.length == doctest::Approx(l).epsilon(1e-14));
        CHECK(at.arm[0] == doctest::Approx(arm).epsilon(1e-13));
        CHECK(at.arm[1] == 0);
        CHECK(at.rate == doctest::Approx(-1.5 * arm).epsilon(1e-13));
    }
    // at lengths without force there is only the damper: tau = -arm d l'
    const Scene scene = m.scene();
    const double a = 0.2, l = std::sqrt(13 - 12 * std::cos(a)), arm = 6 * std::sin(a) / l;
    REQUIRE((l > 1 && l < 1.5));
    StepScratch<double> s(scene.world);
    const double* nothing = nullptr;  // controls
    VecX<double> x(4), next(4);
    x << a, 0.7, -1.5, 4;
    step(scene.world, {scene.theta.data(), x.data(), nothing}, s, next.data());
    CHECK(s.tau[0] == doctest::Approx(-2 * arm * arm * -1.5).epsilon(1e-13));
    CHECK(s.tau[1] == 0);
}

TEST_CASE("MJCF: a tendon without a length of its own is at rest where the springs of its joints are") {
    const MjcfText m = mjcf(
        R"(<option gravity='0 0 0'/><default><geom contype='0' conaffinity='0'/></default><worldbody>
      <site name='post' pos='3 0 .5'/>
      <body pos='.5 0 0'><joint name='a' axis='0 0 1' pos='-.5 0 0' ref='10' springref='40'/><geom size='.1' mass='1'/>
        <body><joint name='s' type='slide' axis='2 0 0' springref='.25'/><geom size='.1' mass='1'/>
          <site name='tip' pos='1.25 0 .5'/></body></body></worldbody>
      <tendon><spatial name='rope' stiffness='5'><site site='post'/><site site='tip'/></spatial>
        <fixed name='belt' stiffness='5'><joint joint='a' coef='2'/><joint joint='s' coef='-4'/></fixed>
        <fixed name='own' stiffness='5' springlength='1'><joint joint='a' coef='2'/></fixed></tendon>)");
    CHECK(m.warnings.empty());
    const Json& tendons = m.imported.model["tendons"];
    const double degree = std::numbers::pi / 180;
    CHECK(json_value(tendons[0]["rest"]) == doctest::Approx(std::sqrt(13 - 12 * std::cos(30 * degree))));
    CHECK(json_value(tendons[1]["rest"]) == doctest::Approx(2 * 30 * degree - 4 * 0.25));
    CHECK(json_value(tendons[2]["rest"]) == doctest::Approx(1 - 2 * 10 * degree));
}

TEST_CASE("MJCF: a pulley divides the length of its branch; joints that both ends share have no arm") {
    const MjcfText m = mjcf(std::string(crane) + R"(<tendon><spatial name='t'>
        <site site='tip'/><site site='hook'/><pulley divisor='2'/><site site='post'/><site site='hook'/></spatial></tendon>
        <actuator><motor name='winch' tendon='t' gear='3'/></actuator>)");
    CHECK(m.warnings.empty());
    const double a = 0.4, b = -0.9;
    const Scene scene = m.scene();
    const PathValues at(scene, {a, b}, {1, 2});
    const double x = 2 * std::cos(a) + std::cos(a + b), y = 2 * std::sin(a) + std::sin(a + b),
                 d = std::hypot(x - 3, y), by_b = ((x - 3) * -std::sin(a + b) + y * std::cos(a + b)) / d,
                 by_a = ((x - 3) * -y + y * x) / d;
    CHECK(at.length == doctest::Approx(1 + d / 2).epsilon(1e-14));
    CHECK(at.arm[0] == doctest::Approx(by_a / 2).epsilon(1e-13));
    CHECK(at.arm[1] == doctest::Approx(by_b / 2).epsilon(1e-13));
    CHECK(at.rate == doctest::Approx(by_a / 2 + by_b).epsilon(1e-13));
    // the force of the actuator along the tendon
    StepScratch<double> s(scene.world);
    VecX<double> state(4), next(4), u = VecX<double>::Constant(1, 0.5);
    state << a, b, 1, 2;
    step(scene.world, {scene.theta.data(), state.data(), u.data()}, s, next.data());
    CHECK(s.tau[0] == doctest::Approx(3 * 0.5 * by_a / 2).epsilon(1e-13));
    CHECK(s.tau[1] == doctest::Approx(3 * 0.5 * by_b / 2).epsilon(1e-13));
}

TEST_CASE("MJCF: the rest length of a spatial tendon is that of the reference configuration by default") {
    const MjcfText m =
        mjcf(std::string(crane) +
             "<tendon><spatial stiffness='2'><pulley divisor='4'/><site site='post'/><site site='tip'/>"
             "</spatial><spatial stiffness='1'><site site='tip'/><site site='hook'/></spatial></tendon>");
    const Json& tendons = m.imported.model["tendons"];
    REQUIRE(tendons.size() == 2);
    CHECK((tendons[0]["name"] == "tendon" && tendons[1]["name"] == "tendon_2"));
    CHECK(tendons[0]["path"][0] == Json{{"pulley", 4.0}});
    CHECK(json_value(tendons[0]["rest"]) == doctest::Approx(0.25));
    CHECK(json_value(tendons[1]["rest"]) == doctest::Approx(1));
    const Scene scene = m.scene();
    CHECK(scene.theta[scene.world.model.tendon_rest.at(1)] == doctest::Approx(1));
}

TEST_CASE("MJCF: spatial tendons that are not supported or wrong are named with their line") {
    const auto with = [](const std::string& path, const char* attributes = "") {
        return mjcf(
            "<tendon><spatial name='t' " + std::string(attributes) + ">\n" + path +
            "\n</spatial></tendon><actuator><motor tendon='t'/></actuator><worldbody><site "
            "name='w'/></worldbody>" +
            one_body("<site name='s'/><site name='r' pos='1 0 0'/><geom name='g' type='box' size='.1 .1 .1'/>"
                     "<site name='in' pos='.05 0 0'/>"));
    };
    const auto warned = [&](const std::string& path, const char* attributes = "") {
        const MjcfText m = with(path, attributes);
        return m.warnings.empty() ? "" : m.warnings[0];
    };
    CHECK(warned("<site site='w'/><site site='s'/>").empty());
    CHECK(has(warned("<site site='w'/><geom geom='g'/><site site='s'/>"),
              "m.xml:3: <geom> in <spatial> names neither a sphere nor a cylinder"));
    for (const char* side : {"in", "r"})
        CHECK(warned("<site site='w'/><geom geom='b' sidesite='" + std::string(side) + "'/><site site='s'/>")
                  .empty());
    CHECK(has(complaint([&] { with("<geom geom='b'/><site site='w'/><site site='s'/>"); }),
              "m.xml:3: <geom> is not between two sites"));
    CHECK(has(complaint([&] { with("<site site='w'/><site site='s'/><geom geom='b'/>"); }),
              "ends a branch of <spatial> with a geom"));
    CHECK(with("<site site='w'/><geom geom='g'/><site site='s'/>").warnings.size() == 2);  // and its actuator
    CHECK(has(warned("<site site='w'/><site site='w'/>"), "runs over no site of a body"));
    CHECK(has(warned("<site site='w'/><site site='s'/>", "frictionloss='1'"),
              "m.xml:2: frictionloss of a tendon"));
    CHECK(has(complaint([&] { with("<site site='s'/>"); }), "with one site"));
    CHECK(
        has(complaint([&] { with("<site site='s'/><pulley divisor='2'/><site site='w'/><site site='r'/>"); }),
            "m.xml:3: <pulley> leaves a branch"));
    CHECK(has(complaint([&] { with("<site site='s'/><site site='r'/><pulley divisor='0'/>"); }),
              "m.xml:3: divisor=\"0\" of <pulley>"));
    CHECK(has(complaint([&] { with("<site site='s'/><site site='nowhere'/>"); }), "nowhere"));
}

// W = sqrt(A^2 - r^2) + sqrt(B^2 - r^2) + r (Theta - acos(r/A) - acos(r/B)), unrolled with the rise along the axis
TEST_CASE("spatial tendons: the way around a sphere and a cylinder in closed form") {
    const double r = 0.5, A = 2, B = 1.3, angle = 2.5;
    const Vec3<double> n = Vec3<double>(1, 2, 2) / 3, x = Vec3<double>(2, 1, -2) / 3, y = n.cross(x);
    const Vec3<double> a = A * x, b = B * (std::cos(angle) * x + std::sin(angle) * y);
    const auto flat = [&](double turned) {
        return std::sqrt(A * A - r * r) + std::sqrt(B * B - r * r) +
               r * (turned - std::acos(r / A) - std::acos(r / B));
    };
    const auto way = [&](WrapShape shape, const Vec3<double>& from, const Vec3<double>& to, double turn) {
        const WrapArc<double> arc = wrap_arc(shape, from, to, n, r, turn);
        CHECK((arc.t0 - n * n.dot(arc.t0)).norm() == doctest::Approx(r).epsilon(1e-14));
        return (arc.t0 - from).norm() + arc.length + (to - arc.t1).norm();
    };
    const auto turn = [&](WrapShape shape, const Vec3<double>* side) {
        return wrap_turn(shape, a, b, n, r, side);
    };
    const Vec3<double> near = a + b, far = -near;
    for (const WrapShape shape : {WrapShape::sphere, WrapShape::cylinder}) {
        CHECK(turn(shape, nullptr) == 1);
        CHECK(turn(shape, &near) == 1);
        CHECK(turn(shape, &far) == -1);
        CHECK(way(shape, a, b, 1) == doctest::Approx(flat(angle)).epsilon(1e-14));
        CHECK(way(shape, a, b, -1) == doctest::Approx(flat(2 * M_PI - angle)).epsilon(1e-14));
    }
    CHECK(way(WrapShape::cylinder, a + 0.7 * n, b - 0.4 * n, 1) ==
          doctest::Approx(std::hypot(flat(angle), 1.1)).epsilon(1e-14));
    // a straight line that passes by, on the side of the site or on the other one
    const Vec3<double> c = a + 0.9 * y, d = -a + 0.9 * y, up = y, down = -y;
    CHECK(wrap_turn<double>(WrapShape::cylinder, c, d, n, r, nullptr) == 0);
    CHECK(wrap_turn(WrapShape::cylinder, c, d, n, r, &up) == 0);
    CHECK(wrap_turn(WrapShape::cylinder, c, d, n, r, &down) != 0);
    const Vec3<double> inside = 0.4 * x;
    CHECK(wrap_turn<double>(WrapShape::sphere, inside, b, n, r, nullptr) == 0);
}

TEST_CASE(
    "spatial tendons: a ring is touched where the way is shortest, and not if the line passes through it") {
    Rng g(7);
    const Vec3<double> n = g.vec3(Regime::random).normalized(), x = n.unitOrthogonal(), y = n.cross(x),
                       inside = 0.1 * y;
    const auto at = [&](double radius, double angle) -> Vec3<double> {
        return radius * (std::cos(angle) * x + std::sin(angle) * y);
    };
    const double r = 0.5;
    for (int i = 0; i < 200; ++i) {
        const double A = g.uniform(0.51, 2), B = g.uniform(0.51, 2), angle = g.uniform(-3, 3);
        const Vec3<double> a = at(A, 0), b = at(B, angle);
        const bool misses = std::abs(angle) < std::acos(r / A) + std::acos(r / B);
        for (const WrapShape shape : {WrapShape::sphere, WrapShape::cylinder})
            REQUIRE(wrap_turn(shape, a, b, n, r, &inside) == (misses ? through_ring : 0));
        if (!misses) continue;
        const WrapArc<double> arc = wrap_arc(WrapShape::cylinder, a, b, n, r, through_ring);
        const auto way = [&](const Vec3<double>& z) { return (z - a).norm() + (b - z).norm(); };
        CHECK(arc.t0.norm() == doctest::Approx(r).epsilon(1e-14));
        CHECK(arc.length == 0);
        for (int k = 0; k <= 100; ++k)
            CHECK(way(arc.t0) <= way(at(r, 0.01 * k * angle)) + 1e-15);
        // straight after unrolling
        const WrapArc<double> high =
            wrap_arc<double>(WrapShape::cylinder, a + 0.7 * n, b - 0.4 * n, n, r, through_ring);
        CHECK(way(arc.t0) < (high.t0 - a - 0.7 * n).norm() + (b - 0.4 * n - high.t1).norm());
        CHECK((high.t0 - a - 0.7 * n).norm() + (b - 0.4 * n - high.t1).norm() ==
              doctest::Approx(std::hypot(way(arc.t0), 1.1)).epsilon(1e-14));
        CHECK((ring_point(b, a, n, r) - arc.t0).norm() < 1e-14);
    }
    // in the middle between ends that are as far
    CHECK((ring_point(at(2, 0), at(2, 0.8), n, r) - at(r, 0.4)).norm() < 1e-15);
    CHECK((ring_point(at(2, 0), at(1, 0), n, r) - at(r, 0)).norm() < 1e-15);
    // ends at one point
    CHECK(wrap_turn(WrapShape::sphere, at(2, 0), at(2, 0), n, r, &inside) == through_ring);
}

TEST_CASE("spatial tendons: a rope on a drum has the moment arm of its radius") {
    const Scene s = scene_from_json(parse_json(R"({"steps": 1, "models": [{"name": "m", "model": {"bodies": [
            {"name": "drum", "joint": {"type": "revolute", "axis": [0, 1, 0]}, "mass": 1,
             "inertia": [0.1, 0.1, 0.1, 0, 0, 0], "sites": [{"name": "axle", "rpy_deg": [90, 0, 0]},
             {"name": "knot", "position": [0.25, 0.02, 0.1]}]}],
            "tendons": [{"name": "rope", "path": [{"world": [-1, 0, 0.1]},
               {"wrap": "cylinder", "site": "axle", "radius": 0.2, "side": [0, 0, 1]}, {"site": "knot"}]}]}}]})",
                                               "drum"),
                                    "drum.json");
    for (const double q : {0.3, 0.9}) {
        const PathValues at(s, {q}, {2});
        CHECK(at.arm[0] == doctest::Approx(0.2).epsilon(2e-3));  // the rope is slightly inclined
        const PathValues after(s, {q + 1e-5}, {2}), before(s, {q - 1e-5}, {2});
        CHECK(at.arm[0] == doctest::Approx((after.length - before.length) / 2e-5).epsilon(1e-8));
        CHECK(at.rate == doctest::Approx(2 * at.arm[0]));
    }
    const auto radii = std::ranges::find_if(s.world.model.layout.entries(),
                                            [](const auto& e) { return e.path == "tendons/m/rope/radii"; });
    REQUIRE(radii != s.world.model.layout.entries().end());
    CHECK(s.theta[radii->offset] == 0.2);
}

TEST_CASE("spatial tendons: one along the axis of a slider moves it as a fixed tendon does") {
    // path along the axis: the length is the coordinate plus 0.5 + 1.5
    const auto moved = [](const char* spatial, double offset) {
        const auto law = [&](const char* name, double rest) {
            return R"({"name": ")" + std::string(name) + R"(", "stiffness": 30, "damping": 4, "rest": )" +
                   std::to_string(rest) + R"(, "slack": 0.02, )" + spatial + "}";
        };
        const Scene s = one_slider(law("t", 0.15 + offset),
                                   R"({"type": "servo", "tendon": "t", "kp": 5, "kd": 1, "gear": 0.5},
               {"name": "m", "type": "general", "tendon": "t", "gain": 2, "bias": [)" +
                                       std::to_string(offset) + R"(, -1, 0], "force_limits": [-3, 3]})");
        // a servo's target is relative to the length
        Scene shifted = s;
        shifted.z0[0] += 0.5 * offset;
        return walk(shifted, 200);
    };
    const VecX<double> fixed = moved(R"("joints": [{"joint": "cart", "coefficient": 1}])", 0),
                       spatial = moved(R"("path": [{"world": [-1.5, 0, 0]}, {"site": "eye"}])", 2);
    CHECK((fixed - spatial).cwiseAbs().maxCoeff() < 1e-12);
    CHECK(std::abs(fixed[0] - 0.1) > 0.01);
}

TEST_CASE("spatial tendons: the energy of a mass on a spring is kept to first order in the time step") {
    const auto drift = [](double h) {
        const Scene s = scene_from_json(
            parse_json(R"({"steps": 1, "time_step": )" + std::to_string(h) +
                           R"(, "gravity": [0, 0, 0], "models": [{"name": "m", "model": {"bodies": [
                {"name": "ball", "joint": {"type": "free", "position": [1, 0, 0]}, "mass": 0.5,
                 "inertia": [0.01, 0.01, 0.01, 0, 0, 0], "sites": [{"name": "eye", "position": [0.1, 0.05, 0]}]}],
                "tendons": [{"name": "spring", "stiffness": 20, "rest": 0.7,
                             "path": [{"world": [0, 0, 0.2]}, {"site": "eye"}]}]}}],
                "initial": {"velocities": {"m/ball": {"linear": [0, 1.5, 0.3], "angular": [1, 2, 3]}}}})",
                       "spring"),
            "spring.json");
        const Model& m = s.world.model;
        double first = 0, worst = 0;
        bool any = false;
        walk(s, static_cast<int>(2 / h + 0.5), [&](const VecX<double>& x, const StepScratch<double>& at) {
            const double stretch = at.paths.length[0] - 0.7,
                         energy =
                             kinetic_energy(at.kinematics, BodyRange{0, static_cast<int>(m.bodies.size())}) +
                             10 * stretch * stretch;
            if (!any) {
                first = energy;
                any = true;
            }
            worst = std::max(worst, std::abs(energy - first));
            CHECK(x.allFinite());
        });
        return worst / first;
    };
    const double coarse = drift(2e-3), fine = drift(1e-3), finest = drift(5e-4);
    CHECK(coarse < 0.03);
    CHECK(coarse / fine == doctest::Approx(2).epsilon(0.1));
    CHECK(fine / finest == doctest::Approx(2).epsilon(0.05));
}

TEST_CASE("spatial tendons: a tendon whose points coincide pulls nothing, and has zero derivatives") {
    const Scene s = one_slider(
        R"({"name": "t", "stiffness": 30, "rest": 0.4, "damping": 2, "path": [{"world": [0.6, 0, 0]}, {"site": "eye"}]})",
        "");
    StepScratch<double> scratch(s.world);
    VecX<double> x = s.x0, next = x, bar = VecX<double>::Ones(2), x_bar = VecX<double>::Zero(2),
                 theta_bar = VecX<double>::Zero(s.world.np()), u_bar(0);
    const double* nothing = nullptr;  // controls
    step(s.world, {s.theta.data(), x.data(), nothing}, scratch, next.data());
    CHECK(scratch.paths.length[0] < 1e-15);
    CHECK(next[1] == x[1]);
    scratch.clear_bars();
    step_adj(s.world, {s.theta.data(), x.data(), nothing}, scratch, bar.data(),
             {theta_bar.data(), x_bar.data(), u_bar.data()});
    CHECK((theta_bar.allFinite() && x_bar.allFinite()));
    CHECK(theta_bar[s.world.model.tendon_stiffness.at(0)] == 0);
}

TEST_CASE("spatial tendons: a servo holds the length at the start by default") {
    const Scene s = scene_from_json(
        parse_json(R"({"steps": 5, "gravity": [0, 0, 0], "models": [{"name": "m", "model": {"bodies": [
            {"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "mass": 2,
             "inertia": [0.1, 0.1, 0.1, 0, 0, 0], "sites": [{"name": "eye", "position": [0.5, 1, 0]}]}],
            "tendons": [{"name": "t", "path": [{"world": [0, 0, 0]}, {"site": "eye"}]}],
            "actuators": [{"type": "servo", "tendon": "t", "kp": 100, "gear": 2}]}}],
            "initial": {"joints": {"m/cart": 0.25}}})",
                   "held"),
        "held.json");
    VecX<double> u(1);
    s.plan.evaluate(s.z0.data(), 0, u.data());
    CHECK(u[0] == doctest::Approx(2 * std::hypot(0.75, 1)));
    CHECK(std::abs(walk(s, 5)[0] - 0.25) < 1e-12);
}

TEST_CASE("spatial tendons: what a path cannot be is said in one line") {
    CHECK(refused(R"({"name": "t", "path": [{"site": "eye"}, {"world": [0, 0, 0]}]})").empty());
    CHECK(has(refused(R"({"name": "t", "path": [{"site": "eye"}]})"),
              "tendons/0/path: ends a branch of one point"));
    CHECK(has(
        refused(
            R"({"name": "t", "path": [{"site": "eye"}, {"pulley": 2}, {"site": "eye"}, {"world": [1, 0, 0]}]})"),
        "tendons/0/path/1: ends a branch"));
    CHECK(has(refused(R"({"name": "t", "path": [{"site": "eye"}, {"world": [1, 0, 0]}, {"pulley": 0}]})"),
              "tendons/0/path/2/pulley"));
    CHECK(has(refused(R"({"name": "t", "path": [{"site": "eye", "pulley": 2}, {"site": "eye"}]})"),
              "must be one thing"));
    CHECK(has(refused(R"({"name": "t", "path": [{"world": [0, 0, 1]}, {"world": [0, 0, 0]}]})"),
              "runs over no site"));
    CHECK(has(
        refused(
            R"({"name": "t", "path": [{"wrap": "sphere", "site": "eye", "radius": 1}, {"world": [0, 0, 0]}]})"),
        "tendons/0/path/0: is not between two points"));
    CHECK(has(
        refused(
            R"({"name": "t", "path": [{"site": "eye"}, {"world": [0, 0, 0]}, {"wrap": "sphere", "site": "eye", "radius": 1}]})"),
        "ends a branch with a"));
    CHECK(has(
        refused(
            R"({"name": "t", "path": [{"site": "eye"}, {"wrap": "sphere", "site": "eye"}, {"world": [0, 0, 0]}]})"),
        "radius"));
    CHECK(has(refused(R"({"name": "t", "path": [{"site": "eye", "radius": 1}, {"world": [0, 0, 0]}]})"),
              "radius"));
    CHECK(has(refused(R"({"name": "t", "path": [{"site": "nose"}, {"world": [0, 0, 0]}]})"), "nose"));
    CHECK(has(refused(R"({"name": "t", "path": [{"site": "eye"}, {"world": [0, 0]}]})"),
              "tendons/0/path/1/world"));
    CHECK(has(refused(R"({"name": "t", "joints": [], "path": [{"site": "eye"}, {"world": [0, 0, 0]}]})"),
              "tendons/0/joints"));
    CHECK(has(refused(R"({"name": "t"})"), "joints"));
    CHECK(has(refused(R"({"name": "t", "damping": -1, "path": [{"site": "eye"}, {"world": [0, 0, 0]}]})"),
              "tendons/0/damping"));
}
