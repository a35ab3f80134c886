// The world of a scene: instances of models, fixed shapes, settings.
#pragma once

#include "scenes/format/json.hpp"
#include "scenes/format/keyframe.hpp"
#include "scenes/format/visual.hpp"
#include "scenes/read/model/equality_reader.hpp"
#include "scenes/read/world/robot_file.hpp"
#include "solvers/world.hpp"

namespace costate {

struct WorldInput {
    World world;
    // (nq), (nv), (na) the start of all joints and activations that "initial" does not name
    VecX<double> q, v, activations;
    // (nu) controls given by the keyframes in which the instances start
    std::vector<std::optional<double>> controls;
    std::vector<Keyframe> keyframes;        // of all instances, named <instance>/<keyframe>
    std::vector<EqualityInput> equalities;  // one per equality of the model
    std::vector<Visual> visuals;
    std::vector<std::string> warnings;  // of imported models
};

// Model files are relative to `folder`; `options` apply to imported models.
WorldInput read_world(const Node& scene, const std::filesystem::path& folder, const ImportOptions& options);

}  // namespace costate
