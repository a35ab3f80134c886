#include "scenes/scene.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/platform/posix.hpp"
#include "scenes/format/files.hpp"
#include "scenes/format/json.hpp"
#include "scenes/format/names.hpp"
#include "scenes/import/mesh/mesh_hull.hpp"
#include "scenes/lone_model.hpp"
#include "scenes/memory.hpp"
#include "scenes/read/model/model_reader.hpp"
#include "scenes/read/task/batch_reader.hpp"
#include "scenes/read/task/task_reader.hpp"
#include "scenes/read/world/initial_reader.hpp"
#include "scenes/read/world/start_warnings.hpp"
#include "scenes/read/world/world_reader.hpp"

namespace costate {
namespace {

inline constexpr std::int64_t max_steps = 1'000'000'000;

// Folders of named scenes, in order of precedence: $COSTATE_SCENES, share/costate/scenes in the folder of the
// running library or program or in one of the three above it (PREFIX/lib/ARCHITECTURE), and as installed.
std::vector<std::filesystem::path> scene_folders() {
    std::vector<std::filesystem::path> folders;
    if (const char* own = std::getenv("COSTATE_SCENES"); own && *own) folders.emplace_back(own);
    std::filesystem::path above = object_of(reinterpret_cast<const void*>(&scene_folders));
    for (int level = 0; level < 4 && above.has_relative_path(); ++level) {
        above = above.parent_path();
        folders.push_back(above / COSTATE_DATA_FOLDER / "costate/scenes");
    }
    folders.emplace_back(COSTATE_INSTALL_SCENES);
    return folders;
}

std::int64_t read_memory(const Node& scene, const World& w) {
    const auto memory = scene.find("memory");
    if (!memory) return 0;
    const std::int64_t bytes =
        memory->is_text() ? parse_memory(memory->text()).value_or(-1) : memory->integer(1, max_memory);
    if (bytes < 0)
        memory->fail("is not a memory size", "write \"auto\", a number of bytes, or for example \"64M\"");
    if (bytes > 0 && bytes < bytes_per_checkpoint(w))
        memory->fail("is too small for a state of " + std::to_string(bytes_per_checkpoint(w)) + " bytes",
                     "give more, or \"auto\"");
    return bytes;
}

}  // namespace

std::vector<std::string> shipped_scenes() {
    std::vector<std::string> names;
    for (const std::filesystem::path& folder : scene_folders()) {
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
            const std::filesystem::path& file = entry.path();
            if (file.extension() == ".json" && file.stem().extension() != ".schema")
                names.push_back(file.stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::filesystem::path find_scene(const std::string& path_or_name) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path_or_name, error)) return path_or_name;
    const std::filesystem::path path(path_or_name);
    if (path.has_parent_path() || path.extension() == ".json" || is_robot_file(path)) expect_file(path);
    for (const std::filesystem::path& folder : scene_folders())
        if (std::filesystem::is_regular_file(folder / (path_or_name + ".json"), error))
            return folder / (path_or_name + ".json");
    if (std::filesystem::is_directory(path, error)) expect_file(path);
    throw SceneError(path_or_name + ": no scene has this name" + suggestion(path_or_name, shipped_scenes()) +
                     "; give a name or the path of a file");
}

namespace {

int read_steps(const Node& scene, const std::filesystem::path& file, std::optional<int> steps,
               std::optional<int> if_none) {
    if (steps && (*steps < 1 || *steps > max_steps))
        throw SceneError(file.string() + ": cannot run " + std::to_string(*steps) +
                         " steps; use 1 to 1000000000");
    if (!scene.has("steps") && (steps || if_none)) return steps ? *steps : *if_none;
    const int own = static_cast<int>(scene["steps"].integer(1, max_steps));
    return steps.value_or(own);
}

Scene read_scene(const Node& node, const std::filesystem::path& file, std::optional<int> steps,
                 const ImportOptions& options, std::optional<int> steps_if_none = {}) {
    node.expect_keys("scene");
    const int n = read_steps(node, file, steps, steps_if_none);

    WorldInput input = read_world(node, file.parent_path(), options);
    const World& world = input.world;
    StartInput start = read_start(node, world.model, input.q, input.v, input.activations);
    start.x0.conservativeResizeLike(VecX<double>::Zero(world.nx()));
    VecX<double> theta = world.model.layout.nominal(), before = theta;
    read_parameters(node, world, before);  // first pass: joint placements, which place the equalities
    place_equalities(input.equalities, before, start.x0, input.world.model, theta);
    ParameterMap parameters = read_parameters(node, world, theta);
    check_inertia(node, world, theta, start.x0);
    ControlInput controls = read_controls(node, world, start.x0, input.controls, n);
    Objective objective = read_objective(node, world, start.x0, file.parent_path(), n);
    Constraints constraints = read_constraints(node, world, start.x0, file.parent_path(), n);
    Randomization batch = read_batch(node, world, theta, parameters);
    OptimizeSettings optimize = read_optimize(node, world, theta, parameters);
    const std::int64_t memory = read_memory(node, world);
    return {node.text_or("name", file.stem().string()),
            node.prose_or("description", ""),
            node.prose_or("source", ""),
            file,
            std::move(input.world),
            std::move(theta),
            std::move(start.x0),
            std::move(controls.plan),
            std::move(controls.z0),
            n,
            std::move(objective),
            std::move(constraints),
            std::move(parameters),
            std::move(start.initial_state),
            std::move(optimize),
            std::move(batch),
            memory,
            std::move(input.keyframes),
            std::move(input.visuals),
            std::move(input.warnings)};
}

// Adds the warnings about the start to the scene.
Scene checked(Scene scene) {
    for (const std::string& line : start_warnings(scene.world, scene.theta, scene.x0))
        scene.warnings.push_back(one_line(scene.file.string() + ": " + line));
    return scene;
}

// A valid name for the instance of a model.
std::string instance_name(const Json& model, const std::filesystem::path& file) {
    const auto given = model.find("name");
    std::string name = given != model.end() && given->is_string() ? given->get<std::string>() : "";
    if (name.empty()) name = file.stem().string();
    std::replace(name.begin(), name.end(), '*', '_');
    return name.empty() || name == "world" ? "robot" : name;
}

// Renames a key, in whose place another spelling is accepted. True if there was one.
bool rename(Json& section, const char* other, const char* key) {
    if (!section.is_object() || !section.contains(other) || section.contains(key)) return false;
    section[key] = std::move(section[other]);
    section.erase(other);
    return true;
}
// The spellings that were renamed, with "is read as".
std::vector<std::string> rename_other_spellings(Json& scene) {
    if (!scene.is_object()) return {};
    std::vector<std::string> renamed;
    bool optimise = scene.contains("initial") && rename(scene["initial"], "optimise", "optimize");
    for (const char* list : {"controls", "parameters"})
        if (scene.contains(list) && scene[list].is_array())
            for (Json& entry : scene[list])
                optimise |= rename(entry, "optimise", "optimize");
    if (optimise) renamed.emplace_back("\"optimise\" is read as \"optimize\"");
    if (scene.contains("batch") && rename(scene["batch"], "randomise", "randomize"))
        renamed.emplace_back("\"randomise\" is read as \"randomize\"");
    return renamed;
}

Scene load_lone_model(const ImportedModel& model, const std::filesystem::path& file, std::optional<int> steps,
                      std::optional<ContactLaw> law) {
    const ImportOptions options{.law = law};  // the others are for importers
    std::map<std::string, std::string> places;
    for (const auto& [pointer, place] : model.places)
        places["/models/0/model" + pointer] = place;
    places.insert(model.scene_places.begin(), model.scene_places.end());
    if (const auto whole = model.places.find(""); whole != model.places.end()) places[""] = whole->second;
    const std::string shown = file.string();
    Json scene = scene_of_model(model, instance_name(model.model, file));
    complete_start(scene, read_scene(Node(scene, shown, &places), file, steps, options),
                   !model.scene.empty());
    Scene out = read_scene(Node(scene, shown, &places), file, steps, options);
    out.warnings.insert(out.warnings.begin(), model.warnings.begin(), model.warnings.end());
    const Model& m = out.world.model;
    const auto floats = [&](int dofs) {
        return std::ranges::any_of(m.trees, [&](const Tree& tree) {
            return m.bodies[tree.body_begin].joint == JointType::free &&
                   tree.dof_end - tree.dof_begin >= dofs;
        });
    };
    // of robots the warnings of the start tell
    if (floats(6) && !floats(7) && m.equalities.empty() && !out.world.shapes.any_pair)
        out.warnings.push_back(
            shown + (out.world.shapes.index("ground") >= 0
                         ? ": no shape of the model collides with the ground, so the model falls; add shapes"
                         : ": nothing of the file can hold its model, which falls; add a floor"));
    return checked(std::move(out));
}

}  // namespace

Scene scene_from_json(const nlohmann::ordered_json& value, const std::filesystem::path& file,
                      std::optional<int> steps, const ImportOptions& options,
                      std::optional<int> steps_if_none) {
    const HullsReadOnce once;
    const std::string shown = file.string();
    Json renamed = value;
    const std::vector<std::string> other_spellings = rename_other_spellings(renamed);
    Scene scene = checked(read_scene(Node(renamed, shown), file, steps, options, steps_if_none));
    for (const std::string& spelling : other_spellings)
        scene.warnings.push_back(shown + ": " + spelling + "; use the latter");
    return scene;
}

namespace {

// The scene of a JSON value that is a scene or a model.
Scene load_value(const Json& value, const std::filesystem::path& file, std::optional<int> steps,
                 const ImportOptions& options, std::optional<int> steps_if_none) {
    if (!value.is_object() || !value.contains("bodies") || value.contains("models"))
        return scene_from_json(value, file, steps, options, steps_if_none);
    const std::string shown = file.string();
    read_model(Node(value, shown));  // so that errors name places in the model file
    return load_lone_model({value, value.value("world", Json::object()), {}, {}, {}}, file, steps,
                           options.law);
}

}  // namespace

Scene load_scene(const std::string& path_or_name, std::optional<int> steps, const ImportOptions& options,
                 std::optional<int> steps_if_none) {
    const HullsReadOnce once;
    const std::filesystem::path file = find_scene(path_or_name);
    if (is_robot_file(file)) return load_lone_model(import_model(file, options), file, steps, options.law);
    ImportOptions of_file = options;
    of_file.from_file = true;
    return load_value(read_json(file), file, steps, of_file, steps_if_none);
}

Scene parse_scene(const std::string& text, TextFormat format, const std::filesystem::path& file,
                  const ImportOptions& options, std::optional<int> steps_if_none) {
    const HullsReadOnce once;
    const size_t first =
        text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");  // XML may begin with a byte order mark
    const bool xml = first != std::string::npos && text[first] == '<';
    if (format == TextFormat::json || (format == TextFormat::automatic && !xml))
        return load_value(parse_json(text, file.string()), file, {}, options, steps_if_none);
    const char* root = format == TextFormat::urdf   ? "robot"
                       : format == TextFormat::mjcf ? "mujoco"
                       : format == TextFormat::sdf  ? "sdf"
                                                    : nullptr;
    return load_lone_model(parse_model(text, file, options, root), file, {}, options.law);
}

}  // namespace costate
