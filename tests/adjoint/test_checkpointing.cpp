// Rollouts with schedules that store few states: the same bits of the gradient as with all states, at the
// predicted cost.
#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <list>

#include "adjoint/check/gradcheck.hpp"
#include "adjoint/checkpoints/compression.hpp"
#include "adjoint/checkpoints/schedule.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/scene.hpp"

using namespace costate;

namespace {

struct Outcome {
    double loss = 0;
    Gradient gradient;
    std::vector<double> bars;  // of every step's state and controls, in the order of the reverse sweep
    bool operator==(const Outcome& other) const {
        return loss == other.loss && bars == other.bars && gradient.controls == other.gradient.controls &&
               gradient.initial_state == other.gradient.initial_state &&
               gradient.parameters == other.gradient.parameters;
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
    std::vector<Schedule> all{Schedule::every_step(steps), Schedule::every_kth(steps, 1),
                              Schedule::every_kth(steps, 16), Schedule::every_kth(steps, steps)};
    for (const int slots : {steps - 1, steps / 2, 40, 9, 3, 2})
        all.push_back(Schedule::binomial(steps, slots));
    for (const int kept : {2, 5, steps})
        all.push_back(Schedule::binomial(steps, 3, kept));
    if (have_checksums())
        for (const int k : {1, 7, steps})
            all.push_back(Schedule::two_tiers(steps, k, 3));
    return all;
}

const std::filesystem::path temporary = std::filesystem::temp_directory_path();

// One simulation of a scene for each set of intermediates that a schedule keeps.
struct Simulations {
    std::list<Simulation> all;
    std::vector<Simulation*> each;
    Simulations(const Scene& s, const Schedule& schedule) {
        for (int k = 0; k < schedule.kept(); ++k)
            each.push_back(&all.emplace_back(s.world, s.objective));
    }
};

}  // namespace

TEST_CASE("checkpointing: every schedule gives the same bits on scenes with contact, at the predicted cost") {
    for (const auto& [name, steps] : {std::pair{"quadruped_stand", 200}, {"throw", 100}, {"box_stack", 12}}) {
        CAPTURE(name);
        const Scene s = load_scene(name, steps);
        Outcome expected;
        for (const Schedule& schedule : schedules(s.steps)) {
            CAPTURE(schedule.name());
            CAPTURE(schedule.slots());
            CAPTURE(schedule.kept());
            Simulations simulations(s, schedule);
            Rollout<Simulation> rollout(simulations.each, s.plan, schedule,
                                        {temporary, {}, false, have_compression()});
            const double loss = rollout.forward(s.theta, s.x0, s.z0);
            CHECK(rollout.evaluations().forward == s.steps);
            const Outcome first = outcome(s, rollout, loss);
            CHECK(rollout.evaluations().forward == schedule.forward_evaluations());
            CHECK(rollout.evaluations().backward == s.steps);
            CHECK(rollout.store().bytes() == CheckpointStore::bytes(schedule, s.world.nx()));
            CHECK(rollout.store().traffic().states_written == schedule.disk_writes());
            CHECK(rollout.store().traffic().states_read == schedule.disk_reads());
            if (expected.bars.empty()) expected = first;
            CHECK(first == expected);
            CHECK(outcome(s, rollout, loss) == expected);  // again from the same forward sweep
            CHECK(outcome(s, rollout, rollout.forward(s.theta, s.x0, s.z0)) == expected);
        }
    }
}

TEST_CASE(
    "checkpointing: a rollout of unknown length ends where it is told to, with the same bits as if that had "
    "been known") {
    const Scene s = load_scene("throw", 200), shorter = load_scene("throw", 137);
    Simulation simulation(s.world, s.objective);
    const ControlPlan& plan = s.plan;
    Rollout<Simulation> known(simulation, plan, shorter.steps), online(simulation, plan, Schedule::online(6));
    const Outcome expected = outcome(s, known, known.forward(s.theta, s.x0, s.z0));
    const auto stop = [&](int t, const double*) { return t == shorter.steps; };
    const auto nothing = [](int, const double*, const double*) {};
    for (int again = 0; again < 2; ++again) {
        const std::int64_t before = online.evaluations().forward;
        const double loss = online.forward_until(s.theta, s.x0, s.z0, stop, nothing);
        CHECK(online.steps() == shorter.steps);
        CHECK(outcome(s, online, loss) == expected);
        CHECK(online.evaluations().forward - before == online.schedule().forward_evaluations());
        CHECK(outcome(s, online, loss) == expected);  // a second sweep
    }
}

TEST_CASE("checkpointing: a run saved between any two steps continues elsewhere with the same bits") {
    const Scene s = load_scene("throw", 60);
    for (const Schedule& schedule : schedules(s.steps)) {
        CAPTURE(schedule.name());
        const std::filesystem::path file = temporary / ("costate-test-" + std::to_string(getpid()));
        const DiskSettings disk{{}, file, false, false}, again{{}, file, true, false};
        Simulations simulations(s, schedule);
        Rollout<Simulation> whole(simulations.each, s.plan, schedule, disk);
        // the run is saved once in its forward sweep and once in its reverse sweep
        for (const int moment : {0, 1, 17, 59}) {
            ArchiveWriter forwards, backwards;
            Gradient g, from_forwards, from_backwards;
            const double loss = whole.forward(s.theta, s.x0, s.z0, [&](int t, const double*, const double*) {
                if (t == moment) whole.transfer(forwards);
            });
            whole.backward(s.theta, s.z0, g, [&](int t, const double*, const double* u_bar) {
                if (t == moment && u_bar != nullptr) {
                    whole.transfer(backwards);
                    g.transfer(backwards);
                }
            });
            const auto nothing = [](int, const double*, const double*) {};
            {
                Simulations others(s, schedule);
                Rollout<Simulation> rollout(others.each, s.plan, schedule, again);
                ArchiveReader reader(forwards.bytes);
                rollout.transfer(reader);
                REQUIRE(rollout.in_forward());
                CHECK(rollout.resume_forward(s.theta, s.z0, nothing) == loss);
                rollout.backward(s.theta, s.z0, from_forwards);
                // whose intermediates were left behind
                CHECK(rollout.evaluations().forward <= whole.evaluations().forward + schedule.kept());
            }
            Simulations others(s, schedule);
            Rollout<Simulation> rollout(others.each, s.plan, schedule, again);
            ArchiveReader reader(backwards.bytes);
            rollout.transfer(reader);
            from_backwards.transfer(reader);
            REQUIRE(rollout.in_backward());
            rollout.resume_backward(s.theta, s.z0, from_backwards, nothing);
            for (const Gradient* other : {&from_forwards, &from_backwards}) {
                CHECK(other->controls == g.controls);
                CHECK(other->initial_state == g.initial_state);
                CHECK(other->parameters == g.parameters);
            }
        }
        std::filesystem::remove(file);
    }
}

TEST_CASE("checkpointing: adjoints are truncated and clipped on request") {
    const Scene s = load_scene("throw", 40);
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    rollout.forward(s.theta, s.x0, s.z0);
    std::vector<double> norms(static_cast<size_t>(s.steps) + 1);
    const auto note = [&](int t, const double* x_bar, const double*) {
        norms[t] = Eigen::Map<const VecX<double>>(x_bar, s.world.ndx()).norm();
    };
    Gradient exact, limited;
    rollout.backward(s.theta, s.z0, exact, note);
    const double largest = *std::max_element(norms.begin(), norms.end());
    rollout.limits.clip = 2 * largest;
    rollout.backward(s.theta, s.z0, limited);
    CHECK(limited.controls == exact.controls);
    rollout.limits.clip = 0.5 * largest;
    rollout.backward(s.theta, s.z0, limited, note);
    for (int t = 1; t < s.steps; ++t)
        CHECK(norms[t] <= 0.5 * largest * (1 + 1e-15));
    CHECK(limited.controls != exact.controls);
    rollout.limits = {.horizon = 15};
    rollout.backward(s.theta, s.z0, limited, note);
    for (int t = 0; t <= s.steps; ++t)
        CHECK((norms[t] == 0) == (t <= 25));  // the loss is of the last state
    CHECK(limited.initial_state.norm() == 0);
}

TEST_CASE("checkpointing: the first adjoint that is not finite is named by step, body and row") {
    Scene s = load_scene("box_slide", 30);
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    rollout.forward(s.theta, s.x0, s.z0);
    Gradient g;
    rollout.backward(s.theta, s.z0, g);
    CHECK(!rollout.adjoint_divergence());
    Objective large = s.objective;
    Term impulses;
    impulses.kind = TermKind::impulse;
    impulses.running = true;
    impulses.weight = std::numeric_limits<double>::infinity();
    {
        const Objective with_impulses{impulses};
        const Simulation::ScopedObjective scoped(simulation, with_impulses);
        rollout.backward(s.theta, s.z0, g);
        REQUIRE(rollout.adjoint_divergence());
        CHECK(rollout.adjoint_divergence().step == s.steps - 1);
        CHECK(rollout.adjoint_divergence().row.find("contact of ") == 0);
        CHECK(rollout.adjoint_divergence().row.find(", normal") != std::string::npos);
        CHECK(tangent_entry_name(s.world.model, rollout.adjoint_divergence().entry).find("body '") == 0);
    }
    for (Term& term : large)
        term.weight = std::numeric_limits<double>::infinity();
    const Simulation::ScopedObjective scoped(simulation, large);
    rollout.backward(s.theta, s.z0, g);
    CHECK(rollout.adjoint_divergence().step == s.steps);
    CHECK(rollout.adjoint_divergence().row.empty());
}

TEST_CASE("checkpointing: a hundred states serve 5000 steps of the quadruped") {
    const Scene s = load_scene("quadruped_stand", 5000);
    Simulation simulation(s.world, s.objective);
    Gradient all, few;
    Rollout<Simulation> stored(simulation, s.plan, s.steps),
        rollout(simulation, s.plan, Schedule::binomial(s.steps, 100));
    const double loss = stored.forward(s.theta, s.x0, s.z0);
    stored.backward(s.theta, s.z0, all);
    CHECK(rollout.forward(s.theta, s.x0, s.z0) == loss);
    rollout.backward(s.theta, s.z0, few);
    CHECK(rollout.evaluations().forward == 14898);  // 2.98 per step
    CHECK(rollout.store().bytes() <= 64 * 1024);
    CHECK(all.controls == few.controls);
    CHECK(all.initial_state == few.initial_state);
    CHECK(all.parameters == few.parameters);
}

TEST_CASE("checkpointing: a step between the sweeps costs one evaluation and changes nothing") {
    const Scene s = load_scene("throw", 120);
    for (const int slots : {120, 5}) {
        Simulation simulation(s.world, s.objective);
        Rollout<Simulation> rollout(simulation, s.plan, Schedule::binomial(s.steps, slots)),
            other(simulation, s.plan, s.steps);
        const double loss = rollout.forward(s.theta, s.x0, s.z0);
        const Outcome expected = outcome(s, rollout, loss);
        CHECK(rollout.forward(s.theta, s.x0, s.z0) == loss);
        const std::int64_t before = rollout.evaluations().forward;
        VecX<double> faster = s.x0;
        faster.tail(s.world.nv()) *= 1.5;
        other.forward(s.theta, faster, s.z0);
        CHECK(outcome(s, rollout, loss) == expected);
        CHECK(rollout.evaluations().forward - before ==
              Schedule::binomial(s.steps, slots).forward_evaluations() - s.steps + 1);
    }
}

TEST_CASE("checkpointing: the last state may be observed between the sweeps") {
    const Scene s = load_scene("throw", 120);
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, Schedule::binomial(s.steps, 6));
    const double loss = rollout.forward(s.theta, s.x0, s.z0);
    const Outcome expected = outcome(s, rollout, loss);
    rollout.forward(s.theta, s.x0, s.z0);
    const std::int64_t before = rollout.evaluations().forward;
    for (int k = 0; k < 3; ++k)
        CHECK(simulation.finish(s.steps, s.theta.data(), rollout.last_state().data()) == loss);
    simulation.finish(s.steps, s.theta.data(), s.x0.data());
    CHECK(outcome(s, rollout, loss) == expected);
    CHECK(rollout.evaluations().forward - before ==
          Schedule::binomial(s.steps, 6).forward_evaluations() - s.steps);
}

TEST_CASE("checkpointing: any state is recomputed from the nearest checkpoint") {
    const Scene s = load_scene("throw", 100);
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, Schedule::binomial(s.steps, 6));
    std::vector<VecX<double>> states;
    rollout.forward(s.theta, s.x0, s.z0, [&](int, const double* x, const double*) {
        states.emplace_back(Eigen::Map<const VecX<double>>(x, s.world.nx()));
    });
    const auto check_all = [&] {
        for (int t = 0; t <= s.steps; t += 5)
            CHECK(rollout.state(t, s.theta, s.z0) == states[t]);
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
