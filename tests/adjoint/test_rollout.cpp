// Rollouts of a toy step without physics, and of worlds in contact.
#include <doctest/doctest.h>

#include "adjoint/check/gradcheck.hpp"
#include "adjoint/objective/objective.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/toy_worlds.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// x+ = x + 0.1 (theta sin x + u), l = u^2 x while running, x^3 at the end. It counts its calls.
struct ToyStep {
    int run_count = 0, adjoints = 0;
    long runs() const { return run_count; }
    int nx() const { return 1; }
    int ndx() const { return 1; }
    int nu() const { return 1; }
    int np() const { return 1; }
    template <class T> static T next(const T& theta, const T& x, const T& u) {
        using std::sin;
        return x + T(0.1) * (theta * sin(x) + u);
    }
    template <class T> static T running(const T& x, const T& u) { return u * u * x; }
    double run(int, const double* theta, const double* x, const double* u, double* x_next) {
        ++run_count;
        *x_next = next(*theta, *x, *u);
        return running(*x, *u);
    }
    void run_adj(int, const double* theta, const double* x, const double* u, const double* next_bar,
                 double* theta_bar, double* x_bar, double* u_bar) {
        ++adjoints;
        *x_bar += *next_bar * (1 + 0.1 * *theta * std::cos(*x)) + *u * *u;
        *theta_bar += *next_bar * 0.1 * std::sin(*x);
        *u_bar += *next_bar * 0.1 + 2 * *u * *x;
    }
    double finish(int, const double*, const double* x) { return *x * *x * *x; }
    void finish_adj(int, const double*, const double* x, double*, double* x_bar) { *x_bar += 3 * *x * *x; }
};

ControlPlan every_step(int nu, int steps) {
    ControlChannel c;
    c.per_step = c.optimize = true;
    return ControlPlan(std::vector<ControlChannel>(nu, c), steps, 1e-3);
}

}  // namespace

TEST_CASE("rollout: gradient of a toy step against dual numbers, and its cost") {
    constexpr int steps = 50;
    const ControlPlan plan = every_step(1, steps);
    ToyStep step;
    Rollout<ToyStep> rollout(step, plan, steps);
    Rng g(3);
    const VecX<double> theta = VecX<double>::Constant(1, 0.7), x0 = VecX<double>::Constant(1, 0.4),
                       z = random_vector(steps, g, Regime::random);
    const double loss = rollout.forward(theta, x0, z);
    Gradient gradient;
    rollout.backward(theta, z, gradient);
    CHECK(step.run_count == 2 * steps - 1);
    CHECK(step.adjoints == steps);
    CHECK(rollout.evaluations().forward == 2 * steps - 1);

    const auto dual_loss = [&](double dtheta, double dx, int at) {
        D x(x0[0], dx), sum(0.0);
        const D th(theta[0], dtheta);
        for (int t = 0; t < steps; ++t) {
            const D u(z[t], t == at ? 1.0 : 0.0);
            sum += ToyStep::running(x, u);
            x = ToyStep::next(th, x, u);
        }
        return sum + x * x * x;
    };
    CHECK(dual_loss(1, 0, -1).v == doctest::Approx(loss).epsilon(1e-14));
    CHECK(dual_loss(1, 0, -1).d == doctest::Approx(gradient.parameters[0]).epsilon(1e-13));
    CHECK(dual_loss(0, 1, -1).d == doctest::Approx(gradient.initial_state[0]).epsilon(1e-13));
    for (int t = 0; t < steps; t += 7)
        CHECK(dual_loss(0, 0, t).d == doctest::Approx(gradient.controls[t]).epsilon(1e-12));
}

TEST_CASE("controls: knots, held values and steps, and the transpose") {
    ControlChannel held, knots, free;
    held.times = {0};
    knots.times = {0.002, 0.004, 0.008};
    free.per_step = true;
    const ControlPlan plan({held, knots, free}, 10, 1e-3);
    REQUIRE(plan.size() == 1 + 3 + 10);
    VecX<double> z(plan.size());
    for (int i = 0; i < z.size(); ++i)
        z[i] = i * i;
    const auto at = [&](int t) {
        VecX<double> u(3);
        plan.evaluate(z.data(), t, u.data());
        return u;
    };
    CHECK(at(0) == VecX<double>(Vec3<double>(0, 1, 16)));
    CHECK(at(3)[1] == doctest::Approx(0.5 * (1 + 4)));
    CHECK(at(4)[1] == doctest::Approx(4));
    CHECK(at(5)[1] == doctest::Approx(0.75 * 4 + 0.25 * 9));
    CHECK(at(9) == VecX<double>(Vec3<double>(0, 9, 13 * 13)));
    Rng g(1);
    for (int t = 0; t < 10; ++t) {
        const VecX<double> u_bar = random_vector(3, g, Regime::random);
        VecX<double> z_bar = VecX<double>::Zero(plan.size());
        plan.evaluate_adj(t, u_bar.data(), z_bar.data());
        CHECK(z_bar.dot(z) == doctest::Approx(u_bar.dot(at(t))).epsilon(1e-13));
    }
}

namespace {

// A toy world, an objective with a term of every kind, and a rollout of it.
struct ToyRollout {
    ToyState t;
    Objective objective;
    ControlPlan plan;
    Simulation simulation;
    Rollout<Simulation> rollout;
    VecX<double> z;
    ToyRollout(unsigned seed, int steps)
        : t(toy_contact_state(seed)),
          objective(terms()),
          plan(every_step(t.world.nu(), steps)),
          simulation(t.world, objective),
          rollout(simulation, plan, steps) {
        Rng g(seed);
        z = random_vector(plan.size(), g, Regime::random);
    }
    Objective terms() const {
        Objective all;
        for (const TermKind kind :
             {TermKind::position, TermKind::velocity, TermKind::configuration, TermKind::joint_velocity,
              TermKind::height, TermKind::effort, TermKind::impulse})
            for (const bool running : {true, false}) {
                if (!running && (kind == TermKind::effort || kind == TermKind::impulse)) continue;
                Term term;
                term.kind = kind;
                term.running = running;
                // the effect of controls must exceed round-off
                term.weight = kind == TermKind::effort ? 500 : (running ? 2.0 : 0.5);
                term.norm = running ? TermNorm::squared : TermNorm::distance;
                term.body = t.world.model.body_index(running ? "body0" : "body5");
                term.point = {0.1, -0.2, 0.05};
                term.target = {0.3, 0.1, 1};
                term.q_target = t.world.model.neutral_configuration();
                for (int j = 0; j < t.world.nv(); ++j)
                    term.dofs.push_back(j);
                for (int n = 0; n < t.world.nu(); ++n)
                    term.controls.push_back(n);
                all.push_back(term);
            }
        return all;
    }
};

}  // namespace

TEST_CASE("rollout: replay gives the same bits and does not depend on earlier runs") {
    constexpr int steps = 100;
    ToyRollout a(4, steps);
    std::vector<std::uint64_t> hashes;
    const double loss = a.rollout.forward(a.t.theta, a.t.x, a.z, [&](int, const double*, const double*) {
        hashes.push_back(branch_hash(a.simulation.scratch()));
    });
    const World& w = a.t.world;
    for (int t = steps; t-- > 0;) {
        VecX<double> u(w.nu()), next(w.nx());
        a.plan.evaluate(a.z.data(), t, u.data());
        a.simulation.run(t, a.t.theta.data(), a.rollout.state(t, a.t.theta, a.z).data(), u.data(),
                         next.data());
        CHECK(next == a.rollout.state(t + 1, a.t.theta, a.z));
        CHECK(branch_hash(a.simulation.scratch()) == hashes[t]);
    }
    Gradient first, second;
    a.rollout.backward(a.t.theta, a.z, first);
    ToyRollout other(9, steps);
    other.rollout.forward(other.t.theta, other.t.x, other.z);
    CHECK(a.rollout.forward(a.t.theta, a.t.x, a.z) == loss);
    a.rollout.backward(a.t.theta, a.z, second);
    CHECK(first.controls == second.controls);
    CHECK(first.initial_state == second.initial_state);
    CHECK(first.parameters == second.parameters);
}

TEST_CASE("rollout: gradient of every kind of term through contact against central differences") {
    double rejected = 0;
    for (unsigned seed = 1; seed <= 5; ++seed) {
        CAPTURE(seed);
        ToyRollout a(seed, 20);
        const GradcheckReport r = gradcheck(a.rollout, a.t.theta, a.t.x, a.z);
        for (const GradcheckKind* k : {&r.controls, &r.initial_state, &r.parameters}) {
            CAPTURE(k->worst);
            CHECK(k->max_relative_error <= 1e-6);
            CHECK(k->taylor_order >= 1.95);
            rejected += k->rejected / 15;
        }
    }
    CHECK(rejected < 0.2);
}

TEST_CASE("rollout: tangent against adjoint over 1000 smooth steps") {
    // a swinging double pendulum on dual numbers against the adjoint
    Rng g(7);
    Model m = toy_model(g, {JointType::revolute, JointType::revolute}, {-1, 0});
    ShapeSet none = build_shapes(m, {});
    const World w(std::move(m), std::move(none), {});
    Objective objective(1);
    objective[0].body = 1;
    objective[0].target = {1, 1, 1};
    constexpr int steps = 1000;
    const ControlPlan plan = every_step(w.nu(), steps);
    Simulation simulation(w, objective);
    Rollout<Simulation> rollout(simulation, plan, steps);
    const VecX<double> theta = w.model.layout.nominal(), x0 = random_vector(w.nx(), g, Regime::random),
                       z = random_vector(plan.size(), g, Regime::random);
    rollout.forward(theta, x0, z);
    Gradient gradient;
    rollout.backward(theta, z, gradient);

    const VecX<double> dtheta = random_vector(w.np(), g, Regime::random).cwiseProduct(theta),
                       dx = random_vector(w.nx(), g, Regime::random),
                       dz = random_vector(plan.size(), g, Regime::random);
    StepScratch<D> s(w);
    const VecX<D> theta_d = lift_vector(theta, dtheta.data()), z_d = lift_vector(z, dz.data());
    VecX<D> x = lift_vector(x0, dx.data()), next(w.nx()), u(w.nu());
    for (int t = 0; t < steps; ++t) {
        plan.evaluate(z_d.data(), t, u.data());
        step(w, {theta_d.data(), x.data(), u.data()}, s, next.data());
        x.swap(next);
    }
    observe(w, theta_d.data(), x.data(), s);
    const D loss = objective_value<D>(w, objective, false, steps, {theta_d.data(), x.data(), nullptr}, s);
    const double adjoint =
        gradient.parameters.dot(dtheta) + gradient.initial_state.dot(dx) + gradient.controls.dot(dz);
    CHECK(adjoint == doctest::Approx(loss.d).epsilon(1e-9));
}

TEST_CASE("rollout: a state that is not finite stops it and is named") {
    ToyRollout a(2, 10);
    a.t.x[a.t.world.nq() + a.t.world.model.bodies[5].v0] = 1e308;
    const double loss = a.rollout.forward(a.t.theta, a.t.x, a.z);
    CHECK(std::isnan(loss));
    REQUIRE(a.rollout.divergence());
    const std::string message = DivergenceError(a.t.world.model, a.rollout.divergence()).what();
    CHECK(message.find("after step 0") != std::string::npos);
    CHECK(message.find("body") != std::string::npos);
}
