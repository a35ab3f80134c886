// Soft constraints by MuJoCo's law: the dot-product tests of its operators and of whole steps, and its
// formulas on single bodies.
#include <doctest/doctest.h>

#include "tests/support/contact_stage.hpp"
#include "tests/support/step_derivatives.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Two elements, an error and a time step -> mixed parameters, impedance, gains.
struct SoftLawPass : StagePass {
    SoftElements e;
    double r, r_bar = 0, h, h_bar = 0;
    D r_dual, h_dual;
    std::vector<double> theta, theta_bar, y_bar = std::vector<double>(10);
    std::vector<D> theta_dual, y_dual = std::vector<D>(10);
    SoftLawPass(Rng& g, Regime) : h(g.uniform(1e-3, 5e-3)), theta(14), theta_bar(14), theta_dual(14) {
        e.count = g.uniform(0, 1) < 0.5 ? 1 : 2;
        e.weight = g.uniform(0.1, 0.9);
        for (int i = 0; i < e.count; ++i) {
            const Softness s = toy_softness(static_cast<unsigned>(g.engine()));
            e.solref[i] = 7 * i;
            e.solimp[i] = 7 * i + 2;
            std::copy(s.solref.begin(), s.solref.end(), theta.begin() + e.solref[i]);
            std::copy(s.solimp.begin(), s.solimp.end(), theta.begin() + e.solimp[i]);
            if (g.uniform(0, 1) < 0.2) theta[e.solref[i]] = 0.5 * h;  // shorter than 2 h
        }
        const SoftParameters<double> s = soft_parameters(theta.data(), e);
        r = -s[4] * g.uniform(0.02, 1.2);
        in.add_along_direction(g, [&](Inputs& all) {  // single numbers may have no effect
            all.add(theta, theta_dual, theta_bar);
            all.add(r, r_dual, r_bar);
            all.add(h, h_dual, h_bar);
        });
        out.add<double>(y_dual, y_bar);
    }
    void run_duals() override {
        const SoftParameters<D> s = soft_parameters(theta_dual.data(), e);
        const SoftGains<D> gains = soft_gains(s, h_dual);
        std::copy(s.begin(), s.end(), y_dual.begin());
        y_dual[7] = impedance(s, r_dual);
        y_dual[8] = 1e-4 * gains.k;
        y_dual[9] = 1e-2 * gains.b;
    }
    void run_adjoint() override {
        const SoftParameters<double> s = soft_parameters(theta.data(), e);
        SoftParameters<double> s_bar;
        std::copy(y_bar.begin(), y_bar.begin() + 7, s_bar.begin());
        impedance_adj(s, r, y_bar[7], s_bar, r_bar);
        soft_gains_adj(s, h, {1e-4 * y_bar[8], 1e-2 * y_bar[9]}, s_bar, h_bar);
        soft_parameters_adj(theta.data(), e, s_bar, theta_bar.data());
    }
};

ToyState soft_state(unsigned seed, const Settings& settings) {
    return seed % 2 == 0 ? toy_contact_state(seed, settings) : toy_joint_row_state(seed, settings);
}

// Velocities, Jacobians, configuration, gaps and friction of contacts, parameters -> biases and compliances of
// soft rows.
struct SoftRowsPass : ContactStage {
    SoftRowsPass(Rng& g, Regime)
        : ContactStage(
              pyramids ? pyramid_state(g)
                       : soft_state(static_cast<unsigned>(g.engine()), soft_sweeping(FrictionCone::elliptic)),
              ForwardDynamics::crba) {
        in.add_along_direction(g, [&](Inputs& all) { all.add(s.rows.J, d.rows.J, s.rows.J_bar); });
        in.add_along_direction(g, [&](Inputs& all) {
            add_configuration(all);
            add_velocity(all);
            all.add(t.theta.data(), theta.data(), theta_bar.data(), w.np());
            for (const RowBlock& b : s.rows.blocks)
                if (b.kind == RowKind::contact)
                    all.add(s.contacts.points[b.index].geometry.gap, d.contacts.points[b.index].geometry.gap,
                            s.contacts.points_bar[b.index].geometry.gap);
        });
        for (const RowBlock& b : s.rows.blocks)
            if (pyramid_of(b, s.contacts) != nullptr)
                in.add(s.contacts.points[b.index].friction, d.contacts.points[b.index].friction,
                       s.contacts.points_bar[b.index].friction);
        out.add<double>(d.rows.beta, s.rows.beta_bar);
        out.add<double>(d.rows.R, s.rows.R_bar);
    }
    void run_duals() override {
        for (const RowBlock& b : d.rows.blocks) {
            const D gap = unilateral_gap(w, theta.data(), b, x.data(), d.contacts, d.rows);
            soft_rows(w, theta.data(), x.data() + w.nq(), d.contacts, b, gap, d.rows.error.data() + b.row,
                      d.rows);
        }
    }
    void run_adjoint() override {
        std::vector<double> error_bar(6);
        for (const RowBlock& b : s.rows.blocks) {
            const double gap = unilateral_gap(w, t.theta.data(), b, q(), s.contacts, s.rows);
            double gap_bar = 0;
            soft_rows_adj(w, t.theta.data(), v(), s.contacts, b, gap, s.rows.error.data() + b.row, s.rows,
                          theta_bar.data(), v_bar(), gap_bar, error_bar.data());
            unilateral_gap_adj(w, b, q(), gap_bar, s.contacts, s.rows, theta_bar.data(), q_bar());
        }
    }
};

}  // namespace

TEST_CASE("adjoint: the law of soft constraints") { check_pass<SoftLawPass>(1e-11); }
TEST_CASE("adjoint: soft_rows") {
    check_pass<SoftRowsPass>(1e-11);
    check_pass_on_pyramids<SoftRowsPass>(1e-11);
}

// All parameters, the state and the controls; by every solver and gradient.
TEST_CASE("soft constraints: the adjoint of a step is the transpose of its derivative by dual numbers") {
    int contacts = 0, pyramids = 0, limits = 0, equalities = 0, dry = 0;
    for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp, SolverType::apgd})
        for (const ImpulseGradient gradient : {ImpulseGradient::automatic, ImpulseGradient::implicit})
            for (unsigned seed = 1; seed <= 24; ++seed) {
                CAPTURE(static_cast<int>(solver));
                CAPTURE(seed);
                Settings settings =
                    soft_sweeping(seed % 4 == 0 ? FrictionCone::pyramidal : FrictionCone::elliptic);
                settings.solver = solver;
                settings.gradient = gradient;
                settings.relaxed = true;
                settings.sweeps = 300;
                const ToyState t = soft_state(seed, settings);
                const World& w = t.world;
                StepScratch<double> s(w);
                StepScratch<D> duals(w);
                Rng g(seed);
                const VecX<double> next = run_step(t, s);
                REQUIRE(next.allFinite());
                for (const RowBlock& b : s.rows.blocks) {
                    REQUIRE(b.soft.any());
                    if (b.unilateral())
                        REQUIRE(block_gap(w, t.theta.data(), b, t.x.data(), s.contacts, s.rows) < 0);
                    contacts += b.kind == RowKind::contact;
                    pyramids += pyramid_of(b, s.contacts) != nullptr;
                    limits += b.kind == RowKind::limit || b.kind == RowKind::ball_limit;
                    dry += b.kind == RowKind::dry_friction;
                    equalities += !b.unilateral() && b.kind != RowKind::dry_friction;
                }
                const double error = transpose_error(t, g, s, duals);
                if (same_branches(s, duals)) CHECK(error <= 1e-7);
            }
    for (const int met : {contacts, pyramids, limits, equalities, dry})
        CHECK(met >= 10);
}

// A ball of mass m rests on a plane with r = -m g_accel R ... : the acceleration k d r balances gravity.
TEST_CASE("soft constraints: a ball rests at the depth at which the reference balances gravity") {
    Settings settings;
    settings.law = ContactLaw::mujoco;
    settings.relaxed = true;
    settings.time_step = 1e-3;
    ModelBuilder builder;
    BodySpec ball;
    ball.name = "ball";
    ball.joint = JointType::free;
    ball.mass = {2, Vec3<double>::Zero(), 0.01 * Mat3<double>::Identity()};
    builder.add_body(ball);
    builder.set_soft(true);
    Model m = builder.build();
    ShapeSpec sphere, ground;
    sphere.name = "sphere";
    sphere.type = ShapeType::sphere;
    sphere.body = 0;
    sphere.size = {0.1, 0, 0};
    ground.name = "ground";
    ground.type = ShapeType::plane;
    ShapeSet set = build_shapes(m, {sphere, ground});
    const World w(std::move(m), std::move(set), settings);
    const VecX<double> theta = w.model.layout.nominal();
    VecX<double> x = VecX<double>::Zero(w.nx()), next = x, u;
    x.head(7) = w.model.neutral_configuration();
    x[2] = 0.1;
    StepScratch<double> s(w);
    for (int i = 0; i < 2000; ++i) {
        step(w, {theta.data(), x.data(), u.data()}, s, next.data());
        x = next;
    }
    // MuJoCo's defaults: t = 0.02, zeta = 1, d from 0.9 to 0.95 within 1 mm, in halves of parabolas. At rest
    // R f = -k d r with f = m g and R = (1 - d)/(d m).
    const double depth = 0.1 - x[2], z = depth / 1e-3;
    const double d = z > 1 ? 0.95 : 0.9 + 0.05 * (z <= 0.5 ? 2 * z * z : 1 - 2 * (1 - z) * (1 - z));
    const double k = 1 / (0.95 * 0.95 * 0.02 * 0.02);
    CHECK(std::abs(x[w.nq() + 2]) < 1e-9);
    CHECK(depth > 1e-6);
    CHECK((1 - d) / d * 9.81 == doctest::Approx(k * d * depth).epsilon(1e-9));
}
