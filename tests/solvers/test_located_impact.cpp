// Impacts located inside the step, and the elastic gradient of other impacts, against the known motion of
// bouncing balls.
#include "solvers/step/jacobian.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/analytic.hpp"
#include "tests/support/contact_stage.hpp"
#include "tests/support/step_derivatives.hpp"
#include "tests/support/sweeping.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr double ball_size = 0.125;

AnalyticCase dropped_ball(double h, double z0, double v0, double e, Impact impact) {
    Settings s = rigid(h);
    s.rest_speed = 1e-3;
    s.impact = impact;
    AnalyticScene scene(s);
    scene.add_ground(1, e);
    scene.add_ball("ball", 0.7, ball_size);
    AnalyticCase c = scene.build();
    c.q("ball", 2) = ball_size + z0;
    c.v("ball", 2) = v0;
    return c;
}

// Two equal, perfectly elastic balls in line without gravity, the second at rest.
AnalyticCase two_balls(double h, double x1, double x2, double v0, Impact impact) {
    Settings s = rigid(h);
    s.rest_speed = 1e-3;
    s.impact = impact;
    AnalyticScene scene(s, Vec3<double>::Zero());
    for (const char* name : {"first", "second"})
        scene.add_ball(name, 1, ball_size, 1, 1);
    AnalyticCase c = scene.build();
    c.q("first", 0) = x1;
    c.q("second", 0) = x2;
    c.v("first", 0) = v0;
    return c;
}

// A toy world with a located impact.
ToyState bouncing_state(Rng& g, SolverType solver) {
    for (;;) {
        Settings settings = sweeping();
        settings.solver = solver;
        settings.impact = Impact::located;
        settings.rest_speed = 1e-3;
        settings.time_step = 0.01;
        ToyState t = toy_contact_state(static_cast<unsigned>(g.engine()), settings);
        StepScratch<double> s(t.world);
        run_step(t, s);
        for (const RowBlock& b : s.rows.blocks)
            if (b.bias == BiasCase::located && s.impulses.lambda[b.row] > 0) return t;
    }
}

// M, J, impulses -> displacement.
struct ImpactDisplacementPass : ContactStage {
    std::vector<double> displacement_bar;
    ImpactDisplacementPass(Rng& g, Regime)
        : ContactStage(bouncing_state(g, SolverType::pgs), ForwardDynamics::crba),
          displacement_bar(s.displacement.size()) {
        in.add_along_direction(g, [&](Inputs& all) { all.add(M, M_dual, s.free_motion.M_bar); });
        in.add_along_direction(g, [&](Inputs& all) { all.add(s.rows.J, d.rows.J, s.rows.J_bar); });
        in.add_along_direction(
            g, [&](Inputs& all) { all.add(s.impulses.lambda, d.impulses.lambda, s.impulses.lambda_bar); });
        out.add<double>(d.displacement, displacement_bar);
    }
    void run_duals() override {
        factor_duals();
        std::ranges::fill(d.displacement, D(0));
        impact_displacement(w, theta.data(), x.data(), d.free_motion.M.data(), d.contacts, d.rows, d.impulses,
                            d.displacement.data());
    }
    void run_adjoint() override {
        impact_displacement_adj(w, t.theta.data(), q(), L(), s.contacts, s.rows, s.impulses,
                                displacement_bar.data(), s.free_motion.M_bar.data());
    }
};

struct ImpactErrors {
    double value, by_z0, by_v0, by_e;
};

// Analytic case 13: one bounce, height at T.
ImpactErrors one_bounce(double h, Impact impact) {
    const double z0 = 1, v0 = 0.5, e = 0.8, T = 0.8;
    const double w = std::sqrt(v0 * v0 + 2 * g0 * z0), t1 = (v0 + w) / g0, s = T - t1, v_T = e * w - g0 * s;
    const AnalyticCase c = dropped_ball(h, z0, v0, e, impact);
    const Sensitivity z = position(c, static_cast<int>(std::lround(T / h)), "ball", 2);
    return {std::abs(z.value - ball_size - (e * w * s - 0.5 * g0 * s * s)),
            std::abs(z.to_q("ball", 2) - (e * g0 * s / w - v_T / w)),
            std::abs(z.to_v("ball", 2) - (e * v0 * s / w - v_T * (1 + v0 / w) / g0)),
            std::abs(z.to("shapes/ground/restitution") - w * s)};
}

}  // namespace

TEST_CASE("analytic 13, one bounce located in its step: value and gradient O(h)") {
    double before = 1;
    for (const double h : {4e-3, 1e-3, 2.5e-4}) {
        CAPTURE(h);
        const ImpactErrors e = one_bounce(h, Impact::located);
        const double worst = std::max({e.value, e.by_z0, e.by_v0, e.by_e});
        CHECK(worst <= 12 * h);
        CHECK(worst <= 0.5 * before);
        before = worst;
    }
}

TEST_CASE("adjoint: impact_displacement") { check_pass<ImpactDisplacementPass>(1e-11); }

// Across the bounce the elastic gradient has
//   dq+/dq = -e,   dq+/dv = -e h,   dv+/dq = 0,   dv+/dv = -e
// The saltation matrix has dv+/dq = -(1 + e) g/v-, from gravity and the shift of the impact time. The elastic
// gradient is therefore exact only without gravity (analytic case 21).
TEST_CASE(
    "analytic 13, the elastic gradient of a bounce: that of a motion without gravity, the value unchanged") {
    const double e = 0.8, T = 0.8;
    for (const double h : {1e-3, 2.5e-4}) {
        const int steps = static_cast<int>(std::lround(T / h));
        const AnalyticCase c = dropped_ball(h, 1, 0.5, e, Impact::elastic),
                           plain_case = dropped_ball(h, 1, 0.5, e, Impact::start);
        const Sensitivity z = position(c, steps, "ball", 2), plain = position(plain_case, steps, "ball", 2);
        CHECK(z.value == plain.value);
        CHECK(error(z.to_q("ball", 2), -e) <= 1e-12);
        CHECK(error(z.to_v("ball", 2), -e * T) <= 1e-12);
    }
}

TEST_CASE("analytic 14, the Jacobian across a located impact tends to the saltation matrix") {
    const double e = 0.6, v0 = -3, z0 = 0.0104;
    double before = 1;
    for (const double h : {1e-3, 2.5e-4, 6.25e-5}) {
        CAPTURE(h);
        const AnalyticCase c = dropped_ball(h, z0, v0, e, Impact::located);
        const int steps = static_cast<int>(std::lround(0.008 / h));  // the impact is at 3.5 ms
        const std::vector<VecX<double>> x = states(c, steps);
        Eigen::Matrix2d product = Eigen::Matrix2d::Identity();
        for (int n = 0; n < steps; ++n) {
            const MatX J = step_jacobian(c, x[n]).x;
            product = (Eigen::Matrix2d() << J(2, 2), J(2, 8), J(8, 2), J(8, 8)).finished() * product;
        }
        // flight, impact, flight
        const double v_minus = -std::sqrt(v0 * v0 + 2 * g0 * z0), t1 = (v_minus - v0) / -g0,
                     rest = steps * h - t1;
        const Eigen::Matrix2d saltation =
            (Eigen::Matrix2d() << -e, 0, -(1 + e) * g0 / v_minus, -e).finished();
        const auto flight = [](double t) { return (Eigen::Matrix2d() << 1, t, 0, 1).finished(); };
        const double apart = (product - flight(rest) * saltation * flight(t1)).norm();
        CHECK(apart <= 20 * h);
        CHECK(apart <= 0.5 * before);
        before = apart;
    }
}

TEST_CASE("analytic 15, heights of bounces: located impacts have their gradient by the height") {
    const double H = 0.5, e = 0.7, h = 2e-4, fall = std::sqrt(2 * H / g0);
    const AnalyticCase c = dropped_ball(h, H, 0, e, Impact::located);
    const double top = fall + 2 * e * fall * 0.5;  // half of the first arc: the height e^2 H, where dz/dt = 0
    const Sensitivity z = position(c, static_cast<int>(std::lround(top / h)), "ball", 2);
    CHECK(std::abs(z.value - ball_size - e * e * H) <= 10 * h);
    CHECK(std::abs(z.to_q("ball", 2) - e * e) <= 20 * h);
    CHECK(std::abs(z.to("shapes/ground/restitution") - 2 * e * H) <= 20 * h);
}

TEST_CASE("analytic 21, two equal balls in line: the located and the elastic gradient are the physical one") {
    const double x1 = 0.1, x2 = 0.8, v0 = 1.7, T = 0.6;
    for (const Impact impact : {Impact::located, Impact::elastic})
        for (const double h : {1e-3, 5e-4}) {
            CAPTURE(static_cast<int>(impact));
            const AnalyticCase c = two_balls(h, x1, x2, v0, impact);
            const Sensitivity x = position(c, static_cast<int>(std::lround(T / h)), "second", 0);
            const double value_error = impact == Impact::located ? 1e-6 : v0 * h;
            CHECK(std::abs(x.value - (x1 + v0 * T + 2 * ball_size)) <= value_error);
            const double tolerance = impact == Impact::located ? 1e-6 : 2 * h;
            CHECK(std::abs(x.to_q("first", 0) - 1) <= tolerance);
            CHECK(std::abs(x.to_q("second", 0)) <= tolerance);
            CHECK(std::abs(x.to_v("first", 0) - T) <= tolerance);
            CHECK(std::abs(x.to_v("second", 0)) <= tolerance);
        }
}

TEST_CASE("located impact: the step's adjoint is that of dual numbers, by every solver") {
    for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp})
        for (unsigned seed = 1; seed <= 6; ++seed) {
            CAPTURE(static_cast<int>(solver));
            CAPTURE(seed);
            Rng g(seed);
            const ToyState t = bouncing_state(g, solver);
            const World& w = t.world;
            StepScratch<double> s(w);
            StepScratch<D> d(w);
            run_step(t, s);
            const VecX<double> dtheta = 0.01 * random_vector(w.np(), g, Regime::random).cwiseProduct(t.theta),
                               dx = random_vector(w.ndx(), g, Regime::random),
                               du = random_vector(w.nu(), g, Regime::random),
                               bar = random_vector(w.ndx(), g, Regime::random);
            const double forward = push_step(t, d, dtheta, dx, du).dot(bar),
                         reverse = step_bars(t, s, bar).pair(dtheta, dx, du);
            CHECK(std::abs(forward - reverse) <= 1e-9 * (1 + std::abs(forward)));
        }
}
