// Sensors and pushes of scene files: what is wrong with them is said in one line that names the place and the remedy.
#include "tests/support/scene_text.hpp"

namespace costate::test {
namespace {

struct WrongEntry {
    const char *text, *place, *what, *remedy;
};

// The base with a site on the arm's lower body, and this sensor of the arm, or this push.
std::string sensor_complaint(const char* sensor) {
    return complaint([&] {
        changed({{"/models/0/model/bodies/1/sites", R"([{"name": "tool"}])"},
                 {"/models/0/model/bodies/2",
                  R"({"name": "plate", "parent": "lower", "joint": {"type": "fixed"}, "mass": 1,
                      "inertia": [1, 1, 1, 0, 0, 0]})"},
                 {"/models/0/model/sensors", sensor}});
    });
}
std::string push_complaint(const char* pushes) {
    return complaint([&] { changed({{"/pushes", pushes}}); });
}

TEST_CASE("hostile sensors: every wrong entry is named") {
    const std::string sensors = "test.json#/models/0/model/sensors";
    const WrongEntry wrong[] = {
        {R"({})", "", "must be an array, is object", "write an array"},
        {R"([3])", "/0", "must be an object, is number", "write an object"},
        {R"([{}])", "/0", "has no \"name\"", "add it"},
        {R"([{"name": "s"}])", "/0", "has no \"type\"", "add it"},
        {R"([{"name": "a\nb", "type": "gyro", "site": "tool"}])", "/0/name", "may not contain line breaks",
         "rename it"},
        {R"([{"name": "s", "type": "gyroscope", "site": "tool"}])", "/0/type", "\"gyroscope\"", ""},
        {R"([{"name": "s", "type": 3}])", "/0/type", "must be a text, is number", "write a text"},
        {R"([{"name": "s", "type": "gyro", "site": "tool", "noise": 1}])", "/0/noise",
         "unknown key of sensor", "correct or remove it"},
        {R"([{"name": "s", "type": "gyro", "site": "tool"}, {"name": "s", "type": "gyro", "site": "tool"}])",
         "/1/name", "\"s\"", ""},
        // attached to nothing, to two things, to what is not there or does not suit
        {R"([{"name": "s", "type": "gyro"}])", "/0", "is attached to nothing",
         "give it \"site\" or \"body\""},
        {R"([{"name": "s", "type": "gyro", "site": "tool", "body": "lower"}])", "/0/body",
         "the site is on a body", "remove it"},
        {R"([{"name": "s", "type": "gyro", "site": "tol"}])", "/0/site", "the nearest is \"tool\"", ""},
        {R"([{"name": "s", "type": "gyro", "body": "arm/lower"}])", "/0/body", "no body is named",
         "correct the name"},
        {R"([{"name": "s", "type": "relative_position", "site": "tool"}])", "/0", "has no reference",
         "give it \"reference_site\" or \"reference_body\""},
        {R"([{"name": "s", "type": "relative_position", "reference_site": "tool"}])", "/0",
         "is attached to nothing", "give it \"site\" or \"body\""},
        {R"([{"name": "s", "type": "relative_position", "body": "lower", "reference_site": "tol"}])",
         "/0/reference_site", "the nearest is \"tool\"", ""},
        {R"([{"name": "s", "type": "relative_position", "body": "lower", "reference_body": "uper"}])",
         "/0/reference_body", "no body is named", ""},
        {R"([{"name": "s", "type": "relative_position", "body": "lower", "reference_site": "tool",
              "reference_body": "lower"}])",
         "/0/reference_body", "the site is on a body", "remove it"},
        {R"([{"name": "s", "type": "gyro", "site": "tool", "reference_site": "tool"}])", "/0/reference_site",
         "the sensor is of type gyro", "remove it"},
        {R"([{"name": "s", "type": "tendon_length", "tendon": "cord"}])", "/0/tendon", "no tendon is named",
         "correct the name"},
        {R"([{"name": "s", "type": "tendon_length", "joint": "elbow"}])", "/0/joint",
         "the sensor is of type tendon_length", "remove it"},
        {R"([{"name": "s", "type": "gyro", "joint": "elbow"}])", "/0/joint", "the sensor is of type gyro",
         "remove it"},
        {R"([{"name": "s", "type": "joint_effort"}])", "/0", "has no \"joint\"", "add it"},
        {R"([{"name": "s", "type": "joint_effort", "joint": "knee"}])", "/0/joint", "no joint is named",
         "correct the name"},
        {R"([{"name": "s", "type": "joint_effort", "joint": "plate"}])", "/0/joint",
         "is not a joint with one dof", "name another joint"},
        {R"([{"name": "s", "type": "joint_position", "joint": "plate"}])", "/0/joint", "is a fixed joint",
         "name another joint"},
        {R"([{"name": "s", "type": "actuator_force", "actuator": "motor"}])", "/0/actuator",
         "no actuator is named", "correct the name"},
        {R"([{"name": "s", "type": "centre_of_mass", "body": "leg"}])", "/0/body", "no body is named",
         "correct the name"},
        // distances
        {R"([{"name": "s", "type": "distance", "bodies": ["upper"]}])", "/0/bodies",
         "must have 2 entries, has 1", ""},
        {R"([{"name": "s", "type": "distance", "bodies": ["upper", "upper"]}])", "/0/bodies/1",
         "is the same body", "name another body"},
        {R"([{"name": "s", "type": "distance", "bodies": ["upper", 1]}])", "/0/bodies/1",
         "must be a text, is number", "write a text"},
        {R"([{"name": "s", "type": "contact_count"}])", "/0", "is attached to nothing",
         "give it \"bodies\" or \"shapes\", two of them"},
        {R"([{"name": "s", "type": "contact_count", "shapes": ["upper", "world"]}])", "/0/shapes/0",
         "no shape is named", "correct the name"},
        {R"([{"name": "s", "type": "contact_count", "shapes": ["world", "world"]}])", "/0/shapes/1",
         "is the same shape", "name another shape"},
        {R"([{"name": "s", "type": "contact_count", "shapes": ["world/floor", "world"], "bodies": ["upper"]}])",
         "/0/bodies", "\"shapes\" says which parts of bodies", "remove it"},
        {R"([{"name": "s", "type": "contact_count", "bodies": ["upper", "world"], "cutoff": 1}])",
         "/0/cutoff", "the sensor is of type contact_count", "remove it"},
        {R"([{"name": "s", "type": "touch", "body": "upper", "shapes": ["world/floor", "world"]}])",
         "/0/shapes", "the sensor is of type touch", "remove it"},
        {R"([{"name": "s", "type": "distance", "bodies": ["upper", "world"], "cutoff": 0}])", "/0/cutoff",
         "must be positive, is 0", "use a number above 0"},
        // scans
        {R"([{"name": "s", "type": "height_scan", "site": "tool", "size": [2, 2]}])", "/0",
         "has no \"spacing\"", "add it"},
        {R"([{"name": "s", "type": "height_scan", "site": "tool", "size": [0, 2], "spacing": [1, 1]}])",
         "/0/size/0", "is 0", "use"},
        {R"([{"name": "s", "type": "height_scan", "site": "tool", "size": [2.5, 2], "spacing": [1, 1]}])",
         "/0/size/0", "2.5", ""},
        {R"([{"name": "s", "type": "height_scan", "site": "tool", "size": [200, 200], "spacing": [1, 1]}])",
         "/0/size", "has more than 10000 points", "use fewer"},
        {R"([{"name": "s", "type": "height_scan", "site": "tool", "size": [2, 2], "spacing": [1, -1]}])",
         "/0/spacing/1", "must be positive, is -1", "use a number above 0"},
        {R"([{"name": "s", "type": "gyro", "site": "tool", "size": [2, 2]}])", "/0/size",
         "the sensor is of type gyro", "remove it"},
        {R"([{"name": "s", "type": "gyro", "site": "tool", "radius": 0.1}])", "/0/radius",
         "the sensor is of type gyro", "remove it"},
        {R"([{"name": "s", "type": "touch", "site": "tool", "radius": -1}])", "/0/radius",
         "must not be negative, is -1", "use 0 or more"},
        // zones
        {R"([{"name": "s", "type": "gyro", "site": "tool", "zone": {"type": "sphere", "radius": 1}}])",
         "/0/zone", "the sensor is of type gyro", "remove it"},
        {R"([{"name": "s", "type": "touch", "site": "tool", "radius": 1, "zone": {"type": "sphere", "radius": 1}}])",
         "/0/radius", "says which contacts count", "remove it"},
        {R"([{"name": "s", "type": "touch", "site": "tool", "zone": {"type": "plane"}}])", "/0/zone/type",
         "\"plane\"", ""},
        {R"([{"name": "s", "type": "touch", "site": "tool", "zone": {"type": "capsule", "radius": 1}}])",
         "/0/zone", "has no \"half_length\"", "add it"},
        {R"([{"name": "s", "type": "touch", "site": "tool", "zone": {"type": "sphere", "radius": 1, "half_length": 1}}])",
         "/0/zone/half_length", "the zone is a sphere", "remove it"},
        {R"([{"name": "s", "type": "touch", "site": "tool", "zone": {"type": "box", "half_extents": [1, 0, 1]}}])",
         "/0/zone/half_extents/1", "must be positive, is 0", "use a number above 0"},
    };
    for (const WrongEntry& entry : wrong) {
        CAPTURE(entry.text);
        check_complaint(sensor_complaint(entry.text), sensors + entry.place + ": ", entry.what, entry.remedy);
    }
    CHECK(sensor_complaint(R"([{"name": "s", "type": "gyro", "site": "tool"}])") == "no complaint");
}

TEST_CASE("hostile sensors: a push that cannot be read is named") {
    const WrongEntry wrong[] = {
        {R"({"name": "p"})", "", "must be an array, is object", "write an array"},
        {R"([{}])", "/0", "has no \"name\"", "add it"},
        {R"([{"name": "p", "times": [0, 1], "force": [1, 0, 0]}])", "/0", "has no \"body\"", "add it"},
        {R"([{"name": "p", "body": "ball", "force": [1, 0, 0]}])", "/0", "has no \"times\"", "add it"},
        {R"([{"name": "p", "body": "ball", "times": [0, 1]}])", "/0", "has no effect",
         "give it \"force\" or \"torque\""},
        {R"([{"name": "p", "body": "bal", "times": [0, 1], "force": [1, 0, 0]}])", "/0/body",
         "no body is named \"bal\"", "correct the name"},
        {R"([{"name": "p", "body": "*", "times": [0, 1], "force": [1, 0, 0]}])", "/0/body", "\"*\"", ""},
        {R"([{"name": "p", "body": "ball", "times": [0, 1], "force": [1, 0, 0], "point": [0, 0, 0]}])",
         "/0/point", "unknown key of push", "correct or remove it"},
        {R"([{"name": "p", "body": "ball", "times": [0, 1], "force": [1, 0, 0]},
             {"name": "p", "body": "ball", "times": [0, 1], "force": [1, 0, 0]}])",
         "/1/name", "\"p\"", ""},
        // times
        {R"([{"name": "p", "body": "ball", "times": 1, "force": [1, 0, 0]}])", "/0/times", "must be an array",
         "write an array"},
        {R"([{"name": "p", "body": "ball", "times": [1], "force": [1, 0, 0]}])", "/0/times",
         "must be two or more increasing times", "for example [0.5, 0.6]"},
        {R"([{"name": "p", "body": "ball", "times": [1, 1], "force": [1, 0, 0]}])", "/0/times",
         "must be two or more increasing times", "for example [0.5, 0.6]"},
        {R"([{"name": "p", "body": "ball", "times": [2, 1], "force": [1, 0, 0]}])", "/0/times",
         "must be two or more increasing times", "for example [0.5, 0.6]"},
        {R"([{"name": "p", "body": "ball", "times": [0, "1"], "force": [1, 0, 0]}])", "/0/times/1",
         "must be a number, is string", "write a number"},
        // forces
        {R"([{"name": "p", "body": "ball", "times": [0, 1], "force": 3}])", "/0/force",
         "must be an array, is number", "write an array"},
        {R"([{"name": "p", "body": "ball", "times": [0, 1], "force": []}])", "/0/force",
         "must have 2 entries, has 0", ""},
        {R"([{"name": "p", "body": "ball", "times": [0, 1], "force": [1, 0]}])", "/0/force",
         "must have 3 entries, has 2", ""},
        {R"([{"name": "p", "body": "ball", "times": [0, 1], "force": [[1, 0, 0]]}])", "/0/force",
         "must have 2 entries, has 1", ""},
        {R"([{"name": "p", "body": "ball", "times": [0, 1], "torque": [[1, 0, 0], [1, 0]]}])", "/0/torque/1",
         "must have 3 entries, has 2", ""},
        {R"([{"name": "p", "body": "ball", "times": [0, 1], "torque": [[1, 0, 0], 1]}])", "/0/torque/1",
         "must be an array, is number", "write an array"},
        {R"([{"name": "p", "body": "ball", "times": [0, 1], "torque": [1, 0, [0]]}])", "/0/torque/2",
         "must be a number, is array", "write a number"},
    };
    for (const WrongEntry& entry : wrong) {
        CAPTURE(entry.text);
        check_complaint(push_complaint(entry.text), std::string("test.json#/pushes") + entry.place + ": ",
                        entry.what, entry.remedy);
    }
    CHECK(push_complaint(R"([{"name": "p", "body": "ball", "times": [0, 1], "force": [1, 0, 0]}])") ==
          "no complaint");
    CHECK(push_complaint(R"([{"name": "p", "body": "ball", "times": [0, 1e-3], "force": [1, 0, 1e999]}])")
              .find("number out of range") != std::string::npos);
}

}  // namespace
}  // namespace costate::test
