// What actuators do to a flywheel.
#include <doctest/doctest.h>

#include <cmath>

#include "adjoint/check/gradcheck.hpp"
#include "tests/support/scene_text.hpp"
#include "tests/support/walk.hpp"

using namespace costate;

namespace {

// A flywheel of 0.5 kg m^2 on a hinge, with one actuator at a constant control.
Scene flywheel(const std::string& actuator, double control, int steps) {
    const std::string text = R"({"name": "flywheel", "time_step": 0.001, "steps": )" + std::to_string(steps) +
                             R"(, "gravity": [0, 0, 0], "models": [{"name": "wheel", "model": {
        "bodies": [{"name": "disc", "joint": {"name": "hinge", "type": "revolute"},
                    "mass": 1, "inertia": [0.3, 0.3, 0.5, 0, 0, 0]}],
        "actuators": [{"joint": "hinge", )" +
                             actuator + R"(}]}}],
        "controls": [{"actuators": ["*"], "optimize": "held", "initial": )" +
                             std::to_string(control) + R"(}],
        "objective": [{"term": "angular_velocity", "body": "wheel/disc", "target": [0, 0, 3]},
                      {"term": "orientation", "body": "wheel/disc", "rpy_deg": [0, 0, 40]}]})";
    return scene_of(parse_json(text, "flywheel.json"));
}

double speed_after(const Scene& s) { return test::walk(s, s.steps)[s.world.nq()]; }

const std::string dc_motor = R"("type": "dc_motor", "stall_torque": 2, "no_load_speed": 10)";

}  // namespace

TEST_CASE("actuators: a dc motor pushes with its stall torque at rest, and ends at its no-load speed") {
    CHECK(speed_after(flywheel(dc_motor, 1, 1)) == doctest::Approx(2 * 1e-3 / 0.5).epsilon(1e-3));
    CHECK(speed_after(flywheel(dc_motor, 1, 40000)) == doctest::Approx(10).epsilon(1e-5));
    CHECK(speed_after(flywheel(dc_motor, -0.5, 40000)) == doctest::Approx(-5).epsilon(1e-5));
}

TEST_CASE("actuators: a dc motor gains speed as its law says") {
    // J w' = stall (1 - w/no_load), whose solution has the time constant J no_load/stall = 2.5 s
    CHECK(speed_after(flywheel(dc_motor, 1, 2500)) ==
          doctest::Approx(10 * (1 - std::exp(-1.0))).epsilon(1e-3));
}

TEST_CASE(
    "actuators: the gradient by a dc motor's quantities, and of a body's orientation and angular velocity") {
    const Scene s = flywheel(dc_motor, 0.7, 300);
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    const GradcheckReport report = gradcheck(rollout, s.theta, s.x0, s.z0);
    CHECK(report.worst().max_relative_error < 1e-6);
    CHECK(report.checked());
}

TEST_CASE("actuators: what a dc motor lacks is said") {
    const auto said = [](const char* actuator) { return complaint([&] { flywheel(actuator, 1, 1); }); };
    CHECK(said(R"("type": "dc_motor", "stall_torque": 2)").find("no_load_speed") != std::string::npos);
    CHECK(said(R"("type": "dc_motor", "stall_torque": 2, "no_load_speed": 0)").find("no_load_speed: ") !=
          std::string::npos);
    CHECK(said(R"("type": "motor", "stall_torque": 2)").find("has no meaning here") != std::string::npos);
}
