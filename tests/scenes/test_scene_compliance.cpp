// Compliant shapes and joint limits in scenes: gradients, loading, and messages about faults.
#include "adjoint/check/gradcheck.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "tests/support/scene_text.hpp"

using namespace costate;

namespace {

// A box thrown obliquely onto soft ground; its arm swings into soft limits.
const char* const soft_text = R"({
    "time_step": 0.002, "steps": 150, "ground": {"friction": 0.4, "stiffness": 2000, "damping": 15},
    "models": [
        {"name": "box", "position": [0, 0, 0.14], "rpy_deg": [10, 5, 0], "model": {"bodies": [
            {"name": "box", "joint": {"type": "free"}, "mass": 1.5, "inertia": [0.01, 0.012, 0.015, 0, 0, 0],
             "shapes": [{"type": "box", "half_extents": [0.15, 0.12, 0.1], "stiffness": 9000, "damping": 20}]},
            {"name": "arm", "parent": "box", "mass": 0.3, "com": [0, 0, 0.2], "inertia": [0.002, 0.002, 0.0002, 0, 0, 0],
             "joint": {"type": "revolute", "axis": [0, 1, 0], "position": [0, 0, 0.1], "limits": [-0.2, 0.2],
                       "limit_stiffness": 30, "limit_damping": 0.05}}]}}],
    "initial": {"velocities": {"box/box": {"linear": [1, 0.3, -1]}, "box/arm": 2}},
    "objective": [{"term": "position", "body": "box/box", "target": [0.3, 0.1, 0.2]},
                  {"term": "position", "body": "box/arm", "point": [0, 0, 0.3], "at": "running"}]})";

}  // namespace

TEST_CASE("scene compliance: the gradient of a soft landing against central differences") {
    const Scene scene = scene_from_json(parse_json(soft_text, "soft"), "soft.json");
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
    rollout.forward(scene.theta, scene.x0, scene.z0);
    Gradient g;
    rollout.backward(scene.theta, scene.z0, g);
    for (const char* path :
         {"shapes/box/box/stiffness", "shapes/box/box/damping", "shapes/ground/stiffness",
          "shapes/ground/damping", "joints/box/arm/limit_stiffness", "joints/box/arm/limit_damping"}) {
        CAPTURE(path);
        const ParameterLayout::Entry* e = scene.world.model.layout.find(path);
        REQUIRE(e != nullptr);
        CHECK(g.parameters[e->offset] != 0);
    }
    GradcheckOptions options;
    options.components = 200;
    const GradcheckReport r = gradcheck(rollout, scene.theta, scene.x0, scene.z0, options);
    for (const GradcheckKind* k : {&r.initial_state, &r.parameters}) {
        CAPTURE(k->worst);
        CHECK(k->max_relative_error <= 1e-6);
        CHECK(k->taylor_order >= 1.95);
        CHECK(k->rejected < 0.1);
    }
}

TEST_CASE("scene compliance: loading, and messages about faults") {
    const Scene soft = changed({{"/ground/stiffness", "5000"},
                                {"/ground/damping", "3"},
                                {"/models/0/model/bodies/0/joint/limit_stiffness", "40"},
                                {"/parameters/-", R"({"path": "shapes/ground/stiffness", "value": 6000})"}});
    const ShapeSet& set = soft.world.shapes;
    CHECK((set.shapes[set.index("ground")].spring == 0 && soft.theta[set.stiffness.at(0)] == 6000));
    CHECK(soft.theta[set.damping.at(0)] == 3);
    CHECK((soft.theta[soft.world.model.limit_stiffness.at(0)] == 40 &&
           soft.theta[soft.world.model.limit_damping.at(0)] == 0));
    CHECK(set.shapes[set.index("ball")].spring == -1);
    CHECK(soft.world.np() == changed({}).world.np() + 4);  // a rigid shape or limit has no such parameter

    struct Wrong {
        const char *pointer, *value, *place, *what, *remedy;
    };
    for (const Wrong& c :
         {Wrong{"/ground/stiffness", "0", "/ground/stiffness", "must be positive", "use"},
          {"/ground/damping", "1", "/ground/damping", "has no effect without \"stiffness\"", "give both"},
          {"/models/1/model/bodies/0/shapes/0/stiffness", "9",
           "/models/1/model/bodies/0/shapes/0/restitution", "bounces by its spring", "remove it"},
          {"/models/0/model/bodies/1/joint/limit_stiffness", "9",
           "/models/0/model/bodies/1/joint/limit_stiffness", "the joint has no limits", "add them"},
          {"/parameters/0/path", "\"shapes/ball/stiffness\"", "/parameters/0/path", "no parameter",
           "correct"}}) {
        CAPTURE(c.pointer);
        const std::string message = complaint([&] { changed({{c.pointer, c.value}}); });
        check_complaint(message, std::string("test.json#") + c.place + ": ", c.what, c.remedy);
    }
}
