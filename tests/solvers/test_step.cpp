// A whole contact step: its adjoint against dual numbers with fixed active features, and against central
// differences through the detector. Wrenches on bodies, and pushes.
#include <doctest/doctest.h>

#include "solvers/pushes.hpp"
#include "solvers/step/jacobian.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/check_adjoint.hpp"
#include "tests/support/contact_stage.hpp"
#include "tests/support/step_derivatives.hpp"
#include "tests/support/sweeping.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Scale of parameters: their size, or 0.1 if they are 0.
VecX<double> scales(const ToyState& t) {
    return t.theta.unaryExpr([](double x) { return x == 0 ? 0.1 : std::abs(x); });
}

// <J d, w> = <d, J* w> for the state, the controls and every single parameter.
void check_step(const ToyState& t, StepScratch<double>& s, unsigned seed, double tolerance = 1e-11) {
    StepScratch<D> sd(t.world);
    Rng g(seed + 1000);
    const VecX<double> next_bar = random_vector(t.world.ndx(), g, Regime::random);
    const StepBars b = run_step_adjoint(t, s, next_bar);
    const VecX<double> dtheta = random_vector(t.world.np(), g, Regime::random).cwiseProduct(scales(t)),
                       dx = random_vector(t.world.ndx(), g, Regime::random),
                       du = random_vector(t.world.nu(), g, Regime::random);
    const VecX<double> zt = 0 * dtheta, zx = 0 * dx, zu = 0 * du;
    const auto check = [&](const char* what, const VecX<double>& a, const VecX<double>& c,
                           const VecX<double>& e) {
        CAPTURE(what);
        const VecX<double> y = push_step(t, sd, a, c, e);
        const double forward = y.dot(next_bar), backward = b.pair(a, c, e);
        CHECK(std::abs(forward - backward) <= tolerance * (y.norm() * next_bar.norm() + 1));
    };
    check("state", zt, dx, zu);
    check("controls", zt, zx, du);
    check("parameters", dtheta, zx, zu);
    for (const auto& entry : t.world.model.layout.entries()) {
        VecX<double> only = zt;
        only.segment(entry.offset, entry.width) = dtheta.segment(entry.offset, entry.width);
        check(entry.path.c_str(), only, zx, zu);
    }
}

}  // namespace

namespace {

// Compares both derivatives along a random direction. False if the stencil left the smooth piece.
bool check_differences(const ToyState& t, StepScratch<double>& s, unsigned seed) {
    Rng g(seed + 2000);
    const VecX<double> next_bar = random_vector(t.world.ndx(), g, Regime::random);
    const StepBars b = run_step_adjoint(t, s, next_bar);
    const VecX<double> base = run_step(t, s);
    const std::uint64_t hash = branch_hash(s);
    const VecX<double> dx = random_vector(t.world.ndx(), g, Regime::random),
                       du = random_vector(t.world.nu(), g, Regime::random),
                       dtheta = random_vector(t.world.np(), g, Regime::random).cwiseProduct(scales(t));
    const double eps = 1e-6;
    bool same = true;
    const auto moved = [&](double e) {
        const VecX<double> next = run_step(moved_state(t, e, dtheta, dx, du), s);
        same = same && branch_hash(s) == hash;
        return state_difference(t.world.model, base, next).dot(next_bar);
    };
    const double fd = (moved(eps) - moved(-eps)) / (2 * eps), adjoint = b.pair(dtheta, dx, du);
    if (same) CHECK(std::abs(fd - adjoint) <= 1e-6 * std::max(1.0, std::abs(fd)));
    run_step(t, s);
    return same;
}

}  // namespace

TEST_CASE("step: adjoint against dual numbers with fixed features") {
    int contacts = 0, limits = 0;
    for (const ForwardDynamics dynamics : {ForwardDynamics::crba, ForwardDynamics::aba}) {
        for (unsigned seed = 1; seed <= 60; ++seed) {
            CAPTURE(seed);
            Settings settings = sweeping();
            settings.forward_dynamics = dynamics;
            settings.sweeps = seed % 3 == 0 ? 3 : 50;
            const ToyState t = toy_contact_state(seed, settings);
            StepScratch<double> s(t.world);
            check_step(t, s, seed);
            contacts += static_cast<int>(s.contacts.points.size());
            for (const RowBlock& block : s.rows.blocks)
                limits += block.kind == RowKind::limit;
        }
    }
    CHECK(contacts > 200);
    CHECK(limits > 50);
}

TEST_CASE("step: adjoint of equalities, dry friction and ball limits against dual numbers") {
    int ball_limits = 0, slipping = 0, sticking = 0;
    for (unsigned seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        Settings settings = sweeping();
        settings.sweeps = seed % 2 == 0 ? 5 : 100;
        const ToyState t = toy_joint_row_state(seed, settings);
        StepScratch<double> s(t.world);
        check_step(t, s, seed);
        for (const RowBlock& block : s.rows.blocks) {
            const double x = std::abs(s.impulses.lambda[block.row]);
            ball_limits += block.kind == RowKind::ball_limit && x > 0;
            if (block.kind != RowKind::dry_friction) continue;
            (x == s.rows.bound[block.row] ? slipping : sticking) += 1;
        }
    }
    CHECK(ball_limits > 5);
    CHECK(slipping > 10);
    CHECK(sticking > 10);
}

namespace {

// Exact solvers have adjoints through the equations of their active sets.
std::vector<Settings> exact_settings() {
    std::vector<Settings> all(4, sweeping());
    all[0].solver = SolverType::lcp;
    all[1].solver = all[2].solver = all[3].solver = SolverType::ncp;
    all[2].cone_method = ConeMethod::admm;
    all[3].relaxed = true;
    return all;
}

}  // namespace

TEST_CASE("step: adjoint through exact solvers against dual numbers and central differences") {
    for (const Settings& settings : exact_settings()) {
        CAPTURE(static_cast<int>(settings.solver));
        CAPTURE(settings.relaxed);
        int used = 0, states[6] = {};
        for (unsigned seed = 1; seed <= 40; ++seed) {
            CAPTURE(seed);
            Settings soft = settings;  // the equalities of these states contradict each other
            soft.compliance = 1e-2;
            for (const ToyState& t : {toy_contact_state(seed, settings), toy_joint_row_state(seed, soft)}) {
                StepScratch<double> s(t.world);
                // boxes on four points each: a condition number of 1e5, limited by the compliance
                check_step(t, s, seed, 1e-8);
                CHECK(solver_residual(t.world, s) <= 1e-10);
                used += check_differences(t, s, seed);
                for (size_t i = 0; i < s.rows.islands.size(); ++i)
                    for (const RowState state : s.impulses.sets[i].state)
                        ++states[static_cast<int>(state) + 1];
            }
        }
        CHECK(used >= 60);
        const bool cone = settings.solver == SolverType::ncp;
        CHECK(states[static_cast<int>(RowState::clamping) + 1] > 100);
        CHECK(states[static_cast<int>(RowState::separating) + 1] > 100);
        CHECK((states[static_cast<int>(RowState::sliding) + 1] > 20) == cone);
        CHECK((states[static_cast<int>(RowState::dilating) + 1] > 10) == settings.relaxed);
        CHECK(states[static_cast<int>(RowState::upper) + 1] > 10);  // dry friction; cones have no such rows
    }
}

TEST_CASE("step: with converged sweeps their adjoint equals the implicit one") {
    int compared = 0;
    for (unsigned seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        Settings swept = sweeping(), implicit = sweeping();
        swept.sweeps = implicit.sweeps = 20000;
        swept.tolerance = implicit.tolerance = 1e-16;
        implicit.gradient = ImpulseGradient::implicit;
        for (const bool joints : {false, true}) {
            swept.compliance = implicit.compliance = joints ? 1e-2 : 1e-4;
            const ToyState a = joints ? toy_joint_row_state(seed, swept) : toy_contact_state(seed, swept),
                           b = joints ? toy_joint_row_state(seed, implicit)
                                      : toy_contact_state(seed, implicit);
            StepScratch<double> sa(a.world), sb(b.world);
            CHECK(run_step(a, sa) == run_step(b, sb));
            if (solver_residual(a.world, sa) > 1e-12) continue;
            ++compared;
            Rng g(seed);
            const VecX<double> next_bar = random_vector(a.world.ndx(), g, Regime::random);
            const StepBars ba = run_step_adjoint(a, sa, next_bar), bb = run_step_adjoint(b, sb, next_bar);
            CHECK((ba.x - bb.x).norm() <= 1e-8 * (1 + ba.x.norm()));
            CHECK((ba.u - bb.u).norm() <= 1e-8 * (1 + ba.u.norm()));
            CHECK((ba.theta - bb.theta).norm() <= 1e-8 * (1 + ba.theta.norm()));
        }
    }
    CHECK(compared >= 35);
}

TEST_CASE("step: both forward dynamics give the same step and the same adjoint") {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        Settings by_aba = sweeping(), by_crba = sweeping();
        by_aba.forward_dynamics = ForwardDynamics::aba;
        by_crba.forward_dynamics = ForwardDynamics::crba;
        const ToyState a = toy_contact_state(seed, by_aba), c = toy_contact_state(seed, by_crba);
        StepScratch<double> sa(a.world), sc(c.world);
        CHECK((run_step(a, sa) - run_step(c, sc)).norm() <= 1e-11 * a.x.norm());
        Rng g(seed);
        const VecX<double> next_bar = random_vector(a.world.ndx(), g, Regime::random);
        const StepBars ba = run_step_adjoint(a, sa, next_bar), bc = run_step_adjoint(c, sc, next_bar);
        CHECK((ba.x - bc.x).norm() <= 1e-11 * (1 + ba.x.norm()));
        CHECK((ba.u - bc.u).norm() <= 1e-11 * (1 + ba.u.norm()));
        CHECK((ba.theta - bc.theta).norm() <= 1e-11 * (1 + ba.theta.norm()));
    }
}

TEST_CASE("step: adjoint against central differences through the detector") {
    int used = 0, sticking = 0, sliding = 0, separating = 0;
    for (unsigned seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        const ToyState t = toy_contact_state(seed);
        StepScratch<double> s(t.world);
        if (!check_differences(t, s, seed)) continue;
        ++used;
        for (const RowBlock& block : s.rows.blocks) {
            if (block.kind != RowKind::contact) continue;
            const double* x = s.impulses.lambda.data() + block.row;
            const double bound = s.rows.bound[block.row + 1] * x[0];
            (x[0] == 0 ? separating
                       : (std::abs(x[1]) < bound && std::abs(x[2]) < bound ? sticking : sliding)) += 1;
        }
    }
    CHECK(used >= 30);
    CHECK(sticking > 10);
    CHECK(sliding > 10);
    CHECK(separating > 10);
}

TEST_CASE("step: adjoint of equalities, dry friction and ball limits against central differences") {
    int used = 0;
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        const ToyState t = toy_joint_row_state(seed);
        StepScratch<double> s(t.world);
        used += check_differences(t, s, seed);
    }
    CHECK(used >= 10);
}

TEST_CASE("step: is a pure function of its arguments") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        const ToyState t = toy_contact_state(seed), other = toy_contact_state(seed + 100);
        StepScratch<double> fresh(t.world), used(t.world);
        const VecX<double> expected = run_step(t, fresh);
        VecX<double> next(t.world.nx());
        for (int k = 0; k < 3; ++k)
            step(t.world, {t.theta.data(), other.x.data(), other.u.data()}, used, next.data());
        CHECK(run_step(t, used) == expected);
        CHECK(branch_hash(used) == branch_hash(fresh));
    }
}

TEST_CASE("step: its Jacobian is that of dual numbers, column by column") {
    std::vector<Settings> solvers = exact_settings();
    solvers.emplace_back();  // and the sweeps
    for (const Settings& settings : solvers) {
        for (unsigned seed = 1; seed <= 3; ++seed) {
            CAPTURE(seed);
            const ToyState t = toy_contact_state(seed, settings);
            const World& w = t.world;
            StepScratch<double> s(w);
            TangentStep sd(w);
            run_step(t, s);
            StepJacobian J(w);
            StepJacobian::Matrix by_theta;
            step_jacobian_by_adjoints(w, t.theta.data(), t.x.data(), t.u.data(), s, J, &by_theta);
            VecX<double> column(w.ndx());
            const auto check = [&](const StepJacobian::Matrix& block, int i, const VecX<double>& dtheta,
                                   const VecX<double>& dx, const VecX<double>& du) {
                CAPTURE(i);
                step_jvp(w, t.theta.data(), t.x.data(), t.u.data(), dtheta.data(), dx.data(), du.data(), sd,
                         column.data());
                CHECK((column - block.col(i)).norm() <= 1e-8 * (1 + column.norm()));
            };
            const VecX<double> zt = VecX<double>::Zero(w.np()), zx = VecX<double>::Zero(w.ndx()),
                               zu = VecX<double>::Zero(w.nu());
            for (int i = 0; i < w.ndx(); ++i)
                check(J.by_x, i, zt, VecX<double>::Unit(w.ndx(), i), zu);
            for (int i = 0; i < w.nu(); ++i)
                check(J.by_u, i, zt, zx, VecX<double>::Unit(w.nu(), i));
            for (int i = 0; i < w.np(); i += 7)
                check(by_theta, i, VecX<double>::Unit(w.np(), i), zx, zu);
        }
    }
}

namespace {

// Joint axes and wrenches on bodies -> joint forces.
struct ApplyWrenchesPass : ContactStage {
    static constexpr int inputs_without_effect =
        3;  // the force on the first link, whose axis is at its origin
    std::vector<Force<double>> W;
    std::vector<Force<D>> W_dual;
    std::vector<Motion<double>> W_bar;
    VecX<D> tau;
    VecX<double> tau_bar;
    ApplyWrenchesPass(Rng& g, Regime r)
        : ContactStage(g, r),
          W(m.bodies.size()),
          W_dual(W.size()),
          W_bar(W.size()),
          tau(m.nv),
          tau_bar(m.nv) {
        for (Force<double>& each : W)
            each = {g.vec3(Regime::random), g.vec3(Regime::random)};
        in.add(s.kinematics.S, d.kinematics.S, s.bar.S);
        in.add(W, W_dual, W_bar);
        out.add<double>(tau.data(), tau_bar.data(), m.nv);
    }
    void run_duals() override {
        tau.setZero();
        apply_wrenches(m, d.kinematics, W_dual, tau.data());
    }
    void run_adjoint() override { apply_wrenches_adj(m, s.kinematics, W, tau_bar.data(), s.bar, W_bar); }
};

// Knots of a push -> the wrench between the first two of three.
struct PushWrenchesPass : StagePass {
    static constexpr int inputs_without_effect = 6;  // those of the third knot
    static constexpr double time = 0.17;
    World w;
    VecX<double> theta, theta_bar, wrenches_bar;
    VecX<D> theta_dual, wrenches;
    explicit PushWrenchesPass(Rng& g, Regime) : w(toy_contact_state(1).world) {
        PushSpec push{"shove", 2, {0.1, 0.3, 0.4}, {}, {}};
        for (int k = 0; k < 3; ++k) {
            push.force.push_back(g.vec3(Regime::random));
            push.torque.push_back(g.vec3(Regime::random));
        }
        w.add_push(push);
        theta = w.model.layout.nominal();
        theta_bar.setZero(w.np());
        theta_dual = theta.cast<D>();
        wrenches.resize(6 * static_cast<Eigen::Index>(w.model.bodies.size()));
        wrenches_bar.setZero(wrenches.size());
        for (const ParameterSlice& slice : {w.pushes[0].force, w.pushes[0].torque})
            in.add(theta.data() + slice.offset, theta_dual.data() + slice.offset,
                   theta_bar.data() + slice.offset, 9);
        out.add<double>(wrenches.data(), wrenches_bar.data(), static_cast<int>(wrenches.size()));
    }
    void run_duals() override {
        wrenches.setZero();
        push_wrenches(w, theta_dual.data(), time, wrenches.data());
    }
    void run_adjoint() override { push_wrenches_adj(w, time, wrenches_bar.data(), theta_bar.data()); }
};

}  // namespace

TEST_CASE("adjoint: apply_wrenches") { check_pass<ApplyWrenchesPass>(1e-12); }
TEST_CASE("adjoint: push_wrenches") { check_pass<PushWrenchesPass>(1e-12); }
TEST_CASE("pushes: they act between their first and their last knot") {
    Rng g(3);
    PushWrenchesPass pass(g, Regime::random);
    const auto at = [&](double time) {
        VecX<double> wrenches = VecX<double>::Zero(pass.wrenches.size());
        push_wrenches(pass.w, pass.theta.data(), time, wrenches.data());
        return wrenches;
    };
    CHECK((at(0.0999).isZero() && at(0.4).isZero()));
    const VecX<double> knot = pass.theta.segment(pass.w.pushes[0].force.offset + 3, 3);
    CHECK((at(0.3).segment(12, 3) - knot).norm() < 1e-15);
}
