// Activations of actuators: the dot-product tests of their passes and of a step with sensors, and the Jacobian of a step.
#include "core/dynamics/activation.hpp"

#include <set>

#include "solvers/step/jacobian.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/step_sensor_pass.hpp"
#include "tests/support/toy_models.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr ActivationType all_types[] = {ActivationType::integrator, ActivationType::filter,
                                        ActivationType::exact_filter, ActivationType::muscle};

// A chain of joints, and for each type of dynamics an actuator within its limits, one with its control beyond them and
// one with its activation beyond them, the first of them early; muscles that go over from rise to fall; and a motor.
Model activated_model(Rng& g) {
    ModelBuilder builder;
    for (int i = 0; i < 3; ++i)
        builder.add_body(random_body(g, i, i - 1, JointType::revolute));
    const auto add = [&](ActuatorSpec a) {
        a.name = "actuator" + std::to_string(g.engine());
        a.body = static_cast<int>(g.engine() % 3);
        a.gear = g.uniform(0.5, 2);
        a.kp = 3;
        a.kd = 0.2;
        builder.add_actuator(a);
    };
    const ActuatorType laws[] = {ActuatorType::motor, ActuatorType::servo, ActuatorType::thruster};
    ActuatorSpec flexor;
    flexor.type = ActuatorType::muscle;
    flexor.muscle = {2, {-2, 2}, {0.7, 1.3}};
    flexor.activation = {ActivationType::muscle, {0.02, 0.05}};
    add({});
    add(flexor);
    for (const ActivationType type : all_types)
        for (int side = 0; side < 3; ++side) {
            ActuatorSpec a;
            a.type = laws[side];
            a.activation = {type, {g.uniform(0.05, 0.2), g.uniform(0.1, 0.3)}};
            a.control_lower = side == 1 ? 3 : -5;
            a.control_upper = 8;
            a.activation->lower = side == 2 ? 4 : -6;
            a.activation->upper = 9;
            a.activation->early = side == 0;
            add(a);
        }
    for (const double most : {-2.0, 0.3, 5.0}) {
        ActuatorSpec a;
        a.activation = {ActivationType::muscle, {0.1, 0.2}, g.uniform(3, 4), most < 1};
        a.control_lower = -5;
        a.control_upper = most;
        add(a);
    }
    return builder.build();
}

// The numbers of a muscle, length and rate on every piece of its curves -> forces.
struct MusclePass : StagePass {
    std::vector<double> p, p_bar;
    std::vector<D> p_dual;
    std::vector<double> length, rate, length_bar, rate_bar, force, force_bar;
    std::vector<D> length_dual, rate_dual, force_dual;
    MusclePass(Rng& g, Regime r)
        : p{3, -0.5, 1.5, 0.6, 1.2, 0.5 + 0.05 * g.normal(), 1.6 + 0.05 * g.normal(), 1.5, 1.3, 1.25} {
        p_bar.resize(p.size());
        p_dual.resize(p.size());
        const double L_0 =
            (p[MuscleAt::longest] - p[MuscleAt::shortest]) / (p[MuscleAt::range_1] - p[MuscleAt::range_0]);
        std::set<std::pair<int, int>> pieces;
        for (const double L : {0.3, 0.65, 0.9, 1.15, 1.45, 1.9})
            for (const double V : {-1.3, -0.4, 0.1, 0.6}) {
                length.push_back(p[MuscleAt::shortest] + (L - p[MuscleAt::range_0]) * L_0 +
                                 1e-3 * g.around_zero(r));
                rate.push_back(V * L_0 * p[MuscleAt::vmax] + 1e-3 * g.around_zero(r));
                const MusclePiece piece = muscle_piece(p.data(), length.back(), rate.back());
                pieces.insert({piece.length, piece.speed});
            }
        REQUIRE(pieces.size() == 24);
        length_bar.resize(length.size());
        rate_bar = length_bar;
        force_bar.resize(2 * length.size());
        length_dual.resize(length.size());
        rate_dual = length_dual;
        force_dual.resize(force_bar.size());
        in.add(p, p_dual, p_bar);
        in.add_along_direction(g, [&](Inputs& all) { all.add(length, length_dual, length_bar); });
        in.add_along_direction(g, [&](Inputs& all) { all.add(rate, rate_dual, rate_bar); });
        out.add<double>(force_dual, force_bar);
    }
    void run_duals() override {
        for (size_t i = 0; i < length.size(); ++i) {
            const MuscleForce<D> f = muscle_force(p_dual.data(), length_dual[i], rate_dual[i]);
            force_dual[2 * i] = f.active;
            force_dual[2 * i + 1] = f.passive;
        }
    }
    void run_adjoint() override {
        for (size_t i = 0; i < length.size(); ++i)
            muscle_force_adj(p.data(), length[i], rate[i], {force_bar[2 * i], force_bar[2 * i + 1]},
                             p_bar.data(), length_bar[i], rate_bar[i]);
    }
};

// Parameters, time step, activations and controls -> the next activations, and what the force laws read.
struct ActivationPass : StagePass {
    Model m;
    VecX<double> theta, theta_bar;
    VecX<D> theta_dual;
    double h = 0.01, h_bar = 0;
    D h_dual;
    std::vector<double> w, u, w_bar, u_bar, next_bar, inputs_bar;
    std::vector<D> w_dual, u_dual, next_dual, inputs_dual;
    std::vector<ActivationSides<double>> sides;
    ActivationPass(Rng& g, Regime r)
        : m(activated_model(g)),
          theta(m.layout.nominal()),
          theta_bar(VecX<double>::Zero(theta.size())),
          theta_dual(theta.cast<D>()),
          sides(m.activations.size()) {
        for (size_t k = 0; k < sides.size(); ++k)
            w.push_back(g.around_zero(r));
        for (int n = 0; n < m.nu; ++n)
            u.push_back(1 + g.uniform(0, 1) + g.around_zero(r));
        w_bar.resize(w.size());
        w_dual.resize(w.size());
        next_bar = w_bar;
        next_dual = w_dual;
        u_bar.resize(u.size());
        u_dual.resize(u.size());
        inputs_bar = u_bar;
        inputs_dual = u_dual;
        in.add(w, w_dual, w_bar);
        in.add_along_direction(g, [&](Inputs& all) { all.add(u, u_dual, u_bar); });
        in.add(h, h_dual, h_bar);
        in.add_along_direction(g, [&](Inputs& all) {
            all.add(theta.data(), theta_dual.data(), theta_bar.data(), static_cast<int>(theta.size()));
        });
        out.add<double>(next_dual, next_bar);
        out.add<double>(inputs_dual, inputs_bar);
        std::vector<double> next(w.size());
        step_activations(m, theta.data(), h, w.data(), u.data(), sides.data(), next.data());
        // all cases occur
        int controls = 0, ranges = 0;
        std::set<MuscleTime> times;
        for (size_t k = 0; k < sides.size(); ++k) {
            controls += !sides[k].control.within();
            ranges += !sides[k].range.within();
            if (m.activations[k].type == ActivationType::muscle) times.insert(sides[k].time);
        }
        REQUIRE((controls >= 3 && ranges >= 3 && controls + ranges < static_cast<int>(sides.size())));
        REQUIRE((times.contains(MuscleTime::rise) && times.contains(MuscleTime::between)));
    }
    void run_duals() override {
        std::vector<ActivationSides<D>> unused(sides.size());
        step_activations(m, theta_dual.data(), h_dual, w_dual.data(), u_dual.data(), unused.data(),
                         next_dual.data());
        std::vector<D> room(inputs_dual.size());
        std::copy_n(force_inputs(m, theta_dual.data(), h_dual, w_dual.data(), u_dual.data(), room.data()),
                    m.nu, inputs_dual.begin());
    }
    void run_adjoint() override {
        force_inputs_adj(m, theta.data(), h, w.data(), u.data(), inputs_bar.data(), theta_bar.data(), h_bar,
                         w_bar.data(), u_bar.data());
        step_activations_adj(m, theta.data(), h, w.data(), u.data(), sides.data(), next_bar.data(),
                             theta_bar.data(), h_bar, w_bar.data(), u_bar.data());
    }
};

ToyState activated_state(Rng& g, Regime r, const Settings& settings = Settings()) {
    Model m = activated_model(g);
    ShapeSet none = build_shapes(m, {});
    ToyState t{World(std::move(m), std::move(none), settings), {}, {}, {}};
    const World& w = t.world;
    t.theta = w.model.layout.nominal();
    t.x.setZero(w.nx());
    t.x.head(w.own_nx()) << random_configuration(w.model, g, r), random_vector(w.nv(), g, r),
        random_vector(w.na(), g, r);
    t.u = VecX<double>::Constant(w.nu(), 0.5) + 0.05 * random_vector(w.nu(), g, r);
    return t;
}

// A step with sensors of the forces of actuators, joints and bodies.
struct ActivationStepPass : StepSensorPass {
    static ToyState world(Rng& g, Regime r) {
        ToyState t = activated_state(g, r);
        for (int n = 0; n < t.world.nu(); ++n)
            add_sensor(t.world, SensorKind::actuator_force, -1, n);
        for (int body = 0; body < 3; ++body) {
            add_sensor(t.world, SensorKind::joint_effort, body);
            add_sensor(t.world, SensorKind::force, body);
        }
        return t;
    }
    // without effect: controls beyond their limits, and those whose activations are beyond theirs
    ActivationStepPass(Rng& g, Regime r) : StepSensorPass(world(g, r), g, 10) {}
};

}  // namespace

TEST_CASE("adjoint: muscle_force") { check_pass<MusclePass>(1e-12); }
TEST_CASE("adjoint: muscle_rate, free_activation, next_activation, step_activations, force_inputs") {
    check_pass<ActivationPass>(1e-12);
}
TEST_CASE("adjoint: a step with activations, with sensors") { check_pass<ActivationStepPass>(1e-11); }

TEST_CASE("activations: the Jacobian of a step is that of forward mode and of whole states") {
    for (const Regime r : {Regime::neutral, Regime::random}) {
        Rng g(5);
        const ToyState t = activated_state(g, r);
        const World& w = t.world;
        StepScratch<double> s(w);
        run_step(t, s);
        StepJacobian J(w), by_adjoints(w);
        StepJacobian::Matrix by_theta, whole_x, whole_u, whole_theta;
        step_jacobian(w, t.theta.data(), t.x.data(), t.u.data(), s, J);
        step_jacobian_by_adjoints(w, t.theta.data(), t.x.data(), t.u.data(), s, by_adjoints, &by_theta);
        state_jacobian(w, t.theta.data(), t.x.data(), t.u.data(), s, whole_x, whole_u, whole_theta);
        CHECK(apart(J.by_x, whole_x) < 1e-13);
        CHECK(apart(J.by_u, whole_u) < 1e-13);
        CHECK(apart(by_adjoints.by_x, whole_x) < 1e-13);
        CHECK(apart(by_theta, whole_theta) < 1e-13);
        TangentStep tangent(w);
        VecX<double> d = VecX<double>::Zero(w.ndx()), none_u = VecX<double>::Zero(w.nu()),
                     none = VecX<double>::Zero(w.np()), column(w.ndx());
        for (int i = 0; i < w.ndx(); ++i) {
            d[i] = 1;
            step_jvp(w, t.theta.data(), t.x.data(), t.u.data(), none.data(), d.data(), none_u.data(), tangent,
                     column.data());
            d[i] = 0;
            CHECK((column - whole_x.col(i)).cwiseAbs().maxCoeff() <
                  1e-11 * std::max(1.0, whole_x.cwiseAbs().maxCoeff()));
        }
    }
}
