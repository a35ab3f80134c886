// Scenes: a world, where it starts, what drives it and what is asked of it, read from JSON. The format is described by
// scene.schema.json beside this file; the named scenes are the *.json files here.
#pragma once

#include <array>
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
#include "scenes/keyframe.hpp"

namespace costate {

// What a user got wrong, in one line: "<file>#<JSON pointer>: what; remedy".
struct SceneError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What is seen of a body and not touched: for viewers, no part of the physics.
struct Visual {
    int body = -1;                          // -1: the world
    ShapeType type = ShapeType::mesh;       // sphere, capsule, box, cylinder, ellipsoid or mesh
    Vec3<double> size;                      // as of a shape; of a mesh scale factors along its axes, negative ones mirror
    Transform<double> X_BV;                 // its axes in the body
    std::array<double, 4> rgba{0.5, 0.5, 0.5, 1};
    std::filesystem::path file = {};        // of a mesh, as given or relative to the model's folder; it may be missing
};

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
    ParameterMap parameters;                    // what an optimiser may move
    std::vector<int> initial_state;             // entries of the tangent (2 nv) of x0 an optimiser may move
    OptimizeSettings optimize;
    std::int64_t memory_bytes;  // for checkpoints; 0: automatic
    std::vector<Keyframe> keyframes;  // of the instances, as <instance>/<keyframe>
    std::vector<Visual> visuals;
    std::vector<std::string> warnings;  // of imported models and of the start (scenes/start_warnings.hpp), one line each
};

// What stands in the world: the root of a robot, or where its format has no word about it.
enum class Base { automatic, fixed, floating };

// How robot descriptions in other formats are read (scenes/import.hpp).
struct ImportOptions {
    Base base = Base::automatic;
    std::vector<std::filesystem::path> search = {};  // folders that meshes may lie in or below, and in which packages are sought
    bool self_collision = false;                     // whether links of one URDF touch each other
    bool strict = false;                             // what has no counterpart is an error, not a warning
};

// A path, or the name of a scene: sought in $COSTATE_SCENES, in the source tree, in ../share/costate/scenes from the program
// that runs, and where costate was configured to be installed. A model alone, in JSON, URDF or MJCF, falls on level ground
// (scenes/alone.hpp). `steps` replaces the scene's own; `steps_if_none` stands in where it has none. One of the three there must
// be. Throws SceneError.
Scene load_scene(const std::string& path_or_name, std::optional<int> steps = {}, const ImportOptions& options = {},
                 std::optional<int> steps_if_none = {});

// The same from a JSON value. `file` is named in messages, and model files are sought beside it.
Scene scene_from_json(const nlohmann::ordered_json& value, const std::filesystem::path& file, std::optional<int> steps = {},
                      const ImportOptions& options = {}, std::optional<int> steps_if_none = {});

// Where a name or a path leads.
std::filesystem::path find_scene(const std::string& path_or_name);

// The names of all scenes that are shipped, sorted.
std::vector<std::string> shipped_scenes();

}  // namespace costate
