// Impacts with a known answer. h is the step.
//
// If the gap would close during a step (gap + h v < 0), the step reverses the velocity of its beginning and
// moves the body with the reversed velocity. The impact thus takes place at the beginning of a step, and its
// step number k is a constant of the gradient. Values have an error of O(h), like the time of impact.
// Gradients by parameters that change only velocities (restitution, masses, friction) are right up to O(h).
// Gradients through the time of impact (initial height and velocity) lack the term of the moving impact, (v+
// - v-) dt1: they are the exact gradients of the stepped motion and do not tend to the physical gradients as
// h -> 0.
#include "solvers/step/jacobian.hpp"
#include "tests/support/analytic.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr double sphere_radius = 0.125;

AnalyticCase bouncing_ball(double h, double z0, double v0, double e) {
    Settings s = rigid(h);
    s.rest_speed = 1e-3;
    AnalyticScene scene(s);
    scene.add_ground(1, e);
    scene.add_ball("ball", 0.7, sphere_radius);
    AnalyticCase c = scene.build();
    c.q("ball", 2) = sphere_radius + z0;
    c.v("ball", 2) = v0;
    return c;
}

// The stepped motion of a ball's gap z and velocity v over the ground, with the derivative by z0, v0 or e:
//   v+ = -e v if z + h v < 0, max(v - h g, -z/h) otherwise
//   z+ = z + h v+
struct SteppedBounce {
    double h, e, z, v, dz, dv, de;
    int impacts = 0;
    void step() {
        if (v < -1e-3 && z + h * v < 0) {
            dv = -e * dv - de * v;
            v = -e * v;
            ++impacts;
        } else if (v - h * g0 >= -z / h)
            v -= h * g0;
        else {
            dv = -dz / h;
            v = -z / h;
        }
        z += h * v;
        dz += h * dv;
    }
};

}  // namespace

// Physical, with w = sqrt(v0^2 + 2 g z0), t1 = (v0 + w)/g, s = T - t1, v_T = e w - g s:
//   z = e w s - g s^2/2
//   dz/dz0 = e g s/w - v_T/w
//   dz/dv0 = e v0 s/w - v_T (1 + v0/w)/g
//   dz/de = w s
// Stepped, with the impact at the beginning of step k, j = N - k - 1 steps after it, v_k = v0 - k h g:
//   z_N = z_k - (j + 1) h e v_k - g h^2 j (j + 1)/2
//   dz/dz0 = 1
//   dz/dv0 = h (k - (j + 1) e)
//   dz/de = -(j + 1) h v_k
TEST_CASE("analytic 13, one bounce: value O(h), gradient of the stepped motion exactly") {
    const double z0 = 1, v0 = 0.5, e = 0.8, T = 0.8;
    const double w = std::sqrt(v0 * v0 + 2 * g0 * z0), t1 = (v0 + w) / g0, s = T - t1, v_T = e * w - g0 * s;
    const double z_T = e * w * s - 0.5 * g0 * s * s, by_z0 = e * g0 * s / w - v_T / w,
                 by_v0 = e * v0 * s / w - v_T * (1 + v0 / w) / g0;
    for (const double h : {1e-3, 5e-4, 2.5e-4}) {
        CAPTURE(h);
        const int N = static_cast<int>(std::lround(T / h));
        const AnalyticCase c = bouncing_ball(h, z0, v0, e);
        const Sensitivity z = position(c, N, "ball", 2);
        const auto fall = [&](int n) { return z0 + n * h * v0 - g0 * h * h * 0.5 * n * (n + 1); };
        int k = 0;
        while (fall(k) + h * (v0 - k * h * g0) >= 0)
            ++k;
        const double j = N - k - 1, v_k = v0 - k * h * g0;
        CHECK(error(z.value - sphere_radius,
                    fall(k) - (j + 1) * h * e * v_k - g0 * h * h * 0.5 * j * (j + 1)) <= 1e-12);
        CHECK(error(z.to_q("ball", 2), 1) <= 1e-12);
        CHECK(error(z.to_v("ball", 2), h * (k - (j + 1) * e)) <= 1e-12);
        CHECK(error(z.to("shapes/ground/restitution"), -(j + 1) * h * v_k) <= 1e-12);
        CHECK(error(z.to("bodies/ball/mass"), 0) <= 1e-12);

        CHECK(std::abs(z.value - sphere_radius - z_T) <= (1 + e) * w * h);
        CHECK(std::abs(z.to("shapes/ground/restitution") - w * s) <= 2 * w * h);
        CHECK(std::abs(z.to_q("ball", 2) - by_z0) >= 0.6);  // 1 - 0.367, for every h
        CHECK(std::abs(z.to_v("ball", 2) - by_v0) >= 0.3);  // t1 - e s = 0.270 instead of -0.050
    }
}

// Jacobians of (z, v). Only dv+/dv- of their product agrees with the saltation matrix.
//   saltation matrix at an impact with v-    [[-e, 0], [-(1 + e) g/v-, -e]]
//   step of the impact                       [[1, -e h], [0, -e]]
//   other steps                              [[1, h], [0, 1]]
TEST_CASE("analytic 14, Jacobian across an impact: the stepped one exactly, not the saltation matrix") {
    using Mat2 = Eigen::Matrix2d;
    const double e = 0.6, v0 = -3;
    for (const double h : {1e-3, 5e-4, 2.5e-4}) {
        CAPTURE(h);
        const AnalyticCase c = bouncing_ball(h, 0.0104, v0, e);
        const std::vector<VecX<double>> x = states(c, 20);
        Mat2 product = Mat2::Identity(), expected = product;
        double v_before = 0;
        for (int n = 0; n < 20; ++n) {
            const VecX<double>&now = x[n], &next = x[n + 1];
            const bool impact = next[9] > 0 && now[9] < 0;
            const MatX J = step_jacobian(c, now).x;
            product = (Mat2() << J(2, 2), J(2, 8), J(8, 2), J(8, 8)).finished() * product;
            expected =
                (impact ? (Mat2() << 1, -e * h, 0, -e).finished() : (Mat2() << 1, h, 0, 1).finished()) *
                expected;
            if (impact) v_before = now[9];
        }
        REQUIRE(v_before < 0);
        const Mat2 saltation = (Mat2() << -e, 0, -(1 + e) * g0 / v_before, -e).finished();
        CHECK((product - expected).norm() <= 1e-12 * expected.norm());
        CHECK(std::abs(product(1, 1) - saltation(1, 1)) <= 1e-12);
        CHECK(std::abs(product(0, 0) - saltation(0, 0)) >= 1.5);                              // 1 + e
        CHECK(std::abs(product(1, 0) - saltation(1, 0)) >= 0.9 * std::abs(saltation(1, 0)));  // it is 0
    }
}

namespace {

// The time at which a ball dropped from H comes to rest.
double rest_time(double h, double H, double e, std::vector<double>* heights = nullptr) {
    const AnalyticCase c = bouncing_ball(h, H, 0, e);
    const std::vector<VecX<double>> x = states(c, static_cast<int>(3.5 / h));
    size_t last = 0;
    for (size_t n = 1; n < x.size(); ++n) {
        if (std::abs(x[n][9]) > 0.01) last = n;
        if (heights != nullptr && x[n - 1][9] > 0 && x[n][9] <= 0)
            heights->push_back(x[n][2] - sphere_radius);
    }
    return static_cast<double>(last) * h;
}

}  // namespace

// Heights e^(2n) H, at rest after the time T:
//   T = sqrt(2H/g) (1 + e)/(1 - e)
//   dT/de = 2 sqrt(2H/g)/(1 - e)^2
// In the stepped motion T is a number of steps without a gradient; a difference of values has the physical
// gradient. Heights have the gradient of the stepped motion.
TEST_CASE("analytic 15, bounce heights and Zeno time") {
    const double H = 1, e = 0.7, fall = std::sqrt(2 * H / g0), h = 1e-4;
    std::vector<double> heights;
    const double T = rest_time(h, H, e, &heights);
    REQUIRE(heights.size() > 4);
    for (int n = 1; n <= 4; ++n)
        CHECK(error(heights[n - 1], std::pow(e, 2 * n) * H) <= 1e-2);
    CHECK(error(T, fall * (1 + e) / (1 - e)) <= 1e-2);
    CHECK(error((rest_time(h, H, e + 0.01) - rest_time(h, H, e - 0.01)) / 0.02,
                2 * fall / ((1 - e) * (1 - e))) <= 2e-2);

    const double coarse = 1e-3;
    const int N = 1750;  // three bounces
    const AnalyticCase c = bouncing_ball(coarse, H, 0, e);
    const Sensitivity z = position(c, N, "ball", 2);
    SteppedBounce by_e{coarse, e, H, 0, 0, 0, 1}, by_z0{coarse, e, H, 0, 1, 0, 0},
        by_v0{coarse, e, H, 0, 0, 1, 0};
    for (int n = 0; n < N; ++n) {
        by_e.step();
        by_z0.step();
        by_v0.step();
    }
    CHECK(by_e.impacts == 3);
    CHECK(error(z.value - sphere_radius, by_e.z) <= 1e-11);
    CHECK(error(z.to("shapes/ground/restitution"), by_e.dz) <= 1e-11);
    CHECK(error(z.to_q("ball", 2), by_z0.dz) <= 1e-11);
    CHECK(error(z.to_v("ball", 2), by_v0.dz) <= 1e-11);
}

namespace {

// Balls in line along d at the distances `at`, without gravity; the first ball moves with velocity u.
AnalyticCase balls(const std::vector<double>& masses, const std::vector<double>& at, const Vec3<double>& d,
                   double u, double e, double h = 1e-3) {
    AnalyticScene scene(rigid(h), Vec3<double>::Zero());
    const auto name = [](size_t i) { return "ball" + std::to_string(i); };
    for (size_t i = 0; i < masses.size(); ++i)
        // a pair has the larger of two restitutions
        scene.add_ball(name(i), masses[i], sphere_radius, 1, i % 2 == 0 ? e : 0.5 * e);
    AnalyticCase c = scene.build();
    for (size_t i = 0; i < masses.size(); ++i)
        for (int k = 0; k < 3; ++k)
            c.q(name(i), k) = at[i] * d[k];
    for (int k = 0; k < 3; ++k)
        c.v("ball0", k) = u * d[k];
    return c;
}

// The component along d of a body's last position or velocity.
Sensitivity along(const AnalyticCase& c, int steps, TermKind kind, const std::string& body,
                  const Vec3<double>& d) {
    Objective terms;
    for (int k = 0; k < 3; ++k) {
        terms.push_back(point_term(c, kind, body, k));
        terms.back().weight = d[k];
    }
    Sensitivity s = loss(c, steps, terms);
    s.value -= afar * d.sum();
    return s;
}
double to_speed(const Sensitivity& s, const Vec3<double>& d) {
    return d.x() * s.to_v("ball0", 0) + d.y() * s.to_v("ball0", 1) + d.z() * s.to_v("ball0", 2);
}

}  // namespace

// With M = m1 + m2:
//   v1' = (m1 - e m2) u/M
//   v2' = (1 + e) m1 u/M
//   dv2'/dm1 = (1 + e) m2 u/M^2
//   dv2'/dm2 = -(1 + e) m1 u/M^2
//   dv1'/de = -m2 u/M
//   d(m1 v1' + m2 v2')/de = 0
TEST_CASE("analytic 16, two balls meet head on") {
    const double m1 = 1.3, m2 = 0.4, M = m1 + m2, e = 0.6, u = 2;
    for (const Vec3<double>& d : {Vec3<double>(1, 0, 0), Vec3<double>(2.0 / 3, -1.0 / 3, 2.0 / 3)}) {
        const AnalyticCase c = balls({m1, m2}, {0, 0.3371}, d, u, e);
        const Sensitivity a = along(c, 200, TermKind::velocity, "ball0", d),
                          b = along(c, 200, TermKind::velocity, "ball1", d);
        CHECK(error(a.value, (m1 - e * m2) * u / M) <= 1e-10);
        CHECK(error(b.value, (1 + e) * m1 * u / M) <= 1e-10);
        CHECK(error(b.to("bodies/ball1/mass"), -(1 + e) * m1 * u / (M * M)) <= 1e-10);
        CHECK(error(b.to("bodies/ball0/mass"), (1 + e) * m2 * u / (M * M)) <= 1e-10);
        CHECK(error(a.to("bodies/ball0/mass"), (1 + e) * m2 * u / (M * M)) <= 1e-10);
        CHECK(error(a.to("shapes/ball0/restitution"), -m2 * u / M) <= 1e-10);
        CHECK(std::abs(m1 * a.to("shapes/ball0/restitution") + m2 * b.to("shapes/ball0/restitution")) <=
              1e-10);
        CHECK(error(to_speed(a, d), (m1 - e * m2) / M) <= 1e-10);
        CHECK(error(to_speed(b, d), (1 + e) * m1 / M) <= 1e-10);
    }
}

// e = 1, equal masses. Impacts one after the other (gaps wider than the travel of a step): the last ball gets
// u. Simultaneous impacts (touching balls): v2 - v1 = u, v3 = v2, v1 + v2 + v3 = u, so the velocities are
// -u/3, 2u/3 and 2u/3.
TEST_CASE("analytic 16, cradle: one after the other, and all at once") {
    const double u = 2;
    const Vec3<double> d(1, 0, 0);
    const auto check = [&](const AnalyticCase& c, const std::vector<double>& share) {
        for (size_t i = 0; i < share.size(); ++i) {
            const Sensitivity v = along(c, 100, TermKind::velocity, "ball" + std::to_string(i), d);
            CHECK(std::abs(v.value - share[i] * u) <= 1e-10);
            CHECK(std::abs(to_speed(v, d) - share[i]) <= 1e-10);
        }
    };
    check(balls({1, 1, 1, 1, 1}, {0, 0.26, 0.52, 0.78, 1.04}, d, u, 1), {0, 0, 0, 0, 1});
    check(balls({1, 1, 1}, {0, 0.2751, 0.5251}, d, u, 1), {-1.0 / 3, 2.0 / 3, 2.0 / 3});
}

namespace {

// A sphere hits the ground without gravity or spin. `gap`: its gap at the beginning of the step of the
// impact.
AnalyticCase oblique(double mu, double e, double v_t, double v_n, double gap) {
    AnalyticScene scene(rigid(1e-3), Vec3<double>::Zero());
    scene.add_ground(mu, e);
    scene.add_ball("ball", 0.7, sphere_radius);
    AnalyticCase c = scene.build();
    c.q("ball", 2) = sphere_radius + gap;
    c.v("ball", 0) = v_t;
    c.v("ball", 2) = v_n;
    return c;
}

}  // namespace

// It slides, or it grips with an effective mass of 2m/7 at the contact:
//   slides    v_t' = v_t - mu (1 + e) |v_n|
//   grips     v_t' = 5 v_t/7
// The contact point is half the gap below the sphere, on a lever l = r + gap/2. Above the ground it grips
// with v_t' = v_t/(1 + (2/5)(r/l)^2).
TEST_CASE("analytic 17, oblique bounce of a sphere: slides and grips") {
    const double e = 0.5, v_n = -2, v_t = 3;
    for (const double mu : {0.1, 1.0}) {
        CAPTURE(mu);
        const bool slides = mu * (1 + e) * -v_n < 2 * v_t / 7;
        CHECK(slides == (mu < 0.5));
        const AnalyticCase c = oblique(mu, e, v_t, v_n, 0);
        const Sensitivity t = velocity(c, 100, "ball", 0), n = velocity(c, 100, "ball", 2);
        CHECK(error(t.value, slides ? v_t + mu * (1 + e) * v_n : 5 * v_t / 7) <= 1e-12);
        CHECK(error(n.value, -e * v_n) <= 1e-12);
        CHECK(error(t.to("shapes/ground/friction"), slides ? (1 + e) * v_n : 0) <= 1e-12);
        CHECK(error(t.to_v("ball", 0), slides ? 1 : 5.0 / 7) <= 1e-12);
        CHECK(error(t.to_v("ball", 2), slides ? mu * (1 + e) : 0) <= 1e-12);
        CHECK(error(t.to("shapes/ground/restitution"), slides ? mu * v_n : 0) <= 1e-12);
        CHECK(error(n.to_v("ball", 2), -e) <= 1e-12);
        CHECK(error(n.to("shapes/ground/restitution"), -v_n) <= 1e-12);
    }
    const double gap = 1e-3, lever = sphere_radius + 0.5 * gap,
                 share = 1 / (1 + 0.4 * sphere_radius * sphere_radius / (lever * lever));
    const AnalyticCase above = oblique(1, e, v_t, v_n, gap);
    const Sensitivity t = velocity(above, 1, "ball", 0);
    CHECK(error(t.value, share * v_t) <= 1e-12);
    CHECK(error(t.to_v("ball", 0), share) <= 1e-12);
}

// e = 1, the second ball at rest. Physical: the balls swap their velocities, so the second ends one diameter
// beyond the end of an undisturbed first ball:
//   x_f = x1 + v0 T + 2r
//   d x_f/d(x1, x2, v0, u0) = (1, 0, T, 0)
// Stepped, with the impact at the beginning of step k: the second ball has u0 before and v0 after it:
//   x_f = x2 + k h u0 + (N - k) h v0
//   d x_f/d(x1, x2, v0, u0) = (0, 1, (N - k) h, k h)
TEST_CASE("analytic 21, two equal balls in line: value O(h), gradient of the stepped motion exactly") {
    const double x1 = 0.1, x2 = 0.8, v0 = 1.7, T = 0.6;
    for (const double h : {1e-3, 5e-4, 2.5e-4}) {
        CAPTURE(h);
        const int N = static_cast<int>(std::lround(T / h));
        const AnalyticCase c = balls({1, 1}, {x1, x2}, {1, 0, 0}, v0, 1, h);
        const Sensitivity x = position(c, N, "ball1", 0);
        int k = 0;
        while (x2 - x1 - 2 * sphere_radius - (k + 1) * h * v0 >= 0)
            ++k;
        CHECK(error(x.value, x2 + (N - k) * h * v0) <= 1e-12);
        CHECK(std::abs(x.to_q("ball0", 0)) <= 1e-12);
        CHECK(error(x.to_q("ball1", 0), 1) <= 1e-12);
        CHECK(error(x.to_v("ball0", 0), (N - k) * h) <= 1e-12);
        CHECK(error(x.to_v("ball1", 0), k * h) <= 1e-12);
        CHECK(std::abs(x.value - (x1 + v0 * T + 2 * sphere_radius)) <= v0 * h);
    }
}
