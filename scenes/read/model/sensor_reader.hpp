// Sensors of a model or a scene, and pushes of a scene.
#pragma once

#include <string>
#include <vector>

#include "scenes/format/json.hpp"
#include "solvers/world.hpp"

namespace costate {

// What sensors may be attached to, by name.
struct SensorSubjects {
    std::vector<std::string> bodies, sites, joints, tendons, actuators, shapes;
    std::vector<int> joint_dofs;          // per joint
    std::vector<bool> actuator_on_joint;  // per actuator
};

// A sensor whose subject has a name and no index yet; empty: none, and for a subtree the world.
struct SensorSpec {
    Sensor sensor;
    std::string body, site, reference_body, reference_site, joint, tendon, actuator;
    // of a pair: bodies, or shapes; "world" is the world, "world/NAME" its shape in the file of a model
    std::string body_a, body_b, shape_a, shape_b;
};

SensorSpec read_sensor(const Node& node, const SensorSubjects& subjects);

SensorSubjects subjects_of(const World& world);
// Adds the sensor to the world, which has its subject but for shapes of the world that a model names: without them
// there are no contacts and no distance, which the text that is returned says (empty: nothing to say).
std::string add_sensor(const SensorSpec& spec, World& world);

// "pushes" of a scene
void read_pushes(const Node& scene, World& world);

}  // namespace costate
