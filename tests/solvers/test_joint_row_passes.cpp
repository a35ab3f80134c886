// The dot-product test of rows other than contacts: limits of spherical joints, dry friction, couplings,
// connects, welds.
#include "solvers/step/step.hpp"
#include "tests/support/contact_stage.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// A toy state with rows of every kind but contacts.
ToyState state_with_all_joint_rows(Rng& g) {
    for (;;) {
        Settings settings = sweeping();
        settings.recovery_speed = 1e6;  // no error reaches the maximal recovery speed
        ToyState t = toy_joint_row_state(static_cast<unsigned>(g.engine()), settings);
        StepScratch<double> s(t.world);
        VecX<double> next(t.world.nx());
        step(t.world, {t.theta.data(), t.x.data(), t.u.data()}, s, next.data());
        for (const RowBlock& b : s.rows.blocks)
            if (b.kind == RowKind::ball_limit) return t;
    }
}

struct JointRowStage : ContactStage {
    JointRowStage(Rng& g, Regime) : ContactStage(state_with_all_joint_rows(g), ForwardDynamics::crba) {}
    template <class Visit> void for_each(std::initializer_list<RowKind> kinds, const Visit& visit) {
        for (const RowBlock& b : s.rows.blocks)
            if (std::ranges::count(kinds, b.kind) > 0) visit(b);
    }
    const JointLimit& ball() const { return m.limits[0]; }
    void add_configuration_along_direction(Rng& g) {
        in.add_along_direction(g, [&](Inputs& all) { add_configuration(all); });
    }
    void add_axes_along_direction(Rng& g) {
        in.add_along_direction(g, [&](Inputs& all) { all.add(s.kinematics.S, d.kinematics.S, s.bar.S); });
    }
    void add_poses_along_direction(Rng& g) {
        in.add_along_direction(g, [&](Inputs& all) { all.add(s.kinematics.X, d.kinematics.X, s.bar.X); });
    }
    void add_anchors(int first, int count) {
        for (const ParameterSlice& slice : {m.anchor_a, m.anchor_b})
            add_parameters({slice.at(first), slice.width}, count);
        add_parameters({m.weld_rotation.at(1), 3}, 1);  // the one weld
    }
    // Coefficients, and what couplings of tendons read. A coupling of one has no coefficient but its offset.
    void add_couplings() {
        add_parameters({m.coupling.at(3), 2 * coupling_terms}, 1);
        add_parameters({m.coupling.at(5), 1}, 1);
        add_parameters({m.coupling.at(6), coupling_terms}, 1);
        add_parameters({m.coupling.at(7), 1}, 1);
        in.add(s.rows.tendons.length, d.rows.tendons.length, s.rows.tendons_bar.length);
        in.add(s.rows.tendons.arm, d.rows.tendons.arm, s.rows.tendons_bar.arm);
    }
    void add_jacobian_out(const RowBlock& b) {
        out.add<double>(d.rows.J.data() + b.values, s.rows.J_bar.data() + b.values, b.rows * b.length);
    }
    // Covectors of errors, which the scratch does not have.
    VecX<double> error_bar = VecX<double>::Zero(static_cast<Eigen::Index>(s.rows.error.size()));
    void clear_bars() override {
        ContactStage::clear_bars();
        error_bar.setZero();
    }
    void add_error_out(const RowBlock& b) {
        out.add<double>(d.rows.error.data() + b.row, error_bar.data() + b.row, b.rows);
    }
};

// Axes, two forces -> a row of J.
struct ForceRowPass : JointRowStage {
    Force<double> F_a, F_b;
    Force<D> F_a_dual, F_b_dual;
    Motion<double> F_a_bar = Motion<double>::zero(), F_b_bar = F_a_bar;
    RowBlock block;
    ForceRowPass(Rng& g, Regime r)
        : JointRowStage(g, r),
          F_a{g.vec3(Regime::random), g.vec3(Regime::random)},
          F_b{g.vec3(Regime::random), g.vec3(Regime::random)} {
        for_each({RowKind::connect}, [&](const RowBlock& b) { block = b.index == 0 ? b : block; });
        add_axes_along_direction(g);
        in.add(F_a, F_a_dual, F_a_bar);
        in.add(F_b, F_b_dual, F_b_bar);
        out.add<double>(d.rows.J.data() + block.values, s.rows.J_bar.data() + block.values, block.length);
    }
    void run_duals() override {
        force_row(d.kinematics, d.rows, block, F_a_dual, F_b_dual, d.rows.J.data() + block.values);
    }
    void run_adjoint() override {
        force_row_adj(s.kinematics, s.rows, block, F_a, F_b, s.rows.J_bar.data() + block.values, s.bar,
                      F_a_bar, F_b_bar);
    }
};

// Configuration -> rotation vector, gap and Jacobian of a spherical joint.
struct BallRotationPass : JointRowStage {
    Vec3<D> y;
    Vec3<double> y_bar = Vec3<double>::Zero();
    BallRotationPass(Rng& g, Regime r) : JointRowStage(g, r) {
        add_configuration_along_direction(g);
        out.add<Vec3<double>>(y, y_bar);
    }
    void run_duals() override { y = ball_rotation(ball(), x.data()); }
    void run_adjoint() override { ball_rotation_adj(ball(), q(), y_bar, q_bar()); }
};
struct BallGapPass : JointRowStage {
    D y;
    double y_bar = 0;
    BallGapPass(Rng& g, Regime r) : JointRowStage(g, r) {
        add_configuration_along_direction(g);
        add_parameters({ball().range.upper, 1}, 1);
        out.add<double>(y, y_bar);
    }
    void run_duals() override { y = ball_gap(ball(), theta.data(), x.data()); }
    void run_adjoint() override { ball_gap_adj(ball(), q(), y_bar, theta_bar.data(), q_bar()); }
};
// Configuration, ends -> gaps to both ends of a range.
struct LimitGapPass : ContactStage {
    D y[2];
    double y_bar[2] = {0, 0};
    const JointLimit& l = m.limits[0];
    LimitGapPass(Rng& g, Regime r) : ContactStage(g, r) {
        in.add_along_direction(g, [&](Inputs& all) { add_configuration(all); });
        add_parameters({l.range.lower, 1}, 2);
        out.add<double>(y, y_bar, 2);
    }
    void run_duals() override {
        for (const int k : {0, 1})
            y[k] = limit_gap(l, theta.data(), x.data(), k == 0 ? 1 : -1);
    }
    void run_adjoint() override {
        for (const int k : {0, 1})
            limit_gap_adj(l, k == 0 ? 1 : -1, y_bar[k], theta_bar.data(), q_bar());
    }
};
struct BallLimitRowPass : JointRowStage {
    BallLimitRowPass(Rng& g, Regime r) : JointRowStage(g, r) {
        add_configuration_along_direction(g);
        for_each({RowKind::ball_limit}, [&](const RowBlock& b) { add_jacobian_out(b); });
    }
    void run_duals() override {
        for_each({RowKind::ball_limit},
                 [&](const RowBlock& b) { ball_limit_row(ball(), x.data(), b, d.rows); });
    }
    void run_adjoint() override {
        for_each({RowKind::ball_limit},
                 [&](const RowBlock& b) { ball_limit_row_adj(ball(), q(), b, s.rows, q_bar()); });
    }
};

// Dry friction, time step -> bounds.
struct DryFrictionRowPass : JointRowStage {
    DryFrictionRowPass(Rng& g, Regime r) : JointRowStage(g, r) {
        for (const int j : m.dry_dofs)
            add_parameters({m.dry_friction.at(j), 1}, 1);
        add_parameters(w.time_step, 1);
        for_each({RowKind::dry_friction}, [&](const RowBlock& b) {
            out.add<double>(d.rows.bound.data() + b.row, s.rows.bound_bar.data() + b.row, 1);
        });
    }
    void run_duals() override {
        for_each({RowKind::dry_friction},
                 [&](const RowBlock& b) { dry_friction_row(w, theta.data(), b, d.rows); });
    }
    void run_adjoint() override {
        for_each({RowKind::dry_friction}, [&](const RowBlock& b) {
            dry_friction_row_adj(w, t.theta.data(), b, s.rows, theta_bar.data());
        });
    }
};

// Configuration, coefficients -> Jacobian and error of couplings.
struct CouplingRowPass : JointRowStage {
    CouplingRowPass(Rng& g, Regime r) : JointRowStage(g, r) {
        add_configuration_along_direction(g);
        add_couplings();
        for_each({RowKind::coupling}, [&](const RowBlock& b) {
            add_jacobian_out(b);
            add_error_out(b);
        });
    }
    void run_duals() override {
        for_each({RowKind::coupling}, [&](const RowBlock& b) {
            coupling_row(w, theta.data(), x.data(), b, d.rows, d.rows.error.data() + b.row);
        });
    }
    void run_adjoint() override {
        for_each({RowKind::coupling}, [&](const RowBlock& b) {
            coupling_row_adj(w, t.theta.data(), q(), b, s.rows, error_bar.data() + b.row, theta_bar.data(),
                             q_bar());
        });
    }
};

// Poses, anchors -> frames at the anchors.
struct EqualityEndsPass : JointRowStage {
    EqualityEnds<D> ends;
    Force<double> a_bar, b_bar;
    EqualityEndsPass(Rng& g, Regime r) : JointRowStage(g, r) {
        add_poses_along_direction(g);
        add_anchors(1, 1);
        out.add<Transform<double>>(ends.a, a_bar);
        out.add<Transform<double>>(ends.b, b_bar);
    }
    void run_duals() override { ends = equality_ends(w, theta.data(), d.kinematics, 1); }
    void run_adjoint() override {
        equality_ends_adj(w, t.theta.data(), s.kinematics, 1,
                          equality_ends(w, t.theta.data(), s.kinematics, 1), a_bar, b_bar, s.bar,
                          theta_bar.data());
    }
};

// Axes, poses, anchors -> Jacobians and errors of connects and welds.
struct EqualityRowsPass : JointRowStage {
    EqualityRowsPass(Rng& g, Regime r) : JointRowStage(g, r) {
        add_axes_along_direction(g);
        add_poses_along_direction(g);
        add_anchors(0, 3);
        for_each({RowKind::connect, RowKind::weld}, [&](const RowBlock& b) {
            add_jacobian_out(b);
            add_error_out(b);
        });
    }
    void run_duals() override {
        for_each({RowKind::connect, RowKind::weld}, [&](const RowBlock& b) {
            equality_rows(w, theta.data(), d.kinematics, b, d.rows, d.rows.error.data() + b.row);
        });
    }
    void run_adjoint() override {
        for_each({RowKind::connect, RowKind::weld}, [&](const RowBlock& b) {
            equality_rows_adj(w, t.theta.data(), s.kinematics, b, s.rows, error_bar.data() + b.row, s.bar,
                              theta_bar.data());
        });
    }
};

// Axes, poses, twists, velocities, anchors, time step -> drift of connects and welds.
struct EqualityDriftPass : JointRowStage {
    EqualityDriftPass(Rng& g, Regime r) : JointRowStage(g, r) {
        add_axes_along_direction(g);
        add_poses_along_direction(g);
        in.add_along_direction(g, [&](Inputs& all) { all.add(s.kinematics.V, d.kinematics.V, s.bar.V); });
        in.add_along_direction(g, [&](Inputs& all) { add_velocity(all); });
        for (const ParameterSlice& slice : {m.anchor_a, m.anchor_b})
            add_parameters_along_direction(g, slice, 3);  // those in the world have no effect
        add_parameters(w.time_step, 1);
        for_each({RowKind::connect, RowKind::weld}, [&](const RowBlock& b) {
            out.add<double>(d.rows.beta.data() + b.row, s.rows.beta_bar.data() + b.row, b.rows);
        });
    }
    void run_duals() override {
        for_each({RowKind::connect, RowKind::weld}, [&](const RowBlock& b) {
            std::fill_n(&d.rows.beta[b.row], b.rows, D(0));
            equality_drift(w, theta.data(), x.data() + w.nq(), d.kinematics, b, &d.rows.beta[b.row]);
        });
    }
    void run_adjoint() override {
        for_each({RowKind::connect, RowKind::weld}, [&](const RowBlock& b) {
            equality_drift_adj(w, t.theta.data(), v(), s.kinematics, b, &s.rows.beta_bar[b.row], s.bar,
                               theta_bar.data(), v_bar());
        });
    }
};

// All of these together.
struct BlockRowsPass : JointRowStage {
    BlockRowsPass(Rng& g, Regime r) : JointRowStage(g, r) {
        add_configuration_along_direction(g);
        add_axes_along_direction(g);
        add_poses_along_direction(g);
        add_anchors(0, 3);
        add_couplings();
        add_parameters(w.time_step, 1);
        out.add<double>(d.rows.J, s.rows.J_bar);
        out.add<double>(d.rows.bound, s.rows.bound_bar);
        out.add<double>(d.rows.error.data(), error_bar.data(), static_cast<int>(error_bar.size()));
    }
    void run_duals() override {
        for (const RowBlock& b : d.rows.blocks)
            block_rows(w, theta.data(), x.data(), d.kinematics, d.contacts, b, d.rows,
                       d.rows.error.data() + b.row);
    }
    void run_adjoint() override {
        for (const RowBlock& b : s.rows.blocks)
            block_rows_adj(w, t.theta.data(), q(), s.kinematics, s.contacts, b, s.rows,
                           error_bar.data() + b.row,
                           RowBars<double>{theta_bar.data(), q_bar(), v_bar(), s.v_free_bar.data(), s.bar});
    }
};

// Errors, erp, time step -> biases of equalities.
struct EqualityBiasPass : JointRowStage {
    EqualityBiasPass(Rng& g, Regime r) : JointRowStage(g, r) {
        for_each({RowKind::connect, RowKind::weld, RowKind::coupling}, [&](const RowBlock& b) {
            in.add(s.rows.error.data() + b.row, d.rows.error.data() + b.row, error_bar.data() + b.row,
                   b.rows);
            out.add<double>(d.rows.recovery.data() + b.row, s.rows.recovery_bar.data() + b.row, b.rows);
        });
        add_parameters(w.erp, 1);
        add_parameters(w.time_step, 1);
    }
    void run_duals() override {
        for_each({RowKind::connect, RowKind::weld, RowKind::coupling},
                 [&](RowBlock b) { equality_bias(w, theta.data(), d.rows.error.data() + b.row, b, d.rows); });
    }
    void run_adjoint() override {
        for_each({RowKind::connect, RowKind::weld, RowKind::coupling}, [&](const RowBlock& b) {
            equality_bias_adj(w, t.theta.data(), b, s.rows.error.data() + b.row, s.rows, theta_bar.data(),
                              error_bar.data() + b.row);
        });
    }
};

}  // namespace

TEST_CASE("adjoint: force_row") { check_pass<ForceRowPass>(1e-12); }
TEST_CASE("adjoint: limit_gap") { check_pass<LimitGapPass>(1e-12); }
TEST_CASE("adjoint: ball_rotation") { check_pass<BallRotationPass>(1e-12); }
TEST_CASE("adjoint: ball_gap") { check_pass<BallGapPass>(1e-12); }
TEST_CASE("adjoint: ball_limit_row") { check_pass<BallLimitRowPass>(1e-12); }
TEST_CASE("adjoint: dry_friction_row") { check_pass<DryFrictionRowPass>(1e-12); }
TEST_CASE("adjoint: coupling_row") { check_pass<CouplingRowPass>(1e-12); }
TEST_CASE("adjoint: equality_ends") { check_pass<EqualityEndsPass>(1e-12); }
TEST_CASE("adjoint: equality_rows") { check_pass<EqualityRowsPass>(1e-12); }
TEST_CASE("adjoint: equality_drift") { check_pass<EqualityDriftPass>(1e-12); }
TEST_CASE("adjoint: block_rows") { check_pass<BlockRowsPass>(1e-12); }
TEST_CASE("adjoint: equality_bias") { check_pass<EqualityBiasPass>(1e-12); }
