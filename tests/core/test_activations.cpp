// Activations of actuators: the dot-product test, closed forms, gradients, Jacobians, lanes and batches.
#include "core/dynamics/activation.hpp"

#include <set>

#include "adjoint/batch/batch.hpp"
#include "adjoint/check/gradcheck.hpp"
#include "adjoint/expectation/environment.hpp"
#include "adjoint/objective/objective.hpp"
#include "solvers/step/jacobian.hpp"
#include "solvers/step/lane_step.hpp"
#include "tests/support/scene_text.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/step_sensor_pass.hpp"
#include "tests/support/toy_models.hpp"
#include "tests/support/walk.hpp"

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
    std::vector<ActivationSides> sides;
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
            controls += sides[k].control != Side::within;
            ranges += sides[k].range != Side::within;
            if (m.activations[k].type == ActivationType::muscle) times.insert(sides[k].time);
        }
        REQUIRE((controls >= 3 && ranges >= 3 && controls + ranges < static_cast<int>(sides.size())));
        REQUIRE((times.contains(MuscleTime::rise) && times.contains(MuscleTime::between)));
    }
    void run_duals() override {
        std::vector<ActivationSides> unused(sides.size());
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
        const auto add = [&](SensorKind kind, int body, int actuator) {
            Sensor sensor;
            sensor.name = "y" + std::to_string(t.world.sensors.size());
            sensor.kind = kind;
            sensor.body = body;
            sensor.actuator = actuator;
            t.world.add_sensor(sensor);
        };
        for (int n = 0; n < t.world.nu(); ++n)
            add(SensorKind::actuator_force, -1, n);
        for (int body = 0; body < 3; ++body) {
            add(SensorKind::joint_effort, body, -1);
            add(SensorKind::force, body, -1);
        }
        return t;
    }
    // without effect: controls beyond their limits, and those whose activations are beyond theirs
    ActivationStepPass(Rng& g, Regime r) : StepSensorPass(world(g, r), g, 10) {}
};

// A cart of 2 kg on a rail under a motor with dynamics.
Scene cart(const std::string& dynamics, const std::string& more = "", int steps = 100) {
    return scene_from_json(
        parse_json(R"({"steps": )" + std::to_string(steps) +
                       R"(, "time_step": 0.01, "models": [{"name": "m", "model": {
        "bodies": [{"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0], "damping": 0.3}, "mass": 2, "inertia": [0, 0, 0, 0, 0, 0]}],
        "actuators": [{"name": "force", "joint": "cart", "type": "motor", "control_limits": [-1, 1], "dynamics": )" +
                       dynamics + R"(}]}}], "controls": [{"actuators": ["*"], "initial": 0.8}])" + more + "}",
                   "cart"),
        "cart.json");
}

// An arm of three links on the ground, with an actuator of each type of dynamics. slopes: one gain has slopes; without,
// the muscle drives a tendon
Scene arm(const std::string& more = "", bool slopes = true) {
    return scene_from_json(
        parse_json(
            R"({"steps": 60, "time_step": 0.005, "ground": {"friction": 0.5}, "models": [{"name": "m",
            "position": [0, 0, 0.1], "model": {"bodies": [
            {"name": "base", "joint": {"type": "free"}, "mass": 3, "inertia": [0.03, 0.04, 0.05, 0.001, 0.002, 0.001],
             "shapes": [{"type": "box", "half_extents": [0.2, 0.2, 0.1]}]},
            {"name": "a", "parent": "base", "joint": {"type": "revolute", "axis": [0, 1, 0], "position": [0.1, 0, 0.1], "damping": 0.05},
             "mass": 0.5, "com": [0.1, 0, 0.02], "inertia": [0.004, 0.005, 0.006, 0, 0.0002, 0]},
            {"name": "b", "parent": "a", "joint": {"type": "revolute", "axis": [0, 1, 0.2], "position": [0.2, 0, 0], "damping": 0.05},
             "mass": 0.4, "com": [0.1, 0, 0.02], "inertia": [0.004, 0.005, 0.006, 0, 0.0002, 0]},
            {"name": "c", "parent": "b", "joint": {"type": "prismatic", "axis": [1, 0, 0], "position": [0.2, 0, 0], "damping": 1},
             "mass": 0.3, "com": [0.1, 0, 0.02], "inertia": [0.004, 0.005, 0.006, 0, 0.0002, 0]}],
            "tendons": [{"name": "t", "joints": [{"joint": "a", "coefficient": 0.3}, {"joint": "b", "coefficient": 1}]}],
            "actuators": [
            {"name": "i", "joint": "a", "type": "servo", "kp": 5, "kd": 0.2, "control_limits": [-1, 1], "dynamics": {"type": "integrator", "limits": [-0.4, 0.4]}},
            {"name": "f", "joint": "b", "type": "general", "gain": 2, "bias": [0.1, -1, 0.05])" +
                std::string(slopes ? R"(, "gain_slopes": [0.3, -0.1])" : "") + R"(,
             "dynamics": {"type": "filter", "time_constant": 0.04}},
            {"name": "e", "joint": "c", "type": "motor", "gear": 2, "dynamics": {"type": "exact_filter", "time_constant": 0.02, "early": true}},
            {"name": "plain", "joint": "c", "type": "motor"},
            {"name": "m", )" +
                std::string(slopes ? R"("joint": "b")" : R"("tendon": "t")") +
                R"(, "type": "muscle", "gear": 0.9, "muscle": {"force": 3, "length_range": [-1.5, 0.8], "range": [0.6, 1.3]},
             "dynamics": {"type": "muscle", "rise_time": 0.03, "fall_time": 0.08, "switch_width": 1.2}}]}}],
        "initial": {"joints": {"m/a": 0.2, "m/b": -0.5}, "velocities": {"m/a": 1},
                    "activations": {"m/f": 0.4, "m/e": -0.3, "m/m": 0.3}, "optimize": {"activations": ["m/f", "m/i"]}},
        "controls": [{"actuators": ["m/i"], "schedule": [[0, 3], [0.15, 0.2], [0.3, -0.5]]},
                     {"actuators": ["m/f", "m/e", "m/plain", "m/m"], "initial": 0.5, "optimize": {"knots": 5}}],
        "parameters": [{"path": "actuators/m/f/time_constant", "optimize": true}],
        "objective": [{"term": "position", "body": "m/c", "point": [0.1, 0.2, 0.3], "target": [1, 0.5, 2]},
                      {"term": "velocity", "body": "m/c", "target": [1, 0, 1]}])" +
                more + "}",
            "arm"),
        "arm.json");
}

double distance(const StepJacobian::Matrix& A, const StepJacobian::Matrix& B) {
    return (A - B).cwiseAbs().maxCoeff() / std::max(1.0, B.cwiseAbs().maxCoeff());
}

}  // namespace

TEST_CASE("adjoint: muscle_force") { check_pass<MusclePass>(1e-12); }
TEST_CASE("adjoint: muscle_rate, free_activation, next_activation, step_activations, force_inputs") {
    check_pass<ActivationPass>(1e-12);
}
TEST_CASE("adjoint: a step with activations, with sensors") { check_pass<ActivationStepPass>(1e-11); }

TEST_CASE("activations: the closed forms of a constant control, which forces read a step later") {
    static constexpr double h = 0.01, T = 0.05, c = 0.8;
    struct Case {
        const char* dynamics;
        double (*after)(int n);
    };
    for (const Case& each : {Case{R"({"type": "integrator"})", [](int n) { return n * h * c; }},
                             Case{R"({"type": "filter", "time_constant": 0.05})",
                                  [](int n) { return c * (1 - std::pow(1 - h / T, n)); }},
                             Case{R"({"type": "exact_filter", "time_constant": 0.05})",
                                  [](int n) { return c * (1 - std::exp(-n * h / T)); }}}) {
        CAPTURE(each.dynamics);
        const Scene s = cart(each.dynamics);
        double v = 0;
        int t = 0;
        const VecX<double> last = walk(s, 100, [&](const VecX<double>& x, const StepScratch<double>&) {
            CHECK(x[1] == doctest::Approx(v).epsilon(1e-13));
            CHECK(x[2] == doctest::Approx(each.after(t)).epsilon(1e-13));
            v = (2 * v + h * each.after(t++)) / (2 + h * 0.3);  // damping is implicit
        });
        CHECK(last[2] == doctest::Approx(each.after(100)).epsilon(1e-13));
    }
}

TEST_CASE("activations: limits bound the control and the activation, each with its derivative") {
    const Scene s = cart(R"({"type": "integrator", "limits": [-0.5, 0.25]})",
                         R"(, "initial": {"activations": {"m/force": 0.2}})");
    VecX<double> u(1);
    const auto next_by = [&](double control, int entry) {
        StepScratch<double> scratch(s.world);
        VecX<double> next(3), theta_bar = VecX<double>::Zero(s.world.np()), x_bar = VecX<double>::Zero(3),
                              u_bar(1);
        u[0] = control;
        u_bar[0] = 0;
        step(s.world, s.theta.data(), s.x0.data(), u.data(), scratch, next.data());
        scratch.clear_bars();
        const VecX<double> next_bar = VecX<double>::Unit(3, 2);
        step_adj(s.world, s.theta.data(), s.x0.data(), u.data(), scratch, next_bar.data(), theta_bar.data(),
                 x_bar.data(), u_bar.data());
        const auto by = [&](const char* path) {
            return theta_bar[s.world.model.layout.find(path)->offset + 1];
        };
        return std::array{next[2], u_bar[0], x_bar[2], by("actuators/m/force/control_limits"),
                          by("actuators/m/force/activation_limits")}[static_cast<size_t>(entry)];
    };
    CHECK(next_by(0.5, 0) == 0.2 + 0.01 * 0.5);
    CHECK((next_by(0.5, 1) == 0.01 && next_by(0.5, 2) == 1 && next_by(0.5, 3) == 0));
    CHECK(next_by(7, 0) == 0.2 + 0.01);  // at most 1
    CHECK((next_by(7, 1) == 0 && next_by(7, 3) == 0.01 && next_by(7, 4) == 0));
    const Scene full = cart(R"({"type": "integrator", "limits": [-0.5, 0.25]})",
                            R"(, "initial": {"activations": {"m/force": 0.249}})");
    CHECK(walk(full, 3)[2] == 0.25);
}

TEST_CASE(
    "activations: the gradient of a rollout is that of central differences, by every schedule the same") {
    for (const char* solver : {"pgs", "ncp"}) {
        CAPTURE(solver);
        const Scene s = arm(std::string(R"(, "solver": {"type": ")") + solver + R"("})");
        REQUIRE(s.world.na() == 4);
        CHECK(s.initial_state == std::vector<int>{18, 19});
        Simulation simulation(s.world, s.objective);
        Rollout<Simulation> rollout(simulation, s.plan, s.steps);
        GradcheckOptions options;
        options.optimized = s.parameters;
        const GradcheckReport r = gradcheck(rollout, s.theta, s.x0, s.z0, options);
        for (const GradcheckKind& kind : {r.controls, r.initial_state, r.parameters, r.optimized}) {
            CAPTURE(kind.worst);
            CHECK((kind.checked() && kind.max_relative_error < 1e-6));
        }
        CHECK(r.initial_state.stencils == s.world.own_ndx() + options.directions);
        Gradient all, few;
        rollout.forward(s.theta, s.x0, s.z0);
        rollout.backward(s.theta, s.z0, all);
        Rollout<Simulation> sparse(simulation, s.plan, Schedule::binomial(s.steps, 3));
        sparse.forward(s.theta, s.x0, s.z0);
        sparse.backward(s.theta, s.z0, few);
        CHECK((all.controls == few.controls && all.initial_state == few.initial_state &&
               all.parameters == few.parameters));
    }
}

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
        CHECK(distance(J.by_x, whole_x) < 1e-13);
        CHECK(distance(J.by_u, whole_u) < 1e-13);
        CHECK(distance(by_adjoints.by_x, whole_x) < 1e-13);
        CHECK(distance(by_theta, whole_theta) < 1e-13);
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

TEST_CASE(
    "activations: the closed form of the Jacobian is that of adjoints, with contacts, muscles and tendons") {
    for (const char* solver : {"lcp", "ncp"}) {
        CAPTURE(solver);
        const Scene s = arm(std::string(R"(, "solver": {"type": ")") + solver + R"("})", false);
        const World& w = s.world;
        StepScratch<double> scratch(w);
        StepJacobian J(w), chosen(w), by_adjoints(w);
        const std::vector<int> some{1, 7, 18, 21, 23, 26};
        int contacts = 0, compared = 0;
        walk(s, s.steps, [&](const VecX<double>& x, const StepScratch<double>&) {
            VecX<double> u(w.nu()), next(w.nx());
            u << 0.3, 0.5, -0.4, 0.2, 0.6;
            step(w, s.theta.data(), x.data(), u.data(), scratch, next.data());
            contacts += !scratch.rows.blocks.empty();
            J.response.resize(0, 0);
            step_jacobian(w, s.theta.data(), x.data(), u.data(), scratch, J);
            if (J.response.size() == 0) return;  // not by the closed form
            ++compared;
            step_jacobian(w, s.theta.data(), x.data(), u.data(), scratch, chosen, nullptr, &some);
            step_jacobian_by_adjoints(w, s.theta.data(), x.data(), u.data(), scratch, by_adjoints);
            CHECK(distance(J.by_x, by_adjoints.by_x) < 1e-9);
            CHECK(distance(J.by_u, by_adjoints.by_u) < 1e-9);
            for (const int column : some) {
                const int own = w.own_ndx();
                if (column < own)
                    CHECK(chosen.by_x.col(column) == J.by_x.col(column));
                else
                    CHECK(chosen.by_u.col(column - own) == J.by_u.col(column - own));
            }
        });
        CAPTURE(contacts);
        CAPTURE(compared);
        CHECK((contacts > 30 && compared > 55));
    }
}

TEST_CASE("activations: lanes and batches have the bits of single steps") {
    const Scene s = arm();
    const World& w = s.world;
    constexpr int n_env = 6, substeps = 4;
    Batch batch(w, s.theta, s.x0, {.n_env = n_env, .threads = 1, .substeps = substeps});
    VecX<double> x = s.x0.replicate(n_env, 1), u(n_env * w.nu()), next(x.size());
    for (int i = 0; i < u.size(); ++i)
        u[i] = 0.3 * std::sin(i);
    for (int e = 0; e < n_env; ++e)
        x[e * w.nx() + w.nq() + w.nv() + 1] = 0.1 * e;
    REQUIRE(batch.step(x.data(), u.data(), next.data()) == 0);
    StepScratch<double> scratch(w);
    for (int e = 0; e < n_env; ++e) {
        VecX<double> one = x.segment(e * w.nx(), w.nx()), after(w.nx());
        for (int k = 0; k < substeps; ++k, one.swap(after))
            step(w, s.theta.data(), one.data(), u.data() + e * w.nu(), scratch, after.data());
        CHECK(one == next.segment(e * w.nx(), w.nx()));
    }
    const auto lanes = make_lane_step(w);
    if (lanes == nullptr) return;
    const int width = lanes->width();
    std::vector<const double*> theta(static_cast<size_t>(width), s.theta.data());
    lanes->set_parameters(theta.data());
    VecX<double> lane_x(w.nx() * width), lane_u(w.nu() * width), lane_next(lane_x.size());
    for (int i = 0; i < width; ++i) {
        for (int k = 0; k < w.nx(); ++k)
            lane_x[k * width + i] = s.x0[k];
        for (int k = 0; k < w.nu(); ++k)
            lane_u[k * width + i] = 0.5 + 0.1 * i / width;
    }
    REQUIRE(lanes->step(lane_x.data(), lane_u.data(), lane_next.data()));
    VecX<double> bars(w.ndx() * width), theta_bar = VecX<double>::Zero(w.np() * width),
                                        x_bar = VecX<double>::Zero(bars.size()),
                                        u_bar = VecX<double>::Zero(lane_u.size());
    for (int i = 0; i < bars.size(); ++i)
        bars[i] = std::cos(i);
    REQUIRE(lanes->step_adj(lane_x.data(), lane_u.data(), bars.data(), theta_bar.data(), x_bar.data(),
                            u_bar.data()));
    for (int i = 0; i < width; ++i) {
        const auto lane = [&](const VecX<double>& all) {
            VecX<double> one(all.size() / width);
            for (Eigen::Index k = 0; k < one.size(); ++k)
                one[k] = all[k * width + i];
            return one;
        };
        const VecX<double> own_u = lane(lane_u), own_bar = lane(bars);
        VecX<double> after(w.nx()), own_theta_bar = VecX<double>::Zero(w.np()),
                                    own_x_bar = VecX<double>::Zero(w.ndx()),
                                    own_u_bar = VecX<double>::Zero(w.nu());
        step(w, s.theta.data(), s.x0.data(), own_u.data(), scratch, after.data());
        scratch.clear_bars();
        step_adj(w, s.theta.data(), s.x0.data(), own_u.data(), scratch, own_bar.data(), own_theta_bar.data(),
                 own_x_bar.data(), own_u_bar.data());
        CHECK((lane(lane_next) == after && lane(theta_bar) == own_theta_bar && lane(x_bar) == own_x_bar &&
               lane(u_bar) == own_u_bar));
    }
}

TEST_CASE("activations: environments of a batch have their own, and their own time constants and limits") {
    const Scene s =
        arm(R"(, "batch": {"environments": 20, "randomize": {"activations": {"m/f": 0.2, "m/m": 0.1},
        "parameters": [{"path": "actuators/*/time_constant", "factor": [0.5, 2]}, {"path": "actuators/m/m/switch_width", "factor": [0.9, 1.1]},
                       {"path": "actuators/m/i/activation_limits", "offset": [-0.05, 0.05]}]}})");
    const World& w = s.world;
    REQUIRE((s.batch.start.size() == w.own_ndx() && s.batch.parameters.size() == 4));
    CHECK(s.batch.start.tail(4) == Eigen::Vector4d(0, 0.2, 0, 0.1));
    const int act = w.nq() + w.nv();
    std::set<double> drawn[5];
    for (int e = 0; e < 20; ++e) {
        const RolloutInputs in = environment_inputs(w, s.batch, e, {s.theta, s.x0, s.z0});
        CHECK((in.x0.head(act + 1) == s.x0.head(act + 1) && in.x0[act + 2] == s.x0[act + 2]));
        CHECK((std::abs(in.x0[act + 1] - 0.4) <= 0.2 && std::abs(in.x0[act + 3] - 0.3) <= 0.1));
        const auto of = [&](const char* path) { return in.theta[w.model.layout.find(path)->offset]; };
        const double numbers[] = {in.x0[act + 1], in.x0[act + 3], of("actuators/m/f/time_constant"),
                                  of("actuators/m/m/switch_width"), of("actuators/m/i/activation_limits")};
        for (int k = 0; k < 5; ++k)
            drawn[k].insert(numbers[k]);
    }
    for (const std::set<double>& numbers : drawn)
        CHECK(numbers.size() == 20);
    CHECK(complaint([] {
              arm(R"(, "batch": {"environments": 2, "randomize": {"activations": {"m/plain": 1}}})");
          }).find("actuator with dynamics") != std::string::npos);
}

TEST_CASE("activations: dynamics with missing or needless keys are refused") {
    CHECK(complaint([] { cart(R"({"type": "filter"})"); }).find("time_constant") != std::string::npos);
    CHECK(complaint([] { cart(R"({"type": "filter", "time_constant": 0})"); }).find("time_constant") !=
          std::string::npos);
    CHECK(complaint([] { cart(R"({"type": "muscle", "rise_time": 1})"); }).find("fall_time") !=
          std::string::npos);
    CHECK(complaint([] { cart(R"({"type": "integrator", "time_constant": 1})"); }).find("integrator") !=
          std::string::npos);
    CHECK(complaint([] { cart(R"({"type": "smooth"})"); }).find("exact_filter") != std::string::npos);
    CHECK(complaint([] {
              cart(R"({"type": "integrator"})", R"(, "initial": {"activations": {"m/cart": 1}})");
          }).find("actuator with dynamics") != std::string::npos);
}

// Two steps by hand: the muscle at its optimal length, at rest, rises by rise_time (1/2 + 3/2 w).
TEST_CASE("activations: a muscle at its optimal length pulls with its peak force times the activation") {
    const Scene s = scene_from_json(
        parse_json(
            R"({"steps": 1, "time_step": 0.001, "gravity": [0, 0, 0], "models": [{"name": "m", "model": {
            "bodies": [{"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "mass": 2, "inertia": [0, 0, 0, 0, 0, 0]}],
            "actuators": [{"name": "flexor", "joint": "cart", "type": "muscle", "muscle": {"force": 10, "length_range": [-0.5, 0.5], "range": [0.75, 1.25]},
                           "dynamics": {"type": "muscle", "rise_time": 0.01, "fall_time": 0.04}}]}}],
            "initial": {"activations": {"m/flexor": 0.6}}, "controls": [{"actuators": ["*"], "initial": 2}]})",
            "flexor"),
        "flexor.json");
    const VecX<double> x = walk(s, 1);
    CHECK(x[1] == doctest::Approx(-0.001 * 10 * 0.6 / 2).epsilon(1e-14));
    CHECK(x[2] == doctest::Approx(0.6 + 0.001 * (1 - 0.6) / (0.01 * (0.5 + 1.5 * 0.6))).epsilon(1e-14));
}

// The documented formula, evaluated by hand: with u - w = 0.1 and the width 0.5, S(0.7) = 0.83692.
TEST_CASE(
    "activations: a muscle with a switch width has a time constant between that of rise and that of fall") {
    const auto after = [](double w, const char* width) {
        const Scene s =
            cart(std::string(R"({"type": "muscle", "rise_time": 0.1, "fall_time": 0.4)") + width + "}",
                 R"(, "initial": {"activations": {"m/force": )" + std::to_string(w) + "}}");
        return walk(s, 1)[2];
    };
    const double rise = 0.1 * (0.5 + 1.5 * 0.7), fall = 0.4 / (0.5 + 1.5 * 0.7);
    CHECK(after(0.7, R"(, "switch_width": 0.5)") ==
          doctest::Approx(0.7 + 0.01 * 0.1 / (fall + (rise - fall) * 0.83692)).epsilon(1e-14));
    // at equal control and activation both have the same share; beyond the width, one has all
    CHECK(after(0.8, R"(, "switch_width": 0.5)") == 0.8);
    for (const double w : {0.1, 0.54, 1.06})
        CHECK(after(w, R"(, "switch_width": 0.5)") == after(w, ""));
    CHECK(complaint([] {
              cart(R"({"type": "filter", "time_constant": 1, "switch_width": 1})");
          }).find("switch_width") != std::string::npos);
}

TEST_CASE("activations: forces of an early actuator read the activation a step sooner") {
    for (const char* dynamics : {R"({"type": "integrator")", R"({"type": "filter", "time_constant": 0.05)",
                                 R"({"type": "exact_filter", "time_constant": 0.05)",
                                 R"({"type": "integrator", "limits": [-1, 0.3])"}) {
        CAPTURE(dynamics);
        const Scene early = cart(dynamics + std::string(R"(, "early": true})"));
        std::vector<double> speeds, activations;
        walk(early, 60, [&](const VecX<double>& x, const StepScratch<double>&) {
            speeds.push_back(x[1]);
            activations.push_back(x[2]);
        });
        for (size_t t = 0; t + 1 < speeds.size(); ++t)
            CHECK(speeds[t + 1] ==
                  doctest::Approx((2 * speeds[t] + 0.01 * activations[t + 1]) / (2 + 0.01 * 0.3))
                      .epsilon(1e-13));
        CHECK(speeds[1] > 0);
    }
}
