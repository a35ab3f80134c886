// Scenes for model files that are loaded by themselves.
#pragma once

#include "scenes/import/imported_model.hpp"
#include "scenes/scene.hpp"

namespace costate {

// A scene of 2000 steps with the model at the world origin, without ground.
Json scene_of_model(const ImportedModel& model, const std::string& name);

// Joints whose limits exclude 0 start in the middle of their range, and coupled joints where the coupling puts them.
// Adds level ground: the lowest point of a floating model starts `drop_height` above it; a fixed model stays where
// it is, with ground at height 0, or lower if a moving shape reaches lower. An "initial" of the scene is kept, and so
// are "ground" and "shapes", which also fix the height of the model. `placed`: the file describes the model's world,
// to which no ground is added. `read` is the scene as loaded without ground.
void complete_start(Json& scene, const Scene& read, bool placed);

inline constexpr double drop_height = 0.1;  // m

}  // namespace costate
