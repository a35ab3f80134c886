// Free rotation: the gyroscopic torques at the middle of a step, what they do for energy and momentum, and
// their adjoint.
#include "core/dynamics/gyroscopic.hpp"
#include "scenes/scene.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/scene_text.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/toy_models.hpp"
#include "tests/support/walk.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Inertias, step and velocities -> torques. A chain takes no part.
struct GyroscopicTorquesPass : StagePass {
    Model m;
    VecX<double> theta, theta_bar, v, v_bar;
    VecX<D> theta_dual, v_dual;
    double h = 0.02, h_bar = 0;
    D h_dual;
    std::vector<D> tau;
    std::vector<double> tau_bar;
    GyroscopicTorquesPass(Rng& g, Regime r)
        : m(toy_model(g, {JointType::free, JointType::spherical, JointType::free, JointType::revolute},
                      {-1, -1, -1, 2})),
          theta(m.layout.nominal()),
          theta_bar(theta.size()),
          v(random_vector(m.nv, g, r)),
          v_bar(m.nv),
          theta_dual(theta.cast<D>()),
          v_dual(m.nv),
          tau(static_cast<size_t>(m.nv)),
          tau_bar(tau.size()) {
        for (const ParameterSlice& slice : {m.mass, m.com, m.inertia})
            in.add_along_direction(g, [&, slice](Inputs& all) {
                all.add(theta.data() + slice.offset, theta_dual.data() + slice.offset,
                        theta_bar.data() + slice.offset, 2 * slice.width);
            });
        in.add(h, h_dual, h_bar);
        in.add(v.data() + 3, v_dual.data() + 3, v_bar.data() + 3, 6);
        out.add<double>(tau, tau_bar);
    }
    void clear_bars() override {
        theta_bar.setZero();
        v_bar.setZero();
    }
    void run_duals() override {
        std::ranges::fill(tau, D(0));
        gyroscopic_torques(m, theta_dual.data(), h_dual, v_dual.data(), tau.data());
    }
    void run_adjoint() override {
        gyroscopic_torques_adj(m, theta.data(), h, v.data(), tau_bar.data(), theta_bar.data(), h_bar,
                               v_bar.data());
    }
};

Scene tumbling(const char* gyroscopic, double h) {
    return scene_of(parse_json(R"({"name": "tumbling", "steps": 10, "gravity": [0, 0, 0], "time_step": )" +
                                   std::to_string(h) + R"(,
        "solver": {"gyroscopic": ")" +
                                   std::string(gyroscopic) + R"("},
        "models": [{"name": "body", "model": {"bodies": [{"name": "body", "mass": 1, "inertia": [1, 2, 3, 0, 0, 0], "joint": {"type": "free"}}]}}],
        "initial": {"velocities": {"body": {"angular": [12, 14, 8]}}}})",
                               "test"));
}

// The largest share by which the energy of rotation leaves its first value within `seconds`.
double energy_drift(const Scene& s, double seconds) {
    const Vec3<double> I(1, 2, 3);
    const auto energy = [&](const VecX<double>& x) {
        const Vec3<double> w = load3(x.data() + s.world.nq() + 3);
        return 0.5 * w.dot(I.cwiseProduct(w));
    };
    const double first = energy(s.x0);
    double drift = 0;
    walk(s, static_cast<int>(std::lround(seconds / s.theta[s.world.time_step.at(0)])),
         [&](const VecX<double>& x, const StepScratch<double>&) {
             drift = std::max(drift, std::abs(energy(x) / first - 1));
         });
    return drift;
}

}  // namespace

TEST_CASE("adjoint: gyroscopic_torques") { check_pass<GyroscopicTorquesPass>(1e-11); }

TEST_CASE(
    "free rotation: a tumbling body keeps its energy for a minute, where the explicit bias gains or "
    "diverges") {
    CHECK(energy_drift(tumbling("explicit", 1e-3), 10) > 0.1);
    CHECK(energy_drift(tumbling("midpoint", 1e-3), 60) < 2e-4);
    CHECK(energy_drift(tumbling("midpoint", 1e-2), 60) < 0.02);
    CHECK(energy_drift(tumbling("midpoint", 2e-2), 60) < 0.1);
}

// 200 rad/s about its axis at 20 degrees, 1 ms: it precesses and does not fall.
TEST_CASE("free rotation: a fast top stands") {
    const auto lowest = [](const char* gyroscopic) {
        const Scene s = scene_of(parse_json(
            R"({"name": "top", "steps": 10, "time_step": 0.001, "solver": {"gyroscopic": ")" +
                std::string(gyroscopic) +
                R"("}, "models": [{"name": "top", "model": {"bodies": [{"name": "top", "mass": 1, "com": [0, 0, 0.1],
                "inertia": [0.001, 0.001, 0.002, 0, 0, 0], "joint": {"type": "spherical", "name": "point"}}]}}],
            "initial": {"joints": {"top/point": {"quaternion": [0.984807753, 0.173648178, 0, 0]}}}})",
            "test"));
        VecX<double> x = s.x0;
        StepScratch<double> scratch(s.world);
        VecX<double> next(x.size());
        x[s.world.nq() + 2] = 200;
        double height = 1;
        for (int t = 0; t < 10000 && x.allFinite(); ++t, x.swap(next)) {
            step(s.world, {s.theta.data(), x.data(), x.data()}, scratch, next.data());  // without controls
            const Mat3<double> R = rotation_matrix(load_quaternion(x.data()));
            height = std::min(height, R(2, 2));
        }
        return height;
    };
    CHECK(lowest("midpoint") > 0.9);
    CHECK(lowest("explicit") < 0.9);
}

// Without torques the momentum in world axes stays where it is up to the order of the step.
TEST_CASE("free rotation: angular momentum drifts no more than the step's order") {
    for (const double h : {2e-3, 1e-3, 5e-4}) {
        const Scene s = tumbling("midpoint", h);
        const auto momentum = [&](const VecX<double>& x) {
            const Vec3<double> w = load3(x.data() + s.world.nq() + 3);
            return Vec3<double>(rotation_matrix(load_quaternion(x.data() + 3)) *
                                Vec3<double>(1, 2, 3).cwiseProduct(w));
        };
        const Vec3<double> first = momentum(s.x0);
        double drift = 0;
        walk(s, static_cast<int>(std::lround(1 / h)), [&](const VecX<double>& x, const StepScratch<double>&) {
            drift = std::max(drift, (momentum(x) - first).norm() / first.norm());
        });
        CAPTURE(h);
        CHECK(drift < 20 * h);
    }
}
