// Contacts and joint limits with springs: exact values of the implicit spring and damper, and their
// gradients.
#include "tests/support/analytic.hpp"

using namespace costate;
using namespace costate::test;

namespace {

using Vec2 = Eigen::Vector2d;
using Mat2 = Eigen::Matrix2d;

constexpr double ball_mass = 0.7, ball_radius = 0.125;

// A ball above the ground. Each has a stiffness and damping, or is rigid.
struct Spring {
    double k = unlimited, d = 0;
};
AnalyticCase ball_on_ground(double h, const Spring& ball_spring, const Spring& ground_spring) {
    AnalyticScene scene(rigid(h));
    ShapeSpec ground = shape("ground", ShapeType::plane, Vec3<double>::Zero(), 1, 0.5);
    // this restitution has no effect
    ShapeSpec skin = shape("ball", ShapeType::sphere, {ball_radius, 0, 0}, 1, 0.5);
    ground.stiffness = ground_spring.k;
    ground.damping = ground_spring.d;
    skin.stiffness = ball_spring.k;
    skin.damping = ball_spring.d;
    scene.add(ground);
    scene.add(ball("ball", ball_mass, ball_radius));
    scene.add(skin, "ball");
    return scene.build();
}

// A mass m that presses on a spring and damper by its weight, with gap z <= 0 and velocity v:
//   D = 1 + (h d + h^2 k)/m
//   v+ = (v - h g - h k z/m)/D
//   z+ = z + h v+
// or x+ = A x + b. Its derivative by k, d, h or m follows by the product rule.
struct ImplicitSpring {
    double k, d, h, m = ball_mass;
    Mat2 A() const { return (Mat2() << D() - h * h * k / m, h, -h * k / m, 1).finished() / D(); }
    Vec2 b() const { return Vec2(-h * h * g0, -h * g0) / D(); }
    double D() const { return 1 + (h * d + h * h * k) / m; }
};
// Derivatives of D, A D and b D, so that A' = ((A D)' - A D')/D.
struct Slope {
    double dD;
    Mat2 dAD;
    Vec2 dbD;
    Mat2 A(const ImplicitSpring& s) const { return (dAD - s.A() * dD) / s.D(); }
    Vec2 b(const ImplicitSpring& s) const { return (dbD - s.b() * dD) / s.D(); }
};
Slope by_stiffness(const ImplicitSpring& s) {
    return {s.h * s.h / s.m, (Mat2() << 0, 0, -s.h / s.m, 0).finished(), Vec2::Zero()};
}
Slope by_damping(const ImplicitSpring& s) {
    return {s.h / s.m, (Mat2() << s.h / s.m, 0, 0, 0).finished(), Vec2::Zero()};
}
Slope by_time_step(const ImplicitSpring& s) {
    return {(s.d + 2 * s.h * s.k) / s.m, (Mat2() << s.d / s.m, 1, -s.k / s.m, 0).finished(),
            Vec2(-2 * s.h * g0, -g0)};
}
Slope by_mass(const ImplicitSpring& s) {
    const double dD = -(s.h * s.d + s.h * s.h * s.k) / (s.m * s.m);
    return {dD, (Mat2() << -s.h * s.d / (s.m * s.m), 0, s.h * s.k / (s.m * s.m), 0).finished(), Vec2::Zero()};
}

// (z, v) after n pressed steps from x, and its derivative along a slope.
Vec2 after(const ImplicitSpring& s, Vec2 x, int n) {
    for (; n > 0; --n)
        x = s.A() * x + s.b();
    return x;
}
Vec2 derivative_after(const ImplicitSpring& s, const Slope& by, Vec2 x, int n) {
    Vec2 dx = Vec2::Zero();
    for (; n > 0; --n) {
        dx = s.A() * dx + by.A(s) * x + by.b(s);
        x = s.A() * x + s.b();
    }
    return dx;
}

}  // namespace

TEST_CASE("compliance: a ball at rest on a compliant plane sinks by m g/k") {
    const Spring soft{350, 20};
    AnalyticCase c = ball_on_ground(2e-3, {}, soft);
    const double depth = ball_mass * g0 / soft.k;
    c.q("ball", 2) = ball_radius - depth;
    const VecX<double> still = states(c, 1).back();
    CHECK(error(ball_radius - still[2], depth) <= 1e-14);
    CHECK(std::abs(still[c.world.nq() + 2]) <= 1e-15);

    c.q("ball", 2) = ball_radius + 0.01;  // the ball comes to rest with any damping
    const Sensitivity z = position(c, 2500, "ball", 2);
    CHECK(error(ball_radius - z.value, depth) <= 1e-12);
    CHECK(error(z.to("shapes/ground/stiffness"), ball_mass * g0 / (soft.k * soft.k)) <= 1e-10);
    CHECK(error(z.to("bodies/ball/mass"), -g0 / soft.k) <= 1e-10);
    CHECK(error(z.to("world/gravity", 2), ball_mass / soft.k) <= 1e-10);
    CHECK(std::abs(z.to("shapes/ground/damping")) <= 1e-12);
    CHECK(std::abs(z.to_q("ball", 2)) <= 1e-12);
    CHECK(z.to("contact/compliance") == 0);
    CHECK(z.to("contact/erp") == 0);
}

TEST_CASE("compliance: a pressed contact is the implicit spring and damper, and so are its derivatives") {
    for (const Spring& spring : {Spring{700, 3}, {700, 0}, {40, 60}})
        for (const bool on_ball : {false, true}) {
            CAPTURE(spring.k);
            const ImplicitSpring s{spring.k, spring.d, 1e-3};
            AnalyticCase c = on_ball ? ball_on_ground(s.h, spring, {}) : ball_on_ground(s.h, {}, spring);
            const Vec2 start(-0.004, -0.4);
            c.q("ball", 2) = ball_radius + start[0];
            c.v("ball", 2) = start[1];
            const int n = 40;
            for (const VecX<double>& x : states(c, n))
                REQUIRE(x[2] < ball_radius);
            const Vec2 end = after(s, start, n);
            const std::string path = on_ball ? "shapes/ball/" : "shapes/ground/";
            for (const int k : {0, 1}) {
                const Sensitivity z = k == 0 ? position(c, n, "ball", 2) : velocity(c, n, "ball", 2);
                const auto by = [&](const Slope& slope) { return derivative_after(s, slope, start, n)[k]; };
                CHECK(error(k == 0 ? z.value - ball_radius : z.value, end[k]) <= 1e-12);
                CHECK(error(z.to(path + "stiffness"), by(by_stiffness(s))) <= 1e-11);
                CHECK(error(z.to(path + "damping"), by(by_damping(s))) <= 1e-11);
                CHECK(error(z.to("world/time_step"), by(by_time_step(s))) <= 1e-11);
                CHECK(error(z.to("bodies/ball/mass"), by(by_mass(s))) <= 1e-11);
                CHECK(z.to("shapes/ball/restitution") == 0);
            }
        }
}

// From the gap z > 0, the step that touches compresses the spring only by the motion beyond the gap,
// lambda = -(h k + d)(z + h v+). With f = v - h g and D = 1 + (h d + h^2 k)/m:
//   v+ = (f - (h k + d) z/m)/D
// There is no force before the contact.
TEST_CASE("compliance: no force at a distance, and the touching step compresses only beyond the gap") {
    // a damper that acts at a distance would have an effect from h + d/k = 76 steps before
    const double h = 1e-3, k = 400, d = 30, v = -2;
    AnalyticCase c = ball_on_ground(h, {}, {k, d});
    const auto touching = [&](double z) {
        const double f = v - h * g0, D = 1 + (h * d + h * h * k) / ball_mass;
        return z + h * f >= 0 ? f : (f - (h * k + d) * z / ball_mass) / D;
    };
    for (const double z : {0.05, 0.0021, 0.0019, 0.0005, 0.0}) {
        CAPTURE(z);
        c.q("ball", 2) = ball_radius + z;
        c.v("ball", 2) = v;
        const Sensitivity after_step = velocity(c, 1, "ball", 2);
        CHECK(error(after_step.value, touching(z)) <= 1e-12);
    }
}

// A pressed pair has
//   R = R_a + R_b,   R_i = 1/(h (h k_i + d_i))
//   beta = h k R gap,   1/k = 1/k_a + 1/k_b
// For equal d/k the pair is a single spring (k, d) with 1/d = 1/d_a + 1/d_b.
TEST_CASE("compliance: two compliant shapes are springs in series") {
    const double h = 1e-3;
    const int n = 40;
    const Spring a{900, 4.5}, b{300, 1.5};
    const ImplicitSpring s{225, 1.125, h};
    AnalyticCase c = ball_on_ground(h, a, b);
    const Vec2 start(-0.004, -0.4);
    c.q("ball", 2) = ball_radius + start[0];
    c.v("ball", 2) = start[1];
    const Sensitivity z = position(c, n, "ball", 2);
    CHECK(error(z.value - ball_radius, after(s, start, n)[0]) <= 1e-12);
    // with all scaled equally, the pair is still one spring
    const double scaling = a.k * z.to("shapes/ball/stiffness") + a.d * z.to("shapes/ball/damping") +
                           b.k * z.to("shapes/ground/stiffness") + b.d * z.to("shapes/ground/damping");
    CHECK(error(scaling, s.k * derivative_after(s, by_stiffness(s), start, n)[0] +
                             s.d * derivative_after(s, by_damping(s), start, n)[0]) <= 1e-11);

    // at rest on both, with unrelated dampings
    const Spring one{500, 40}, other{800, 90};
    AnalyticCase rest = ball_on_ground(h, one, other);
    rest.q("ball", 2) = ball_radius;
    const Sensitivity depth = position(rest, 4000, "ball", 2);
    CHECK(error(ball_radius - depth.value, ball_mass * g0 * (1 / one.k + 1 / other.k)) <= 1e-10);
    CHECK(error(depth.to("shapes/ball/stiffness"), ball_mass * g0 / (one.k * one.k)) <= 1e-8);
    CHECK(error(depth.to("shapes/ground/stiffness"), ball_mass * g0 / (other.k * other.k)) <= 1e-8);

    // a very stiff shape adds no compliance
    AnalyticCase with_rigid = ball_on_ground(h, a, {}), with_stiff = ball_on_ground(h, a, {1e15, 0});
    with_rigid.q("ball", 2) = with_stiff.q("ball", 2) = ball_radius + 0.01;
    CHECK((states(with_rigid, 100).back() - states(with_stiff, 100).back()).norm() <= 1e-10);
}

namespace {

// z after T seconds with one bounce, from the height z0 with the velocity v0:
//   m z'' = -m g + max(0, -k z - d z') below z = 0
// A fall, then the oscillation e^(-c t) (A cos w t + B sin w t) about -m g/k until the contact opens, then a
// flight.
double height_after_bounce(double k, double d, double z0, double v0, double T) {
    const double v1 = -std::sqrt(v0 * v0 + 2 * g0 * z0), t1 = (v0 - v1) / g0, sunk = ball_mass * g0 / k;
    const double c = d / (2 * ball_mass), w = std::sqrt(k / ball_mass - c * c), A = sunk,
                 B = (v1 + c * A) / w;
    const auto z = [&](double t) {
        return -sunk + std::exp(-c * t) * (A * std::cos(w * t) + B * std::sin(w * t));
    };
    const auto v = [&](double t) {
        return std::exp(-c * t) * ((w * B - c * A) * std::cos(w * t) - (w * A + c * B) * std::sin(w * t));
    };
    double pressed = 0, free = pi / w;  // the force vanishes between the deepest point and half a period
    while (v(pressed) < 0)
        pressed += 0.01 / w;
    while (k * z(free) + d * v(free) < 0)
        free += 0.01 / w;
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (pressed + free);
        (k * z(middle) + d * v(middle) < 0 ? pressed : free) = middle;
    }
    const double s = T - t1 - free;
    return z(free) + v(free) * s - 0.5 * g0 * s * s;
}

}  // namespace

// The gradients of a rigid impact (analytic 13) do not: they lack the term of the moving impact.
TEST_CASE(
    "compliance: gradients through the time of a bounce tend to those of the spring as the step shrinks") {
    const double z0 = 0.3, v0 = 0.5, T = 0.6, e = 1e-6;
    for (const Spring& spring : {Spring{2000, 0}, {2000, 8}}) {
        const auto z_T = [&](double k, double d, double z, double v) {
            return height_after_bounce(k, d, z, v, T);
        };
        const double expected[] = {
            z_T(spring.k, spring.d, z0, v0),
            (z_T(spring.k, spring.d, z0 + e, v0) - z_T(spring.k, spring.d, z0 - e, v0)) / (2 * e),
            (z_T(spring.k, spring.d, z0, v0 + e) - z_T(spring.k, spring.d, z0, v0 - e)) / (2 * e),
            (z_T(spring.k + 0.01, spring.d, z0, v0) - z_T(spring.k - 0.01, spring.d, z0, v0)) / 0.02,
            (z_T(spring.k, spring.d + e, z0, v0) - z_T(spring.k, spring.d - e, z0, v0)) / (2 * e)};
        // O(h), with a factor that depends on the time of contact within a step
        const double per_step[] = {80, 600, 250, 0.05, 5};
        for (const double h : {8e-5, 2e-5, 5e-6}) {
            CAPTURE(h);
            AnalyticCase c = ball_on_ground(h, {}, spring);
            c.q("ball", 2) = ball_radius + z0;
            c.v("ball", 2) = v0;
            const Sensitivity z = position(c, static_cast<int>(std::lround(T / h)), "ball", 2);
            const double found[] = {z.value - ball_radius, z.to_q("ball", 2), z.to_v("ball", 2),
                                    z.to("shapes/ground/stiffness"), z.to("shapes/ground/damping")};
            for (size_t n = 0; n < 5; ++n) {
                CAPTURE(n);
                CHECK(std::abs(found[n] - expected[n]) <= per_step[n] * h);
            }
        }
    }
}

TEST_CASE(
    "compliance: a joint presses its limit in by force/stiffness, at either end; so does a spherical joint") {
    for (const double push : {3.0, -3.0}) {
        AnalyticScene scene(rigid(1e-3), Vec3<double>(push, 0, 0));
        BodySpec slider =
            solid("slider", JointType::prismatic, 2, Vec3<double>::Constant(0.1), Vec3<double>::UnitX());
        slider.lower = -0.01;
        slider.upper = 0.01;
        slider.limit_stiffness = 800;
        slider.limit_damping = 60;
        scene.add(slider);
        const AnalyticCase c = scene.build();
        const Sensitivity x = coordinate(c, 3000, "slider");
        CHECK(error(x.value, push > 0 ? 0.01 + 6 / 800.0 : -0.01 - 6 / 800.0) <= 1e-12);
        CHECK(error(x.to("joints/slider/limit_stiffness"), -push * 2 / (800.0 * 800)) <= 1e-9);
        CHECK(std::abs(x.to("joints/slider/limit_damping")) <= 1e-12);
    }
    AnalyticScene scene(rigid(1e-3), {0, 0, 0});
    BodySpec socket = solid("socket", JointType::spherical, 1, Vec3<double>::Constant(0.2));
    socket.upper = 0.3;
    socket.limit_stiffness = 50;
    socket.limit_damping = 2;
    scene.add(socket);
    AnalyticCase c = scene.build();
    const double angle = 0.32, h = 1e-3, D = 1 + (h * 2 + h * h * 50) / 0.2;
    c.q("socket", 0) = std::cos(angle / 2);
    c.q("socket", 1) = std::sin(angle / 2);
    const VecX<double> next = states(c, 1).back();
    CHECK(error(next[4], -h * 50 * 0.02 / 0.2 / D) <= 1e-12);
}
