// Identification of parameters from recorded motion with noise: the *_identification scenes, starting with
// errors of 50 %. scripts/bench/make_recordings.py prints the standard errors for the noise and the number of
// rows. The recordings are fixed files, so an estimate is one draw. Also all ten inertial parameters of a
// hand, from its exact motion.
#include <doctest/doctest.h>

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "adjoint/check/gradcheck.hpp"
#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/format/json.hpp"
#include "scenes/scene.hpp"

using namespace costate;

namespace {

struct Found {
    const char* path;
    double truth, standard_error;  // the latter relative
};

void check_identification(const char* name, const std::vector<Found>& parameters) {
    const Scene scene = load_scene(name);
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    const Variables variables(scene.world, scene.plan, scene.parameters, scene.initial_state,
                              {scene.theta, scene.x0, scene.z0});
    REQUIRE(variables.size() == static_cast<int>(parameters.size()));
    const OptimizeResult r = optimize(rollout, variables, scene.optimize);
    const VecX<double> theta = variables.inputs(r.y).theta;
    for (const Found& f : parameters) {
        CAPTURE(f.path);
        const int index = scene.world.model.layout.find(f.path)->offset;
        CHECK(std::abs(scene.theta[index] / f.truth - 1) == doctest::Approx(0.5));
        const double error = std::abs(theta[index] / f.truth - 1);
        CHECK(error < 0.01);
        CHECK(error < 4 * f.standard_error);
    }
    CHECK(r.final_loss < 1e-3 * r.initial_loss);
}

// A hand on three hinges on a sled; a motor shakes every joint. The sled's motion determines the mass, the
// hinges' motion the other parameters.
const char* const wrist_text = R"({
    "steps": 240, "time_step": 0.005,
    "models": [{"name": "wrist", "model": {
        "bodies": [
            {"name": "sled", "joint": {"name": "x", "type": "prismatic", "axis": [1, 0, 0], "damping": 2},
             "mass": 0.2, "inertia": [2e-3, 2e-3, 2e-3, 0, 0, 0]},
            {"name": "yaw", "parent": "sled", "joint": {"name": "a", "type": "revolute", "axis": [0, 0, 1], "damping": 0.3},
             "mass": 0.2, "inertia": [2e-3, 2e-3, 2e-3, 0, 0, 0]},
            {"name": "pitch", "parent": "yaw", "joint": {"name": "b", "type": "revolute", "axis": [0, 1, 0], "damping": 0.3},
             "mass": 0.2, "inertia": [2e-3, 2e-3, 2e-3, 0, 0, 0]},
            {"name": "hand", "parent": "pitch", "joint": {"name": "c", "type": "revolute", "axis": [1, 0, 0], "damping": 0.3},
             "mass": 1.5, "com": [0.1, 0.05, -0.08], "inertia": [0.02, 0.03, 0.025, 0.004, -0.003, 0.005]}],
        "actuators": [{"joint": "x", "type": "motor"}, {"joint": "a", "type": "motor"}, {"joint": "b", "type": "motor"},
                      {"joint": "c", "type": "motor"}]}}],
    "controls": [
        {"actuators": ["wrist/x"], "schedule": [[0, 0], [0.2, 20], [0.4, -20], [0.6, 20], [0.8, -20], [1, 20], [1.2, 0]]},
        {"actuators": ["wrist/a"], "schedule": [[0, 0], [0.2, 0.5], [0.4, -0.5], [0.6, 0.3], [0.8, -0.5], [1, 0.5], [1.2, 0]]},
        {"actuators": ["wrist/b"], "schedule": [[0, -1.5], [0.2, 0], [0.4, 1], [0.6, -1.5], [0.8, -0.5], [1, 1], [1.2, -1]]},
        {"actuators": ["wrist/c"], "schedule": [[0, 1], [0.2, -1], [0.4, 0.6], [0.6, 0], [0.8, 0.6], [1, -1], [1.2, 1]]}]})";

// Recorded positions at every step, as the text of a file.
std::string recorded_positions(const Scene& s) {
    std::ostringstream out;
    out.precision(17);
    out << "time,wrist/x,wrist/a,wrist/b,wrist/c\n";
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    rollout.forward(s.theta, s.x0, s.z0, [&](int t, const double* q, const double*) {
        out << 0.005 * t << "," << q[0] << "," << q[1] << "," << q[2] << "," << q[3] << "\n";
    });
    return out.str();
}

}  // namespace

TEST_CASE("identification: mass, centre of mass and inertia of a body as one") {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("costate_wrist_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    Json json = parse_json(wrist_text, "wrist");
    const Scene truth = scene_from_json(json, folder / "truth.json");
    std::ofstream(folder / "motion.csv") << recorded_positions(truth);
    json.update(parse_json(R"({
        "parameters": [{"path": "bodies/wrist/hand/mass", "value": 2.2}, {"path": "bodies/wrist/hand/com", "value": 0},
                       {"path": "bodies/wrist/hand/inertia", "value": [0.02, 0.02, 0.02, 0, 0, 0]},
                       {"path": "bodies/wrist/hand/pseudo_inertia", "optimize": true}],
        "objective": [{"term": "recording", "file": "motion.csv", "columns": ["*"]}],
        "optimize": {"method": "lbfgs", "iterations": 400, "max_loss_evaluations": 400, "learning_rate": 0.05}})",
                           "search"));
    Scene scene = scene_from_json(json, folder / "search.json");
    std::filesystem::remove_all(folder);

    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    const Variables variables(scene.world, scene.plan, scene.parameters, scene.initial_state,
                              {scene.theta, scene.x0, scene.z0});
    REQUIRE(variables.size() == 10);
    const OptimizeResult r = optimize(rollout, variables, scene.optimize);
    CHECK(r.initial_loss > 1);
    CHECK(r.final_loss < 1e-10);
    const VecX<double> theta = variables.inputs(r.y).theta;
    const Model& m = scene.world.model;
    const int hand = m.body_index("wrist/hand");
    const MassProperties<double> found = mass_properties(m, theta.data(), hand),
                                 real = mass_properties(m, truth.theta.data(), hand);
    CHECK(found.m == doctest::Approx(real.m).epsilon(1e-3));
    CHECK((found.c - real.c).norm() < 1e-3 * real.c.norm());
    CHECK((found.I - real.I).norm() < 1e-3 * real.I.norm());

    // a far too long first step also ends with a result
    scene.optimize.learning_rate = 1;
    const OptimizeResult far = optimize(rollout, variables, scene.optimize);
    CHECK(far.final_loss <= far.initial_loss);
    CHECK(!far.stopped.empty());
}

TEST_CASE("identification: masses, damping and dry friction of a double pendulum") {
    check_identification("double_pendulum_identification",
                         {{"bodies/pendulum/upper/mass", 1.2, 4.1e-4},
                          {"bodies/pendulum/lower/mass", 0.8, 4.6e-4},
                          {"joints/pendulum/shoulder/damping", 0.15, 1.15e-3},
                          {"joints/pendulum/elbow/dry_friction", 0.2, 9.5e-4}});
}

TEST_CASE("identification: mass and friction of a box that is pulled and released") {
    check_identification("box_slide_identification",
                         {{"bodies/box/mass", 2, 2.4e-4}, {"shapes/box/friction", 0.3, 4.5e-4}});
}

TEST_CASE("identification: the residual at the true values is the noise of the recordings") {
    // loss/T for columns with noise sigma on every k-th row: between rows the variance decreases to one half,
    // on average to (2 + 1/k^2)/3
    struct Noise {
        const char* scene;
        double sigma;
        int columns, every;
    };
    for (const Noise& n :
         {Noise{"double_pendulum_identification", 2e-3, 2, 5}, {"box_slide_identification", 1e-3, 1, 10}}) {
        CAPTURE(n.scene);
        const Scene scene = load_scene(n.scene);
        const VecX<double> truth = scene.world.model.layout.nominal();  // values of the models
        Simulation simulation(scene.world, scene.objective);
        Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
        const double mean =
            rollout.forward(truth, scene.x0, scene.z0) / (scene.steps * scene.world.settings.time_step);
        CHECK(mean == doctest::Approx(n.columns * n.sigma * n.sigma * (2 + 1.0 / (n.every * n.every)) / 3)
                          .epsilon(0.25));
    }
}
