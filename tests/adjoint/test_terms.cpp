// Terms as scenes give them: parts of the time, penalties, references over time, sensors, and what the
// optimizers make of them.
#include "adjoint/check/gradcheck.hpp"
#include "adjoint/objective/residuals.hpp"
#include "adjoint/optimize/term_losses.hpp"
#include "tests/support/scene_text.hpp"
#include "tests/support/scratch_folder.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// tests/support/scene_text.hpp's scene of 20 steps of 0.01 s with sensors and these terms.
Json json_with(const std::string& terms) {
    Json json = base();
    json["steps"] = 20;
    json["models"][0]["model"]["sensors"] = parse_json(
        R"([{"name": "drive", "type": "actuator_force", "actuator": "torque"}, {"name": "gap", "type": "distance", "bodies": ["lower", "world"], "cutoff": 5},
            {"name": "felt", "type": "accelerometer", "body": "lower"}])",
        "sensors");
    json["models"][1]["model"]["sensors"] = parse_json(
        R"([{"name": "push", "type": "contact_force", "body": "ball"}, {"name": "load", "type": "touch", "body": "ball"}])",
        "sensors");
    json["initial"]["joints"]["ball"] = parse_json(R"({"position": [1, 0, 0.299]})", "ball");
    json["initial"]["velocities"]["ball"]["linear"] = {1, 0.2, -3};
    json["initial"]["velocities"]["arm/shoulder"] = 0.3;
    json["initial"]["velocities"]["arm/elbow"] = -0.2;
    json["objective"] = parse_json("[" + terms + "]", "terms");
    return json;
}
Scene with(const std::string& terms) { return scene_of(json_with(terms)); }

double loss_of_rollout(const Scene& s) {
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    return rollout.forward(s.theta, s.x0, s.z0);
}
double loss_of_rollout(const std::string& terms) { return loss_of_rollout(with(terms)); }

// The height of the ball at every step.
std::vector<double> heights() {
    const Scene s = with("");
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    std::vector<double> z;
    rollout.forward(s.theta, s.x0, s.z0, [&](int, const double*, const double*) {
        z.push_back(simulation.scratch().kinematics.world_position(s.world.model, 2).z());
    });
    return z;
}

std::string ball(const std::string& more) {
    return R"({"term": "height", "body": "ball")" + (more.empty() ? "" : ", " + more) + "}";
}

const char* const every_term = R"(
    {"term": "height", "body": "ball", "lower": 0.31, "upper": 0.4, "at": "running", "weight": 20},
    {"term": "velocity", "body": "ball", "length": true, "upper": 1, "at": "running", "from": 0.03, "until": 0.15},
    {"term": "position", "body": "arm/lower", "target": [0.1, 0, 0.5], "axes": [1, 0, -2], "upper": [0.01, 0, 0.02], "at": 0.1},
    {"term": "position", "body": "ball", "norm": "huber", "threshold": 0.05, "at": "running",
     "reference": [[0, 1, 0, 0.3], [0.1, 1.2, 0, 0.4], [0.2, 1.1, 0.1, 0.3]]},
    {"term": "configuration", "joints": ["arm/*"], "reference": [[0, 0, 0.2], [0.15, 0.3, 0.1]], "at": "running"},
    {"term": "joint_velocity", "joints": ["arm/*"], "target": [0.5, -0.1], "norm": "huber", "threshold": 0.2, "at": 0.12},
    {"term": "effort", "actuators": ["arm/torque"], "target": 0.2, "weight": 0.3},
    {"term": "power", "upper": 0, "norm": "linear"}, {"term": "power", "norm": "squared", "weight": 0.1, "until": 0.1},
    {"term": "clearance", "body": "ball", "point": [0, 0, -0.2], "clearance": 0.2, "at": "running"},
    {"term": "clearance", "body": "ball", "clearance": 4, "target": [0.1, 0.05], "weight": 3, "at": "running"},
    {"term": "symmetry", "actuators": ["arm/torque"], "partners": ["arm/elbow"], "mirror": -2, "target": 0.1},
    {"term": "sensor", "sensor": "arm/drive", "upper": 0.3, "weight": 0.1},
    {"term": "sensor", "sensor": "arm/gap", "target": 0.3, "at": "end"},
    {"term": "sensor", "sensor": "arm/felt", "weight": 0.01},
    {"term": "sensor", "sensor": "ball/load", "weight": 0.0001},
    {"term": "orientation", "body": "ball", "norm": "huber", "threshold": 0.01, "rpy_deg": [5, 0, 10], "at": "running"})";

// A cart that a force drives, for the methods.
const char* const short_cart_text = R"({"steps": 20, "time_step": 0.05, "gravity": [0, 0, 0],
    "models": [{"name": "cart", "model": {"bodies": [
        {"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "mass": 1, "inertia": [1, 1, 1, 0, 0, 0]}],
      "sensors": [{"name": "force", "type": "actuator_force", "actuator": "cart"}],
      "actuators": [{"name": "cart", "joint": "cart", "type": "motor", "control_limits": [-10, 10]}]}}],
    "controls": [{"actuators": ["*"], "optimize": "per_step", "initial": 0.1}]})";

Scene cart(const std::string& terms, const char* method) {
    Json json = parse_json(short_cart_text, "cart");
    json["objective"] = parse_json("[" + terms + "]", "terms");
    json["optimize"] = {{"method", method}, {"iterations", 60}, {"segment", 7}, {"horizon", 20}};
    return scene_of(json);
}

}  // namespace

TEST_CASE("terms: parts of the time add up, and an instant is the state at its time") {
    const std::vector<double> z = heights();
    const auto sum = [&](int first, int end) {
        double all = 0;
        for (int t = first; t < end; ++t)
            all += 0.01 * z[t];
        return all;
    };
    CHECK(loss_of_rollout(ball(R"("at": "running", "until": 0.07)")) ==
          doctest::Approx(sum(0, 7)).epsilon(1e-12));
    CHECK(loss_of_rollout(ball(R"("at": "running", "from": 0.07)")) ==
          doctest::Approx(sum(7, 20)).epsilon(1e-12));
    CHECK(loss_of_rollout(ball(R"("at": "running", "from": 0.07, "until": 0.08)")) ==
          doctest::Approx(0.01 * z[7]).epsilon(1e-12));
    for (const int t : {0, 7, 19})
        CHECK(loss_of_rollout(ball(R"("weight": 3, "at": )" + std::to_string(0.01 * t))) == 3 * z[t]);
    CHECK(loss_of_rollout(ball(R"("at": 0.2)")) == z[20]);
}

TEST_CASE("terms: bounds, lengths and norms have the values of their formulas") {
    const double z = heights()[20], excess = 0.5 - z;
    REQUIRE((z > 0.2 && z < 0.5));
    CHECK(loss_of_rollout(ball(R"("lower": 0.2, "upper": 0.5)")) == 0);
    CHECK(loss_of_rollout(ball(R"("lower": 0.5)")) == doctest::Approx(excess * excess).epsilon(1e-12));
    CHECK(loss_of_rollout(ball(R"("lower": 0.5, "norm": "linear")")) ==
          doctest::Approx(excess).epsilon(1e-12));
    CHECK(loss_of_rollout(ball(R"("upper": 0.2, "norm": "distance")")) ==
          doctest::Approx(z - 0.2).epsilon(1e-12));
    CHECK(loss_of_rollout(ball(R"("target": 0.5, "norm": "huber", "threshold": 0.01)")) ==
          doctest::Approx(0.01 * (2 * excess - 0.01)).epsilon(1e-12));
    CHECK(loss_of_rollout(ball(R"("target": 0.5, "norm": "huber", "threshold": 9)")) ==
          doctest::Approx(excess * excess).epsilon(1e-12));
    const std::string speed = R"({"term": "velocity", "body": "ball", "norm": "distance"})";
    const double v = loss_of_rollout(speed);
    REQUIRE(v > 0.1);
    CHECK(loss_of_rollout(R"({"term": "velocity", "body": "ball", "length": true, "upper": 0.1})") ==
          doctest::Approx((v - 0.1) * (v - 0.1)).epsilon(1e-12));
    // an axis with a negative factor swaps the ends, and one with factor 0 has none
    const auto axes = [](const char* bounds) {
        return loss_of_rollout(
            std::string(R"({"term": "position", "body": "ball", "target": [0, 0, 0], "axes": [0, 0, -2], )") +
            bounds + "}");
    };
    CHECK(axes(R"("lower": 0.5)") == doctest::Approx(4 * excess * excess).epsilon(1e-12));
    CHECK(axes(R"("upper": 0.5)") == 0);
}

TEST_CASE("terms: a foot near the ground has a clearance, and controls have a symmetry") {
    const double z = heights()[0];
    const double square =
        loss_of_rollout(R"({"term": "velocity", "body": "ball", "axes": [1, 1, 0], "at": 0})");
    REQUIRE(square == doctest::Approx(1.04).epsilon(1e-12));
    const auto clearance = [](const std::string& height) {
        return loss_of_rollout(R"({"term": "clearance", "body": "ball", "at": 0, "clearance": )" + height +
                               "}");
    };
    CHECK(clearance("0.2") == doctest::Approx(square / (1 + std::exp(z / 0.2))).epsilon(1e-12));
    CHECK(clearance("1e9") == doctest::Approx(square / 2).epsilon(1e-8));
    CHECK(clearance("0.0001") == 0);  // far above the ground
    CHECK(loss_of_rollout(R"({"term": "clearance", "body": "ball", "at": 0})") == clearance("0.03"));

    const std::string torque = R"({"term": "effort", "actuators": ["arm/torque"]})";
    const auto symmetry = [](const std::string& more) {
        return loss_of_rollout(
            R"({"term": "symmetry", "actuators": ["arm/torque"], "partners": ["arm/torque"])" + more + "}");
    };
    REQUIRE(loss_of_rollout(torque) > 0);
    CHECK(symmetry("") == 0);
    CHECK(symmetry(R"(, "mirror": -1)") == doctest::Approx(4 * loss_of_rollout(torque)).epsilon(1e-12));
    CHECK(symmetry(R"(, "mirror": [0.5])") == doctest::Approx(0.25 * loss_of_rollout(torque)).epsilon(1e-12));
}

TEST_CASE("terms: a reference is linear between its rows, and the same from a file") {
    const ScratchFolder folder("terms");
    folder.write("path.csv", "time,a,z\n0,9,0.1\n0.1,9,0.3\n0.3,9,0.2\n");
    const std::vector<double> z = heights();
    double expected = 0;
    for (int t = 0; t < 20; ++t) {
        const double time = 0.01 * t, at = time < 0.1 ? 0.1 + 2 * time : 0.3 - 0.5 * (time - 0.1);
        expected += 0.01 * (z[t] - at) * (z[t] - at);
    }
    const std::string rows =
        R"("at": "running", "norm": "squared", "reference": [[0, 0.1], [0.1, 0.3], [0.3, 0.2]])";
    CHECK(loss_of_rollout(ball(rows)) == doctest::Approx(expected).epsilon(1e-12));
    const auto of_file = [&](const std::string& reference) {
        return scene_from_json(
            json_with(ball(R"("at": "running", "norm": "squared", "reference": )" + reference)),
            folder.path("test.json"));
    };
    CHECK(loss_of_rollout(of_file(R"({"file": "path.csv", "columns": ["z"]})")) ==
          loss_of_rollout(ball(rows)));
    // a configuration has a target in each dof
    CHECK(
        loss_of_rollout(R"({"term": "configuration", "joints": ["arm/elbow"], "reference": [[0.2, 0.4]]})") ==
        doctest::Approx(
            loss_of_rollout(R"({"term": "configuration", "joints": ["arm/elbow"], "target": 0.4})")));
}

TEST_CASE("terms: gradients of all kinds against central differences, and the loss by terms") {
    const Scene s = with(every_term);
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    const auto losses = term_losses(rollout, {s.theta, s.x0, s.z0});
    REQUIRE(losses.size() == s.objective.size());
    double sum = 0;
    for (const auto& [name, loss] : losses) {
        CAPTURE(name);
        CHECK(loss > 0);
        sum += loss;
    }
    CHECK(losses[3].first == "position 2");
    const TermShares shares = term_shares(rollout, {s.theta, s.x0, s.z0}, 3);
    REQUIRE(shares.courses().size() == losses.size());
    for (size_t i = 0; i < losses.size(); ++i) {
        const TermCourse& course = shares.courses()[i];
        CHECK((course.name == losses[i].first && course.loss == losses[i].second));
        REQUIRE(course.sums.size() == shares.noted().size());
        CHECK((course.sums.front() == 0 && course.sums.back() == course.loss));
        // terms of the end alone have nothing before it
        if (!s.objective[i].running) CHECK(course.sums[course.sums.size() - 2] == 0);
    }
    CHECK((shares.noted()[0] == 0 && shares.noted()[1] == 3 && shares.noted().back() == s.steps));
    CHECK(sum == doctest::Approx(loss_of_rollout(s)).epsilon(1e-12));
    const GradcheckReport r = gradcheck(rollout, s.theta, s.x0, s.z0);
    for (const GradcheckKind* k : {&r.controls, &r.initial_state, &r.parameters}) {
        CAPTURE(k->worst);
        CHECK(k->max_relative_error <= 2e-6);
        CHECK(k->rejected < 0.1);
    }
}

TEST_CASE("terms: the quadratic model has the gradient of the loss") {
    const Scene s = with(every_term);
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

TEST_CASE(
    "terms: every method follows penalties, references, instants and sensors, or names what it cannot") {
    const std::string task = R"(
        {"term": "position", "body": "cart", "target": [1, 0, 0], "norm": "huber", "threshold": 0.2, "weight": 10},
        {"term": "position", "body": "cart", "target": [0.3, 0, 0], "at": 0.5, "weight": 10},
        {"term": "velocity", "body": "cart", "length": true, "upper": 1.2, "at": "running", "weight": 10},
        {"term": "joint_velocity", "reference": [[0, 0], [0.5, 1], [1, 0]], "at": "running", "weight": 0.1},
        {"term": "sensor", "sensor": "cart/force", "lower": -4, "upper": 4},
        {"term": "effort", "weight": 0.001})";
    double least = unlimited;
    for (const char* method : {"lbfgs", "gauss_newton", "ilqr", "multiple_shooting", "receding_horizon"}) {
        CAPTURE(method);
        const Scene s = cart(task, method);
        CHECK_NOTHROW(check_least_squares(s.objective));
        CHECK(residual_components(s.objective).empty());
        Simulation simulation(s.world, s.objective);
        Rollout<Simulation> rollout(simulation, s.plan, s.steps);
        const Variables variables(s.world, s.plan, {}, {}, {s.theta, s.x0, s.z0});
        const OptimizeResult r = optimize(rollout, variables, s.optimize);
        CHECK(r.final_loss < 0.1 * r.initial_loss);
        if (std::string(method) == "receding_horizon") continue;
        if (least == unlimited) least = r.final_loss;
        CHECK(r.final_loss == doctest::Approx(least).epsilon(0.02));
    }
    for (const char* term :
         {R"({"term": "power", "upper": 0, "norm": "linear"})", R"({"term": "height", "body": "cart"})"})
        CHECK_THROWS_AS(check_least_squares(cart(term, "lbfgs").objective), std::invalid_argument);
    CHECK_NOTHROW(
        check_least_squares(cart(R"({"term": "height", "body": "cart", "lower": 1})", "lbfgs").objective));
}

TEST_CASE("terms: every wrong key is named with its place, the reason and a remedy") {
    const std::string json = "test.json#/objective/0";
    const auto of = [](const std::string& term) { return complaint([&] { with(term); }); };
    check_complaint(of(ball(R"("at": 0.3)")), json + "/at: ", "outside the rollout, which ends at 0.2 s",
                    "use a time from 0 to 0.2 s");
    check_complaint(of(ball(R"("at": "running", "from": -1)")), json + "/from: ", "outside the rollout",
                    "use a time");
    check_complaint(of(ball(R"("at": "running", "until": 0.21)")), json + "/until: ", "outside the rollout",
                    "use a time");
    check_complaint(of(ball(R"("at": "running", "from": 0.1, "until": 0.1)")),
                    json + "/until: ", "leaves no step", "widen the window");
    check_complaint(of(ball(R"("at": "end", "from": 0.1)")), json + "/from: ", "does not count over time",
                    "remove it");
    check_complaint(of(R"({"term": "effort", "at": 0.2})"), json + "/at: ", "the final state has no effort",
                    "use \"running\"");
    check_complaint(of(R"({"term": "sensor", "sensor": "ball/push", "at": "end"})"),
                    json + "/at: ", "the final state has no sensor", "use \"running\"");
    check_complaint(of(R"({"term": "sensor", "sensor": "ball/pus"})"),
                    json + "/sensor: ", "the nearest is \"ball/push\"", "correct the name");
    check_complaint(of(R"({"term": "symmetry", "actuators": ["arm/torque"]})"), json + ": ",
                    "no \"partners\"", "add it");
    check_complaint(of(R"({"term": "symmetry", "actuators": ["arm/torque"], "partners": []})"),
                    json + "/partners: ", "names 0 actuators, \"actuators\" 1", "name a partner for each");
    check_complaint(of(ball(R"("clearance": 1)")), json + "/clearance: ", "the term is height", "remove it");
    check_complaint(of(ball(R"("mirror": 1)")), json + "/mirror: ", "the term is height", "remove it");
    check_complaint(of(ball(R"("norm": "huber")")), json + ": ", "no \"threshold\"", "add it");
    check_complaint(of(ball(R"("threshold": 1)")), json + "/threshold: ", "the norm is not huber",
                    "remove it");
    check_complaint(of(ball(R"("lower": 2, "upper": 1)")), json + "/upper: ", "below the lower bound",
                    "widen the bounds");
    check_complaint(of(ball(R"("target": 1, "reference": [[0, 1]])")),
                    json + "/target: ", "the reference gives it", "remove it");
    check_complaint(of(ball(R"("reference": [[0, 1], [0, 2]])")), json + "/reference/1: ", "not later",
                    "sort the rows");
    check_complaint(of(ball(R"("reference": [])")), json + "/reference: ", "has no rows", "write [[time");
    check_complaint(of(R"({"term": "configuration", "reference": [[0, 0, 0, 0, 0, 0, 0, 0, 0]]})"),
                    json + "/reference: ", "a joint with a rotation", "use the term \"recording\"");
}
