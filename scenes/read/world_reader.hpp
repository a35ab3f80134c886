// The world of a scene: the instances of its models, its fixed shapes, its settings.
#pragma once

#include "scenes/format/json.hpp"
#include "scenes/format/keyframe.hpp"
#include "scenes/format/visual.hpp"
#include "scenes/read/equality_reader.hpp"
#include "scenes/read/robot_file.hpp"
#include "solvers/world.hpp"

namespace costate {

struct WorldInput {
    World world;
    // (nq), (nv) where everything starts if "initial" says nothing else
    VecX<double> q, v;
    // (nu) of actuators whose instance starts in a keyframe that names them
    std::vector<std::optional<double>> controls;
    std::vector<Keyframe> keyframes;        // of instances, as <instance>/<keyframe>
    std::vector<EqualityInput> equalities;  // one for each of the model's
    std::vector<Visual> visuals;
    std::vector<std::string> warnings;  // of imported models
};

// `folder` is where model files are sought, `options` are for those that are imported.
WorldInput read_world(const Node& scene, const std::filesystem::path& folder, const ImportOptions& options);

}  // namespace costate
