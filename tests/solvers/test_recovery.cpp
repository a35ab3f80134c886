// Recovery from penetration moves bodies apart and leaves no velocity; equalities without a solution stay
// stable.
#include "scenes/scene.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/contact_stage.hpp"
#include "tests/support/scene_text.hpp"
#include "tests/support/step_derivatives.hpp"
#include "tests/support/sweeping.hpp"
#include "tests/support/walk.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// A toy world with contacts deeper than the slop.
ToyState deep_state(Rng& g, SolverType solver) {
    for (;;) {
        Settings settings = sweeping();
        settings.solver = solver;
        settings.slop = 1e-3;
        settings.time_step = 0.01;
        settings.recovery_speed = g.uniform(0, 1) < 0.5 ? 0.05 : 100;
        ToyState t = toy_contact_state(static_cast<unsigned>(g.engine()), settings);
        StepScratch<double> s(t.world);
        run_step(t, s);
        int pushed = 0;
        for (const double kappa : s.recovery.kappa)
            pushed += kappa > 0;
        if (s.rows.recovers && pushed >= 2) return t;
    }
}

// M, J, R, bias, recovery, impulses, v+ -> the velocity of the recovery.
struct RecoverPositionsPass : ContactStage {
    std::vector<double> v_next, v_next_bar, w_bar;
    std::vector<D> v_next_dual;
    RecoverPositionsPass(Rng& g, Regime)
        : ContactStage(deep_state(g, SolverType::pgs), ForwardDynamics::crba) {
        v_next = s.v_next;
        v_next_dual = d.v_next;
        v_next_bar = v_next;
        w_bar = v_next;
        const auto along = [&](const auto& value, auto& dual, auto& bar) {
            in.add_along_direction(g, [&](Inputs& all) { all.add(value, dual, bar); });
        };
        along(M, M_dual, s.free_motion.M_bar);
        along(s.rows.J, d.rows.J, s.rows.J_bar);
        along(s.rows.R, d.rows.R, s.rows.R_bar);
        along(s.rows.beta, d.rows.beta, s.rows.beta_bar);
        along(s.rows.recovery, d.rows.recovery, s.rows.recovery_bar);
        along(s.impulses.lambda, d.impulses.lambda, s.impulses.lambda_bar);
        along(v_next, v_next_dual, v_next_bar);
        out.add<double>(d.recovery.w, w_bar);
    }
    void run_duals() override {
        factor_duals();
        delassus(w, d.free_motion.M.data(), d.rows, d.delassus);
        recover_positions(w, d.free_motion.M.data(), d.rows, d.delassus, d.impulses, v_next_dual.data(),
                          d.recovery);
    }
    void run_adjoint() override {
        recover_positions_adj(w, L(), s.rows, s.delassus, s.impulses, s.recovery, v_next.data(), w_bar.data(),
                              v_next_bar.data(), s.free_motion.M_bar.data());
    }
};

constexpr const char* recovering_solvers[] = {R"({"type": "pgs"})",
                                              R"({"type": "pgs", "gradient": "implicit", "sweeps": 400})",
                                              R"({"type": "lcp"})", R"({"type": "ncp"})"};

Scene sunken_box(const std::string& solver, double depth) {
    return scene_of_text(
        R"({"name": "sunken", "steps": 500, "time_step": 0.001, "ground": true, "solver": )" + solver + R"(,
        "models": [{"name": "box", "position": [0, 0, )" +
        std::to_string(0.1 - depth) + R"(], "model": {"bodies": [{"name": "box",
            "mass": 1, "inertia": [0.007, 0.007, 0.007, 0, 0, 0], "joint": {"type": "free"},
            "shapes": [{"type": "box", "half_extents": [0.1, 0.1, 0.1]}]}]}}]})");
}

}  // namespace

TEST_CASE("adjoint: recover_positions") { check_pass<RecoverPositionsPass>(1e-10); }

TEST_CASE("recovery: a box that starts inside the ground rises to the surface and does not jump") {
    for (const char* solver : recovering_solvers)
        for (const double depth : {0.001, 0.005, 0.05}) {
            CAPTURE(std::string(solver));
            CAPTURE(depth);
            const Scene scene = sunken_box(solver, depth);
            double highest = -1, fastest = 0;
            const VecX<double> end =
                walk(scene, 500, [&](const VecX<double>& x, const StepScratch<double>& s) {
                    highest = std::max(highest, x[2] - 0.1);
                    fastest = std::max(fastest, std::abs(s.v_next[2]));
                });
            CHECK(highest < 1e-9);
            CHECK(fastest < 1e-5);
            CHECK(end[2] - 0.1 > -1.1 * scene.theta[scene.world.slop.at(0)]);
        }
}

TEST_CASE("recovery: the gradient of a step out of penetration is that of dual numbers, by every solver") {
    for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp}) {
        Rng g(7);
        for (int n = 0; n < 10; ++n) {
            CAPTURE(n);
            CAPTURE(static_cast<int>(solver));
            const ToyState t = deep_state(g, solver);
            StepScratch<double> s(t.world);
            StepScratch<D> d(t.world);
            const auto direction = [&](int size) {
                const Covector c = g.covector(size);
                return VecX<double>(Eigen::Map<const VecX<double>>(c.data(), size));
            };
            const VecX<double> next_bar = direction(t.world.ndx());
            const VecX<double> dtheta = direction(t.world.np()).cwiseProduct(t.theta.cwiseMin(1));
            const VecX<double> dx = direction(t.world.ndx()), du = direction(t.world.nu());
            const StepBars bars = run_step_adjoint(t, s, next_bar);
            const double pulled = bars.theta.dot(dtheta) + bars.x.dot(dx) + bars.u.dot(du);
            const VecX<double> pushed = push_step(t, d, dtheta, dx, du);
            CHECK(pulled == doctest::Approx(next_bar.dot(pushed))
                                .epsilon(1e-8 * next_bar.norm() * pushed.norm() / std::abs(pulled)));
        }
    }
}

// Seven dofs in a closed chain, with a weld and a coupling whose offset contradicts the closed chain.
TEST_CASE("recovery: a closed chain that cannot be closed comes to rest near its start") {
    for (const char* solver : recovering_solvers) {
        CAPTURE(std::string(solver));
        std::string bodies;
        for (int i = 0; i < 7; ++i) {
            const std::string n = std::to_string(i);
            const char* axes[] = {"[0, 1, 0]", "[1, 0, 0]",   "[0, 1, 0]",  "[0, 0, 1]",
                                  "[0, 1, 0]", "[1, 0, 0.5]", "[0, 1, 0.2]"};
            bodies += std::string(i == 0 ? "" : ", ") + R"({"name": "b)" + n + R"(", )" +
                      (i == 0 ? "" : R"("parent": "b)" + std::to_string(i - 1) + R"(", )") + R"("mass": 0.5,
                "inertia": [0.002, 0.002, 0.001, 0, 0, 0], "com": [0, 0, 0.05],
                "joint": {"name": "j)" +
                      n + R"(", "type": "revolute", "axis": )" + axes[i] +
                      (i == 0 ? "" : R"(, "position": [0, 0, 0.1])") + "}}";
            if (i == 0) bodies.replace(bodies.rfind("}}"), 2, "}}");
        }
        const Scene scene = scene_of_text(
            R"({"name": "loop", "steps": 2000, "time_step": 0.002, "solver": )" + std::string(solver) + R"(,
            "models": [{"name": "r", "position": [0, 0, 1], "model": {"bodies": [)" +
            bodies + R"(], "equalities": [
                {"name": "hold", "type": "weld", "body_a": "b6", "body_b": "world", "point_a": [0, 0, 0.1]},
                {"name": "gear", "type": "coupling", "joint_a": "j1", "joint_b": "j4", "offset": 1.5}]}}]})");
        double fastest = 0;
        walk(scene, 2000, [&](const VecX<double>&, const StepScratch<double>& s) {
            for (const double v : s.v_next)
                fastest = std::max(fastest, std::abs(v));
        });
        CHECK(fastest < 50);
    }
}

// Two hinges of inertia I are geared one to one, J = (1, -1). At rest with the error e, a step of length h
// moves q by -erp e M^-1 J^T/(J M^-1 J^T + 100 R), also at e = 0:
//   dq+/dq = 1 - erp J^T J/(2 + 100 R I)
TEST_CASE("recovery: an equality that is met exactly has the derivative of its recovery") {
    const double I = 0.1, erp = 0.2, R = 1e-6, expected = erp / (2 + 100 * R * I);
    for (const char* solver : recovering_solvers) {
        const Scene scene =
            scene_of_text(R"({"name": "gears", "steps": 1, "time_step": 0.01, "gravity": [0, 0, 0],
            "contact": {"erp": 0.2, "compliance": 1e-6}, "solver": )" +
                          std::string(solver) + R"(, "models": [{"name": "r", "model": {"bodies": [
            {"name": "a", "joint": {"type": "continuous", "axis": [0, 0, 1]}, "mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
            {"name": "b", "joint": {"type": "continuous", "axis": [0, 0, 1]}, "mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}],
            "equalities": [{"name": "gear", "type": "coupling", "joint_a": "a", "joint_b": "b"}]}}]})");
        CAPTURE(std::string(solver));
        for (const double error : {0.0, 1e-12, 1e-3}) {
            CAPTURE(error);
            VecX<double> x = scene.x0, next(4), x_next_bar = VecX<double>::Unit(4, 0),
                         x_bar = VecX<double>::Zero(4), theta_bar = VecX<double>::Zero(scene.world.np()),
                         none(0);
            x << 0.3 + error, 0.3, 0, 0;
            StepScratch<double> s(scene.world);
            step(scene.world, {scene.theta.data(), x.data(), none.data()}, s, next.data());
            CHECK(next[0] == doctest::Approx(x[0] - expected * error).epsilon(1e-12));
            s.clear_bars();
            step_adj(scene.world, {scene.theta.data(), x.data(), none.data()}, s, x_next_bar.data(),
                     {theta_bar.data(), x_bar.data(), none.data()});
            CHECK(x_bar[0] == doctest::Approx(1 - expected).epsilon(1e-9));
            CHECK(x_bar[1] == doctest::Approx(expected).epsilon(1e-9));
        }
    }
}
