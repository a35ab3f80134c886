// Stage: what a page has to know of a scene to draw it, as JSON: bodies, joints, shapes, actuators and
// targets.
#pragma once

#include <nlohmann/json.hpp>

#include "scenes/scene.hpp"

namespace costate {

// What parameters have a say in: {"bodies", "shapes", "anchors"}, anchors being the points where loops close.
nlohmann::ordered_json describe_things(const Scene& scene, const VecX<double>& theta);

// What they have not: names, actuators, targets of the objective, geometry of meshes and terrains.
nlohmann::ordered_json describe_scene(const Scene& scene);

}  // namespace costate
