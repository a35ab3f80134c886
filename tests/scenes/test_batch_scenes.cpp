// "batch" of a scene, and its faults.
#include "tests/support/scene_text.hpp"

using namespace costate;

namespace {

std::string batch_complaint(const char* randomize) {
    return complaint([&] {
        changed({{"/batch", "{\"environments\": 3}"}, {"/batch/randomize", randomize}});
    });
}

}  // namespace

TEST_CASE("batch scenes: environments, seed, and what is random") {
    CHECK(scene_of(base()).batch.environments == 0);
    const Scene s = changed({{"/batch", R"({"environments": 12, "seed": 9, "randomize": {
        "joints": {"arm/*": 0.1, "ball": {"linear": 0.2, "angular": 0.3}, "arm/elbow": 0.4},
        "velocities": {"arm/shoulder": 0.5},
        "parameters": [{"path": "shapes/*/friction", "factor": [0.5, 2]}, {"path": "bodies/arm/upper/com", "offset": [-1, 2]}],
        "controls": [{"actuators": ["*"], "noise": 0.25}]}})"}});
    const Randomization& r = s.batch;
    CHECK((r.environments == 12 && r.seed == 9));
    VecX<double> start(16);
    start << 0.1, 0.4, 0.2, 0.2, 0.2, 0.3, 0.3, 0.3, 0.5, 0, 0, 0, 0, 0, 0, 0;
    CHECK(r.start == start);
    CHECK(r.controls == VecX<double>::Constant(2, 0.25));
    REQUIRE(r.parameters.size() == 4);  // friction of the tip, the box and the ground
    CHECK((r.parameters[3].width == 3 && !r.parameters[3].factor && r.parameters[3].upper == 2));
    CHECK((r.parameters[0].factor && r.parameters[0].lower == 0.5));
}

TEST_CASE("batch scenes: the other spelling is read with a warning") {
    const Scene s = changed({{"/batch", R"({"environments": 2, "randomise": {"joints": {"arm/*": 0.1}}})"}});
    CHECK(s.batch.environments == 2);
    REQUIRE(s.warnings.size() == 1);
    CHECK(s.warnings[0].find("\"randomise\" is read as \"randomize\"") != std::string::npos);
}

TEST_CASE("batch scenes: faults are one line with place and remedy") {
    const auto check_refused = [](const char* randomize, const char* place, const char* what,
                                  const char* remedy) {
        CAPTURE(std::string(randomize));
        check_complaint(batch_complaint(randomize), std::string("test.json#/batch") + place, what, remedy);
    };
    check_refused("{}", "/randomize", "changes nothing", "add \"joints\"");
    check_refused(R"({"joints": {"arm/*": 0}})", "/randomize", "changes nothing", "add");
    check_refused(R"({"joints": {"leg": 0.1}})", "/randomize/joints/leg", "no joint", "");
    check_refused(R"({"joints": {"arm/elbow": -0.1}})", "/randomize/joints", "", "");
    check_refused(R"({"joints": {"ball": 0.1}})", "/randomize/joints/ball", "object", "");
    check_refused(R"({"joints": {"arm/elbow": {"linear": 1}}})", "/randomize/joints", "free joints",
                  "give one number");
    check_refused(R"({"parameters": [{"path": "bodies/arm/upper/mass"}]})", "/randomize/parameters/0",
                  "changes nothing", "give either");
    check_refused(
        R"({"parameters": [{"path": "bodies/arm/upper/mass", "factor": [1, 2], "offset": [0, 1]}]})",
        "/randomize/parameters/0", "a \"factor\" and an \"offset\"", "give either");
    check_refused(R"({"parameters": [{"path": "bodies/arm/upper/mass", "factor": [2, 1]}]})",
                  "/randomize/parameters/0/factor", "above its upper end", "give [lower, upper]");
    check_refused(R"({"parameters": [{"path": "bodies/arm/upper/mass", "factor": [0, 1]}]})",
                  "/randomize/parameters/0/factor", "above 0", "give");
    check_refused(R"({"parameters": [{"path": "bodies/arm/upper/mass", "offset": [-2, 1]}]})",
                  "/randomize/parameters/0/offset", "could become negative", "give a \"factor\"");
    check_refused(R"({"parameters": [{"path": "bodies/arm/upper/inertia", "offset": [0, 1]}]})",
                  "/randomize/parameters/0/offset", "inertia of no solid", "give a \"factor\"");
    check_refused(R"({"parameters": [{"path": "bodies/arm/upper/inertia[0]", "factor": [1, 2]}]})",
                  "/randomize/parameters/0/factor", "alone could become unphysical", "leave out");
    check_refused(R"({"parameters": [{"path": "shapes/ball/friction", "factor": [1, 2]},
                                     {"path": "shapes/*/friction", "factor": [1, 2]}]})",
                  "/randomize/parameters/1/path", "randomized twice", "name it");
    check_refused(R"({"parameters": [{"path": "world/time_step", "factor": [1, 2]}]})",
                  "/randomize/parameters/0/path", "time step", "choose");
    check_refused(R"({"controls": [{"actuators": ["arm/leg"], "noise": 1}]})",
                  "/randomize/controls/0/actuators/0", "no actuator", "");
    check_complaint(complaint([] {
                        changed({{"/batch", R"({"environments": 0, "randomize": {}})"}});
                    }),
                    "test.json#/batch/environments", "", "");
    check_complaint(complaint([] {
                        changed({{"/batch", R"({"environments": 2})"}});
                    }),
                    "test.json#/batch", "randomize", "");
    check_complaint(complaint([] {
                        changed({{"/parameters/0", R"({"path": "shapes/ball/friction", "optimize": true})"},
                                 {"/batch", R"({"environments": 2, "randomize": {"parameters": [
                                      {"path": "shapes/ball/friction", "offset": [0, 0.1]}]}})"}});
                    }),
                    "test.json#/batch/randomize/parameters/0/offset", "is optimized", "give a \"factor\"");
}
