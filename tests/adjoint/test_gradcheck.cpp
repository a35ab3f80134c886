// The comparison of gradients with differences itself, where a parameter is at the end of its range or at a tie.
#include <doctest/doctest.h>

#include "adjoint/check/gradcheck.hpp"
#include "scenes/format/json.hpp"
#include "scenes/scene.hpp"

using namespace costate;

namespace {

// A box that slides on the ground, with some keys of the scene set.
GradcheckReport check_sliding_box(const char* keys) {
    Json scene = parse_json(R"({
        "steps": 5, "ground": true,
        "models": [{"name": "box", "position": [0, 0, 0.0999], "model": {"bodies": [
            {"name": "box", "joint": {"type": "free"}, "mass": 1, "inertia": [0.01, 0.02, 0.015, 0, 0, 0],
             "shapes": [{"type": "box", "half_extents": [0.1, 0.1, 0.1]}]}]}}],
        "initial": {"velocities": {"box": {"linear": [1, 0.2, -0.01]}}},
        "objective": [{"term": "centre_of_mass", "target": [1, 0, 0]}, {"term": "kinetic_energy"}]})",
                            "box");
    scene.update(parse_json(keys, "keys"));
    const Scene s = scene_from_json(scene, "box.json");
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    GradcheckOptions options;
    options.components = s.world.np();
    return gradcheck(rollout, s.theta, s.x0, s.z0, options);
}

}  // namespace

TEST_CASE("gradcheck: parameters at the end of their range have one-sided differences") {
    const GradcheckReport r = check_sliding_box(R"({"ground": {"friction": 0}})");
    CHECK(r.parameters.max_relative_error < 1e-6);
    CHECK(r.parameters.taylor_order > 1.9);
    CHECK(r.parameters.rejected < 0.5);
}

TEST_CASE("gradcheck: of two equal parameters, which one a contact has is a branch") {
    const char* const frictions[] = {R"({"friction": 1})",
                                     R"({"friction": 1, "condim": 6, "torsional_friction": 0})"};
    for (const std::string ground : frictions) {
        CAPTURE(ground);
        const std::string keys = R"({"contact": {"law": "mujoco"}, "ground": )" + ground + "}";
        const GradcheckReport r = check_sliding_box(keys.c_str());
        CHECK(r.parameters.checked());
        CHECK(r.parameters.rejected > 0);
        CHECK(r.parameters.max_relative_error < 1e-5);
        CHECK(r.parameters.taylor_order > 1.9);
    }
}

TEST_CASE("gradcheck: a loss without derivatives is at round-off") {
    const GradcheckReport r = check_sliding_box(R"({"objective": [{"term": "effort", "at": "running"}]})");
    CHECK(r.loss == 0);
    CHECK(r.initial_state.max_relative_error == 0);
    CHECK(r.initial_state.taylor_order == 2);
    CHECK(r.initial_state.at_roundoff);
}
