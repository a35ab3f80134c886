// The mean loss over random environments: its definition, its gradient, and the same bits for any threads and ranks.
#include <doctest/doctest.h>

#include <set>

#include "adjoint/expectation/expected_loss.hpp"
#include "adjoint/external/cmaes.hpp"
#include "adjoint/optimize/augmented_lagrangian.hpp"
#include "adjoint/optimize/optimize.hpp"
#include "scenes/memory.hpp"
#include "tests/support/scene_text.hpp"
#include "tests/support/thread_ranks.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// The arm of the base text, whose controls, friction and start differ between 40 environments; the ball slides.
Scene random_arm(int environments = 40) {
    Scene s =
        changed({{"/steps", "30"},
                 {"/initial/joints/ball", R"({"position": [1, 0, 0.31]})"},
                 {"/initial/velocities/ball/linear", "[1, 2, 0]"},
                 {"/objective/-", R"({"term": "effort", "weight": 0.1, "at": "running"})"},
                 {"/objective/-", R"({"term": "joint_velocity", "joints": ["arm/*"], "at": "running"})"},
                 {"/parameters/-", R"({"path": "bodies/arm/lower/mass", "optimize": true, "lower": 0.5})"},
                 {"/batch", R"({"environments": 40, "seed": 5, "randomize": {
                           "joints": {"arm/*": 0.2, "ball": {"linear": 0.01, "angular": 0.02}},
                           "velocities": {"arm/shoulder": 0.5, "ball": {"angular": 0.3}},
                           "parameters": [{"path": "shapes/ball/friction", "factor": [0.5, 1.5]},
                                          {"path": "bodies/*/inertia", "factor": [0.9, 1.1]},
                                          {"path": "bodies/ball/com", "offset": [-0.02, 0.02]}],
                           "controls": [{"actuators": ["arm/*"], "noise": 0.3}]}})"}});
    s.batch.environments = environments;
    return s;
}

RolloutInputs inputs_of(const Scene& s) { return {s.theta, s.x0, s.z0}; }

struct Evaluated {
    double loss = 0;
    Gradient g;
    bool operator==(const Evaluated& o) const {
        return loss == o.loss && g.controls == o.g.controls && g.initial_state == o.g.initial_state &&
               g.parameters == o.g.parameters;
    }
};

Evaluated evaluate(const Scene& s, const RolloutInputs& in, const ExpectedLossOptions& o) {
    ExpectedLoss expected(s.world, s.objective, s.plan, s.batch, Schedule::every_kth(s.steps, 5), o);
    Evaluated out;
    out.loss = expected.value(in);
    if (o.gradients) expected.gradient(in, out.g);
    return out;
}

}  // namespace

TEST_CASE("expected loss: the numbers of an environment depend on seed, environment and place alone") {
    using Of = EnvironmentNumbers::Of;
    std::set<double> seen;
    double sum = 0, squares = 0;
    for (std::int64_t e = 0; e < 200; ++e)
        for (const Of kind : {Of::start, Of::parameter, Of::control})
            for (std::uint64_t at = 0; at < 20; ++at) {
                const double x = EnvironmentNumbers(3, e)(kind, at);
                CHECK((x >= -1 && x < 1));
                seen.insert(x);
                sum += x;
                squares += x * x;
            }
    CHECK(seen.size() == 12000);
    CHECK(std::abs(sum / 12000) < 0.02);
    CHECK(squares / 12000 == doctest::Approx(1 / 3.0).epsilon(0.03));
    CHECK(EnvironmentNumbers(3, 5)(Of::start, 1) != EnvironmentNumbers(4, 5)(Of::start, 1));
    CHECK(EnvironmentNumbers(3, 5)(Of::start, 1) == EnvironmentNumbers(3, 5)(Of::start, 1));
}

TEST_CASE("expected loss: the mean over single rollouts with the inputs of each environment") {
    const Scene s = random_arm();
    const RolloutInputs shared = inputs_of(s);
    NoisySimulation simulation(s.world, s.objective, s.batch);
    Rollout<NoisySimulation> rollout(simulation, s.plan, s.steps);
    std::set<double> losses, frictions, starts;
    double sum = 0;
    const int friction = s.world.model.layout.find("shapes/ball/friction")->offset;
    const int inertia = s.world.model.layout.find("bodies/arm/lower/inertia")->offset;
    for (std::int64_t e = 0; e < s.batch.environments; ++e) {
        simulation.set_environment(e);
        const RolloutInputs in = environment_inputs(s.world, s.batch, e, shared);
        const double factor = in.theta[friction] / s.theta[friction],
                     own = in.theta[inertia] / s.theta[inertia];
        CHECK((factor >= 0.5 && factor <= 1.5));
        for (int k = 0; k < 3; ++k)
            CHECK(in.theta[inertia + k] == doctest::Approx(own * s.theta[inertia + k]).epsilon(1e-15));
        CHECK(in.z == shared.z);
        CHECK(in.theta[s.world.model.mass.at(0)] == shared.theta[s.world.model.mass.at(0)]);
        CHECK((in.x0.head(2) - s.x0.head(2)).cwiseAbs().maxCoeff() <= 0.2);
        CHECK(in.x0.segment(2, 2) != s.x0.segment(2, 2));
        frictions.insert(factor);
        starts.insert(in.x0[0]);
        const double loss = rollout.forward(in.theta, in.x0, in.z);
        losses.insert(loss);
        sum += loss;
    }
    CHECK((losses.size() == 40 && frictions.size() == 40 && starts.size() == 40));
    const Evaluated mean = evaluate(s, shared, {});
    CHECK(mean.loss == doctest::Approx(sum / 40).epsilon(1e-14));
    CHECK(evaluate(s, shared, {.gradients = false}).loss == mean.loss);
}

TEST_CASE("expected loss: its gradient agrees with central differences") {
    const Scene s = random_arm(5);
    const RolloutInputs in = inputs_of(s);
    const Evaluated at = evaluate(s, in, {});
    constexpr double step = 1e-7;  // so short that no environment gains or loses a contact
    const auto difference = [&](const auto& move) {
        RolloutInputs up = in, down = in;
        move(up, step);
        move(down, -step);
        return (evaluate(s, up, {.gradients = false}).loss - evaluate(s, down, {.gradients = false}).loss) /
               (2 * step);
    };
    const auto check = [&](const VecX<double>& g, const std::vector<int>& entries, const auto& move_entry) {
        for (const int i : entries) {
            CAPTURE(i);
            const double fd = difference([&](RolloutInputs& to, double by) { move_entry(to, i, by); });
            CHECK(std::abs(fd - g[i]) <= 1e-6 * (1 + g.cwiseAbs().maxCoeff()));
            CHECK(g[i] != 0);
        }
    };
    check(at.g.controls, {0, 7, 29}, [](RolloutInputs& to, int i, double by) { to.z[i] += by; });
    const ParameterLayout& layout = s.world.model.layout;
    std::vector<int> parameters;
    for (const char* path :
         {"shapes/ball/friction", "bodies/arm/lower/mass", "bodies/arm/upper/inertia", "bodies/ball/com"})
        parameters.push_back(layout.find(path)->offset +
                             (std::string(path) == "bodies/arm/upper/inertia" ? 1 : 0));
    check(at.g.parameters, parameters, [](RolloutInputs& to, int i, double by) { to.theta[i] += by; });
    std::vector<int> tangent(static_cast<size_t>(2 * s.world.nv()));
    for (size_t i = 0; i < tangent.size(); ++i)
        tangent[i] = static_cast<int>(i);
    for (const int i : tangent) {
        const auto move = [&](RolloutInputs& to, double by) {
            VecX<double> d = VecX<double>::Zero(s.world.ndx());
            d[i] = by;
            retract(s.world.model, in.x0.data(), d.data(), to.x0.data());
            to.x0.segment(s.world.nq(), s.world.nv()) += d.segment(s.world.nv(), s.world.nv());
        };
        CAPTURE(i);
        CHECK(std::abs(difference(move) - at.g.initial_state[i]) <=
              1e-6 * (1 + at.g.initial_state.cwiseAbs().maxCoeff()));
    }
}

TEST_CASE("expected loss: standard errors are those of the environments one by one") {
    constexpr int n = 6;
    std::vector<Evaluated> each;  // from means over 1, 2, ... environments
    Evaluated before;
    for (int i = 1; i <= n; ++i) {
        const Scene s = random_arm(i);
        Evaluated mean = evaluate(s, inputs_of(s), {});
        if (i == 1)
            each.push_back(mean);
        else
            each.push_back({i * mean.loss - (i - 1) * before.loss,
                            {i * mean.g.controls - (i - 1) * before.g.controls,
                             i * mean.g.initial_state - (i - 1) * before.g.initial_state,
                             i * mean.g.parameters - (i - 1) * before.g.parameters}});
        before = std::move(mean);
    }
    double of_loss = 0, of_controls = 0, of_start = 0, of_parameters = 0;
    for (const Evaluated& e : each) {
        of_loss += std::pow(e.loss - before.loss, 2);
        of_controls += (e.g.controls - before.g.controls).squaredNorm();
        of_start += (e.g.initial_state - before.g.initial_state).squaredNorm();
        of_parameters += (e.g.parameters - before.g.parameters).squaredNorm();
    }
    const Scene s = random_arm(n);
    ExpectedLoss expected(s.world, s.objective, s.plan, s.batch, Schedule::every_step(s.steps), {});
    expected.value(inputs_of(s));
    const StandardErrors errors = standard_errors(expected.total(), s.plan.size(), s.world.ndx());
    const auto of = [](double sum) {
        return doctest::Approx(std::sqrt(sum / (n * (n - 1.0)))).epsilon(1e-6);
    };
    CHECK(errors.loss == of(of_loss));
    CHECK(errors.controls == of(of_controls));
    CHECK(errors.initial_state == of(of_start));
    CHECK(errors.parameters == of(of_parameters));
    CHECK((of_loss > 0 && of_controls > 0 && of_start > 0 && of_parameters > 0));
}

TEST_CASE("expected loss: environments that share steps in lanes have the bits of those that do not") {
    Scene arm = random_arm(24);
    {
        // every case of a residual, and impulses of contacts that some environments have
        Term bounded = arm.objective.front(), huber = bounded, impulse, clearance = bounded;
        bounded.lower = VecX<double>::Constant(3, -0.2);
        bounded.upper = VecX<double>::Constant(3, 0.1);
        bounded.running = true;
        huber.norm = TermNorm::huber;
        huber.threshold = 0.3;
        impulse.kind = TermKind::impulse;
        impulse.running = true;
        clearance.kind = TermKind::clearance;
        clearance.running = true;
        for (const Term& term : {bounded, huber, impulse, clearance})
            arm.objective.push_back(term);
    }
    std::vector<Scene> scenes{arm};
    for (const char* name : {"go1_jump", "quadruped_stand"}) {
        scenes.push_back(load_scene(name, 25));
        Scene& s = scenes.back();
        s.batch = scenes[1].batch;
        s.batch.environments = 24;
        if (scenes.size() > 2) {
            s.batch.start = VecX<double>::Constant(s.world.ndx(), 0.02);
            s.batch.parameters = {
                {s.world.model.layout.find("bodies/robot/trunk/mass")->offset, 1, true, 0.9, 1.1}};
            s.batch.controls = VecX<double>::Constant(s.world.nu(), 0.1);
        }
    }
    for (const Scene& s : scenes) {
        CAPTURE(s.name);
        const auto run = [&](int threads, LaneUse& use) {
            ExpectedLoss expected(s.world, s.objective, s.plan, s.batch, Schedule::every_kth(s.steps, 5),
                                  {.threads = threads});
            Evaluated out;
            out.loss = expected.value(inputs_of(s));
            expected.gradient(inputs_of(s), out.g);
            use = expected.lane_use();
            return out;
        };
        LaneUse together, alone;
        const Evaluated expected = run(24, alone);  // an environment for each thread
        CHECK(run(1, together) == expected);
        CHECK(alone.shared == 0);
        // fewer of so few environments find seven others with their contacts
        if (const int width = lane_width(s.world); width > 1)
            CHECK(together.shared > together.all / (width <= 4 ? 5 : 20));
    }
}

TEST_CASE(
    "expected loss: the same bits for any threads and ranks, and parameters after 20 steps of optimization") {
    for (const int environments : {1, 16, 150}) {
        CAPTURE(environments);
        const Scene s = random_arm(environments);
        const Evaluated expected = evaluate(s, inputs_of(s), {});
        for (const int threads : {2, 5})
            CHECK(evaluate(s, inputs_of(s), {.threads = threads}) == expected);
        for (const int n : {1, 2, 3, 7, 16}) {
            CAPTURE(n);
            std::vector<Evaluated> all(static_cast<size_t>(n));
            ThreadRanks(n).run([&](Ranks& ranks) {
                all[static_cast<size_t>(ranks.rank())] = evaluate(s, inputs_of(s), {.ranks = &ranks});
            });
            for (const Evaluated& one : all)
                CHECK(one == expected);
        }
    }

    Scene s = random_arm(40);
    s.optimize.iterations = 20;
    const Variables variables(s.world, s.plan, s.parameters, s.initial_state, inputs_of(s));
    const auto optimized = [&](Method method, const ExpectedLossOptions& o) {
        OptimizeSettings settings = s.optimize;
        settings.method = method;
        ExpectedLoss expected(s.world, s.objective, s.plan, s.batch, Schedule::every_step(s.steps), o);
        return optimize(expected, variables, settings, Pauses{});
    };
    for (const Method method : {Method::adam, Method::lbfgs}) {
        const OptimizeResult one = optimized(method, {});
        CHECK(one.final_loss < one.initial_loss - 0.1);
        CHECK(one.iterations == 20);
        for (const int threads : {2, 5})
            CHECK(optimized(method, {.threads = threads}).y == one.y);
        for (const int n : {1, 2, 3, 7, 16}) {
            if (method != Method::adam && n != 3) continue;
            CAPTURE(n);
            std::vector<OptimizeResult> all(static_cast<size_t>(n));
            ThreadRanks(n).run([&](Ranks& ranks) {
                all[static_cast<size_t>(ranks.rank())] =
                    optimized(method, {.threads = n == 3 ? 2 : 1, .ranks = &ranks});
            });
            for (const OptimizeResult& r : all) {
                CHECK(r.y == one.y);
                CHECK(r.losses == one.losses);
            }
        }
    }
}

TEST_CASE("expected loss: threads and ranks share the losses of a generation of CMA-ES, with the same bits") {
    use_cmaes();
    if (!have_cmaes()) return;
    const auto check = [](const OptimizeSettings& settings, const auto& optimized) {
        const OptimizeResult one = optimized(settings);
        CHECK(one.iterations == settings.iterations);
        CHECK(one.y.size() > 0);
        CHECK(one.loss_evaluations > 5 * one.iterations);
        const auto same = [&](const OptimizeResult& r) {
            CHECK(r.y == one.y);
            CHECK(r.losses == one.losses);
            CHECK(r.loss_evaluations == one.loss_evaluations);
        };
        for (const int threads : {2, 5}) {
            OptimizeSettings of_threads = settings;
            of_threads.threads = threads;
            same(optimized(of_threads));
        }
        for (const int n : {1, 2, 3, 16}) {
            CAPTURE(n);
            std::vector<OptimizeResult> all(static_cast<size_t>(n));
            ThreadRanks(n).run([&](Ranks& ranks) {
                OptimizeSettings of_ranks = settings;
                of_ranks.ranks = &ranks;
                of_ranks.threads = n == 3 ? 2 : 1;
                all[static_cast<size_t>(ranks.rank())] = optimized(of_ranks);
            });
            for (const OptimizeResult& r : all)
                same(r);
        }
    };
    Scene arm = random_arm(40), pole = load_scene("cartpole_limits", 30);
    for (Scene* s : {&arm, &pole}) {
        CAPTURE(s->name);
        s->optimize.method = Method::cmaes;
        s->optimize.iterations = 4;
        s->optimize.rounds = 2;
        s->optimize.sigma = 0.01;
        const Variables variables(s->world, s->plan, s->parameters, s->initial_state, inputs_of(*s));
        check(s->optimize, [&](const OptimizeSettings& settings) {
            Simulation simulation(s->world, s->objective);
            Rollout<Simulation> rollout(simulation, s->plan, s->steps);
            return optimize(rollout, variables, s->constraints, settings, Pauses{});
        });
        if (s->batch.environments == 0) continue;
        check(s->optimize, [&](const OptimizeSettings& settings) {
            ExpectedLoss expected(s->world, s->objective, s->plan, s->batch, Schedule::every_step(s->steps),
                                  {.gradients = false, .ranks = settings.ranks});
            return optimize(expected, variables, settings, Pauses{});
        });
    }
}

TEST_CASE("expected loss: rank 0 follows the progress of all ranks") {
    const Scene s = random_arm(300);
    std::vector<EnvironmentProgress> seen;
    ThreadRanks(3).run([&](Ranks& ranks) {
        ExpectedLossOptions o{.ranks = &ranks, .follow = true};
        if (ranks.rank() == 0) o.between = [&](const EnvironmentProgress& p) { seen.push_back(p); };
        evaluate(s, inputs_of(s), o);
    });
    REQUIRE(!seen.empty());
    CHECK((seen.back().done == 300 && seen.back().of == 300 && seen.back().behind == -1));
    for (size_t i = 1; i < seen.size(); ++i)
        CHECK(seen[i - 1].done <= seen[i].done);
}

TEST_CASE("expected loss: the lowest environment that diverges is named, by any threads and ranks") {
    Scene s = random_arm(100);
    s.objective.clear();
    // an infinite force in those environments whose control has more noise than this
    const auto gear = s.world.model.layout.find("actuators/arm/torque/gear");
    REQUIRE(gear);
    s.theta[gear->offset] = 1e308;
    s.z0.setConstant(0.5);
    const auto complaint_of = [&](const ExpectedLossOptions& o) -> std::string {
        ExpectedLoss expected(s.world, s.objective, s.plan, s.batch, Schedule::every_step(s.steps), o);
        CHECK(expected.value(inputs_of(s)) == unlimited);
        try {
            expected.complain();
        } catch (const DivergenceError& e) {
            return e.what();
        }
        return "no complaint";
    };
    const std::string expected = complaint_of({});
    CHECK(expected.find("environment 0: the state is not finite after step") == 0);
    CHECK(complaint_of({.threads = 5}) == expected);
    ThreadRanks(3).run([&](Ranks& ranks) { CHECK(complaint_of({.ranks = &ranks}) == expected); });
}

TEST_CASE("expected loss: memory and messages do not grow with the environments") {
    const auto made = [](int environments) {
        static Scene s = random_arm();
        s.batch.environments = environments;
        return ExpectedLoss(s.world, s.objective, s.plan, s.batch, Schedule::binomial(s.steps, 4),
                            {.threads = 2})
            .bytes();
    };
    CHECK(made(1000) == made(1'000'000'000));
    CHECK(made(1000) < 1'000'000);
}
