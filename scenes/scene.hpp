// Scenes: a world, where it starts, what drives it and what is asked of it, read from JSON. The format is
// described by scene.schema.json beside this file; the named scenes are the *.json files here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "adjoint/objective/term.hpp"
#include "adjoint/optimize/optimize_settings.hpp"
#include "adjoint/optimize/parameter_map.hpp"
#include "adjoint/rollout/controls.hpp"
#include "scenes/format/error.hpp"
#include "scenes/format/keyframe.hpp"
#include "scenes/format/visual.hpp"
#include "scenes/import/import_options.hpp"
#include "solvers/world.hpp"

namespace costate {

struct Scene {
    std::string name, description, source;
    std::filesystem::path file;
    World world;
    VecX<double> theta;  // (np)
    VecX<double> x0;     // (nx) q, v, no impulses
    ControlPlan plan;
    VecX<double> z0;  // (plan.size()) decision variables
    int steps;
    Objective objective;
    ParameterMap parameters;         // what an optimizer may move
    std::vector<int> initial_state;  // entries of the tangent (2 nv) of x0 an optimizer may move
    OptimizeSettings optimize;
    std::int64_t memory_bytes;        // for checkpoints; 0: automatic
    std::vector<Keyframe> keyframes;  // of the instances, as <instance>/<keyframe>
    std::vector<Visual> visuals;
    // of imported models and of the start (scenes/read/start_warnings.hpp), one line each
    std::vector<std::string> warnings;
};

// A path, or the name of a scene: sought in $COSTATE_SCENES, in the source tree, in ../share/costate/scenes
// from the program that runs, and where costate was configured to be installed. A model alone, in JSON, URDF
// or MJCF, falls on level ground (scenes/lone_model.hpp). `steps` replaces the scene's own; `steps_if_none`
// stands in where it has none. One of the three there must be. Throws SceneError.
Scene load_scene(const std::string& path_or_name, std::optional<int> steps = {},
                 const ImportOptions& options = {}, std::optional<int> steps_if_none = {});

// The same from a JSON value. `file` is named in messages, and model files are sought beside it.
Scene scene_from_json(const nlohmann::ordered_json& value, const std::filesystem::path& file,
                      std::optional<int> steps = {}, const ImportOptions& options = {},
                      std::optional<int> steps_if_none = {});

// Where a name or a path leads.
std::filesystem::path find_scene(const std::string& path_or_name);

// The names of all scenes that are shipped, sorted.
std::vector<std::string> shipped_scenes();

}  // namespace costate
