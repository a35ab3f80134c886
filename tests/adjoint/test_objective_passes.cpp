// The dot-product test of controls, of objective terms, and of a step with its share of the loss.
#include "adjoint/objective/objective.hpp"
#include "adjoint/objective/signal_values.hpp"
#include "adjoint/rollout/controls.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "tests/support/contact_stage.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Decision variables -> controls of every step; one channel of each kind.
struct EvaluatePass : StagePass {
    static constexpr int steps = 7;
    ControlPlan plan;
    std::vector<double> z, z_bar, u_bar;
    std::vector<D> z_dual, u_dual;
    EvaluatePass(Rng& g, Regime r)
        : plan({{true, {}}, {false, {0.15}}, {false, {0, 0.2, 0.25, 0.4}}, {false, {0.1, 0.5}}}, steps, 0.1),
          z(static_cast<size_t>(plan.size())),
          z_bar(z),
          u_bar(static_cast<size_t>(steps * plan.nu())),
          z_dual(z.size()),
          u_dual(u_bar.size()) {
        for (double& x : z)
            x = g.around_zero(r);
        in.add(z, z_dual, z_bar);
        out.add<double>(u_dual, u_bar);
    }
    void run_duals() override {
        for (int t = 0; t < steps; ++t)
            plan.evaluate(z_dual.data(), t, u_dual.data() + t * plan.nu());
    }
    void run_adjoint() override {
        for (int t = 0; t < steps; ++t)
            plan.evaluate_adj(t, u_bar.data() + t * plan.nu(), z_bar.data());
    }
};

constexpr int last_step = 2;  // of recordings

constexpr TermNorm norms[] = {TermNorm::squared, TermNorm::distance, TermNorm::linear, TermNorm::huber,
                              TermNorm::component};

// What a term makes of its numbers before the norm.
enum class Making { plain, referred, bounded, length, bounded_length, shifted };

Sensor sensor_of(const World& w, SensorKind kind, int offset = 0) {
    Sensor s;
    s.kind = kind;
    s.body = w.model.body_index("body4");
    s.actuator = 1;
    s.offset = offset;
    s.size = traits_of(kind).size;
    return s;
}

// Gives a term a random target over time, bounds that its residual exceeds in part, and so on.
void reshape(const World& w, Term& term, Rng& g, Making making) {
    const int size = residual_size(term);
    term.length = making == Making::length || making == Making::bounded_length;
    const bool refers =
        making == Making::referred && term.kind != TermKind::orientation && term.kind != TermKind::recording;
    if (refers) term.reference.width = term.kind == TermKind::configuration ? w.nq() : size;
    for (int k = 0; refers && k <= last_step; ++k) {
        VecX<double> row = random_configuration(w.model, g, Regime::random);
        if (term.kind != TermKind::configuration) row = VecX<double>::Random(size);
        term.reference.values.insert(term.reference.values.end(), row.begin(), row.end());
    }
    if (refers && term.kind == TermKind::sensor) term.factors = g.vec3(Regime::random);
    if (making != Making::bounded && making != Making::bounded_length && making != Making::shifted) return;
    for (int k = 0; making == Making::shifted && k < size * (last_step + 1); ++k)
        term.shift.values.push_back(0.03 * g.normal());
    if (making == Making::shifted) term.shift.width = size;
    term.lower = VecX<double>::Constant(residual_size(term), -0.05);
    term.upper = VecX<double>::Constant(residual_size(term), 0.02);
}

// A term of a kind, with a subject from the stage's world.
Term random_term(const World& w, Rng& g, TermKind kind, TermNorm norm, bool running, bool at_site = false) {
    Term term;
    term.kind = kind;
    term.norm = norm;
    term.running = running;
    term.weight = g.uniform(0.5, 2);
    term.site = at_site ? 0 : -1;
    term.body = at_site ? w.model.sites[0].body : w.model.body_index("body4");
    term.point = g.vec3(Regime::random);
    term.target = g.vec3(Regime::random);
    term.axes = g.vec3(Regime::random);
    term.orientation = Probe<Quaternion<double>>::random(g, Regime::random);
    term.dofs = {1, 4, 18, 20};
    term.controls = {0, 1, 2};
    term.q_target = random_configuration(w.model, g, Regime::random);
    term.bodies = {0, static_cast<int>(w.model.bodies.size()) - 1};
    term.threshold = 0.3;
    term.clearance = 0.5;
    term.partners = {1, 2, 0};
    term.mirror = g.vec3(Regime::random);
    if (kind == TermKind::sensor) term.sensors = {sensor_of(w, SensorKind::frame_linear_velocity)};
    if (kind == TermKind::power)
        for (const int n : term.controls)
            for (const SensorKind of : {SensorKind::actuator_force, SensorKind::actuator_velocity}) {
                term.sensors.push_back(sensor_of(w, of, static_cast<int>(term.sensors.size())));
                term.sensors.back().actuator = n;
            }
    for (const Signal& s : all_signals(w))
        if (running || !s.is_of_a_step()) {
            term.recording.signals.push_back(s);
            term.recording.width += s.width();
            term.recording.dimension += s.dimension();
        }
    for (int k = 0; k <= last_step; ++k)
        for (const Signal& s : term.recording.signals) {
            const Quaternion<double> q = Probe<Quaternion<double>>::random(g, Regime::random);
            if (s.is_rotation())
                term.recording.values.insert(term.recording.values.end(), {q.w, q.v.x(), q.v.y(), q.v.z()});
            else
                term.recording.values.push_back(g.normal());
        }
    return term;
}

bool is_at_point(TermKind kind) {
    return traits_of(kind).subject == TermSubject::point || kind == TermKind::orientation;
}

// All inputs of terms, each kind along a direction: poses, velocities, inertias, gravity, the position of a
// site, q, v, u, impulses, and the time step.
struct TermStage : ContactStage {
    D value;
    double value_bar = 0;
    TermStage(Rng& g, Regime r) : ContactStage(g, r) {
        in.add_along_direction(g, [&](Inputs& all) { all.add(s.kinematics.X, d.kinematics.X, s.bar.X); });
        in.add_along_direction(g, [&](Inputs& all) { all.add(s.kinematics.V, d.kinematics.V, s.bar.V); });
        in.add_along_direction(g, [&](Inputs& all) { all.add(s.kinematics.I, d.kinematics.I, s.bar.I); });
        add_parameters_along_direction(g, m.gravity, 1);
        add_parameters_along_direction(g, m.site_position, 1);
        in.add_along_direction(g, [&](Inputs& all) { add_configuration(all); });
        in.add_along_direction(g, [&](Inputs& all) { add_velocity(all); });
        in.add_along_direction(g, [&](Inputs& all) { add_controls(all); });
        in.add_along_direction(
            g, [&](Inputs& all) { all.add(s.impulses.lambda, d.impulses.lambda, s.impulses.lambda_bar); });
        add_parameters(w.time_step, 1);
        out.add<double>(value, value_bar);
    }
};

// A term reads one input. A velocity also reads the pose of its point; momentum and energy also read two
// inputs; terms at a site also read its position.
struct TermValuePass : TermStage {
    static inline TermKind kind = TermKind::position;
    static inline TermNorm norm = TermNorm::squared;
    static inline bool of_one_shape = false, at_site = false;
    static inline Making making = Making::plain;
    Term term;
    static bool reads_two() {
        return kind == TermKind::velocity || kind == TermKind::clearance ||
               kind == TermKind::linear_momentum || kind == TermKind::angular_momentum ||
               kind == TermKind::kinetic_energy || kind == TermKind::potential_energy;
    }
    static bool reads_site() { return at_site && kind != TermKind::orientation; }  // its position
    // of 10
    int inputs_without_effect =
        kind == TermKind::recording && norm != TermNorm::component ? 4 : 9 - reads_two() - reads_site();
    TermValuePass(Rng& g, Regime r) : TermStage(g, r), term(random_term(w, g, kind, norm, true, at_site)) {
        if (of_one_shape) term.shape = w.shapes.index("box");
        reshape(w, term, g, making);
        term.component = std::min(1, residual_size(term) - 1);
        if (making != Making::plain || kind == TermKind::sensor || kind == TermKind::power)
            inputs_without_effect = count_without_effect();
    }
    int count_without_effect() {
        int count = 0;
        for (int i = 0; i < inputs(); ++i) {
            Covector only(static_cast<size_t>(inputs()));
            only[i] = 1;
            count += costate::test::norm(forward(only)) == 0;
        }
        return count;
    }
    void run_duals() override { value = term_value(w, term, 1, {theta.data(), x.data(), u.data()}, d); }
    void run_adjoint() override {
        term_value_adj(w, term, 1, {t.theta.data(), t.x.data(), t.u.data()}, value_bar, s,
                       {theta_bar.data(), x_bar.data(), u_bar.data()});
    }
};

// The difference of a signal from a value.
struct SignalDifferencePass : TermStage {
    static inline size_t which = 0;
    Signal signal;
    std::vector<double> recorded;
    D r[3];
    double r_bar[3] = {};
    int inputs_without_effect = 9;  // of 10; all for the impulse of a shape without contact
    SignalDifferencePass(Rng& g, Regime r0) : TermStage(g, r0), signal(all_signals(w).at(which)) {
        const Quaternion<double> q = Probe<Quaternion<double>>::random(g, Regime::random);
        recorded = signal.is_rotation() ? std::vector<double>{q.w, q.v.x(), q.v.y(), q.v.z()}
                                        : std::vector<double>{g.normal()};
        const auto& points = s.contacts.points;
        const bool apart = std::none_of(points.begin(), points.end(),
                                        [&](const auto& p) { return touches(p.features, signal.index); });
        if (signal.kind == SignalKind::impulse && apart) inputs_without_effect = 10;
        if (signal.kind == SignalKind::site_position) inputs_without_effect = 8;
        out = Outputs();
        out.add<double>(r, r_bar, signal.dimension());
    }
    void run_duals() override {
        signal_difference(w, signal, recorded.data(), {theta.data(), x.data(), u.data()}, d, r);
    }
    void run_adjoint() override {
        signal_difference_adj(w, signal, recorded.data(), {t.theta.data(), t.x.data(), t.u.data()}, s, r_bar,
                              {theta_bar.data(), x_bar.data(), u_bar.data()});
    }
};

Objective terms_of_every_kind(const World& w, Rng& g) {
    Objective objective;
    for (const TermNorm norm : norms)
        for (const TermTraits& traits : term_traits)
            for (const bool running : {true, false}) {
                const TermKind kind = traits.kind;
                if (running || !traits.of_a_step) objective.push_back(random_term(w, g, kind, norm, running));
                if (is_at_point(kind)) objective.push_back(random_term(w, g, kind, norm, running, true));
            }
    for (const SensorKind kind : {SensorKind::accelerometer, SensorKind::force, SensorKind::contact_force}) {
        Term term = random_term(w, g, TermKind::sensor, TermNorm::squared, true);
        term.sensors = {sensor_of(w, kind)};
        objective.push_back(term);
    }
    for (Term& term : objective)  // some have no factor h, or do not count
        if (g.uniform(0, 1) < 0.2 && term.running) {
            term.instant = true;
            if (g.uniform(0, 1) < 0.3) term.first = last_step + 1;
        }
    return objective;
}

template <bool running> struct ObjectiveValuePass : TermStage {
    Objective objective;
    // for a final state: controls, impulses, the time step
    static constexpr int inputs_without_effect = running ? 0 : 3;
    ObjectiveValuePass(Rng& g, Regime r) : TermStage(g, r), objective(terms_of_every_kind(w, g)) {}
    void run_duals() override {
        value = objective_value<D>(w, objective, running, last_step,
                                   {theta.data(), x.data(), running ? u.data() : nullptr}, d);
    }
    void run_adjoint() override {
        objective_value_adj<double>(w, objective, running, last_step,
                                    {t.theta.data(), t.x.data(), running ? t.u.data() : nullptr}, value_bar,
                                    s, {theta_bar.data(), x_bar.data(), running ? u_bar.data() : nullptr});
    }
};

// State, controls, parameters -> results of Simulation, against the same calls on dual numbers. Its adjoint
// is for a loss with factor 1, so covectors are divided by the loss's covector before and multiplied after.
struct SimulationStage : ContactStage {
    Objective objective;
    Simulation simulation;
    D loss;
    double loss_bar = 0;
    SimulationStage(Rng& g, Regime r)
        : ContactStage(g, r),
          objective(terms_of_every_kind(w, g)),
          simulation(w, objective) {
        in.add_along_direction(g, [&](Inputs& all) { add_configuration(all); });
        in.add_along_direction(g, [&](Inputs& all) { add_velocity(all); });
        add_parameters_along_direction(g, m.placement, static_cast<int>(m.bodies.size()));
        out.add<double>(loss, loss_bar);
    }
    void scale_bars(double factor) {
        x_next_bar *= factor;
        theta_bar *= factor;
        x_bar *= factor;
        u_bar *= factor;
    }
};

struct RunPass : SimulationStage {
    RunPass(Rng& g, Regime r) : SimulationStage(g, r) {
        add_controls(in);
        add_parameters(w.time_step, 1);
        add_next_state();
    }
    void run_duals() override {
        step(w, {theta.data(), x.data(), u.data()}, d, x_next.data());
        loss = objective_value<D>(w, objective, true, 1, {theta.data(), x.data(), u.data()}, d);
    }
    void run_adjoint() override {
        scale_bars(1 / loss_bar);
        simulation.run(1, t.theta.data(), t.x.data(), t.u.data(), next.data());
        simulation.run_adj(1, t.theta.data(), t.x.data(), t.u.data(), x_next_bar.data(), theta_bar.data(),
                           x_bar.data(), u_bar.data());
        scale_bars(loss_bar);
    }
};

struct FinishPass : SimulationStage {
    using SimulationStage::SimulationStage;
    void run_duals() override {
        observe(w, theta.data(), x.data(), d);
        loss = objective_value<D>(w, objective, false, last_step, {theta.data(), x.data(), nullptr}, d);
    }
    void run_adjoint() override {
        scale_bars(1 / loss_bar);
        simulation.finish_adj(last_step, t.theta.data(), t.x.data(), theta_bar.data(), x_bar.data());
        scale_bars(loss_bar);
    }
};

}  // namespace

TEST_CASE("adjoint: evaluate") { check_pass<EvaluatePass>(1e-12); }
TEST_CASE("adjoint: term_value, normal_impulse, recording_residual") {
    for (const TermNorm norm : {TermNorm::squared, TermNorm::distance, TermNorm::component})
        for (const TermTraits& traits : term_traits)
            for (const bool special : {false, true}) {  // impulses of one shape, points at a site
                const TermKind kind = traits.kind;
                if (special && kind != TermKind::impulse && !is_at_point(kind)) continue;
                CAPTURE(traits.name);
                CAPTURE(static_cast<int>(norm));
                TermValuePass::kind = kind;
                TermValuePass::norm = norm;
                TermValuePass::of_one_shape = special && kind == TermKind::impulse;
                TermValuePass::at_site = special && is_at_point(kind);
                check_pass<TermValuePass>(1e-12);
            }
}
TEST_CASE("adjoint: term_value with references, bounds and lengths") {
    TermValuePass::of_one_shape = TermValuePass::at_site = false;
    const auto check = [](TermKind kind, TermNorm norm, Making making) {
        CAPTURE(traits_of(kind).name);
        CAPTURE(static_cast<int>(norm));
        CAPTURE(static_cast<int>(making));
        TermValuePass::kind = kind;
        TermValuePass::norm = norm;
        TermValuePass::making = making;
        check_pass<TermValuePass>(1e-12);
    };
    for (const TermKind kind : {TermKind::position, TermKind::configuration, TermKind::joint_velocity,
                                TermKind::centre_of_mass, TermKind::sensor})
        check(kind, TermNorm::huber, Making::referred);
    for (const TermNorm norm : {TermNorm::distance, TermNorm::huber})
        check(TermKind::position, norm, Making::bounded_length);
    for (const TermKind kind :
         {TermKind::position, TermKind::configuration, TermKind::joint_velocity, TermKind::sensor})
        check(kind, TermNorm::squared, Making::shifted);
    for (const Making making : {Making::plain, Making::bounded, Making::length})
        for (const TermNorm norm : {TermNorm::linear, TermNorm::huber})
            check(TermKind::effort, norm, making);
    TermValuePass::making = Making::plain;
}
TEST_CASE("adjoint: signal_difference") {
    Rng g(1);
    const std::vector<Signal> all = all_signals(busy_contact_state(g, Regime::random).world);
    for (size_t i = 0; i < all.size(); ++i) {
        CAPTURE(all[i].names[0]);
        SignalDifferencePass::which = i;
        check_pass<SignalDifferencePass>(1e-12);
    }
}
TEST_CASE("adjoint: objective_value, running") { check_pass<ObjectiveValuePass<true>>(1e-12); }
TEST_CASE("adjoint: objective_value, final") { check_pass<ObjectiveValuePass<false>>(1e-12); }
TEST_CASE("adjoint: run") { check_pass<RunPass>(1e-11); }
TEST_CASE("adjoint: finish") { check_pass<FinishPass>(1e-12); }
