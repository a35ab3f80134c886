// Sliding, sticking, rolling and standing bodies with a known answer. h is the step, t = n h.
#include "solvers/step/step.hpp"
#include "tests/support/analytic.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr double mass = 0.8;
const Vec3<double> half(0.2, 0.15, 0.05);

// The scene with a flat box that lies on the plane z = 0.
AnalyticCase with_box(AnalyticScene& scene) {
    const Vec3<double> square = half.cwiseProduct(half),
                       inertia = mass / 3 * (Vec3<double>::Constant(square.sum()) - square);
    scene.add(solid("box", JointType::free, mass, inertia));
    scene.add(shape("box", ShapeType::box, half), "box");
    AnalyticCase c = scene.build();
    c.q("box", 2) = half.z();
    return c;
}

// A flat box on the ground with gravity tilted by a about y: down the slope is +x.
AnalyticCase incline(double h, double a, double mu) {
    AnalyticScene scene(rigid(h, 400, 1e-12), g0 * Vec3<double>(std::sin(a), 0, -std::cos(a)));
    scene.add_ground(mu);
    return with_box(scene);
}

// A law of contact with its solver.
struct BeltLaw {
    SolverType solver;
    bool relaxed = false;
    ContactLaw law = ContactLaw::rigid;
    FrictionCone cone = FrictionCone::elliptic;
};

// A flat box on a floor whose surface moves.
AnalyticCase on_belt(const BeltLaw& contact, double h, double mu, const Vec3<double>& speed) {
    Settings settings = rigid(h, 400, 1e-12);
    settings.solver = contact.solver;
    settings.relaxed = contact.relaxed;
    settings.law = contact.law;
    settings.cone = contact.cone;
    AnalyticScene scene(settings);
    ShapeSpec belt = shape("ground", ShapeType::plane, Vec3<double>::Zero(), mu);
    belt.surface_motion = {Vec3<double>::Zero(), speed};
    scene.add(belt);
    return with_box(scene);
}

// The derivative by the tilt, which rotates gravity.
double to_tilt(const Sensitivity& s, double a) {
    return g0 * (std::cos(a) * s.to("world/gravity", 0) + std::sin(a) * s.to("world/gravity", 2));
}

// Sum of the impulses of a row kind (0 normal, 1 and 2 tangents) over all contacts of one step from x, N s,
// and its gradient.
struct Impulse {
    double value;
    VecX<double> theta_bar;
};
Impulse impulse(const AnalyticCase& c, const VecX<double>& x, int kind) {
    const World& w = c.world;
    StepScratch<double> s(w);
    VecX<double> next(w.nx()), none = VecX<double>::Zero(w.ndx()), x_bar = none,
                               u_bar = VecX<double>::Zero(w.nu());
    Impulse sum{0, VecX<double>::Zero(w.np())};
    step(w, {c.theta.data(), x.data(), c.u.data()}, s, next.data());
    s.clear_bars();
    for (int i = 0; i < static_cast<int>(s.contacts.points.size()); ++i) {
        if (s.rows.contact_row[i] < 0) continue;
        const int row = s.rows.contact_row[i] + kind;
        sum.value += s.impulses.lambda[row];
        s.impulses.lambda_bar[row] = 1;
    }
    step_adj(w, {c.theta.data(), x.data(), c.u.data()}, s, none.data(),
             {sum.theta_bar.data(), x_bar.data(), u_bar.data()});
    return sum;
}

}  // namespace

// Slides if mu < tan a:
//   s = g (sin a - mu cos a) t (t + h)/2
//   ds/dmu = -g cos a t (t + h)/2
//   ds/da = g (cos a + mu sin a) t (t + h)/2
//   ds/dm = 0
TEST_CASE("analytic 9, block slides down an incline") {
    const double h = 1e-3, a = 30 * pi / 180, mu = 0.35;
    const int n = 200;
    const double sum = 0.5 * n * h * (n + 1) * h;
    const AnalyticCase c = incline(h, a, mu);
    const Sensitivity s = position(c, n, "box", 0);
    CHECK(error(s.value, g0 * (std::sin(a) - mu * std::cos(a)) * sum) <= 1e-9);
    CHECK(error(s.to("shapes/ground/friction"), -g0 * std::cos(a) * sum) <= 1e-9);
    CHECK(error(to_tilt(s, a), g0 * (std::cos(a) + mu * std::sin(a)) * sum) <= 1e-9);
    CHECK(std::abs(s.to("bodies/box/mass")) <= 1e-9);
    CHECK(error(s.to_v("box", 0), n * h) <= 1e-9);
}

// Sticks if mu >= tan a: s and its derivatives are 0, and
//   f_t = m g sin a
//   df_t/da = m g cos a
//   df_t/dm = g sin a
TEST_CASE("analytic 9, block sticks on an incline, threshold within 0.1 degrees") {
    const double h = 1e-3, a = 20 * pi / 180;
    const AnalyticCase c = incline(h, a, 0.5);
    const VecX<double> x = states(c, 50).back();
    const Impulse f = impulse(c, x, 1), f_n = impulse(c, x, 0);
    const auto by_angle = [&](const Impulse& i) {
        const double* gravity_bar = i.theta_bar.data() + c.index("world/gravity");
        return g0 * (std::cos(a) * gravity_bar[0] + std::sin(a) * gravity_bar[2]) / h;
    };
    CHECK(error(-f.value / h, mass * g0 * std::sin(a)) <= 1e-9);
    CHECK(error(-by_angle(f), mass * g0 * std::cos(a)) <= 1e-9);
    CHECK(error(-f.theta_bar[c.index("bodies/box/mass")] / h, g0 * std::sin(a)) <= 1e-9);
    CHECK(error(f_n.value / h, mass * g0 * std::cos(a)) <= 1e-9);
    CHECK(error(by_angle(f_n), -mass * g0 * std::sin(a)) <= 1e-9);
    const Sensitivity s = position(c, 200, "box", 0);
    CHECK(std::abs(s.value) <= 1e-9);
    CHECK(std::abs(to_tilt(s, a)) <= 1e-9);
    CHECK(std::abs(s.to("shapes/ground/friction")) <= 1e-9);

    const double mu = 0.5, limit = std::atan(mu), near = 0.1 * pi / 180, sum = 0.5 * 0.2 * 0.201;
    CHECK(std::abs(states(incline(h, limit - near, mu), 200).back()[0]) <= 1e-9);
    CHECK(error(states(incline(h, limit + near, mu), 200).back()[0],
                g0 * (std::sin(limit + near) - mu * std::cos(limit + near)) * sum) <= 1e-9);
}

// v_n = v - n mu g h until the velocity would change its sign, after N = floor(v/(mu g h)) steps:
//   d = h sum of v_n = N h v - mu g h^2 N (N + 1)/2    -> v^2/(2 mu g) - v h/2   as h -> 0
//   dd/dmu = -g h^2 N (N + 1)/2                        -> -v^2/(2 mu^2 g)
//   dd/dv = N h                                        -> v/(mu g)
//   dd/dm = 0
TEST_CASE("analytic 10, friction stops a block") {
    const double h = 1e-3, mu = 0.4, v = 1.2;
    AnalyticCase c = incline(h, 0, mu);
    c.v("box", 0) = v;
    const double N = std::floor(v / (mu * g0 * h)), sum = 0.5 * N * (N + 1) * h * h;
    const Sensitivity d = position(c, 350, "box", 0);
    CHECK(error(d.value, N * h * v - mu * g0 * sum) <= 1e-9);
    CHECK(error(d.to("shapes/ground/friction"), -g0 * sum) <= 1e-9);
    // mu is the ground's times the box's, which is 1
    CHECK(error(d.to("shapes/box/friction"), -mu * g0 * sum) <= 1e-9);
    CHECK(error(d.to_v("box", 0), N * h) <= 1e-9);
    CHECK(std::abs(d.to("bodies/box/mass")) <= 1e-9);
    CHECK(std::abs(d.value - (v * v / (2 * mu * g0) - 0.5 * v * h)) <= v * h);
    CHECK(error(d.to("shapes/ground/friction"), -v * v / (2 * mu * mu * g0)) <= 1e-2);
    CHECK(error(d.to_v("box", 0), v / (mu * g0)) <= 1e-2);
    CHECK(std::abs(d.last[c.world.nq()]) <= 1e-9);
}

namespace {

AnalyticCase ball_on_incline(double h, double a, double mu) {
    const double r = 0.125;
    AnalyticScene scene(rigid(h), g0 * Vec3<double>(std::sin(a), 0, -std::cos(a)));
    scene.add_ground(mu);
    scene.add_ball("ball", mass, r);
    AnalyticCase c = scene.build();
    c.q("ball", 2) = r;
    return c;
}

}  // namespace

// It slips until t* = 2v/(7 mu g), then rolls with v' = 5v/7:
//   x(T) = 5vT/7 + 2v^2/(49 mu g)
//   dx/dmu = -2v^2/(49 mu^2 g)
//   dx/dv = 5T/7 + 4v/(49 mu g)
//   dv'/dmu = 0,   dv'/dv = 5/7,   dx/dm = 0
// Stepped, slipping for N = floor(t*/h) steps:
//   dx/dmu = -g h^2 N (N + 1)/2
//   dx/dv = N h + (T - N h) 5/7
TEST_CASE("analytic 11, ball slips, then rolls") {
    const double mu = 0.05, v = 2, T = 1.5;
    for (const double h : {1e-3, 5e-4, 2.5e-4}) {
        AnalyticCase c = ball_on_incline(h, 0, mu);
        c.v("ball", 0) = v;
        const int steps = static_cast<int>(std::lround(T / h));
        const double N = std::floor(2 * v / (7 * mu * g0 * h)), slope = -0.5 * g0 * h * h * N * (N + 1),
                     by_v = N * h + (T - N * h) * 5 / 7;
        const Sensitivity x = position(c, steps, "ball", 0), speed = velocity(c, steps, "ball", 0);
        CHECK(error(x.value, by_v * v + slope * mu) <= 1e-11);
        CHECK(error(x.to("shapes/ground/friction"), slope) <= 1e-11);
        CHECK(error(x.to_v("ball", 0), by_v) <= 1e-11);
        CHECK(error(x.value, 5 * v * T / 7 + 2 * v * v / (49 * mu * g0)) <= h);
        CHECK(error(x.to("shapes/ground/friction"), -2 * v * v / (49 * mu * mu * g0)) <= h);
        CHECK(error(x.to_v("ball", 0), 5 * T / 7 + 4 * v / (49 * mu * g0)) <= h);
        CHECK(error(speed.value, 5 * v / 7) <= 1e-12);
        CHECK(std::abs(speed.to("shapes/ground/friction")) <= 1e-12);
        CHECK(error(speed.to_v("ball", 0), 5.0 / 7) <= 1e-12);
        double by_mass = x.to("bodies/ball/mass");  // of a homogeneous ball, I = 2/5 m r^2
        for (int k = 0; k < 3; ++k)
            by_mass += 0.4 * 0.125 * 0.125 * x.to("bodies/ball/inertia", k);
        CHECK(std::abs(by_mass) <= 1e-11);
    }
}

// The acceleration is (5/7) g sin a. Slips for tan a > (7/2) mu.
//   x = (5/14) g sin a t (t + h)
//   dx/da = (5/14) g cos a t (t + h)
//   dx/dmu = 0
//   f = (2/7) m g sin a
TEST_CASE("analytic 12, sphere rolls down an incline") {
    const double h = 1e-3, a = 25 * pi / 180, mu = 0.5;
    const int n = 400;
    const double sum = n * h * (n + 1) * h;
    const AnalyticCase c = ball_on_incline(h, a, mu);
    const Sensitivity x = position(c, n, "ball", 0);
    CHECK(error(x.value, 5.0 / 14 * g0 * std::sin(a) * sum) <= 1e-10);
    CHECK(error(to_tilt(x, a), 5.0 / 14 * g0 * std::cos(a) * sum) <= 1e-10);
    CHECK(std::abs(x.to("shapes/ground/friction")) <= 1e-12);
    CHECK(error(-impulse(c, states(c, 10).back(), 1).value / h, 2.0 / 7 * mass * g0 * std::sin(a)) <= 1e-9);

    const double limit = std::atan(3.5 * mu), near = 0.1 * pi / 180;
    const auto slip = [&](double angle) {
        const VecX<double> end = states(ball_on_incline(h, angle, mu), 100).back();
        return end[7] - 0.125 * end[11];  // v_x - r omega_y, for a rotation about y
    };
    CHECK(std::abs(slip(limit - near)) <= 1e-12);
    CHECK(slip(limit + near) > 1e-3);
}

namespace {

// A ball on flat ground with the coefficients mu_s of torsional and mu_r of rolling friction, m.
AnalyticCase resisted_ball(double h, SolverType solver, double torsional, double rolling) {
    Settings settings = rigid(h, 200, 1e-12);
    settings.solver = solver;
    AnalyticScene scene(settings);
    scene.add_ground(0.8);
    scene.add(ball("ball", mass, 0.125));
    ShapeSpec surface = shape("ball", ShapeType::sphere, {0.125, 0, 0});
    surface.condim = rolling > 0 ? 6 : 4;
    surface.torsional_friction = torsional;
    surface.rolling_friction = rolling;
    scene.add(surface, "ball");
    AnalyticCase c = scene.build();
    c.q("ball", 2) = 0.125;
    return c;
}

}  // namespace

// A spinning ball, I = 2/5 m r^2, keeps its place:
//   w = w_0 - mu_s m g t/I until w = 0
//   dw/dmu_s = -m g t/I,   dw/dw_0 = 1,   dw/dmu = 0
TEST_CASE("analytic 13, torsional friction stops a spin") {
    const double h = 1e-3, mu_s = 0.004, w0 = 1.5, r = 0.125, slowing = g0 / (0.4 * r * r);
    for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp}) {
        CAPTURE(static_cast<int>(solver));
        AnalyticCase c = resisted_ball(h, solver, mu_s, 0);
        c.v("ball", 5) = w0;
        const int n = 150;
        const Sensitivity w = rate(c, n, "ball", 5);
        CHECK(error(w.value, w0 - mu_s * slowing * n * h) <= 1e-9);
        CHECK(error(w.to("shapes/ball/torsional_friction"), -slowing * n * h) <= 1e-9);
        CHECK(error(w.to_v("ball", 5), 1) <= 1e-9);
        CHECK(std::abs(w.to("shapes/ball/friction")) <= 1e-9);
        const VecX<double> end = states(c, 300).back();
        CHECK(std::abs(end[c.world.nq() + c.body("ball").v0 + 5]) <= 1e-9);  // at rest
    }
}

// A ball that rolls without slip is slowed down by the couple mu_r m g and the friction F that keeps it
// rolling:
//   m a = -F,   I a/r = F r - mu_r m g   =>   a = -(5/7) mu_r g/r
// In the box, the couple and F are bounded each by itself.
TEST_CASE("analytic 13, rolling friction slows down a ball") {
    const double h = 1e-3, mu_r = 0.005, v0 = 1, r = 0.125;
    const int n = 200;
    for (const SolverType solver : {SolverType::pgs, SolverType::lcp}) {
        CAPTURE(static_cast<int>(solver));
        AnalyticCase c = resisted_ball(h, solver, 0, mu_r);
        c.v("ball", 0) = v0;
        c.v("ball", 4) = v0 / r;
        const Sensitivity v = velocity(c, n, "ball", 0);
        const double slowing = 5.0 / 7 * g0 / r * n * h;
        CHECK(error(v.value, v0 - mu_r * slowing) <= 1e-8);
        CHECK(error(v.to("shapes/ball/rolling_friction"), -slowing) <= 1e-8);
        CHECK(std::abs(v.to("shapes/ground/friction")) <= 1e-8);
    }
}

// In the elliptic cone a sliding and spinning ball has both at once. With the slip v and the arm rho = mu_s/mu
// force and couple are against (v, rho w), with (x_t/mu)^2 + (n/mu_s)^2 = x_n^2:
//   v' = -mu N/M v/s,   w' = -mu N/I rho^2 w/s,   s = sqrt(v^2 + rho^2 w^2)
// The ball is on two sliders and a hinge about the normal, so nothing else is coupled. N is the weight that
// rests on the ground, M the mass that slides.
TEST_CASE("analytic 13, force and couple share the elliptic cone") {
    const double h = 1e-4, mu = 0.8, mu_s = 0.05, rho = mu_s / mu, I = 0.02, N = (0.3 + mass) * g0,
                 M = 0.5 + mass;
    Settings settings = rigid(h, 200, 1e-12);
    settings.solver = SolverType::ncp;
    AnalyticScene scene(settings);
    scene.add_ground(mu);
    const auto link = [&](const char* name, JointType joint, const Vec3<double>& axis, int parent, double m) {
        BodySpec b = solid(name, joint, m, Vec3<double>::Constant(I), axis);
        b.parent = parent;
        return scene.add(b);
    };
    const int x = link("x", JointType::prismatic, Vec3<double>::UnitX(), -1, 0.2);
    const int z = link("z", JointType::prismatic, Vec3<double>::UnitZ(), x, 0.3);
    link("ball", JointType::revolute, Vec3<double>::UnitZ(), z, mass);
    ShapeSpec surface = shape("ball", ShapeType::sphere, {0.1, 0, 0});
    surface.condim = 4;
    surface.torsional_friction = mu_s;
    scene.add(surface, "ball");
    AnalyticCase c = scene.build();
    c.q("z") = 0.1;
    c.v("x") = 1;
    c.v("ball") = 20;
    const int n = 500;
    double v = 1, w = 20;  // the step's implicit rule: friction is against the velocity at its end
    for (int k = 0; k < n; ++k) {
        double v_next = v, w_next = w;
        for (int i = 0; i < 200; ++i) {
            const double s = std::hypot(v_next, rho * w_next);
            v_next = v - h * mu * N / M * v_next / s;
            w_next = w - h * mu * N / I * rho * rho * w_next / s;
        }
        v = v_next;
        w = w_next;
    }
    const VecX<double> end = states(c, n).back();
    CHECK(end[c.world.nq() + c.body("x").v0] == doctest::Approx(v).epsilon(1e-6));
    CHECK(end[c.world.nq() + c.body("ball").v0] == doctest::Approx(w).epsilon(1e-6));
    CHECK(v < 0.9);
    CHECK(w < 19.9);
}

namespace {

// A column of plates on vertical sliders, each standing on a foot that touches the plate below (the ground
// for the first): a ball, or a capsule lying on its side, which touches at both ends.
AnalyticCase column(int k, double h) {
    AnalyticScene scene(rigid(h, 500, 1e-12));
    scene.add_ground();
    for (int i = 0; i < k; ++i) {
        const std::string n = std::to_string(i);
        scene.add(solid("body" + n, JointType::prismatic, 0.5 + 0.1 * i, Vec3<double>::Ones()));
        ShapeSpec foot = shape("foot" + n, i % 2 == 0 ? ShapeType::sphere : ShapeType::capsule,
                               {0.05, i % 2 == 0 ? 0 : 0.08, 0});
        if (i % 2 != 0) foot.R_BS << 0, 0, 1, 0, 1, 0, -1, 0, 0;  // its z along x
        foot.position = {0, 0, 0.05};
        ShapeSpec plate = shape("plate" + n, ShapeType::box, {0.2, 0.2, 0.02});
        plate.position = {0, 0, 0.13};
        scene.add(foot, "body" + n);
        scene.add(plate, "body" + n);
    }
    AnalyticCase c = scene.build();
    for (int i = 0; i < k; ++i)
        c.q("body" + std::to_string(i)) = 0.15 * i + 2e-4 * (i + 1);
    return c;
}

}  // namespace

// From rest to rest, the impulses under body i over N steps are exactly those of the weight of body i and all
// bodies above it:
//   sum of lambda = N h g sum of m_j over j >= i
//   d/dm_j = N h g for j >= i, 0 below
//   d/dg = N h sum of m_j over j >= i
TEST_CASE("analytic 18, column of six bodies: force under each is the weight above") {
    const double h = 1e-3;
    const int k = 6, n = 150;
    const AnalyticCase c = column(k, h);
    const VecX<double> end = states(c, n).back();
    CHECK(end.tail(k).cwiseAbs().maxCoeff() <= 1e-9);
    double above = 0;
    for (int i = k; i-- > 0;) {
        CAPTURE(i);
        above += 0.5 + 0.1 * i;
        Term t;
        t.kind = TermKind::impulse;
        t.running = true;
        t.weight = 1 / (n * h);
        t.shape = c.world.shapes.index("foot" + std::to_string(i));
        const Sensitivity force = loss(c, n, {t});
        CHECK(error(force.value, above * g0) <= 1e-9);
        for (int j = 0; j < k; ++j)
            CHECK(std::abs(force.to("bodies/body" + std::to_string(j) + "/mass") - (j >= i ? g0 : 0)) <=
                  1e-9 * g0);
        CHECK(error(force.to("world/gravity", 2), -above) <= 1e-9);
    }
}

// A slab (M) pulled over the ground by F, n balls (m) rolling on it, D = M (3.5/m + n/M):
//   f1 = mu1 (M + n m) g         from the ground
//   f2 = (F - f1)/D              on a ball, at most mu2 m g
//   a1 = (F - f1 - n f2)/M
//   a2 = f2/m
//   da1/dF = (1 - n/D)/M
//   da2/dF = 1/(m D)
//   da1/dmu1 = -(M + n m) g da1/dF
TEST_CASE("analytic 19, balls rolling on a slab that is pulled") {
    const double h = 1e-3, M = 10, m = 0.7, mu1 = 0.4, F = 90, r = 0.1;
    const int n = 9, steps = 100;
    AnalyticScene scene(rigid(h, 500, 1e-12));
    const int slider =
        scene.add(solid("slider", JointType::prismatic, 0, Vec3<double>::Zero(), Vec3<double>::UnitX()));
    BodySpec slab = solid("slab", JointType::prismatic, M, Vec3<double>::Ones());
    slab.parent = slider;
    scene.add(slab);
    scene.motor(slider);
    scene.add_ground(mu1 / 0.8);
    ShapeSpec box = shape("slab", ShapeType::box, {1, 1, 0.1}, 0.8);
    scene.add(box, "slab");
    for (int i = 0; i < n; ++i)
        scene.add_ball("ball" + std::to_string(i), m, r);
    AnalyticCase c = scene.build();
    c.u[0] = F;
    c.q("slab") = 0.1;
    for (int i = 0; i < n; ++i) {
        const std::string name = "ball" + std::to_string(i);
        c.q(name, 0) = 0.4 * (i % 3 - 1);
        c.q(name, 1) = 0.4 * (i / 3 - 1);
        c.q(name, 2) = 0.2 + r;
    }
    const double D = M * (3.5 / m + n / M), f1 = mu1 * (M + n * m) * g0, f2 = (F - f1) / D, t = steps * h;
    const double a1 = (F - f1 - n * f2) / M, a1_F = (1 - n / D) / M;
    REQUIRE(f2 < 0.8 * m * g0);
    const Sensitivity v1 = velocity(c, steps, "slab", 0), v2 = velocity(c, steps, "ball4", 0);
    CHECK(error(v1.value, a1 * t) <= 1e-9);
    CHECK(error(v2.value, f2 / m * t) <= 1e-9);
    CHECK(error(v1.to_u(), a1_F * t) <= 1e-9);
    CHECK(error(v2.to_u(), t / (m * D)) <= 1e-9);
    CHECK(error(v1.to("shapes/ground/friction"), -0.8 * (M + n * m) * g0 * a1_F * t) <= 1e-9);
}

// A box at rest on a belt of speed u is dragged by mu m g until it moves with the belt:
//   v = min(mu g t, u),   x = mu g t (t + h)/2 while it slips,   dx/dmu = x/mu,   dv/du = 1 once it moves along
TEST_CASE("analytic, box on a conveyor") {
    const double h = 1e-3, mu = 0.4, u = 0.6;
    for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp}) {
        const AnalyticCase c = on_belt({solver}, h, mu, {u, 0, 0});
        CAPTURE(static_cast<int>(solver));
        const int slipping = 100, together = 200;  // mu g t = u at t = 0.153 s
        const Sensitivity x = position(c, slipping, "box", 0), v = velocity(c, together, "box", 0);
        const double sum = 0.5 * slipping * h * (slipping + 1) * h;
        CHECK(error(x.value, mu * g0 * sum) <= 1e-8);
        CHECK(error(x.to("shapes/ground/friction"), g0 * sum) <= 1e-7);
        CHECK(std::abs(x.to("shapes/ground/surface_velocity", 0)) <= 1e-7);
        CHECK(error(v.value, u) <= 1e-8);
        CHECK(error(v.to("shapes/ground/surface_velocity", 0), 1) <= 1e-7);
        CHECK(std::abs(v.to("shapes/ground/friction")) <= 1e-7);
    }
}

// A ball on the axis of a turntable, with torsional friction nu, spins up by nu m g until it spins along:
//   w = min(5 nu g t/(2 r^2), Omega)
TEST_CASE("analytic, ball on a turntable") {
    const double h = 1e-3, r = 0.1, nu = 0.02, spin = 12;
    AnalyticScene scene(rigid(h, 400, 1e-12));
    ShapeSpec table = shape("table", ShapeType::plane, Vec3<double>::Zero());
    table.condim = 4;
    table.torsional_friction = nu;
    table.surface_motion = {Vec3<double>(0, 0, spin), Vec3<double>::Zero()};
    scene.add(table);
    scene.add_ball("ball", mass, r);
    AnalyticCase c = scene.build();
    c.q("ball", 2) = r;
    const double gain = 2.5 * nu * g0 / (r * r);
    const Sensitivity w = rate(c, 100, "ball", 5), later = rate(c, 400, "ball", 5);
    CHECK(error(w.value, gain * 100 * h) <= 1e-8);
    CHECK(error(w.to("shapes/table/torsional_friction"), gain * 100 * h / nu) <= 1e-7);
    CHECK(error(later.value, spin) <= 1e-8);
    CHECK(error(later.to("shapes/table/surface_angular_velocity", 2), 1) <= 1e-7);
}

// A belt that runs with u under a body is, for an observer who runs with it, a floor at rest on which the body
// starts with its velocity less u.
TEST_CASE("a body on a moving floor and the body on a floor at rest differ by the motion of the observer") {
    const Vec3<double> u(0.7, -0.4, 0);
    const double h = 2e-3;
    for (const BeltLaw contact :
         {BeltLaw{SolverType::pgs}, BeltLaw{SolverType::lcp}, BeltLaw{SolverType::ncp},
          BeltLaw{SolverType::apgd}, BeltLaw{SolverType::ncp, true},
          BeltLaw{SolverType::ncp, true, ContactLaw::mujoco},
          BeltLaw{SolverType::ncp, true, ContactLaw::mujoco, FrictionCone::pyramidal}}) {
        CAPTURE(static_cast<int>(contact.solver));
        CAPTURE(contact.relaxed);
        CAPTURE(static_cast<int>(contact.law));
        CAPTURE(static_cast<int>(contact.cone));
        const auto run = [&](const Vec3<double>& belt, const Vec3<double>& start) {
            AnalyticCase c = on_belt(contact, h, 0.5, belt);
            c.q("box", 2) += 0.004;
            c.v("box", 0) = start[0];
            c.v("box", 1) = start[1];
            c.v("box", 4) = 0.8;
            VecX<double> x = c.x, next = x;
            StepScratch<double> s(c.world);
            for (int n = 0; n < 150; ++n) {
                step(c.world, {c.theta.data(), x.data(), c.u.data()}, s, next.data());
                std::swap(x, next);
            }
            return x;
        };
        const VecX<double> moving = run(u, Vec3<double>::Zero());
        VecX<double> still = run(Vec3<double>::Zero(), -u);
        still.head<3>() += 150 * h * u;
        const bool by_cone = contact.solver == SolverType::ncp && !contact.relaxed;  // solved to 1e-10 a step
        CHECK((moving - still).head<7>().norm() <= (by_cone ? 1e-6 : 1e-9));
    }
}
