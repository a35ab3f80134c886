// Damping that acts after the contacts: its operators, whole steps, and what MuJoCo's integrators do.
#include "solvers/step/late_damping.hpp"

#include "tests/support/contact_stage.hpp"
#include "tests/support/step_derivatives.hpp"
#include "tests/support/step_sensor_pass.hpp"

namespace costate::test {
namespace {

Integrator integrator = Integrator::mujoco_euler;  // of the worlds below

// A toy state by MuJoCo's law that meets something.
ToyState late_state(unsigned seed, SolverType solver = SolverType::ncp) {
    for (;; seed += 1000) {
        Settings settings = soft_sweeping(seed % 2 == 0 ? FrictionCone::pyramidal : FrictionCone::elliptic);
        settings.solver = solver;
        settings.relaxed = true;
        settings.sweeps = 300;
        settings.integrator = integrator;
        ToyState t = toy_contact_state(seed, settings);
        StepScratch<double> s(t.world);
        run_step(t, s);
        if (!s.rows.blocks.empty()) return t;
    }
}

void add(const std::vector<double>& bar, std::vector<double>& to) {
    std::ranges::transform(bar, to, to.begin(), std::plus());
}

struct LateStage : ContactStage {
    explicit LateStage(Rng& g)
        : ContactStage(late_state(static_cast<unsigned>(g.engine()) % 1000), ForwardDynamics::crba) {}
};

// Joint forces, B, v, damping of joints -> joint forces, B, D.
struct PostponeDampingPass : LateStage {
    std::vector<double> tau, B, tau_after_bar;
    std::vector<D> tau_dual, B_dual;
    PostponeDampingPass(Rng& g, Regime)
        : LateStage(g),
          tau(w.nv()),
          B(w.nv()),
          tau_after_bar(w.nv()),
          tau_dual(w.nv()),
          B_dual(w.nv()) {
        for (std::vector<double>* x : {&tau, &B})
            for (double& entry : *x)
                entry = g.normal();
        in.add(tau, tau_dual, s.tau_bar);
        in.add(B, B_dual, s.B_bar);
        add_velocity(in);
        if (integrator == Integrator::mujoco_euler) add_parameters(m.damping, w.nv());
        out.add<double>(d.tau, tau_after_bar);
        out.add<double>(d.late_damping.D, s.late_damping.D_bar);
    }
    void run_duals() override {
        d.tau = tau_dual;
        d.B = B_dual;
        postpone_damping(w, theta.data(), x.data() + w.nq(), d.tau.data(), d.B.data(), d.late_damping);
    }
    void run_adjoint() override {
        std::vector<double> tau_now = tau, B_now = B, B_bar(w.nv());
        postpone_damping(w, t.theta.data(), v(), tau_now.data(), B_now.data(), s.late_damping);
        postpone_damping_adj(w, v(), s.late_damping, tau_after_bar.data(), theta_bar.data(), v_bar(),
                             B_bar.data());
        add(tau_after_bar, s.tau_bar);
        add(B_bar, s.B_bar);
    }
};

// v, v*, M, D, time step -> v+.
struct DampLatePass : LateStage {
    std::vector<double> v_after_bar;
    DampLatePass(Rng& g, Regime) : LateStage(g), v_after_bar(w.nv()) {
        for (double& each : s.late_damping.D)
            each = g.uniform(0.5, 2);
        add_velocity(in);
        in.add(s.v_next, d.v_next, s.v_next_bar);
        in.add(M, M_dual, s.free_motion.M_bar);
        in.add(s.late_damping.D, d.late_damping.D, s.late_damping.D_bar);
        add_parameters(w.time_step, 1);
        out.add<double>(d.late_damping.v, v_after_bar);
    }
    void run_duals() override {
        factor_late(w, theta.data(), M_dual, d.late_damping);
        damp_late(w, theta.data(), x.data() + w.nq(), d.v_next.data(), d.late_damping);
    }
    void run_adjoint() override {
        factor_late(w, t.theta.data(), M, s.late_damping);
        damp_late(w, t.theta.data(), v(), s.v_next.data(), s.late_damping);
        std::vector<double> bar = v_after_bar;
        damp_late_adj(w, t.theta.data(), v(), s.late_damping, bar.data(), theta_bar.data(), v_bar(),
                      s.free_motion.M_bar.data());
        add(bar, s.v_next_bar);
    }
};

// Accelerations and forces are those of the solved velocity, before the damping.
struct LateSensorPass : StepSensorPass {
    static ToyState state(Rng& g) {
        ToyState t = late_state(static_cast<unsigned>(g.engine()) % 1000);
        const int last = static_cast<int>(t.world.model.bodies.size()) - 1;
        add_wrench_sensors(t.world, last + 1);
        for (const SensorKind kind : {SensorKind::accelerometer, SensorKind::frame_linear_acceleration,
                                      SensorKind::frame_angular_acceleration, SensorKind::contact_force})
            add_sensor(t.world, kind, last);
        return t;
    }
    LateSensorPass(Rng& g, Regime) : StepSensorPass(state(g), g) {
        for (int i = 0; i < inputs(); ++i) {
            Covector only(static_cast<size_t>(inputs()));
            only[i] = 1;
            inputs_without_effect += norm(forward(only)) == 0;
        }
    }
};

template <class Check> void for_each_integrator(const Check& check) {
    for (const Integrator each : {Integrator::mujoco_euler, Integrator::mujoco_implicitfast,
                                  Integrator::mujoco_explicit, Integrator::mujoco_rk4}) {
        CAPTURE(static_cast<int>(each));
        integrator = each;
        check();
    }
}

}  // namespace

TEST_CASE("adjoint: postpone_damping") {
    for_each_integrator([] { check_pass<PostponeDampingPass>(1e-12); });
}
TEST_CASE("adjoint: damp_late") {
    integrator = Integrator::mujoco_euler;
    check_pass<DampLatePass>(1e-12);
}

TEST_CASE("late damping: the adjoint of sensors") {
    for_each_integrator([] { check_pass<LateSensorPass>(1e-7); });
}

// All parameters, the state and the controls; by every solver.
TEST_CASE("late damping: the adjoint of a step is the transpose of its derivative by dual numbers") {
    for_each_integrator([] {
        for (const SolverType solver :
             {SolverType::pgs, SolverType::lcp, SolverType::ncp, SolverType::apgd}) {
            int compared = 0;
            for (unsigned seed = 1; seed <= 12; ++seed) {
                CAPTURE(static_cast<int>(solver));
                CAPTURE(seed);
                const ToyState t = late_state(seed, solver);
                const World& w = t.world;
                StepScratch<double> s(w);
                StepScratch<D> duals(w);
                run_step(t, s);
                Rng g(seed);
                const double error = transpose_error(t, g, s, duals);
                if (!same_branches(s, duals)) continue;
                ++compared;
                CHECK(error <= 1e-7);
            }
            CHECK(compared >= 6);
        }
    });
}

TEST_CASE("late damping: the rows of Jacobians are adjoints, also by parameters") {
    for_each_integrator([] {
        for (unsigned seed = 1; seed <= 12; ++seed) {
            CAPTURE(seed);
            const ToyState t = late_state(seed, seed % 3 == 0 ? SolverType::lcp : SolverType::ncp);
            const World& w = t.world;
            StepScratch<double> s(w);
            run_step(t, s);
            StepJacobian J(w);
            StepJacobian::Matrix by_theta;
            step_jacobian_by_adjoints(w, t.theta.data(), t.x.data(), t.u.data(), s, J, &by_theta);
            for (int i = 0; i < w.own_ndx(); ++i) {
                CAPTURE(i);
                const StepBars bars = step_bars(t, s, VecX<double>::Unit(w.ndx(), i));
                const auto agree = [](const VecX<double>& row, const VecX<double>& bar) {
                    return (row - bar).norm() <= 1e-9 * (1 + bar.norm());
                };
                CHECK(agree(J.by_x.row(i), bars.x.head(w.own_ndx())));
                CHECK(agree(J.by_u.row(i), bars.u));
                CHECK(agree(by_theta.row(i), bars.theta));
            }
        }
    });
}

// Without contact, both orders are the same: (M + h B) a = tau - c - B v.
TEST_CASE("late damping: implicitfast without rows is the semi-implicit step") {
    integrator = Integrator::mujoco_implicitfast;
    int compared = 0;
    for (unsigned seed = 1; seed <= 400; ++seed) {
        Settings settings = soft_sweeping(FrictionCone::elliptic);
        settings.gyroscopic = Gyroscopic::explicit_bias;
        ToyState before = toy_contact_state(seed, settings);
        before.x[2] += 100;
        settings.integrator = integrator;
        ToyState late = toy_contact_state(seed, settings);
        late.x[2] += 100;
        StepScratch<double> s(before.world), s_late(late.world);
        const VecX<double> next = run_step(before, s), next_late = run_step(late, s_late);
        if (!s.rows.blocks.empty() || !s_late.rows.blocks.empty()) continue;
        ++compared;
        CHECK((next - next_late).norm() <= 1e-11 * (1 + next.norm()));
    }
    CHECK(compared > 0);
}

}  // namespace costate::test
