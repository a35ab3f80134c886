// Optimizations in stages: each is the optimization that one would write by hand; resumed and interrupted runs; scenes.
#include <doctest/doctest.h>

#include "adjoint/expectation/expected_loss.hpp"
#include "tests/support/optimized_scene.hpp"
#include "tests/support/scene_text.hpp"

using namespace costate;

namespace {

// A cart of 1 kg on a spring, which a motor takes to 1 m; `more` are keys of "optimize".
Scene spring(const std::string& more, double stiffness = 4) {
    return scene_of_text(R"({"steps": 30, "time_step": 0.02, "gravity": [0, 0, 0],
    "models": [{"name": "cart", "model": {"bodies": [{"name": "cart", "mass": 1, "inertia": [1, 1, 1, 0, 0, 0],
        "joint": {"type": "prismatic", "axis": [1, 0, 0], "stiffness": )" +
                         std::to_string(stiffness) + R"(}}],
      "actuators": [{"name": "cart", "joint": "cart", "type": "motor", "control_limits": [-9, 9]}]}}],
    "controls": [{"actuators": ["*"], "optimize": {"knots": 4}, "initial": 0}],
    "objective": [{"term": "position", "body": "cart", "target": [1, 0, 0]}, {"term": "effort", "weight": 0.01}],
    "optimize": {"iterations": 6)" +
                         more + "}}");
}

const char* const two_stages = R"(, "stages": [
    {"method": "adam", "iterations": 5, "parameters": [{"path": "joints/cart/stiffness", "value": 0.5}]},
    {"iterations": 3, "parameters": [{"path": "joints/*/stiffness", "value": 2},
                                     {"path": "actuators/*/control_limits", "value": [-2, 3]}]}])";

}  // namespace

TEST_CASE("stages: each has the bits of an optimization by hand from the end of the one before") {
    const Scene scene = spring(two_stages);
    OptimizedScene run{scene};
    const OptimizeResult r = run.optimize();

    Scene soft = spring("", 0.5);
    soft.optimize.method = Method::adam;
    soft.optimize.iterations = 5;
    const OptimizeResult first = OptimizedScene{soft}.optimize();
    Scene middle = spring("", 2);
    middle.optimize.iterations = 3;
    for (Actuator& a : middle.world.model.actuators) {
        middle.theta[a.control.lower] = -2;
        middle.theta[a.control.upper] = 3;
    }
    OptimizedScene second{middle};
    second.variables.start_at(first.y.cwiseMax(-2).cwiseMin(3));
    const OptimizeResult before = second.optimize();
    const Scene whole = spring("");
    OptimizedScene last{whole};
    last.variables.start_at(before.y);
    const OptimizeResult end = last.optimize();
    CHECK(r.y == end.y);
    CHECK(r.final_loss == end.final_loss);
    CHECK(r.initial_loss == OptimizedScene{whole}.optimize().initial_loss);
    CHECK(r.iterations == first.iterations + before.iterations + end.iterations);
    CHECK(r.losses.size() == first.losses.size() + before.losses.size() + end.losses.size() - 2);
    CHECK(r.losses[0] == first.losses[0]);
    CHECK(r.losses.back() == end.losses.back());
    // the loss at the start, and in each stage at its first point
    CHECK(r.loss_evaluations ==
          first.loss_evaluations + before.loss_evaluations + end.loss_evaluations + 1 + 3);
}

TEST_CASE("stages: a run resumed after any iteration has the bits of the run that was not interrupted") {
    const Scene scene = spring(two_stages);
    std::vector<std::vector<char>> saved;
    Pauses pauses;
    pauses.save = [&](const std::function<std::vector<char>()>& bytes, bool) { saved.push_back(bytes()); };
    const OptimizeResult expected = OptimizedScene{scene}.optimize(pauses);
    REQUIRE(saved.size() > 8);
    for (const std::vector<char>& bytes : saved) {
        Pauses again;
        again.save = [](const std::function<std::vector<char>()>&, bool) {};
        again.resume = bytes;
        const OptimizeResult r = OptimizedScene{scene}.optimize(again);
        CHECK(r.y == expected.y);
        CHECK(r.final_loss == expected.final_loss);
        CHECK(r.losses == expected.losses);
        CHECK(r.loss_evaluations == expected.loss_evaluations);
        CHECK(r.stopped == expected.stopped);
    }
    Pauses wrong;
    wrong.resume = saved[0];
    wrong.resume.pop_back();
    CHECK_THROWS_AS(OptimizedScene{scene}.optimize(wrong), ResumeError);
}

TEST_CASE("stages: an interrupted run has the loss of the scene, and no worse point than its start") {
    const Scene scene = spring(two_stages);
    for (const int iterations : {1, 4, 7, 10}) {
        CAPTURE(iterations);
        OptimizedScene run{scene};
        Pauses pauses;
        int so_far = 0;
        pauses.progress = [&](const OptimizeResult& r) { so_far = r.iterations; };
        pauses.interrupted = [&] { return so_far >= iterations; };
        const OptimizeResult r = run.optimize(pauses);
        CHECK(r.stopped == "interrupted");
        CHECK(r.iterations == iterations);
        CHECK(r.final_loss <= r.initial_loss);
        CHECK(run.loss(r.y) == r.final_loss);
    }
}

TEST_CASE("stages: a stage that diverges where the one before ended begins where the scene does") {
    const auto stages = [](const std::string& second) {
        return R"(, "stages": [{"iterations": 3}, {"iterations": 0, "parameters": [)" + second + "]}]";
    };
    // no force at the start, where controls are 0, and an infinite loss elsewhere
    const Scene strong = spring(stages(R"({"path": "actuators/*/gear", "value": 1e300})"));
    const Scene whole = spring("");
    CHECK(OptimizedScene{strong}.optimize().y == OptimizedScene{whole}.optimize().y);
    const Scene wild = spring(stages(
        R"({"path": "world/gravity", "value": [1e308, 0, 0]}, {"path": "bodies/*/mass", "value": 1e5})"));
    CHECK_THROWS_AS(OptimizedScene{wild}.optimize(), DivergenceError);
}

TEST_CASE("stages: constraints are kept by the last one") {
    const Scene scene = scene_of_text(R"({"steps": 30, "time_step": 0.02, "gravity": [0, 0, 0],
    "models": [{"name": "cart", "model": {"bodies": [{"name": "cart", "mass": 1, "inertia": [1, 1, 1, 0, 0, 0],
        "joint": {"type": "prismatic", "axis": [1, 0, 0]}}], "actuators": [{"name": "cart", "joint": "cart", "type": "motor"}]}}],
    "controls": [{"actuators": ["*"], "optimize": {"knots": 4}, "initial": 0}],
    "objective": [{"term": "position", "body": "cart", "target": [1, 0, 0]}],
    "constraints": [{"term": "joint_velocity", "max": 1.5}],
    "optimize": {"iterations": 200, "stages": [{"iterations": 20, "parameters": [{"path": "bodies/*/mass", "value": 2}]}]}})");
    const OptimizeResult r = OptimizedScene{scene}.optimize();
    CHECK(infeasibility(r.violations) <= 1);
    CHECK(!r.rounds.empty());
}

TEST_CASE("stages: a mean over environments is optimized alike") {
    Scene scene = spring(two_stages);
    scene.batch.environments = 3;
    ExpectedLoss mean(scene.world, scene.objective, scene.plan, scene.batch,
                      Schedule::every_step(scene.steps), {});
    OptimizedScene run{scene};
    const OptimizeResult of_mean = optimize(mean, run.variables, scene.optimize, Pauses{});
    CHECK(of_mean.final_loss == doctest::Approx(run.optimize().final_loss).epsilon(1e-9));
}

TEST_CASE("stages: every wrong key is named with its place, the reason and a remedy") {
    const std::string at = "test.json#/optimize/stages/0";
    const auto of = [](const std::string& stage) {
        return complaint([&] { spring(", \"stages\": [" + stage + "]"); });
    };
    check_complaint(of(R"({"methods": "lbfgs"})"),
                    at + "/methods: ", "unknown key of stage, the nearest is \"method\"",
                    "correct or remove it");
    check_complaint(of(R"({"method": "receding_horizon"})"), at + ": ", "is no stage",
                    "give the stage another \"method\"");
    check_complaint(of(R"({"parameters": [{"path": "world/time_step", "value": 0.1}]})"),
                    at + "/parameters/0/value: ", "the time step cannot be set", "use \"time_step\"");
    check_complaint(of(R"({"parameters": [{"path": "actuators/*/control_limits", "value": [2, 1]}]})"),
                    at + "/parameters/0: ", "not less than its upper end", "give both as [lower, upper]");
    const auto optimized = [&](const std::string& path, const std::string& set) {
        return complaint([&] {
            changed({{"/parameters/-", (R"({"path": ")" + path + R"(", "optimize": true})").c_str()},
                     {"/optimize/stages",
                      (R"([{"parameters": [{"path": ")" + set + R"(", "value": 1}]}])").c_str()}});
        });
    };
    for (const auto& [path, set] : {std::pair("bodies/arm/lower/mass", "bodies/*/mass"),
                                    std::pair("bodies/arm/lower/pseudo_inertia", "bodies/arm/lower/com[2]")})
        check_complaint(optimized(path, set),
                        at + "/parameters/0/path: ", "is optimized, so no stage sets it", "leave it out");
}
