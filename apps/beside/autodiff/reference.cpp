#include "adjoint/checkpoints/schedule.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/beside/autodiff/compare.hpp"

namespace costate {

namespace {

Schedule schedule_of(const Checkpointing& c, int steps) {
    switch (c.kind) {
        case Checkpointing::Kind::every_kth: return Schedule::every_kth(steps, c.number);
        case Checkpointing::Kind::binomial: return Schedule::binomial(steps, c.number);
        default: return Schedule::every_step(steps);
    }
}

// Every k-th state is stored; each step backwards starts from the one before it.
Differentiated by_restarts(const Scene& s, int k) {
    Differentiated result;
    Simulation simulation(s.world, s.objective);
    CheckpointStore store(s.world.nx(), (s.steps + k - 1) / k);
    const double* theta = s.theta.data();
    VecX<double> x(s.world.nx()), x_next(x), last(x), u(s.world.nu()), u_bar(u), x_bar(s.world.ndx()),
        x_next_bar(x_bar);
    const auto run = [&](int t) {
        s.plan.evaluate(s.z0.data(), t, u.data());
        ++result.forward_evaluations;
        return simulation.run(t, theta, x.data(), u.data(), x_next.data());
    };
    const Stopwatch forward;
    x = s.x0;
    for (int t = 0; t < s.steps; ++t, x.swap(x_next)) {
        if (t % k == 0) store.store(t / k, x.data());
        result.loss += run(t);
    }
    last = x;
    result.loss += simulation.finish(s.steps, theta, last.data());
    result.forward_seconds = forward.seconds();

    const Stopwatch backward;
    Gradient& g = result.gradient;
    g.controls.setZero(s.plan.size());
    g.parameters.setZero(s.world.np());
    x_next_bar.setZero();
    simulation.finish_adj(s.steps, theta, last.data(), g.parameters.data(), x_next_bar.data());
    for (int t = s.steps; t-- > 0; x_next_bar.swap(x_bar)) {
        store.restore(t / k, x.data());
        for (int i = t - t % k; i < t; ++i, x.swap(x_next))
            run(i);
        run(t);
        x_bar.setZero();
        u_bar.setZero();
        simulation.run_adj(t, theta, x.data(), u.data(), x_next_bar.data(), g.parameters.data(), x_bar.data(),
                           u_bar.data());
        s.plan.evaluate_adj(t, u_bar.data(), g.controls.data());
    }
    g.initial_state = x_next_bar;
    result.backward_seconds = backward.seconds();
    result.checkpoint_bytes = store.bytes();
    return result;
}

}  // namespace

Differentiated differentiate_by_costate(const Scene& s, const Checkpointing& c) {
    if (c.kind == Checkpointing::Kind::restart) return by_restarts(s, c.number);
    Differentiated result;
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, schedule_of(c, s.steps));
    const Stopwatch forward;
    result.loss = rollout.forward(s.theta, s.x0, s.z0);
    result.forward_seconds = forward.seconds();
    const Stopwatch backward;
    rollout.backward(s.theta, s.z0, result.gradient);
    result.backward_seconds = backward.seconds();
    result.forward_evaluations = rollout.evaluations().forward;
    result.checkpoint_bytes = rollout.store().bytes();
    return result;
}

}  // namespace costate
