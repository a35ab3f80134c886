// Gradients of all included scenes against central differences, over enough steps for their contacts to
// occur.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "adjoint/check/gradcheck.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/walk.hpp"

using namespace costate;

namespace {

// Settings of the check of a scene. Stacked boxes have redundant contacts, and perturbations change the
// loaded corners, so most stencils leave their smooth piece. A sliding planar mechanism has friction
// perpendicular to its plane that sticks or slips as soon as a parameter rotates the mechanism out of its
// plane; parameters are then checked one by one and not in random directions.
struct Check {
    int steps = 60, components = 12, directions = 4;
    bool touches = true;
    double error = 1e-6, rejected = 0.1;
};

const std::map<std::string, Check> checks{
    {"ant", {40}},
    {"arm_7", {200, 12, 4, false}},
    {"atlas_stand", {40, 8, 2}},
    {"biped_pushup", {4, 12, 4, true, 1e-6, 0.5}},  // hands and toes bear all load and barely stick
    {"bounce", {800, 64, 16}},
    {"box_slide", {400, 64, 16}},
    {"box_slide_identification", {60, 24, 0}},
    {"box_stack", {3, 48, 8, true, 1e-4, 0.6}},
    {"cartpole", {240, 64, 16, false}},
    {"cartpole_limits", {200, 64, 16, false}},
    {"cartpole_rail", {200, 64, 16, false}},
    {"cartpole_swingup", {240, 64, 16, false}},
    {"catapult", {200, 24, 0}},
    {"conveyor", {300, 32, 8}},
    {"distant_push", {60, 24, 4, false}},
    {"double_cartpole", {300, 64, 16, false}},
    {"double_pendulum", {1000, 64, 16, false}},
    {"double_pendulum_identification", {300, 32, 8, false}},
    {"drone_takeoff", {60, 24, 0, true, 1e-6, 0.4}},  // four corners on rigid ground
    {"four_bar", {200, 32, 8, false}},
    {"golf", {60, 64, 16}},
    {"half_cheetah", {60, 32, 0}},
    {"half_cheetah_jump", {60, 32, 0}},
    {"humanoid", {40}},
    {"humanoid_jump", {40, 8, 2}},
    {"pendulum_5", {1000, 32, 8, false}},
    {"quadruped_stand", {200}},
    {"quadruped_ten", {10, 4, 1}},
    {"quadcopter", {200, 32, 8, false}},
    {"racecar", {150, 64, 8}},
    {"racecar_friction", {60, 24, 4, true, 1e-6, 0.5}},  // four wheels on two points each
    {"slider_dry_friction", {500, 32, 8, false}},
    {"throw", {600}},
    {"walker", {40, 48}},
};

Check check_of(const std::string& name) {
    const auto it = checks.find(name);
    if (it != checks.end()) return it->second;
    return name.rfind("pendulum_", 0) == 0 ? Check{500, 12, 4, false} : Check{};
}

// True if a contact of the scene is loaded within its steps.
bool touches(const Scene& s) {
    bool touched = false;
    test::walk(s, s.steps, [&](const VecX<double>&, const StepScratch<double>& scratch) {
        for (const RowBlock& block : scratch.rows.blocks)
            touched = touched || (block.kind == RowKind::contact && scratch.impulses.lambda[block.row] > 0);
    });
    return touched;
}

}  // namespace

TEST_CASE("every scene: its gradient of every kind of variable is that of central differences") {
    const std::vector<std::string> names = shipped_scenes();
    for (const auto& [name, check] : checks)
        CHECK_MESSAGE(std::count(names.begin(), names.end(), name) == 1, name);
    for (const std::string& name : names) {
        CAPTURE(name);
        const Check check = check_of(name);
        Scene scene = load_scene(name, check.steps);
        // these are not the derivative of the step that ran
        scene.world.settings.complementarity_aware = false;
        scene.world.settings.felt_distance = 0;
        CHECK(touches(scene) == check.touches);
        Simulation simulation(scene.world, scene.objective);
        Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
        GradcheckOptions options;
        options.components = check.components;
        options.directions = check.directions;
        const GradcheckReport r = gradcheck(rollout, scene.theta, scene.x0, scene.z0, options);
        CHECK((r.controls.stencils == 0) == (scene.z0.size() == 0));
        CHECK(r.initial_state.stencils == std::min(check.components, scene.world.ndx()) + check.directions);
        CHECK(r.parameters.stencils == std::min(check.components, scene.world.np()) + check.directions);
        for (const GradcheckKind* k : {&r.controls, &r.initial_state, &r.parameters}) {
            CAPTURE(k->worst);
            CHECK(k->max_relative_error <= check.error);
            CHECK(k->taylor_order >= 1.95);
            CHECK(k->rejected < check.rejected);
        }
    }
}
