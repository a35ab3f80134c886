// The dot-product test of the rows of contacts and joint limits: Jacobians, compliances, biases. Other rows:
// tests/solvers/test_joint_row_passes.cpp.
#include "tests/support/contact_stage.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Inputs of the stages that read contacts.
struct RowsStage : ContactStage {
    using ContactStage::ContactStage;
    const ContactPoint<double>& point(const RowBlock& b) const { return s.contacts.points[b.index]; }
    ContactPoint<D>& dual(const RowBlock& b) { return d.contacts.points[b.index]; }
    ContactPointBar<double>& bar(const RowBlock& b) { return s.contacts.points_bar[b.index]; }
    StateView<double> state() const { return {w, t.x.data()}; }
    RowBars<double> row_bars() { return {theta_bar.data(), q_bar(), v_bar(), s.v_free_bar.data(), s.bar}; }
    void add_axes(Rng& g) {
        in.add_along_direction(g, [&](Inputs& all) { all.add(s.kinematics.S, d.kinematics.S, s.bar.S); });
    }
    void add_frames_and_friction() {
        for (const RowBlock& b : s.rows.blocks) {
            if (b.kind != RowKind::contact) continue;
            in.add(point(b).geometry.point, dual(b).geometry.point, bar(b).geometry.point);
            in.add(point(b).geometry.normal, dual(b).geometry.normal, bar(b).geometry.normal);
            in.add(point(b).tangents.t1, dual(b).tangents.t1, bar(b).tangents.t1);
            in.add(point(b).tangents.t2, dual(b).tangents.t2, bar(b).tangents.t2);
            in.add(point(b).friction, dual(b).friction, bar(b).friction);
            if (point(b).directions > 3)
                in.add(point(b).torsional_arm, dual(b).torsional_arm, bar(b).torsional_arm);
            if (point(b).directions > 4)
                in.add(point(b).rolling_arm, dual(b).rolling_arm, bar(b).rolling_arm);
        }
    }
    // The inputs with an effect are chosen for each block.
    void add_what_bias_reads(Rng& g) {
        in.add_along_direction(g, [&](Inputs& all) { add_configuration(all); });
        in.add_along_direction(g, [&](Inputs& all) { add_velocity(all); });
        const auto add_contacts = [&](auto add) {
            in.add_along_direction(g, [&](Inputs& all) {
                for (const RowBlock& b : s.rows.blocks)
                    if (b.kind == RowKind::contact) add(all, b);
            });
        };
        add_contacts([&](Inputs& all, const RowBlock& b) {
            all.add(point(b).geometry.gap, dual(b).geometry.gap, bar(b).geometry.gap);
        });
        add_contacts([&](Inputs& all, const RowBlock& b) {
            all.add(point(b).restitution, dual(b).restitution, bar(b).restitution);
        });
        for (const ParameterSlice& slice : {w.time_step, w.erp, w.slop, w.compliance})
            add_parameters(slice, 1);
        add_springs(g);
        add_limits(g);
    }
};

// Parameters -> friction of contacts by every rule, two of them by the same parameter.
struct ContactFrictionPass : StagePass {
    static constexpr std::array<FrictionRule, 4> rules{{{FrictionRule::Kind::single, 0, 0},
                                                        {FrictionRule::Kind::product, 1, 0},
                                                        {FrictionRule::Kind::square, 1, 0},
                                                        {FrictionRule::Kind::single, 0, 0}}};
    double theta[2], theta_bar[2] = {0, 0}, y_bar[4] = {0, 0, 0, 0};
    D theta_dual[2], y[4];
    ContactFrictionPass(Rng& g, Regime) : theta{g.uniform(0.1, 2), g.uniform(0.1, 2)} {
        in.add(theta, theta_dual, theta_bar, 2);
        out.add<double>(y, y_bar, 4);
    }
    void run_duals() override {
        for (size_t k = 0; k < rules.size(); ++k)
            y[k] = contact_friction(rules[k], theta_dual);
    }
    void run_adjoint() override {
        for (size_t k = 0; k < rules.size(); ++k)
            contact_friction_adj(rules[k], theta, y_bar[k], theta_bar);
    }
};

// Axes, contact frames, friction -> Jacobians of contacts, friction of their rows.
struct ContactRowsPass : RowsStage {
    ContactRowsPass(Rng& g, Regime r) : RowsStage(g, r) {
        add_axes(g);
        add_frames_and_friction();
        for (const RowBlock& b : s.rows.blocks) {
            if (b.kind != RowKind::contact) continue;
            out.add<double>(d.rows.J.data() + b.values, s.rows.J_bar.data() + b.values, b.rows * b.length);
            out.add<double>(d.rows.bound.data() + b.row, s.rows.bound_bar.data() + b.row, b.rows);
        }
    }
    void run_duals() override {
        for (const RowBlock& b : d.rows.blocks)
            if (b.kind == RowKind::contact) contact_rows(d.kinematics, dual(b), b, d.rows);
    }
    void run_adjoint() override {
        for (const RowBlock& b : s.rows.blocks)
            if (b.kind == RowKind::contact)
                contact_rows_adj(s.kinematics, point(b), b, s.rows, bar(b), s.bar);
    }
};

// Contact frames, friction, poses, motions of the surfaces -> biases of contacts.
struct MovingSurfacePass : RowsStage {
    static ToyState moving_state(Rng& g, Regime r) {
        for (;;) {
            ToyState t = pyramids ? pyramid_state(g) : busy_contact_state(g, r);
            if (t.world.shapes.shapes[0].moving_surface >= 0) return t;
        }
    }
    MovingSurfacePass(Rng& g, Regime r) : RowsStage(moving_state(g, r), ForwardDynamics::crba) {
        const auto add_contacts = [&](auto add) {
            in.add_along_direction(g, [&](Inputs& all) {
                for (const RowBlock& b : s.rows.blocks)
                    if (b.kind == RowKind::contact) add(all, point(b), dual(b), bar(b));
            });
        };
        add_contacts([](Inputs& all, const auto& c, auto& dual, auto& bar) {
            all.add(c.geometry.point, dual.geometry.point, bar.geometry.point);
        });
        add_contacts([](Inputs& all, const auto& c, auto& dual, auto& bar) {
            all.add(c.tangents.t1, dual.tangents.t1, bar.tangents.t1);
            all.add(c.tangents.t2, dual.tangents.t2, bar.tangents.t2);
        });
        if (std::ranges::any_of(s.contacts.points, [](const auto& c) { return c.directions > 3; }))
            add_contacts([](Inputs& all, const auto& c, auto& dual, auto& bar) {
                all.add(c.geometry.normal, dual.geometry.normal, bar.geometry.normal);
                if (c.directions > 3) all.add(c.torsional_arm, dual.torsional_arm, bar.torsional_arm);
            });
        if (pyramids)
            add_contacts([](Inputs& all, const auto& c, auto& dual, auto& bar) {
                all.add(c.friction, dual.friction, bar.friction);
            });
        in.add_along_direction(g, [&](Inputs& all) { all.add(s.kinematics.X, d.kinematics.X, s.bar.X); });
        for (const ParameterSlice& slice : {w.shapes.surface_velocity, w.shapes.surface_angular_velocity,
                                            w.shapes.position, w.shapes.rotation})
            add_parameters_along_direction(g, slice, 3);
        if (m.soft)
            for (const ParameterSlice& slice : {w.time_step, w.shapes.softness.solref})
                add_parameters_along_direction(g, slice, 1);
        out.add<double>(d.rows.beta, s.rows.beta_bar);
    }
    void run_duals() override {
        d.rows.beta.assign(d.rows.beta.size(), D(0));
        for (size_t n = 0; n < d.contacts.X_CS.size(); ++n)
            d.contacts.X_CS[n] = shape_pose(w, theta.data(), d.kinematics, static_cast<int>(n));
        for (const RowBlock& b : d.rows.blocks)
            if (b.kind == RowKind::contact) moving_surface_rows(w, theta.data(), d.contacts, b, d.rows);
    }
    void run_adjoint() override {
        for (const RowBlock& b : s.rows.blocks)
            if (b.kind == RowKind::contact)
                moving_surface_rows_adj(w, t.theta.data(), s.kinematics, s.contacts, b, s.rows, s.bar,
                                        theta_bar.data());
    }
};

// The world's compliance and erp, or springs; time step -> compliance and erp of each unilateral row.
struct RowCompliancePass : RowsStage {
    std::vector<RowCompliance<D>> c;
    std::vector<RowCompliance<double>> c_bar;
    RowCompliancePass(Rng& g, Regime r) : RowsStage(g, r), c(s.rows.blocks.size()), c_bar(c.size()) {
        for (const ParameterSlice& slice : {w.time_step, w.erp, w.compliance})
            add_parameters(slice, 1);
        add_springs(g);
        for (size_t n = 0; n < c.size(); ++n) {
            out.add<double>(c[n].R, c_bar[n].R);
            out.add<double>(c[n].erp, c_bar[n].erp);
        }
    }
    void run_duals() override {
        for (size_t n = 0; n < c.size(); ++n)
            c[n] = row_compliance(w, theta.data(), s.rows.blocks[n].springs);
    }
    void run_adjoint() override {
        for (size_t n = 0; n < c.size(); ++n)
            row_compliance_adj(w, t.theta.data(), s.rows.blocks[n].springs, c_bar[n], theta_bar.data());
    }
};

// Jacobian, q, v, gaps, restitutions, time step, erp, compliance, springs -> biases, compliances.
struct BlockBiasPass : RowsStage {
    BlockBiasPass(Rng& g, Regime r) : RowsStage(g, r) {
        in.add_along_direction(g, [&](Inputs& all) { all.add(s.rows.J, d.rows.J, s.rows.J_bar); });
        add_what_bias_reads(g);
        out.add<double>(d.rows.beta, s.rows.beta_bar);
        out.add<double>(d.rows.recovery, s.rows.recovery_bar);
        out.add<double>(d.rows.R, s.rows.R_bar);
    }
    void run_duals() override {
        for (RowBlock& b : d.rows.blocks)
            block_bias(w, theta.data(), StateView<D>(w, x.data()), d.v_free.data(), d.contacts, b, d.rows);
    }
    void run_adjoint() override {
        for (const RowBlock& b : s.rows.blocks)
            block_bias_adj(w, t.theta.data(), state(), s.v_free.data(), b, s.contacts, s.rows, row_bars());
    }
};

struct MakeRowsPass : RowsStage {
    MakeRowsPass(Rng& g, Regime r) : RowsStage(g, r) {
        add_axes(g);
        add_frames_and_friction();
        add_what_bias_reads(g);
        out.add<double>(d.rows.J, s.rows.J_bar);
        out.add<double>(d.rows.beta, s.rows.beta_bar);
        out.add<double>(d.rows.recovery, s.rows.recovery_bar);
        out.add<double>(d.rows.R, s.rows.R_bar);
        out.add<double>(d.rows.bound, s.rows.bound_bar);
    }
    void run_duals() override {
        const StateView<D> at(w, x.data());
        find_blocks(w, theta.data(), at, d.contacts, d.rows);
        d.rows.waits = s.rows.waits;
        make_rows(w, theta.data(), at, d.v_free.data(), d.kinematics, d.contacts, d.rows);
    }
    void run_adjoint() override {
        make_rows_adj(w, t.theta.data(), state(), s.v_free.data(), s.kinematics, s.contacts, s.rows,
                      row_bars());
    }
};

}  // namespace

TEST_CASE("adjoint: contact_friction") { check_pass<ContactFrictionPass>(1e-12); }
TEST_CASE("adjoint: contact_rows") {
    check_pass<ContactRowsPass>(1e-12);
    check_pass_on_pyramids<ContactRowsPass>(1e-12);
}
TEST_CASE("adjoint: row_compliance") { check_pass<RowCompliancePass>(1e-12); }
TEST_CASE("adjoint: block_bias") { check_pass<BlockBiasPass>(1e-12); }
TEST_CASE("adjoint: make_rows") { check_pass<MakeRowsPass>(1e-12); }
TEST_CASE("adjoint: moving_surface_rows") {
    check_pass<MovingSurfacePass>(1e-12);
    check_pass_on_pyramids<MovingSurfacePass>(1e-12);
}
