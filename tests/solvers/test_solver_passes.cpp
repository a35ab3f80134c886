// The dot-product test of every stage of the step, and of the step itself. Other tests: of the solver in
// tests/solvers/test_pgs_pass.cpp, of the rows in tests/solvers/test_row_passes.cpp.
#include "solvers/step/step.hpp"
#include "tests/support/contact_stage.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Poses of bodies, poses of shapes in bodies -> poses of shapes.
struct ShapePosePass : ContactStage {
    std::vector<Force<double>> X_bar;
    int inputs_without_effect = 6;  // one link has no shape
    ShapePosePass(Rng& g, Regime r) : ContactStage(g, r), X_bar(s.contacts.X_CS.size()) {
        in.add(s.kinematics.X, d.kinematics.X, s.bar.X);
        for (const ParameterSlice& slice : {w.shapes.position, w.shapes.rotation})
            add_parameters(slice, static_cast<int>(w.shapes.shapes.size()));
        out.add<Transform<double>>(d.contacts.X_CS, X_bar);
    }
    void run_duals() override {
        for (size_t n = 0; n < X_bar.size(); ++n)
            d.contacts.X_CS[n] = shape_pose(w, theta.data(), d.kinematics, static_cast<int>(n));
    }
    void run_adjoint() override {
        for (size_t n = 0; n < X_bar.size(); ++n)
            shape_pose_adj(w, t.theta.data(), s.kinematics, static_cast<int>(n), s.contacts.X_CS[n], X_bar[n],
                           s.bar, theta_bar.data());
    }
};

// Poses of bodies, parameters of shapes -> contacts of the detected features.
struct MakeContactsPass : ContactStage {
    int inputs_without_effect = 0;  // bodies without contact
    int shapes() const { return static_cast<int>(w.shapes.shapes.size()); }
    MakeContactsPass(Rng& g, Regime r) : ContactStage(g, r) {
        in.add(s.kinematics.X, d.kinematics.X, s.bar.X);
        for (int body = 0; body < static_cast<int>(m.bodies.size()); ++body) {
            bool touches = false;
            for (const ContactPoint<double>& c : s.contacts.points)
                touches = touches || c.body_a == body || c.body_b == body;
            if (!touches) inputs_without_effect += 6;
        }
        for (const ParameterSlice& slice : {w.shapes.size, w.shapes.position, w.shapes.rotation,
                                            w.shapes.friction, w.shapes.restitution, w.shapes.margin})
            add_parameters_along_direction(g, slice, shapes());
        const auto any = [&](int rows, bool of_pair) {
            return std::ranges::any_of(s.contacts.points, [&](const auto& c) {
                return c.directions >= rows &&
                       (w.shapes.own_pair(c.features.a, c.features.b) >= 0) == of_pair;
            });
        };
        if (any(4, false)) add_parameters_along_direction(g, w.shapes.torsional_friction, shapes());
        if (any(6, false)) add_parameters_along_direction(g, w.shapes.rolling_friction, shapes());
        const int pairs = static_cast<int>(w.shapes.own_pairs.size());
        if (any(3, true))
            for (const ParameterSlice& slice : {w.shapes.pair_friction, w.shapes.pair_margin})
                add_parameters_along_direction(g, slice, pairs);
        if (any(4, true)) add_parameters_along_direction(g, w.shapes.pair_torsional_friction, pairs);
        for (size_t c = 0; c < s.contacts.points.size(); ++c) {
            const ContactPoint<D>& point = d.contacts.points[c];
            ContactPointBar<double>& bar = s.contacts.points_bar[c];
            out.add<Contact<double>>(point.geometry, bar.geometry);
            out.add<Tangents<double>>(point.tangents, bar.tangents);
            out.add<double>(point.friction, bar.friction);
            if (point.directions > 3) out.add<double>(point.torsional_arm, bar.torsional_arm);
            if (point.directions > 4) out.add<double>(point.rolling_arm, bar.rolling_arm);
            out.add<double>(point.restitution, bar.restitution);
        }
    }
    void run_duals() override {
        place_shapes(w, theta.data(), d.kinematics, d.contacts);
        make_contacts(w, theta.data(), d.kinematics, d.contacts);
    }
    void run_adjoint() override {
        make_contacts_adj(w, t.theta.data(), s.kinematics, s.contacts, s.bar, theta_bar.data());
    }
};

struct ContactPointPass : MakeContactsPass {
    using MakeContactsPass::MakeContactsPass;
    void run_duals() override {
        place_shapes(w, theta.data(), d.kinematics, d.contacts);
        for (ContactPoint<D>& c : d.contacts.points)
            c = contact_point(w, theta.data(), d.kinematics, d.contacts, c.features);
    }
    void run_adjoint() override {
        for (size_t c = 0; c < s.contacts.points.size(); ++c)
            contact_point_adj(w, t.theta.data(), s.kinematics, s.contacts, s.contacts.points[c],
                              s.contacts.points_bar[c], s.bar, theta_bar.data());
    }
};

// Inputs of the stages that solve with the mass matrix.
struct SolvingStage : ContactStage {
    int inputs_without_effect = 0;  // entries of M of trees without rows
    using ContactStage::ContactStage;
    void add_mass_matrix() {
        in.add(M, M_dual, s.free_motion.M_bar);
        for (int tree = 0; tree < static_cast<int>(m.trees.size()); ++tree) {
            if (std::ranges::count(s.rows.island_trees, tree) > 0) continue;
            const Tree& it = m.trees[tree];
            for (int j = it.dof_begin; j < it.dof_end; ++j)
                inputs_without_effect += m.dofs[j].depth + 1;
        }
    }
    void add_jacobian(Rng& g) {
        in.add_along_direction(g, [&](Inputs& all) { all.add(s.rows.J, d.rows.J, s.rows.J_bar); });
    }
};

// M, J, R -> A of all islands.
struct DelassusPass : SolvingStage {
    DelassusPass(Rng& g, Regime r) : SolvingStage(g, r) {
        add_mass_matrix();
        add_jacobian(g);
        in.add(s.rows.R, d.rows.R, s.rows.R_bar);
        out.add<double>(d.delassus.A, s.delassus.A_bar);
    }
    void run_duals() override {
        factor_duals();
        delassus(w, d.free_motion.M.data(), d.rows, d.delassus);
    }
    void run_adjoint() override { delassus_adj(w, L(), s.rows, s.delassus, s.free_motion.M_bar.data()); }
};

struct IslandDelassusPass : DelassusPass {
    using DelassusPass::DelassusPass;
    void run_duals() override {
        factor_duals();
        for (const Island& island : d.rows.islands)
            island_delassus(w, d.free_motion.M.data(), d.rows, island, d.delassus);
    }
    void run_adjoint() override {
        s.delassus.Y.resize(s.rows.responses_size);
        s.delassus.G.resize(s.rows.responses_size);
        for (const Island& island : s.rows.islands)
            island_delassus_adj(w, L(), s.rows, island, s.delassus, s.free_motion.M_bar.data());
    }
};

// L, D, J -> W of all islands.
struct FactoredDelassusPass : SolvingStage {
    FactoredDelassusPass(Rng& g, Regime r) : SolvingStage(g, r) {
        s.delassus.L_bar.assign(M.size(), 0);
        in.add(s.free_motion.M, d.free_motion.M, s.delassus.L_bar);
        add_jacobian(g);
        for (const Dof& dof : m.dofs)  // of dofs on no chain
            if (std::ranges::count(s.rows.chain_dof, static_cast<int>(&dof - m.dofs.data())) == 0)
                inputs_without_effect += dof.depth + 1;
        out.add<double>(d.delassus.W, s.delassus.W_bar);
    }
    void run_duals() override {
        for (const Island& island : d.rows.islands)
            factored_delassus(w, d.free_motion.M.data(), d.rows, island, d.delassus);
    }
    void run_adjoint() override {
        for (const Island& island : s.rows.islands)
            factored_delassus_adj(w, L(), s.rows, island, s.delassus);
    }
};

// M, J -> W of all islands.
struct LargeDelassusPass : SolvingStage {
    LargeDelassusPass(Rng& g, Regime r) : SolvingStage(g, r) {
        add_mass_matrix();
        add_jacobian(g);
        out.add<double>(d.delassus.W, s.delassus.W_bar);
    }
    void run_duals() override {
        factor_duals();
        delassus(w, d.free_motion.M.data(), d.rows, d.delassus);
    }
    void run_adjoint() override { delassus_adj(w, L(), s.rows, s.delassus, s.free_motion.M_bar.data()); }
};

// A, J, biases, friction, free velocity -> impulses.
struct SolveImpulsesPass : SolvingStage {
    std::vector<double> v_free_bar;
    SolveImpulsesPass(Rng& g, Regime r) : SolvingStage(g, r), v_free_bar(s.v_free.size()) {
        const auto add = [&](const auto& numbers, auto& duals, auto& bars) {
            in.add_along_direction(g, [&](Inputs& all) { all.add(numbers, duals, bars); });
        };
        if (max_dense_rows > 0)
            add(s.delassus.A, d.delassus.A, s.delassus.A_bar);
        else {
            add(s.delassus.W, d.delassus.W, s.delassus.W_bar);
            add(s.rows.R, d.rows.R, s.rows.R_bar);
        }
        add(s.rows.beta, d.rows.beta, s.rows.beta_bar);
        add(s.rows.bound, d.rows.bound, s.rows.bound_bar);
        add(s.v_free, d.v_free, v_free_bar);
        add_jacobian(g);
        out.add<double>(d.impulses.lambda, s.impulses.lambda_bar);
    }
    void run_duals() override {
        std::ranges::fill(d.impulses.lambda, D(0));
        solve_impulses(w, d.rows, d.delassus, d.v_free.data(), d.v_free.data(), d.impulses);
    }
    void run_adjoint() override {
        solve_impulses_adj(s.rows, s.delassus, s.v_free.data(), s.impulses, v_free_bar.data());
    }
};

// M, J, impulses -> velocity from the impulses.
struct ApplyImpulsesPass : SolvingStage {
    std::vector<double> dv_bar;
    ApplyImpulsesPass(Rng& g, Regime r) : SolvingStage(g, r), dv_bar(s.impulses.dv.size()) {
        for (double& lambda : s.impulses.lambda)
            lambda += g.around_zero(r);
        add_mass_matrix();
        add_jacobian(g);
        in.add(s.impulses.lambda, d.impulses.lambda, s.impulses.lambda_bar);
        out.add<double>(d.impulses.dv, dv_bar);
    }
    void run_duals() override {
        factor_duals();
        for (const RowBlock& b : d.rows.blocks)
            half_solve_block(w, d.free_motion.M.data(), d.rows, b, d.delassus);
        apply_impulses(w, d.free_motion.M.data(), d.rows, d.delassus, d.impulses);
    }
    void run_adjoint() override {
        apply_impulses(w, L(), s.rows, s.delassus, s.impulses);
        apply_impulses_adj(w, L(), s.rows, s.impulses, dv_bar.data(), s.free_motion.M_bar.data());
    }
};

// S, I, armature, time step, damping -> M + h B.
struct MassMatrixPass : ContactStage {
    // mass and first moment of a body turning about a fixed axis
    static constexpr int inputs_without_effect = 4;
    MassMatrixPass(Rng& g, Regime r) : ContactStage(g, r) {
        in.add(s.kinematics.S, d.kinematics.S, s.bar.S);
        in.add(s.kinematics.I, d.kinematics.I, s.bar.I);
        in.add(s.B, d.B, s.B_bar);
        add_parameters(m.armature, m.nv);
        add_parameters(w.time_step, 1);
        out.add<double>(M_dual, s.free_motion.M_bar);
    }
    void run_duals() override {
        mass_matrix(w, theta.data(), d.kinematics, d.B.data(), d.free_motion, d.late_damping);
        const std::vector<D> unfactored_now = unfactored(m, d.free_motion.M);
        std::copy(unfactored_now.begin(), unfactored_now.end(), M_dual.begin());
    }
    void run_adjoint() override {
        mass_matrix_adj(w, t.theta.data(), s.kinematics, s.B.data(), s.free_motion, s.bar, theta_bar.data(),
                        s.B_bar.data());
    }
};

// S, V, I, v, joint forces, damping, gravity, armature, time step -> accelerations without impulses, through
// the factor of the mass matrix if the dynamics use it.
template <ForwardDynamics dynamics> struct FreeAccelerationPass : ContactStage {
    // translational velocities of the three free roots, which are undamped; mass and first moment along
    // gravity of the first link
    static constexpr int inputs_without_effect = 3 * 3 + 2;
    FreeAccelerationPass(Rng& g, Regime r) : ContactStage(g, r, dynamics) {
        in.add(s.kinematics.S, d.kinematics.S, s.bar.S);
        in.add(s.kinematics.V, d.kinematics.V, s.bar.V);
        in.add(s.kinematics.I, d.kinematics.I, s.bar.I);
        in.add(s.tau, d.tau, s.tau_bar);
        in.add(s.B, d.B, s.B_bar);
        add_velocity(in);
        add_parameters(m.gravity, 1);
        add_parameters(m.armature, m.nv);
        add_parameters(w.time_step, 1);
        out.add<double>(d.free_motion.a, s.free_motion.a_bar);
    }
    void run_duals() override {
        if (dynamics == ForwardDynamics::crba)
            mass_matrix(w, theta.data(), d.kinematics, d.B.data(), d.free_motion, d.late_damping);
        free_acceleration(w, theta.data(), d.kinematics, x.data() + w.nq(), d.tau.data(), d.B.data(),
                          d.free_motion);
    }
    void run_adjoint() override {
        free_acceleration_adj(w, t.theta.data(), s.kinematics, v(), s.B.data(), s.free_motion, s.bar,
                              theta_bar.data(), v_bar(), s.tau_bar.data(), s.B_bar.data());
        if (dynamics == ForwardDynamics::aba) return;
        mass_matrix_adj(w, t.theta.data(), s.kinematics, s.B.data(), s.free_motion, s.bar, theta_bar.data(),
                        s.B_bar.data());
    }
};

// All parameters, each kind along a direction, state and controls -> next state, and the other results of a
// step that an objective may read.
template <ForwardDynamics dynamics> struct StepPass : ContactStage {
    StepPass(Rng& g, Regime r) : ContactStage(g, r, dynamics) {
        add_configuration(in);
        add_velocity(in);
        in.add_along_direction(g, [&](Inputs& all) { add_controls(all); });
        const int bodies = static_cast<int>(m.bodies.size()),
                  shapes = static_cast<int>(w.shapes.shapes.size());
        for (const auto& slice : {m.mass, m.com, m.inertia, m.placement, m.rotation, m.axis_rotation})
            add_parameters_along_direction(g, slice, bodies);
        for (const auto& slice : {m.damping, m.armature, m.stiffness, m.rest})
            add_parameters_along_direction(g, slice, m.nv);
        for (const auto& slice : {m.actuator.gear, m.actuator.kp, m.actuator.kd})
            add_parameters_along_direction(g, slice, m.nu);
        add_limits_and_actuator_limits(g);
        for (const auto& slice : {m.gravity, w.time_step, w.compliance, w.erp, w.slop})
            add_parameters(slice, 1);
        for (const auto& slice : {w.shapes.size, w.shapes.position, w.shapes.rotation, w.shapes.friction,
                                  w.shapes.restitution, w.shapes.margin})
            add_parameters_along_direction(g, slice, shapes);
        add_springs(g);
        add_next_state();
        add_poses_and_velocities();
        out.add<double>(d.impulses.lambda, s.impulses.lambda_bar);
        for (size_t c = 0; c < s.contacts.points.size(); ++c) {
            out.add<double>(d.contacts.points[c].geometry.gap, s.contacts.points_bar[c].geometry.gap);
            out.add<Vec3<double>>(d.contacts.points[c].geometry.normal,
                                  s.contacts.points_bar[c].geometry.normal);
        }
    }
    void run_duals() override { step(w, {theta.data(), x.data(), u.data()}, d, x_next.data()); }
    void run_adjoint() override {
        step_adj(w, {t.theta.data(), t.x.data(), t.u.data()}, s, x_next_bar.data(),
                 {theta_bar.data(), x_bar.data(), u_bar.data()});
    }
};

// Placements and rotations of joints, state -> poses and velocities.
struct ObservePass : ContactStage {
    ObservePass(Rng& g, Regime r) : ContactStage(g, r) {
        add_configuration(in);
        add_velocity(in);
        add_parameters(m.placement, static_cast<int>(m.bodies.size()));
        add_parameters(m.rotation, static_cast<int>(m.bodies.size()));
        add_poses_and_velocities();
    }
    void run_duals() override { observe(w, theta.data(), x.data(), d); }
    void run_adjoint() override {
        observe_adj(w, t.theta.data(), t.x.data(), s, theta_bar.data(), x_bar.data());
    }
};

}  // namespace

TEST_CASE("adjoint: shape_pose") { check_pass<ShapePosePass>(1e-12); }
TEST_CASE("adjoint: contact_point") {
    check_pass<ContactPointPass>(1e-12);
    check_pass_on_pyramids<ContactPointPass>(1e-12);
}
TEST_CASE("adjoint: make_contacts") { check_pass<MakeContactsPass>(1e-12); }
TEST_CASE("adjoint: island_delassus") { check_pass<IslandDelassusPass>(1e-11); }
TEST_CASE("adjoint: delassus") { check_pass<DelassusPass>(1e-11); }
TEST_CASE("adjoint: solve_impulses") { check_pass<SolveImpulsesPass>(1e-11); }
TEST_CASE("adjoint: large islands") {
    ContactStage::max_dense_rows = 0;
    check_pass<FactoredDelassusPass>(1e-11);
    check_pass<LargeDelassusPass>(1e-11);
    check_pass<SolveImpulsesPass>(1e-11);
    check_pass<StepPass<ForwardDynamics::crba>>(1e-11);
    ContactStage::max_dense_rows = Settings().max_dense_rows;
}
TEST_CASE("adjoint: apply_impulses") { check_pass<ApplyImpulsesPass>(1e-11); }
TEST_CASE("adjoint: mass_matrix") { check_pass<MassMatrixPass>(1e-12); }
TEST_CASE("adjoint: free_acceleration by CRBA") {
    check_pass<FreeAccelerationPass<ForwardDynamics::crba>>(1e-11);
}
TEST_CASE("adjoint: free_acceleration by ABA") {
    check_pass<FreeAccelerationPass<ForwardDynamics::aba>>(1e-10);
}
TEST_CASE("adjoint: step by CRBA") { check_pass<StepPass<ForwardDynamics::crba>>(1e-11); }
TEST_CASE("adjoint: step by ABA") { check_pass<StepPass<ForwardDynamics::aba>>(1e-11); }
TEST_CASE("adjoint: observe") { check_pass<ObservePass>(1e-12); }
