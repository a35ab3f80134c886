// Closed-form Jacobians of inverse dynamics, and of whole steps with contacts, joint limits and dry friction.
#include <doctest/doctest.h>

#include "core/dynamics/forward_dynamics_derivatives.hpp"
#include "solvers/step/jacobian.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/step_derivatives.hpp"
#include "tests/support/sweeping.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Jacobian of a step, column by column, by dual numbers: (2 nv) x (2 nv + nu)
StepJacobian::Matrix pushed(const ToyState& t) {
    const World& w = t.world;
    StepScratch<D> s(w);
    const VecX<double> no_theta = VecX<double>::Zero(w.np()), no_x = VecX<double>::Zero(2 * w.nv()),
                       no_u = VecX<double>::Zero(w.nu());
    StepJacobian::Matrix J(2 * w.nv(), 2 * w.nv() + w.nu());
    for (int i = 0; i < 2 * w.nv(); ++i)
        J.col(i) = push_step(t, s, no_theta, VecX<double>::Unit(2 * w.nv(), i), no_u);
    for (int i = 0; i < w.nu(); ++i)
        J.col(2 * w.nv() + i) = push_step(t, s, no_theta, no_x, VecX<double>::Unit(w.nu(), i));
    return J;
}

void check_step(const ToyState& t, double tolerance) {
    const World& w = t.world;
    StepScratch<double> s(w);
    run_step(t, s);
    StepJacobian J(w);
    step_jacobian(w, t.theta.data(), t.x.data(), t.u.data(), s, J);
    const StepJacobian::Matrix expected = pushed(t);
    CHECK(apart(J.by_x, expected.leftCols(2 * w.nv())) <= tolerance);
    CHECK(apart(J.by_u, expected.rightCols(w.nu())) <= tolerance);
}

}  // namespace

TEST_CASE("Jacobian of inverse dynamics: that of dual numbers, for every joint type") {
    for (unsigned seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        Rng g(seed);
        const Model m = toy_model(g);
        const VecX<double> theta = m.layout.nominal(), v = random_vector(m.nv, g, Regime::random),
                           a = random_vector(m.nv, g, Regime::random);
        VecX<double> q(m.nq);
        retract(m, m.neutral_configuration().data(), random_vector(m.nv, g, Regime::random).data(), q.data());
        Kinematics<double> k(m);
        RneaScratch<double> r(m);
        CrbaScratch<double> c(m);
        RneaDerivativesScratch<double> s(m);
        std::vector<double> M(m.mass_matrix_size);
        VecX<double> tau(m.nv);
        kinematics(m, theta.data(), q.data(), v.data(), k);
        crba(m, theta.data(), k, c, M.data());
        rnea(m, theta.data(), k, v.data(), a.data(), r, tau.data());
        StepJacobian::Matrix by_q(m.nv, m.nv), by_v(m.nv, m.nv), dual_q(m.nv, m.nv), dual_v(m.nv, m.nv);
        rnea_derivatives(m, theta.data(), k, c.Ic, r, v.data(), a.data(), s, by_q.data(), by_v.data());
        Kinematics<D> kd(m);
        RneaScratch<D> rd(m);
        const VecX<D> theta_d = theta.cast<D>(), a_d = a.cast<D>();
        const auto column = [&](const VecX<double>& dq, const VecX<double>& dv) {
            const VecX<D> q_d = lift_configuration(m, q, dq.data()), v_d = lift_vector(v, dv.data());
            VecX<D> tau_d(m.nv);
            kinematics(m, theta_d.data(), q_d.data(), v_d.data(), kd);
            rnea(m, theta_d.data(), kd, v_d.data(), a_d.data(), rd, tau_d.data());
            VecX<double> d(m.nv);
            for (int j = 0; j < m.nv; ++j)
                d[j] = tau_d[j].d;
            return d;
        };
        const VecX<double> zero = VecX<double>::Zero(m.nv);
        for (int j = 0; j < m.nv; ++j) {
            dual_q.col(j) = column(VecX<double>::Unit(m.nv, j), zero);
            dual_v.col(j) = column(zero, VecX<double>::Unit(m.nv, j));
        }
        CHECK(apart(by_q, dual_q) <= 1e-12);
        CHECK(apart(by_v, dual_v) <= 1e-12);
    }
}

TEST_CASE("Jacobian of forward dynamics: that of its adjoints, row by row, for every joint type") {
    for (unsigned seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        Rng g(seed);
        const Model m = toy_model(g);
        const VecX<double> theta = m.layout.nominal(), v = random_vector(m.nv, g, Regime::random),
                           a = random_vector(m.nv, g, Regime::random);
        VecX<double> q(m.nq), tau(m.nv);
        retract(m, m.neutral_configuration().data(), random_vector(m.nv, g, Regime::random).data(), q.data());
        Kinematics<double> k(m);
        RneaScratch<double> r(m);
        CrbaScratch<double> c(m);
        std::vector<double> L(m.mass_matrix_size);
        kinematics(m, theta.data(), q.data(), v.data(), k);
        crba(m, theta.data(), k, c, L.data());
        REQUIRE(ltl_factor_inplace(m, L.data()));
        rnea(m, theta.data(), k, v.data(), a.data(), r, tau.data());
        ForwardDynamicsDerivatives<double> closed(m);
        forward_dynamics_derivatives(m, theta.data(), k, c.Ic, L.data(), r, v.data(), a.data(), closed);

        // M a + c - tau = 0: with w row i of M^-1, the rows of a_i are -d(w . rnea(q, v, a)) and w
        StepJacobian::Matrix by_q = StepJacobian::Matrix::Zero(m.nv, m.nv), by_v = by_q,
                             by_tau = StepJacobian::Matrix::Identity(m.nv, m.nv);
        VecX<double> unused_a = VecX<double>::Zero(m.nv), unused_theta = VecX<double>::Zero(m.layout.size());
        KinematicsBar<double> bar(m);
        for (int i = 0; i < m.nv; ++i) {
            double* w = by_tau.row(i).data();
            ltl_solve_inplace(m, L.data(), 0, m.nv, w);
            bar.set_zero();
            rnea_adj(m, theta.data(), k, v.data(), a.data(), r, w, bar, unused_theta.data(),
                     by_v.row(i).data(), unused_a.data());
            kinematics_adj(m, theta.data(), q.data(), v.data(), k, bar, unused_theta.data(),
                           by_q.row(i).data(), by_v.row(i).data());
        }
        const auto is = [&](const std::vector<double>& matrix) {
            return StepJacobian::Matrix(Eigen::Map<const StepJacobian::Matrix>(matrix.data(), m.nv, m.nv));
        };
        CHECK(apart(is(closed.by_q), -by_q) <= 1e-12);
        CHECK(apart(is(closed.by_v), -by_v) <= 1e-12);
        CHECK(apart(is(closed.by_tau), by_tau) <= 1e-12);
    }
}

TEST_CASE("Jacobian of a step: that of dual numbers, by every solver whose gradient is implicit") {
    std::vector<Settings> all(4, sweeping());
    all[0].solver = SolverType::lcp;
    all[1].solver = SolverType::ncp;
    all[2].solver = SolverType::ncp;
    all[2].relaxed = true;
    all[3].gradient = ImpulseGradient::implicit;
    all[3].sweeps = 2000;
    all[3].compliance = 1e-3;
    int contacts = 0, between_bodies = 0, limits = 0, sprung = 0, bounces = 0, moving_surfaces = 0;
    for (const Settings& settings : all)
        for (unsigned seed = 1; seed <= 8; ++seed) {
            CAPTURE(static_cast<int>(settings.solver));
            CAPTURE(seed);
            const ToyState t = toy_contact_state(seed, settings);
            StepScratch<double> s(t.world);
            run_step(t, s);
            for (const RowBlock& b : s.rows.blocks) {
                if (s.impulses.lambda[b.row] == 0) continue;
                contacts += b.kind == RowKind::contact;
                limits += b.kind == RowKind::limit;
                between_bodies += b.last_a >= 0 && b.last_b >= 0;
                sprung += b.bias == BiasCase::pressed;
                bounces += b.bias == BiasCase::bounce;
                moving_surfaces +=
                    b.kind == RowKind::contact && surfaces_move(t.world, s.contacts.points[b.index]);
            }
            check_step(t, settings.solver == SolverType::pgs ? 1e-6 : 1e-8);
        }
    CHECK(contacts > 100);
    for (const int met : {between_bodies, limits, sprung, bounces, moving_surfaces})
        CHECK(met > 5);
}

TEST_CASE("Jacobian of a step: without contact, by either forward dynamics") {
    for (const ForwardDynamics dynamics : {ForwardDynamics::aba, ForwardDynamics::crba})
        for (unsigned seed = 1; seed <= 5; ++seed) {
            CAPTURE(seed);
            Rng g(seed);
            Settings settings = sweeping();
            settings.forward_dynamics = dynamics;
            settings.time_step = 0.02;
            Model m = toy_model(g);
            ShapeSet none = build_shapes(m, {});
            ToyState t{World(std::move(m), std::move(none), settings), {}, {}, {}};
            const World& w = t.world;
            t.theta = w.model.layout.nominal();
            t.u = random_vector(w.nu(), g, Regime::random);
            t.x.resize(w.nx());
            t.x << random_configuration(w.model, g, Regime::random), random_vector(w.nv(), g, Regime::random);
            check_step(t, 1e-10);
        }
}

TEST_CASE("Jacobian of a step: sweeps and equalities are computed by adjoints") {
    check_step(toy_contact_state(3), 1e-10);
    Settings lcp;
    lcp.solver = SolverType::lcp;
    for (unsigned seed = 1; seed <= 3; ++seed)
        check_step(toy_joint_row_state(seed, lcp), 1e-8);
}
