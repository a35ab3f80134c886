// Constraints: the augmented loss and its derivatives, solutions known in closed form, every method, and resumed runs.
#include <doctest/doctest.h>

#include "adjoint/check/gradcheck.hpp"
#include "adjoint/external/cmaes.hpp"
#include "adjoint/objective/residuals.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/optimized_scene.hpp"
#include "tests/support/scene_text.hpp"

using namespace costate;

namespace {

// A mass of 1 kg that a motor moves from 0 to 1 m in 1 s, from rest to rest, with the least integral of the squared force.
const char* const transfer_text = R"({"steps": 50, "time_step": 0.02, "gravity": [0, 0, 0],
    "models": [{"name": "cart", "model": {"bodies": [
        {"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "mass": 1, "inertia": [1, 1, 1, 0, 0, 0]}],
      "sensors": [{"name": "force", "type": "actuator_force", "actuator": "cart"}],
      "actuators": [{"name": "cart", "joint": "cart", "type": "motor"}]}}],
    "controls": [{"actuators": ["*"], "optimize": "per_step", "initial": 0}],
    "objective": [{"term": "effort"}],
    "constraints": [
        {"name": "there", "term": "position", "body": "cart", "axes": [1, 0, 0], "equals": 1, "at": "end", "tolerance": 1e-5},
        {"name": "at rest", "term": "joint_velocity", "equals": 0, "at": "end", "tolerance": 1e-5}],
    "optimize": {"method": "lbfgs", "iterations": 2000, "max_loss_evaluations": 10000}})";

Scene transfer(const char* method, const std::string& more = "", const char* settings = "{}") {
    Json json = parse_json(transfer_text, "transfer");
    json["optimize"]["method"] = method;
    json["optimize"].update(parse_json(settings, "settings"));
    for (const Json& constraint : parse_json("[" + more + "]", "constraints"))
        json["constraints"].push_back(constraint);
    return scene_of(json);
}

struct Run : OptimizedScene {
    using OptimizedScene::OptimizedScene;
    // The largest |value| that a signal of the state or the control takes over the rollout.
    template <class Value> double largest(const OptimizeResult& r, const Value& value) {
        const RolloutInputs in = variables.inputs(r.y);
        double most = 0;
        rollout.forward(in.theta, in.x0, in.z, [&](int, const double* x, const double* u) {
            most = std::max(most, std::abs(value(x, u)));
        });
        return most;
    }
};

// The base scene with constraints on all that a step has, and multipliers as after some rounds.
Scene with_multipliers() {
    Json json = base();
    json["steps"] = 20;
    json["models"][0]["model"]["sensors"] = parse_json(
        R"([{"name": "drive", "type": "actuator_force", "actuator": "torque"},
            {"name": "gap", "type": "distance", "bodies": ["lower", "world"], "cutoff": 5}])",
        "sensors");
    json["models"][1]["model"]["sensors"] =
        parse_json(R"([{"name": "push", "type": "contact_force", "body": "ball"}])", "sensors");
    json["initial"]["joints"]["ball"] = parse_json(R"({"position": [1, 0, 0.299]})", "ball");
    json["initial"]["velocities"]["ball"]["linear"] = {1, 0.2, -3};
    json["initial"]["velocities"]["arm/shoulder"] = 0.3;
    json["constraints"] = parse_json(R"([
        {"term": "configuration", "joints": ["arm/*"], "min": -0.1, "max": [0.05, 0.2]},
        {"term": "joint_velocity", "joints": ["arm/elbow"], "max": 0.1, "from": 0.05, "until": 0.15},
        {"term": "position", "body": "arm/lower", "axes": [1, 0, -2], "min": 0, "at": 0.1},
        {"term": "velocity", "body": "ball", "length": true, "max": 0.5},
        {"term": "orientation", "body": "ball", "rpy_deg": [5, 0, 10], "length": true, "max": 0.01},
        {"term": "effort", "actuators": ["arm/torque"], "equals": 0.3},
        {"term": "impulse", "shape": "ball", "max": 0.01},
        {"term": "sensor", "sensor": "arm/drive", "max": 0.2},
        {"term": "sensor", "sensor": "arm/gap", "min": 0.6},
        {"term": "sensor", "sensor": "ball/push", "equals": [0, 0, 1]},
        {"term": "height", "body": "ball", "equals": 0.31, "at": "end"}])",
                                     "constraints");
    Scene scene = scene_of(json);
    double k = 0;
    for (Constraint& c : scene.constraints)
        for (Term& part : c.parts) {
            part.shift.width = residual_size(part);
            part.shift.values.resize(static_cast<size_t>(scene.steps * part.shift.width));
            for (double& shift : part.shift.values)
                shift = 0.03 * std::sin(k += 1);
        }
    scene.objective = augmented_objective(scene.objective, scene.constraints);
    return scene;
}

}  // namespace

TEST_CASE("constraints: the gradient of the augmented loss is that of central differences") {
    const Scene s = with_multipliers();
    REQUIRE(s.objective.size() == 1 + 11 + 4);  // four constraints of states hold in the final state, too
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    const GradcheckReport r = gradcheck(rollout, s.theta, s.x0, s.z0);
    for (const GradcheckKind* k : {&r.controls, &r.initial_state, &r.parameters}) {
        CAPTURE(k->worst);
        CHECK(k->max_relative_error <= 2e-6);
        CHECK(k->rejected < 0.1);
    }
}

TEST_CASE("constraints: the quadratic model has the gradient of the augmented loss") {
    const Scene s = with_multipliers();
    const World& w = s.world;
    Simulation simulation(w, s.objective);
    VecX<double> u = VecX<double>::Constant(w.nu(), 0.6), x = s.x0, next(w.nx());
    const VecX<double> nothing = VecX<double>::Zero(w.ndx());
    StepScratch<double> scratch(w);
    TermResiduals terms(w, s.objective, Columns::and_parameters);
    Residuals r;
    for (int t = 0; t < s.steps; ++t, x.swap(next)) {
        CAPTURE(t);
        VecX<double> row = VecX<double>::Zero(w.ndx() + w.nu() + w.np());
        simulation.run(t, s.theta.data(), x.data(), u.data(), next.data());
        simulation.run_adj(t, s.theta.data(), x.data(), u.data(), nothing.data(),
                           row.data() + w.ndx() + w.nu(), row.data(), row.data() + w.ndx());
        step(w, {s.theta.data(), x.data(), u.data()}, scratch, next.data());
        terms.linearise(true, t, s.theta.data(), x.data(), u.data(), scratch, r);
        CHECK((2 * r.J.transpose() * r.r + r.linear - row).norm() < 1e-10 * row.norm());
    }
}

TEST_CASE("constraints: least effort from rest to rest, with and without a limit of the velocity") {
    // u = 6 - 12 t, with the integral 12 of u^2
    const Scene plain = transfer("lbfgs");
    Run run{plain};
    const OptimizeResult r = run.optimize();
    CHECK(infeasibility(r.violations) <= 1);
    CHECK(r.stopped == "converged");
    CHECK(r.final_loss == doctest::Approx(12).epsilon(2e-3));
    CHECK(r.initial_loss == 0);
    CHECK(r.losses.size() == static_cast<size_t>(r.iterations) + 1);
    // v <= V: the force falls linearly to 0 at t1 = 3/2 (1 - 1/V), and the integral of u^2 is 8 V^2/(3 t1)
    constexpr double V = 1.2, t1 = 1.5 * (1 - 1 / V);
    const Scene limited =
        transfer("lbfgs", R"({"name": "speed", "term": "joint_velocity", "max": 1.2, "tolerance": 1e-4})");
    Run slow{limited};
    const OptimizeResult s = slow.optimize();
    REQUIRE(s.violations.size() == 3);
    CHECK(infeasibility(s.violations) <= 1);
    CHECK(s.final_loss == doctest::Approx(8 * V * V / (3 * t1)).epsilon(0.01));
    const double fastest = slow.largest(s, [](const double* x, const double*) { return x[1]; });
    CHECK(fastest <= V + 1e-4);
    CHECK(fastest > V - 1e-3);
}

TEST_CASE("constraints: every method keeps them") {
    const std::string force =
        R"({"name": "force", "term": "sensor", "sensor": "cart/force", "min": -5, "max": 5})";
    double least = unlimited;
    for (const char* method :
         {"lbfgs", "momentum", "gradient_descent", "gauss_newton", "ilqr", "multiple_shooting"}) {
        CAPTURE(method);
        const Scene scene = transfer(method, force);
        Run run{scene};
        const OptimizeResult r = run.optimize();
        const double force_used = run.largest(r, [](const double*, const double* u) { return u ? *u : 0; });
        CHECK(infeasibility(r.violations) <= 1);
        CHECK(force_used <= 5 + 1e-3);
        CHECK(force_used > 4.9);
        if (least == unlimited) least = r.final_loss;
        CHECK(r.final_loss == doctest::Approx(least).epsilon(0.01));
    }
    // every round of receding_horizon is a run in closed loop, with the multipliers of the one before
    const Scene scene =
        transfer("receding_horizon", "", R"({"horizon": 50, "rounds": 20, "max_loss_evaluations": 100000})");
    Run run{scene};
    const OptimizeResult r = run.optimize();
    CHECK(infeasibility(r.violations) <= 1);
    CHECK(r.final_loss == doctest::Approx(12).epsilon(0.02));
}

TEST_CASE("constraints: what cannot be kept is named, and the least violation is returned") {
    const Scene scene = transfer("lbfgs", R"({"name": "weak", "term": "effort", "max": 1, "min": -1})",
                                 R"({"iterations": 400})");
    Run run{scene};
    const OptimizeResult r = run.optimize();
    CHECK(infeasibility(r.violations) > 1);
    double least = unlimited;
    for (const Round& round : r.rounds)
        least = std::min(least, round.infeasibility);
    CHECK(infeasibility(r.violations) == least);
    CHECK(r.iterations <= 400);
}

TEST_CASE("constraints: a run resumed after any iteration has the bits of the run that was not interrupted") {
    for (const char* method : {"lbfgs", "ilqr", "adam"}) {
        CAPTURE(method);
        const Scene scene = transfer(method, R"({"term": "joint_velocity", "max": 1.2, "at": "running"})",
                                     R"({"iterations": 60, "learning_rate": 0.5, "rounds": 4})");
        std::vector<std::vector<char>> saved;
        Pauses pauses;
        pauses.save = [&](const std::function<std::vector<char>()>& bytes, bool) {
            saved.push_back(bytes());
        };
        Run whole{scene};
        const OptimizeResult expected = whole.optimize(pauses);
        REQUIRE(saved.size() > 3);
        REQUIRE(expected.rounds.size() > 1);
        for (size_t k = 0; k < saved.size(); k += 1 + saved.size() / 7) {
            Pauses again;
            again.save = [](const std::function<std::vector<char>()>&, bool) {};
            again.resume = saved[k];
            Run rest{scene};
            const OptimizeResult r = rest.optimize(again);
            CHECK(r.y == expected.y);
            CHECK(r.final_loss == expected.final_loss);
            CHECK(r.losses == expected.losses);
            CHECK(r.gradient_norms == expected.gradient_norms);
            CHECK(r.loss_evaluations == expected.loss_evaluations);
            CHECK(r.rounds.size() == expected.rounds.size());
            CHECK(infeasibility(r.violations) == infeasibility(expected.violations));
            CHECK(r.stopped == expected.stopped);
        }
        Pauses wrong;
        wrong.resume = saved[0];
        wrong.resume.resize(wrong.resume.size() / 2);
        Run broken{scene};
        CHECK_THROWS_AS(broken.optimize(wrong), ResumeError);
    }
}

TEST_CASE("constraints: cartpole_limits has a lower loss than any penalties that keep its limits") {
    const Scene scene = load_scene("cartpole_limits");
    Run run{scene};
    const OptimizeResult r = run.optimize();
    CHECK(infeasibility(r.violations) <= 1);
    CHECK(run.largest(r, [](const double* x, const double*) { return x[0]; }) <= 0.4 + 1e-3);
    CHECK(r.final_loss < 0.06);
    for (const double weight : {1e1, 1e2, 1e3, 1e4, 1e5, 1e6}) {
        CAPTURE(weight);
        // the first round alone minimizes the objective with penalties
        Scene penalties = scene;
        penalties.optimize.rounds = 1;
        for (Constraint& c : penalties.constraints)
            c.penalty *= weight / 10;
        Run other{penalties};
        const OptimizeResult p = other.optimize();
        CHECK((infeasibility(p.violations) > 1 || p.final_loss > r.final_loss));
    }
}

TEST_CASE("constraints: every wrong key is named with its place, the reason and a remedy") {
    const std::string at = "test.json#/constraints/2";
    const auto of = [](const std::string& constraint) {
        return complaint([&] { transfer("lbfgs", constraint); });
    };
    check_complaint(of(R"({"term": "effort"})"), at + ": ", "bounds nothing", "give it \"min\"");
    check_complaint(of(R"({"term": "effort", "equals": 1, "max": 2})"), at + "/max: ", "is an equality",
                    "remove it");
    check_complaint(of(R"({"term": "effort", "min": 1, "max": 0})"), at + "/max: ", "below the lower bound",
                    "widen the bounds");
    check_complaint(of(R"({"term": "effort", "max": 1, "weight": 2})"), at + "/weight: ", "unknown key",
                    "correct or remove");
    check_complaint(of(R"({"term": "effort", "max": 1, "tolerance": 0})"), at + "/tolerance: ", "must be",
                    "");
    check_complaint(of(R"({"term": "effort", "max": 1, "at": "end"})"),
                    at + "/at: ", "the final state has no effort", "use \"running\"");
    Json json = parse_json(transfer_text, "transfer");
    json["parameters"] = parse_json(R"([{"path": "world/time_step", "optimize": true}])", "parameters");
    const Scene scene = scene_of(json);
    CHECK(why_no_constraints(scene.world, scene.parameters) != "");
    CHECK(why_no_constraints(scene.world, {}) == "");
}
