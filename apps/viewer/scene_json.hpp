// The JSON description of a scene for pages: bodies, joints, shapes, actuators and targets.
#pragma once

#include <nlohmann/json.hpp>

#include "scenes/scene.hpp"

namespace costate {

// The parts that depend on parameters: {"bodies", "shapes", "anchors"}; anchors are the points of equalities
// that close loops.
nlohmann::ordered_json describe_objects(const Scene& scene, const VecX<double>& theta);

// The parts that do not: names, actuators, targets of the objective, geometry of meshes and terrains.
nlohmann::ordered_json describe_scene(const Scene& scene);

}  // namespace costate
