// A scene is a world, its start, its controls and an objective, read from JSON.
// scenes/library/scene.schema.json describes the format; scenes/library/*.json are the included scenes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "adjoint/expectation/randomization.hpp"
#include "adjoint/objective/constraint.hpp"
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
    Constraints constraints;
    ParameterMap parameters;         // parameters to optimize
    std::vector<int> initial_state;  // entries of the tangent (2 nv) of x0 to optimize
    OptimizeSettings optimize;
    Randomization batch;              // of the loss that is optimized; its environments are 0 without "batch"
    std::int64_t memory_bytes;        // for checkpoints; 0: automatic
    std::vector<Keyframe> keyframes;  // of all instances, named <instance>/<keyframe>
    std::vector<Visual> visuals;
    // about imported models and about the start (scenes/read/world/start_warnings.hpp), one line each
    std::vector<std::string> warnings;
};

// Loads a scene by its path or name. Names are looked up in $COSTATE_SCENES, the source tree,
// ../share/costate/scenes relative to the running program, and the configured installation folder. A model
// file by itself (JSON, URDF, MJCF or SDFormat) may be put on level ground (scenes/lone_model.hpp). `steps` replaces
// "steps" of the scene; `steps_if_none` is used if the scene has no "steps"; without all three it is an
// error. Throws SceneError.
Scene load_scene(const std::string& path_or_name, std::optional<int> steps = {},
                 const ImportOptions& options = {}, std::optional<int> steps_if_none = {});

// The format of a text; automatic: JSON, or XML whose root element is <robot>, <mujoco> or <sdf>.
enum class TextFormat { automatic, json, urdf, mjcf, sdf };

// Loads a scene or a model from a text in memory, as load_scene does from a file. `file` is its name in
// messages; relative paths in the text start in the folder of `file`. Throws SceneError.
Scene parse_scene(const std::string& text, TextFormat format, const std::filesystem::path& file,
                  const ImportOptions& options = {}, std::optional<int> steps_if_none = {});

// Loads a scene from a JSON value. Messages name `file`; model files are relative to its folder.
Scene scene_from_json(const nlohmann::ordered_json& value, const std::filesystem::path& file,
                      std::optional<int> steps = {}, const ImportOptions& options = {},
                      std::optional<int> steps_if_none = {});

// The file that a name or a path refers to. Throws SceneError if there is none.
std::filesystem::path find_scene(const std::string& path_or_name);

// The names of all scenes in the scene folders, sorted.
std::vector<std::string> shipped_scenes();

}  // namespace costate
