// Activations of actuators: closed forms, limits, gradients, Jacobians, lanes and batches. Adjoints:
// tests/core/test_activation_passes.cpp.
#include "core/dynamics/activation.hpp"

#include <set>

#include "adjoint/batch/batch.hpp"
#include "adjoint/check/gradcheck.hpp"
#include "adjoint/expectation/environment.hpp"
#include "adjoint/objective/objective.hpp"
#include "solvers/step/jacobian.hpp"
#include "solvers/step/lane_step.hpp"
#include "tests/support/scene_text.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/step_derivatives.hpp"
#include "tests/support/toy_models.hpp"
#include "tests/support/walk.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// A cart of 2 kg on a rail under a motor with dynamics.
Scene cart(const std::string& dynamics, const std::string& more = "", int steps = 100) {
    return scene_from_json(
        parse_json(R"({"steps": )" + std::to_string(steps) +
                       R"(, "time_step": 0.01, "models": [{"name": "m", "model": {
        "bodies": [{"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0], "damping": 0.3}, "mass": 2, "inertia": [0, 0, 0, 0, 0, 0]}],
        "actuators": [{"name": "force", "joint": "cart", "type": "motor", "control_limits": [-1, 1], "dynamics": )" +
                       dynamics + R"(}]}}], "controls": [{"actuators": ["*"], "initial": 0.8}])" + more + "}",
                   "cart"),
        "cart.json");
}

// An arm of three links on the ground, with an actuator of each type of dynamics. slopes: one gain has slopes; without,
// the muscle drives a tendon
Scene arm(const std::string& more = "", bool slopes = true) {
    return scene_from_json(
        parse_json(
            R"({"steps": 60, "time_step": 0.005, "ground": {"friction": 0.5}, "models": [{"name": "m",
            "position": [0, 0, 0.1], "model": {"bodies": [
            {"name": "base", "joint": {"type": "free"}, "mass": 3, "inertia": [0.03, 0.04, 0.05, 0.001, 0.002, 0.001],
             "shapes": [{"type": "box", "half_extents": [0.2, 0.2, 0.1]}]},
            {"name": "a", "parent": "base", "joint": {"type": "revolute", "axis": [0, 1, 0], "position": [0.1, 0, 0.1], "damping": 0.05},
             "mass": 0.5, "com": [0.1, 0, 0.02], "inertia": [0.004, 0.005, 0.006, 0, 0.0002, 0]},
            {"name": "b", "parent": "a", "joint": {"type": "revolute", "axis": [0, 1, 0.2], "position": [0.2, 0, 0], "damping": 0.05},
             "mass": 0.4, "com": [0.1, 0, 0.02], "inertia": [0.004, 0.005, 0.006, 0, 0.0002, 0]},
            {"name": "c", "parent": "b", "joint": {"type": "prismatic", "axis": [1, 0, 0], "position": [0.2, 0, 0], "damping": 1},
             "mass": 0.3, "com": [0.1, 0, 0.02], "inertia": [0.004, 0.005, 0.006, 0, 0.0002, 0]}],
            "tendons": [{"name": "t", "joints": [{"joint": "a", "coefficient": 0.3}, {"joint": "b", "coefficient": 1}]}],
            "actuators": [
            {"name": "i", "joint": "a", "type": "servo", "kp": 5, "kd": 0.2, "control_limits": [-1, 1], "dynamics": {"type": "integrator", "limits": [-0.4, 0.4]}},
            {"name": "f", "joint": "b", "type": "general", "gain": 2, "bias": [0.1, -1, 0.05])" +
                std::string(slopes ? R"(, "gain_slopes": [0.3, -0.1])" : "") + R"(,
             "dynamics": {"type": "filter", "time_constant": 0.04}},
            {"name": "e", "joint": "c", "type": "motor", "gear": 2, "dynamics": {"type": "exact_filter", "time_constant": 0.02, "early": true}},
            {"name": "plain", "joint": "c", "type": "motor"},
            {"name": "m", )" +
                std::string(slopes ? R"("joint": "b")" : R"("tendon": "t")") +
                R"(, "type": "muscle", "gear": 0.9, "muscle": {"force": 3, "length_range": [-1.5, 0.8], "range": [0.6, 1.3]},
             "dynamics": {"type": "muscle", "rise_time": 0.03, "fall_time": 0.08, "switch_width": 1.2}}]}}],
        "initial": {"joints": {"m/a": 0.2, "m/b": -0.5}, "velocities": {"m/a": 1},
                    "activations": {"m/f": 0.4, "m/e": -0.3, "m/m": 0.3}, "optimize": {"activations": ["m/f", "m/i"]}},
        "controls": [{"actuators": ["m/i"], "schedule": [[0, 3], [0.15, 0.2], [0.3, -0.5]]},
                     {"actuators": ["m/f", "m/e", "m/plain", "m/m"], "initial": 0.5, "optimize": {"knots": 5}}],
        "parameters": [{"path": "actuators/m/f/time_constant", "optimize": true}],
        "objective": [{"term": "position", "body": "m/c", "point": [0.1, 0.2, 0.3], "target": [1, 0.5, 2]},
                      {"term": "velocity", "body": "m/c", "target": [1, 0, 1]}])" +
                more + "}",
            "arm"),
        "arm.json");
}

}  // namespace

TEST_CASE("activations: the closed forms of a constant control, which forces read a step later") {
    static constexpr double h = 0.01, T = 0.05, c = 0.8;
    struct Case {
        const char* dynamics;
        double (*after)(int n);
    };
    for (const Case& each : {Case{R"({"type": "integrator"})", [](int n) { return n * h * c; }},
                             Case{R"({"type": "filter", "time_constant": 0.05})",
                                  [](int n) { return c * (1 - std::pow(1 - h / T, n)); }},
                             Case{R"({"type": "exact_filter", "time_constant": 0.05})",
                                  [](int n) { return c * (1 - std::exp(-n * h / T)); }}}) {
        CAPTURE(each.dynamics);
        const Scene s = cart(each.dynamics);
        double v = 0;
        int t = 0;
        const VecX<double> last = walk(s, 100, [&](const VecX<double>& x, const StepScratch<double>&) {
            CHECK(x[1] == doctest::Approx(v).epsilon(1e-13));
            CHECK(x[2] == doctest::Approx(each.after(t)).epsilon(1e-13));
            v = (2 * v + h * each.after(t++)) / (2 + h * 0.3);  // damping is implicit
        });
        CHECK(last[2] == doctest::Approx(each.after(100)).epsilon(1e-13));
    }
}

TEST_CASE("activations: limits bound the control and the activation, each with its derivative") {
    const Scene s = cart(R"({"type": "integrator", "limits": [-0.5, 0.25]})",
                         R"(, "initial": {"activations": {"m/force": 0.2}})");
    VecX<double> u(1);
    const auto next_by = [&](double control, int entry) {
        StepScratch<double> scratch(s.world);
        VecX<double> next(3), theta_bar = VecX<double>::Zero(s.world.np()), x_bar = VecX<double>::Zero(3),
                              u_bar(1);
        u[0] = control;
        u_bar[0] = 0;
        step(s.world, {s.theta.data(), s.x0.data(), u.data()}, scratch, next.data());
        scratch.clear_bars();
        const VecX<double> next_bar = VecX<double>::Unit(3, 2);
        step_adj(s.world, {s.theta.data(), s.x0.data(), u.data()}, scratch, next_bar.data(),
                 {theta_bar.data(), x_bar.data(), u_bar.data()});
        const auto by = [&](const char* path) {
            return theta_bar[s.world.model.layout.find(path)->offset + 1];
        };
        return std::array{next[2], u_bar[0], x_bar[2], by("actuators/m/force/control_limits"),
                          by("actuators/m/force/activation_limits")}[static_cast<size_t>(entry)];
    };
    CHECK(next_by(0.5, 0) == 0.2 + 0.01 * 0.5);
    CHECK((next_by(0.5, 1) == 0.01 && next_by(0.5, 2) == 1 && next_by(0.5, 3) == 0));
    CHECK(next_by(7, 0) == 0.2 + 0.01);  // at most 1
    CHECK((next_by(7, 1) == 0 && next_by(7, 3) == 0.01 && next_by(7, 4) == 0));
    const Scene full = cart(R"({"type": "integrator", "limits": [-0.5, 0.25]})",
                            R"(, "initial": {"activations": {"m/force": 0.249}})");
    CHECK(walk(full, 3)[2] == 0.25);
}

TEST_CASE(
    "activations: the gradient of a rollout is that of central differences, by every schedule the same") {
    for (const char* solver : {"pgs", "ncp"}) {
        CAPTURE(solver);
        const Scene s = arm(std::string(R"(, "solver": {"type": ")") + solver + R"("})");
        REQUIRE(s.world.na() == 4);
        CHECK(s.initial_state == std::vector<int>{18, 19});
        Simulation simulation(s.world, s.objective);
        Rollout<Simulation> rollout(simulation, s.plan, s.steps);
        GradcheckOptions options;
        options.optimized = s.parameters;
        const GradcheckReport r = gradcheck(rollout, s.theta, s.x0, s.z0, options);
        for (const GradcheckKind& kind : {r.controls, r.initial_state, r.parameters, r.optimized}) {
            CAPTURE(kind.worst);
            CHECK((kind.checked() && kind.max_relative_error < 1e-6));
        }
        CHECK(r.initial_state.stencils == s.world.own_ndx() + options.directions);
        Gradient all, few;
        rollout.forward(s.theta, s.x0, s.z0);
        rollout.backward(s.theta, s.z0, all);
        Rollout<Simulation> sparse(simulation, s.plan, Schedule::binomial(s.steps, 3));
        sparse.forward(s.theta, s.x0, s.z0);
        sparse.backward(s.theta, s.z0, few);
        CHECK((all.controls == few.controls && all.initial_state == few.initial_state &&
               all.parameters == few.parameters));
    }
}

TEST_CASE(
    "activations: the closed form of the Jacobian is that of adjoints, with contacts, muscles and tendons") {
    for (const char* solver : {"lcp", "ncp"}) {
        CAPTURE(solver);
        const Scene s = arm(std::string(R"(, "solver": {"type": ")") + solver + R"("})", false);
        const World& w = s.world;
        StepScratch<double> scratch(w);
        StepJacobian J(w), chosen(w), by_adjoints(w);
        const std::vector<int> some{1, 7, 18, 21, 23, 26};
        int contacts = 0, compared = 0;
        walk(s, s.steps, [&](const VecX<double>& x, const StepScratch<double>&) {
            VecX<double> u(w.nu()), next(w.nx());
            u << 0.3, 0.5, -0.4, 0.2, 0.6;
            step(w, {s.theta.data(), x.data(), u.data()}, scratch, next.data());
            contacts += !scratch.rows.blocks.empty();
            J.response.resize(0, 0);
            step_jacobian(w, s.theta.data(), x.data(), u.data(), scratch, J);
            if (J.response.size() == 0) return;  // not by the closed form
            ++compared;
            step_jacobian(w, s.theta.data(), x.data(), u.data(), scratch, chosen, nullptr, &some);
            step_jacobian_by_adjoints(w, s.theta.data(), x.data(), u.data(), scratch, by_adjoints);
            CHECK(apart(J.by_x, by_adjoints.by_x) < 1e-9);
            CHECK(apart(J.by_u, by_adjoints.by_u) < 1e-9);
            for (const int column : some) {
                const int own = w.own_ndx();
                if (column < own)
                    CHECK(chosen.by_x.col(column) == J.by_x.col(column));
                else
                    CHECK(chosen.by_u.col(column - own) == J.by_u.col(column - own));
            }
        });
        CAPTURE(contacts);
        CAPTURE(compared);
        CHECK((contacts > 30 && compared > 55));
    }
}

TEST_CASE("activations: lanes and batches have the bits of single steps") {
    const Scene s = arm();
    const World& w = s.world;
    constexpr int n_env = 6, substeps = 4;
    Batch batch(w, s.theta, s.x0, {.n_env = n_env, .threads = 1, .substeps = substeps});
    VecX<double> x = s.x0.replicate(n_env, 1), u(n_env * w.nu()), next(x.size());
    for (int i = 0; i < u.size(); ++i)
        u[i] = 0.3 * std::sin(i);
    for (int e = 0; e < n_env; ++e)
        x[e * w.nx() + w.nq() + w.nv() + 1] = 0.1 * e;
    REQUIRE(batch.step(x.data(), u.data(), next.data()) == 0);
    StepScratch<double> scratch(w);
    for (int e = 0; e < n_env; ++e) {
        VecX<double> one = x.segment(e * w.nx(), w.nx()), after(w.nx());
        for (int k = 0; k < substeps; ++k, one.swap(after))
            step(w, {s.theta.data(), one.data(), u.data() + e * w.nu()}, scratch, after.data());
        CHECK(one == next.segment(e * w.nx(), w.nx()));
    }
    const auto lanes = make_lane_step(w);
    if (lanes == nullptr) return;
    const int width = lanes->width();
    std::vector<const double*> theta(static_cast<size_t>(width), s.theta.data());
    lanes->set_parameters(theta.data());
    VecX<double> lane_x(w.nx() * width), lane_u(w.nu() * width), lane_next(lane_x.size());
    for (int i = 0; i < width; ++i) {
        for (int k = 0; k < w.nx(); ++k)
            lane_x[k * width + i] = s.x0[k];
        for (int k = 0; k < w.nu(); ++k)
            lane_u[k * width + i] = 0.5 + 0.1 * i / width;
    }
    REQUIRE(lanes->step(lane_x.data(), lane_u.data(), lane_next.data()));
    VecX<double> bars(w.ndx() * width), theta_bar = VecX<double>::Zero(w.np() * width),
                                        x_bar = VecX<double>::Zero(bars.size()),
                                        u_bar = VecX<double>::Zero(lane_u.size());
    for (int i = 0; i < bars.size(); ++i)
        bars[i] = std::cos(i);
    REQUIRE(lanes->step_adj(lane_x.data(), lane_u.data(), bars.data(), theta_bar.data(), x_bar.data(),
                            u_bar.data()));
    for (int i = 0; i < width; ++i) {
        const auto lane = [&](const VecX<double>& all) {
            VecX<double> one(all.size() / width);
            for (Eigen::Index k = 0; k < one.size(); ++k)
                one[k] = all[k * width + i];
            return one;
        };
        const VecX<double> own_u = lane(lane_u), own_bar = lane(bars);
        VecX<double> after(w.nx()), own_theta_bar = VecX<double>::Zero(w.np()),
                                    own_x_bar = VecX<double>::Zero(w.ndx()),
                                    own_u_bar = VecX<double>::Zero(w.nu());
        step(w, {s.theta.data(), s.x0.data(), own_u.data()}, scratch, after.data());
        scratch.clear_bars();
        step_adj(w, {s.theta.data(), s.x0.data(), own_u.data()}, scratch, own_bar.data(),
                 {own_theta_bar.data(), own_x_bar.data(), own_u_bar.data()});
        CHECK((lane(lane_next) == after && lane(theta_bar) == own_theta_bar && lane(x_bar) == own_x_bar &&
               lane(u_bar) == own_u_bar));
    }
}

TEST_CASE("activations: environments of a batch have their own, and their own time constants and limits") {
    const Scene s =
        arm(R"(, "batch": {"environments": 20, "randomize": {"activations": {"m/f": 0.2, "m/m": 0.1},
        "parameters": [{"path": "actuators/*/time_constant", "factor": [0.5, 2]}, {"path": "actuators/m/m/switch_width", "factor": [0.9, 1.1]},
                       {"path": "actuators/m/i/activation_limits", "offset": [-0.05, 0.05]}]}})");
    const World& w = s.world;
    REQUIRE((s.batch.start.size() == w.own_ndx() && s.batch.parameters.size() == 4));
    CHECK(s.batch.start.tail(4) == Eigen::Vector4d(0, 0.2, 0, 0.1));
    const int act = w.nq() + w.nv();
    std::set<double> drawn[5];
    for (int e = 0; e < 20; ++e) {
        const RolloutInputs in = environment_inputs(w, s.batch, e, {s.theta, s.x0, s.z0});
        CHECK((in.x0.head(act + 1) == s.x0.head(act + 1) && in.x0[act + 2] == s.x0[act + 2]));
        CHECK((std::abs(in.x0[act + 1] - 0.4) <= 0.2 && std::abs(in.x0[act + 3] - 0.3) <= 0.1));
        const auto of = [&](const char* path) { return in.theta[w.model.layout.find(path)->offset]; };
        const double numbers[] = {in.x0[act + 1], in.x0[act + 3], of("actuators/m/f/time_constant"),
                                  of("actuators/m/m/switch_width"), of("actuators/m/i/activation_limits")};
        for (int k = 0; k < 5; ++k)
            drawn[k].insert(numbers[k]);
    }
    for (const std::set<double>& numbers : drawn)
        CHECK(numbers.size() == 20);
    CHECK(complaint([] {
              arm(R"(, "batch": {"environments": 2, "randomize": {"activations": {"m/plain": 1}}})");
          }).find("actuator with dynamics") != std::string::npos);
}

TEST_CASE("activations: dynamics with missing or needless keys are refused") {
    CHECK(complaint([] { cart(R"({"type": "filter"})"); }).find("time_constant") != std::string::npos);
    CHECK(complaint([] { cart(R"({"type": "filter", "time_constant": 0})"); }).find("time_constant") !=
          std::string::npos);
    CHECK(complaint([] { cart(R"({"type": "muscle", "rise_time": 1})"); }).find("fall_time") !=
          std::string::npos);
    CHECK(complaint([] { cart(R"({"type": "integrator", "time_constant": 1})"); }).find("integrator") !=
          std::string::npos);
    CHECK(complaint([] { cart(R"({"type": "smooth"})"); }).find("exact_filter") != std::string::npos);
    CHECK(complaint([] {
              cart(R"({"type": "integrator"})", R"(, "initial": {"activations": {"m/cart": 1}})");
          }).find("actuator with dynamics") != std::string::npos);
}

// Two steps by hand: the muscle at its optimal length, at rest, rises by rise_time (1/2 + 3/2 w).
TEST_CASE("activations: a muscle at its optimal length pulls with its peak force times the activation") {
    const Scene s = scene_from_json(
        parse_json(
            R"({"steps": 1, "time_step": 0.001, "gravity": [0, 0, 0], "models": [{"name": "m", "model": {
            "bodies": [{"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "mass": 2, "inertia": [0, 0, 0, 0, 0, 0]}],
            "actuators": [{"name": "flexor", "joint": "cart", "type": "muscle", "muscle": {"force": 10, "length_range": [-0.5, 0.5], "range": [0.75, 1.25]},
                           "dynamics": {"type": "muscle", "rise_time": 0.01, "fall_time": 0.04}}]}}],
            "initial": {"activations": {"m/flexor": 0.6}}, "controls": [{"actuators": ["*"], "initial": 2}]})",
            "flexor"),
        "flexor.json");
    const VecX<double> x = walk(s, 1);
    CHECK(x[1] == doctest::Approx(-0.001 * 10 * 0.6 / 2).epsilon(1e-14));
    CHECK(x[2] == doctest::Approx(0.6 + 0.001 * (1 - 0.6) / (0.01 * (0.5 + 1.5 * 0.6))).epsilon(1e-14));
}

// The documented formula, evaluated by hand: with u - w = 0.1 and the width 0.5, S(0.7) = 0.83692.
TEST_CASE(
    "activations: a muscle with a switch width has a time constant between that of rise and that of fall") {
    const auto after = [](double w, const char* width) {
        const Scene s =
            cart(std::string(R"({"type": "muscle", "rise_time": 0.1, "fall_time": 0.4)") + width + "}",
                 R"(, "initial": {"activations": {"m/force": )" + std::to_string(w) + "}}");
        return walk(s, 1)[2];
    };
    const double rise = 0.1 * (0.5 + 1.5 * 0.7), fall = 0.4 / (0.5 + 1.5 * 0.7);
    CHECK(after(0.7, R"(, "switch_width": 0.5)") ==
          doctest::Approx(0.7 + 0.01 * 0.1 / (fall + (rise - fall) * 0.83692)).epsilon(1e-14));
    // at equal control and activation both have the same share; beyond the width, one has all
    CHECK(after(0.8, R"(, "switch_width": 0.5)") == 0.8);
    for (const double w : {0.1, 0.54, 1.06})
        CHECK(after(w, R"(, "switch_width": 0.5)") == after(w, ""));
    CHECK(complaint([] {
              cart(R"({"type": "filter", "time_constant": 1, "switch_width": 1})");
          }).find("switch_width") != std::string::npos);
}

TEST_CASE("activations: forces of an early actuator read the activation a step sooner") {
    for (const char* dynamics : {R"({"type": "integrator")", R"({"type": "filter", "time_constant": 0.05)",
                                 R"({"type": "exact_filter", "time_constant": 0.05)",
                                 R"({"type": "integrator", "limits": [-1, 0.3])"}) {
        CAPTURE(dynamics);
        const Scene early = cart(dynamics + std::string(R"(, "early": true})"));
        std::vector<double> speeds, activations;
        walk(early, 60, [&](const VecX<double>& x, const StepScratch<double>&) {
            speeds.push_back(x[1]);
            activations.push_back(x[2]);
        });
        for (size_t t = 0; t + 1 < speeds.size(); ++t)
            CHECK(speeds[t + 1] ==
                  doctest::Approx((2 * speeds[t] + 0.01 * activations[t + 1]) / (2 + 0.01 * 0.3))
                      .epsilon(1e-13));
        CHECK(speeds[1] > 0);
    }
}
