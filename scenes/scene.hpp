// Scenes: a world, where it starts, what drives it and what is asked of it, read from JSON. The format is described by
// scene.schema.json beside this file; the named scenes are the *.json files here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "adjoint/controls.hpp"
#include "adjoint/objective.hpp"
#include "adjoint/optimise.hpp"

namespace costate {

// What a user got wrong, in one line: "<file>#<JSON pointer>: what; remedy".
struct SceneError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Scene {
    std::string name, description, source;
    std::filesystem::path file;
    World world;
    VecX<double> theta;  // (np)
    VecX<double> x0;     // (nx) q, v
    ControlPlan plan;
    VecX<double> z0;  // (plan.size()) decision variables
    int steps;
    Objective objective;
    std::vector<ParameterVariable> parameters;  // what an optimiser may move
    std::vector<int> initial_state;             // entries of the tangent (2 nv) of x0 an optimiser may move
    OptimizeSettings optimize;
    std::int64_t memory_bytes;  // for checkpoints; 0: automatic
};

// A path, or the name of a scene: sought in $COSTATE_SCENES, in the source tree, in ../share/costate/scenes from the program
// that runs, and where costate was configured to be installed. `steps` replaces the scene's own. Throws SceneError.
Scene load_scene(const std::string& path_or_name, std::optional<int> steps = {});

// The same from a JSON value. `file` is named in messages, and model files are sought beside it.
Scene scene_from_json(const nlohmann::ordered_json& value, const std::filesystem::path& file, std::optional<int> steps = {});

// Where a name or a path leads.
std::filesystem::path find_scene(const std::string& path_or_name);

// The names of all scenes that are shipped, sorted.
std::vector<std::string> shipped_scenes();

}  // namespace costate
