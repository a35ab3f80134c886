// Scenes for model files that are loaded by themselves: the model on level ground.
#pragma once

#include "scenes/import/imported_model.hpp"
#include "scenes/scene.hpp"

namespace costate {

// A scene of 2000 steps with the model at the world origin, without ground.
Json scene_of_model(const ImportedModel& model, const std::string& name);

// Adds level ground to the scene of a model; `read` is that scene as loaded without ground. Joints whose
// limits exclude 0 start in the middle of their range, and coupled joints where the coupling puts them. The
// lowest point of a floating model starts `drop_height` above the ground. A fixed model stays where it is;
// its ground is at height 0, or lower if a moving shape reaches lower. An "initial" of the scene is kept, and
// so are "ground" and "shapes", which also fix the height of the model.
void put_on_ground(Json& scene, const Scene& read);

inline constexpr double drop_height = 0.1;  // m

}  // namespace costate
