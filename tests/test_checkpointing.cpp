// Rollouts by schedules that store few states: the same gradient to the last bit as with all of them, at the cost foretold.
#include <doctest/doctest.h>

#include "adjoint/rollout.hpp"
#include "adjoint/simulation.hpp"
#include "scenes/scene.hpp"

using namespace costate;

namespace {

struct Outcome {
    double loss = 0;
    Gradient gradient;
    std::vector<double> bars;  // of every step's state and controls, as the reverse sweep shows them
    bool operator==(const Outcome& other) const {
        return loss == other.loss && bars == other.bars && gradient.controls == other.gradient.controls &&
               gradient.initial_state == other.gradient.initial_state && gradient.parameters == other.gradient.parameters;
    }
};

Outcome outcome(const Scene& s, Rollout<Simulation>& rollout, double loss) {
    Outcome out{loss, {}, {}};
    rollout.backward(s.theta, s.z0, out.gradient, [&](int, const double* x_bar, const double* u_bar) {
        out.bars.insert(out.bars.end(), x_bar, x_bar + s.world.ndx());
        if (u_bar != nullptr) out.bars.insert(out.bars.end(), u_bar, u_bar + s.world.nu());
    });
    return out;
}

std::vector<Schedule> schedules(int steps) {
    std::vector<Schedule> all{Schedule::every_step(steps), Schedule::every_kth(steps, 1), Schedule::every_kth(steps, 16),
                              Schedule::every_kth(steps, steps)};
    for (const int slots : {steps - 1, steps / 2, 40, 9, 3, 2}) all.push_back(Schedule::binomial(steps, slots));
    return all;
}

}  // namespace

TEST_CASE("checkpointing: every schedule gives the same bits on scenes with contact, at the cost foretold") {
    for (const char* name : {"quadruped_stand", "throw", "box_stack"}) {
        CAPTURE(name);
        const Scene s = load_scene(name, std::string(name) == "box_stack" ? 20 : 250);
        Outcome expected;
        for (const Schedule& schedule : schedules(s.steps)) {
            CAPTURE(schedule.name());
            CAPTURE(schedule.slots());
            Simulation simulation(s.world, s.objective);
            Rollout<Simulation> rollout(simulation, s.plan, schedule);
            const double loss = rollout.forward(s.theta, s.x0, s.z0);
            CHECK(rollout.evaluations().forward == s.steps);
            const Outcome first = outcome(s, rollout, loss);
            CHECK(rollout.evaluations().forward == schedule.forward_evaluations());
            CHECK(rollout.evaluations().backward == s.steps);
            CHECK(rollout.store().bytes() == static_cast<size_t>(schedule.slots()) * rollout.store().bytes_per_checkpoint());
            if (expected.bars.empty()) expected = first;
            CHECK(first == expected);
            CHECK(outcome(s, rollout, loss) == expected);  // once more from the same forward
            CHECK(outcome(s, rollout, rollout.forward(s.theta, s.x0, s.z0)) == expected);
        }
    }
}

TEST_CASE("checkpointing: a hundred states serve 5000 steps of the quadruped") {
    const Scene s = load_scene("quadruped_stand", 5000);
    Simulation simulation(s.world, s.objective);
    Gradient all, few;
    Rollout<Simulation> stored(simulation, s.plan, s.steps), rollout(simulation, s.plan, Schedule::binomial(s.steps, 100));
    const double loss = stored.forward(s.theta, s.x0, s.z0);
    stored.backward(s.theta, s.z0, all);
    CHECK(rollout.forward(s.theta, s.x0, s.z0) == loss);
    rollout.backward(s.theta, s.z0, few);
    CHECK(rollout.evaluations().forward == 14898);  // 2.98 a step
    CHECK(rollout.store().bytes() <= 64 * 1024);
    CHECK(all.controls == few.controls);
    CHECK(all.initial_state == few.initial_state);
    CHECK(all.parameters == few.parameters);
}

TEST_CASE("checkpointing: whatever runs between the sweeps costs a step and changes nothing") {
    const Scene s = load_scene("throw", 120);
    for (const int slots : {120, 5}) {
        Simulation simulation(s.world, s.objective);
        Rollout<Simulation> rollout(simulation, s.plan, Schedule::binomial(s.steps, slots)), other(simulation, s.plan, s.steps);
        const double loss = rollout.forward(s.theta, s.x0, s.z0);
        const Outcome expected = outcome(s, rollout, loss);
        CHECK(rollout.forward(s.theta, s.x0, s.z0) == loss);
        const std::int64_t before = rollout.evaluations().forward;
        VecX<double> faster = s.x0;
        faster.tail(s.world.nv()) *= 1.5;
        other.forward(s.theta, faster, s.z0);
        CHECK(outcome(s, rollout, loss) == expected);
        CHECK(rollout.evaluations().forward - before == Schedule::binomial(s.steps, slots).forward_evaluations() - s.steps + 1);
    }
}

TEST_CASE("checkpointing: the end may be looked at between the sweeps") {
    const Scene s = load_scene("throw", 120);
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, Schedule::binomial(s.steps, 6));
    const double loss = rollout.forward(s.theta, s.x0, s.z0);
    const Outcome expected = outcome(s, rollout, loss);
    rollout.forward(s.theta, s.x0, s.z0);
    const std::int64_t before = rollout.evaluations().forward;
    for (int k = 0; k < 3; ++k) CHECK(simulation.finish(s.steps, s.theta.data(), rollout.last_state().data()) == loss);
    simulation.finish(s.steps, s.theta.data(), s.x0.data());
    CHECK(outcome(s, rollout, loss) == expected);
    CHECK(rollout.evaluations().forward - before == Schedule::binomial(s.steps, 6).forward_evaluations() - s.steps);
}

TEST_CASE("checkpointing: any state can be had, by steps from the nearest checkpoint") {
    const Scene s = load_scene("throw", 100);
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, Schedule::binomial(s.steps, 6));
    std::vector<VecX<double>> states;
    rollout.forward(s.theta, s.x0, s.z0, [&](int, const double* x, const double*) {
        states.emplace_back(Eigen::Map<const VecX<double>>(x, s.world.nx()));
    });
    const auto check_all = [&] {
        for (int t = 0; t <= s.steps; t += 5) CHECK(rollout.state(t, s.theta, s.z0) == states[static_cast<size_t>(t)]);
    };
    check_all();
    Gradient g;
    rollout.backward(s.theta, s.z0, g);
    check_all();
    VecX<double> x0 = s.x0;
    x0[s.world.nq()] = 1e308;  // diverges at once
    rollout.forward(s.theta, x0, s.z0);
    REQUIRE(rollout.divergence());
    CHECK(rollout.state(rollout.divergence().step, s.theta, s.z0).allFinite());
}
