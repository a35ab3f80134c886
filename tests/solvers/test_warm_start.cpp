// Warm start: the impulses stored in a state, their assignment by features, and gradients that include them.
#include "adjoint/checkpoints/schedule.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/scene.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/contact_stage.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// A state with many contacts after a step, with perturbed impulses.
ToyState warm_state(Rng& g, Regime r) {
    ToyState t = busy_contact_state(g, r);
    const World& w = t.world;
    t.world.settings.warm_start = true;
    t.world.settings.warm_contacts = 12;
    t.world.settings.sweeps = 4;
    t.x.conservativeResizeLike(VecX<double>::Zero(w.nx()));
    StepScratch<double> s(w);
    VecX<double> next(w.nx());
    step(w, {t.theta.data(), t.x.data(), t.u.data()}, s, next.data());
    t.x.tail(w.warm_numbers()) = next.tail(w.warm_numbers());
    for (int i = w.nx() - w.warm_numbers() + w.warm_contacts(); i < w.nx(); ++i)
        t.x[i] *= 1 + 0.1 * g.normal();
    return t;
}

struct WarmStage : ContactStage {
    WarmStage(Rng& g, Regime r) : ContactStage(warm_state(g, r), ForwardDynamics::crba) {}
    int first_impulse() const { return w.nq() + w.nv() + w.warm_contacts(); }
    int kept() const { return w.nx() - first_impulse(); }
    int first_impulse_bar() const { return 2 * w.nv() + w.warm_contacts(); }
    void add_kept(Inputs& to) {
        to.add(t.x.data() + first_impulse(), x.data() + first_impulse(), x_bar.data() + first_impulse_bar(),
               kept());
    }
};

// Stored impulses -> start of the solver.
struct WarmStartPass : WarmStage {
    WarmStartPass(Rng& g, Regime r) : WarmStage(g, r) {
        in.add_along_direction(g, [&](Inputs& all) { add_kept(all); });
        out.add<double>(d.impulses.lambda, s.impulses.lambda_bar);
    }
    void run_duals() override { warm_start(w, x.data() + w.nq() + w.nv(), d.contacts, d.rows, d.impulses); }
    void run_adjoint() override { warm_start_adj(w, s.rows, s.impulses, x_bar.data() + 2 * w.nv()); }
};

// Impulses -> stored impulses.
struct KeepImpulsesPass : WarmStage {
    KeepImpulsesPass(Rng& g, Regime r) : WarmStage(g, r) {
        in.add(s.impulses.lambda, d.impulses.lambda, s.impulses.lambda_bar);
        out.add<double>(x_next.data() + first_impulse(), x_next_bar.data() + first_impulse_bar(), kept());
    }
    void run_duals() override {
        keep_impulses(w, d.contacts, d.rows, d.impulses, x_next.data() + w.nq() + w.nv());
    }
    void run_adjoint() override { keep_impulses_adj(w, s.rows, x_next_bar.data() + 2 * w.nv(), s.impulses); }
};

// State with impulses, controls -> next state with impulses, by a few sweeps.
struct WarmStepPass : WarmStage {
    WarmStepPass(Rng& g, Regime r) : WarmStage(g, r) {
        add_configuration(in);
        add_velocity(in);
        in.add_along_direction(g, [&](Inputs& all) { add_controls(all); });
        in.add_along_direction(g, [&](Inputs& all) { add_kept(all); });
        for (const auto& slice : {m.gravity, w.time_step})
            add_parameters(slice, 1);
        out.add_place(
            {2 * w.nv(),
             [this](double* c) { Eigen::Map<VecX<double>>(c, 2 * w.nv()) = state_tangent(m, x_next); },
             [this](const double* c) { std::copy(c, c + 2 * w.nv(), x_next_bar.data()); }});
        out.add<double>(x_next.data() + first_impulse(), x_next_bar.data() + first_impulse_bar(), kept());
    }
    void run_duals() override { step(w, {theta.data(), x.data(), u.data()}, d, x_next.data()); }
    void run_adjoint() override {
        step_adj(w, {t.theta.data(), t.x.data(), t.u.data()}, s, x_next_bar.data(),
                 {theta_bar.data(), x_bar.data(), u_bar.data()});
    }
};

// The scene with the given solver and a sufficient capacity for stored contacts.
Scene warm_scene(const char* name, int steps, SolverType solver, int sweeps, bool warm = true) {
    Scene s = load_scene(name, steps);
    s.world.settings.solver = solver;
    s.world.settings.sweeps = sweeps;
    s.world.settings.warm_start = warm;
    s.x0.conservativeResizeLike(VecX<double>::Zero(s.world.nx()));
    return s;
}

double worst_residual(const Scene& s) {
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    double worst = 0;
    rollout.forward(s.theta, s.x0, s.z0, [&](int t, const double*, const double* u) {
        if (t >= 50 && u != nullptr) worst = std::max(worst, solver_residual(s.world, simulation.scratch()));
    });
    return worst;
}

}  // namespace

TEST_CASE("adjoint: warm_start") { check_pass<WarmStartPass>(1e-14); }
TEST_CASE("adjoint: keep_impulses") { check_pass<KeepImpulsesPass>(1e-14); }
TEST_CASE("adjoint: step with a warm start") { check_pass<WarmStepPass>(1e-11); }

TEST_CASE("warm start: a key is an integer, exact in a double, and distinguishes features") {
    FeaturePair f;
    f.a = 1;
    f.b = 2;
    f.on_a = vertex_feature(3);
    f.on_b = face_feature(0);
    const double key = feature_key(f);
    CHECK(key > 0);
    CHECK(key < 9007199254740992.0);
    CHECK(key == std::floor(key));
    f.normal = {1, 0, 0};
    CHECK(feature_key(f) == key);  // not part of the key
    std::vector<FeaturePair> others(6, f);
    ++others[0].a;
    ++others[1].b;
    ++others[2].on_a.index;
    ++others[3].on_b.index;
    others[4].on_a.kind = FeatureKind::edge;
    others[5].on_b.kind = FeatureKind::side;
    for (const FeaturePair& other : others)
        CHECK(feature_key(other) != key);
}

TEST_CASE("warm start: a step is still a pure function, and contacts beyond the capacity start from 0") {
    Rng g(4);
    ToyState t = warm_state(g, Regime::random);
    StepScratch<double> fresh(t.world), used(t.world);
    VecX<double> first(t.world.nx()), again(t.world.nx());
    step(t.world, {t.theta.data(), t.x.data(), t.u.data()}, fresh, first.data());
    step(t.world, {t.theta.data(), first.data(), t.u.data()}, used, again.data());
    step(t.world, {t.theta.data(), t.x.data(), t.u.data()}, used, again.data());
    CHECK(first == again);
    CHECK(branch_hash(fresh) == branch_hash(used));
    t.world.settings.warm_contacts = 1;
    t.x = t.x.head(t.world.nx()).eval();
    t.x.tail(t.world.warm_numbers()).setZero();
    StepScratch<double> s(t.world);
    VecX<double> next(t.world.nx());
    step(t.world, {t.theta.data(), t.x.data(), t.u.data()}, s, next.data());
    REQUIRE(s.contacts.points.size() > 1);
    CHECK(next[t.world.nq() + t.world.nv()] == feature_key(s.contacts.points[0].features));
    t.x.tail(t.world.warm_numbers()) = next.tail(t.world.warm_numbers());
    step(t.world, {t.theta.data(), t.x.data(), t.u.data()}, s, next.data());
    for (size_t n = 0; n < s.rows.blocks.size(); ++n)
        if (s.rows.blocks[n].kind == RowKind::contact)
            CHECK((s.impulses.warm[n] >= 0) == (s.rows.blocks[n].index == 0));
}

TEST_CASE("warm start: two sweeps are as good as fifty in a slow motion") {
    const double cold = worst_residual(warm_scene("quadruped_stand", 300, SolverType::pgs, 2, false)),
                 warm = worst_residual(warm_scene("quadruped_stand", 300, SolverType::pgs, 2));
    CHECK(warm < 0.02 * cold);
}

TEST_CASE("warm start: the last active set is right on more than 95 % of the steps of a robot that stands") {
    for (const SolverType solver : {SolverType::lcp, SolverType::ncp}) {
        const Scene s = warm_scene("quadruped_stand", 400, solver, 50);
        Simulation simulation(s.world, s.objective);
        Rollout<Simulation> rollout(simulation, s.plan, s.steps);
        int islands = 0, guessed = 0;
        rollout.forward(s.theta, s.x0, s.z0, [&](int, const double*, const double* u) {
            if (u == nullptr) return;
            for (const SolverStatus status : simulation.scratch().impulses.status) {
                ++islands;
                guessed += status == SolverStatus::guessed;
            }
        });
        REQUIRE(islands >= 300);
        CHECK(guessed > 0.95 * islands);
    }
}

TEST_CASE("warm start: every schedule gives the same bits, and the gradient is that of differences") {
    for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp}) {
        const Scene s = warm_scene("quadruped_stand", 60, solver, 3);
        Simulation simulation(s.world, s.objective);
        Gradient expected;
        Rollout<Simulation> rollout(simulation, s.plan, s.steps);
        rollout.forward(s.theta, s.x0, s.z0);
        rollout.backward(s.theta, s.z0, expected);
        for (const Schedule& schedule : {Schedule::every_kth(s.steps, 7), Schedule::binomial(s.steps, 4)}) {
            Rollout<Simulation> other(simulation, s.plan, schedule);
            Gradient g;
            other.forward(s.theta, s.x0, s.z0);
            other.backward(s.theta, s.z0, g);
            CHECK(g.controls == expected.controls);
            CHECK(g.initial_state == expected.initial_state);
            CHECK(g.parameters == expected.parameters);
        }
        Rng g(7);
        VecX<double> direction(s.z0.size());
        for (double& d : direction)
            d = g.normal();
        const double e = 1e-6, plus = rollout.forward(s.theta, s.x0, s.z0 + e * direction),
                     minus = rollout.forward(s.theta, s.x0, s.z0 - e * direction);
        CHECK(std::abs((plus - minus) / (2 * e) - expected.controls.dot(direction)) <=
              1e-6 * std::abs(expected.controls.dot(direction)));
    }
}
