// A model without a scene, to be looked at and let fall.
#pragma once

#include "scenes/import/imported_model.hpp"
#include "scenes/scene.hpp"

namespace costate {

// A scene of one model at the start of coordinates, without ground: two seconds by default.
Json scene_of_model(const ImportedModel& model, const std::string& name);

// Puts a scene_of_model on level ground. `read` is what it says so far. Joints whose 0 is beyond their limits
// start in the middle of them, joints that follow others where these put them. If the model floats, its
// lowest point starts `drop_height` above the ground; if it is fixed, it stays where it is and the ground is
// at height 0, or as low as the lowest thing that moves. What the scene says itself of where things start, of
// ground or shapes, is left as it is.
void put_on_ground(Json& scene, const Scene& read);

inline constexpr double drop_height = 0.1;  // m

}  // namespace costate
