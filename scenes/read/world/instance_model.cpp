#include "scenes/read/world/instance_model.hpp"

#include <algorithm>
#include <tuple>

#include "scenes/format/names.hpp"
#include "scenes/import/mesh/mesh_path.hpp"
#include "scenes/read/world/robot_file.hpp"
#include "solvers/world.hpp"

namespace costate {
namespace {

// Refuses the options of importers for a model in JSON.
void forbid_import_options(const Node& instance) {
    instance.forbid({"base"}, "in a JSON model, the joints of the bodies define the base");
    instance.forbid({"self_collision"}, "in a JSON model, each shape has its own \"self_collision\"");
}

// Moves the shapes of an MJCF file that are fixed in the world into a fixed body of the model, so that they come
// with the instance. Planes are the floor of the file's own world and stay behind; for sensors, the world of the scene
// is in their place. True if there are planes.
bool take_surroundings(ImportedModel& robot) {
    Json walls = Json::array();
    bool floor = false;
    const auto rename = [&](const char* section, const std::string& from, const std::string& to) {
        if (!robot.model.contains(section)) return;
        for (Json& pair : robot.model[section])
            if (pair.contains("shapes"))
                for (Json& shape : pair["shapes"])
                    if (shape == from) shape = to;
    };
    for (const Json& shape : robot.scene.value("shapes", Json::array())) {
        const std::string own = shape["name"].get<std::string>(), name = of_world + own;
        if (shape["type"] == "plane") {
            floor = true;
            rename("sensors", name, "world");
            continue;
        }
        walls.push_back(shape);
        for (const char* section : {"pairs", "sensors"})
            rename(section, name, own);
    }
    if (walls.empty()) return floor;
    for (const Json& sensor : robot.model.value("sensors", Json::array()))
        for (const Json& body : sensor.value("bodies", Json::array()))
            if (body == "world")
                robot.warnings.push_back(robot.places[""] + ": sensor \"" +
                                         sensor["name"].get<std::string>() +
                                         "\" measures the world of the scene, without the file's own walls");
    Json& bodies = robot.model["bodies"];
    std::string name = "surroundings";
    while (std::ranges::any_of(bodies, [&](const Json& body) { return body["name"] == name; }))
        name += "_";
    bodies.push_back({{"name", name}, {"shapes", walls}});
    if (!robot.model.contains("exclude")) return floor;
    Json more = Json::array();
    for (Json pair : robot.model["exclude"])
        for (Json& body : pair)
            if (body == "world") {
                body = name;
                more.push_back(pair);
            }
    robot.model["exclude"].insert(robot.model["exclude"].end(), more.begin(), more.end());
    return floor;
}

std::string shown(const Json& value) { return one_line(value.dump()); }

// Warns of what a file says about the world and a scene that names it does not take over.
void warn_of_world(const Node& scene, const ImportedModel& robot, bool floor, const std::string& file,
                   std::vector<std::string>& warnings) {
    std::vector<std::string> parts, keys;
    if (floor && !scene.has("ground") && !scene.has("shapes")) {
        parts.emplace_back("floor");
        keys.emplace_back("\"ground\": true");
    }
    for (const auto& [key, name, otherwise] :
         {std::tuple("time_step", "time step", Json(Settings{}.time_step)),
          {"gravity", "gravity", Json{0, 0, -9.81}},
          {"medium", "medium", nullptr}}) {
        if (scene.has(key) || !robot.scene.contains(key) || robot.scene[key] == otherwise) continue;
        parts.push_back(std::string(name) + " " + shown(robot.scene[key]));
        keys.push_back("\"" + std::string(key) + "\": " + shown(robot.scene[key]));
    }
    if (parts.empty()) return;
    warnings.push_back(file + ": the scene does not take over the file's " + listed(parts) +
                       (parts.size() == 1 ? "; to have it, write " : "; to have them, write ") +
                       listed(keys) + " into the scene");
}

// The file of a model: where a robot finds its meshes (scenes/import/mesh/mesh_path.hpp), if the user has named
// folders or the scene is a file. A text in memory may come from anywhere: its models are in the scene's folder or
// below.
std::filesystem::path find_model(const Node& name, const std::filesystem::path& folder,
                                 const ImportOptions& options) {
    if (!options.from_file && options.search.empty()) return find_file(name, folder);
    const std::filesystem::path given = name.text();
    const MeshPath found = find_mesh(given.string(), folder, options);
    if (!found.allowed)
        name.fail("leads out of the scene's folder, of its package and of its repository",
                  "name the folder of the model with --search");
    if (found.file.empty())
        name.fail("there is no file " + (folder / given).string(),
                  "correct the path, or name the folder of the model with --search");
    // by its shorter name, where this is the file
    std::error_code error;
    const bool here = std::filesystem::equivalent(folder / given, found.file, error);
    return here && given.is_relative() ? folder / given : found.file;
}

}  // namespace

ModelInput read_instance_model(const Node& scene, const Node& instance, const std::filesystem::path& folder,
                               const ImportOptions& options, std::vector<std::string>& warnings) {
    if (const auto model = instance.find("model")) {
        if (const auto file = instance.find("file"))
            file->fail("the model is given twice", "keep \"model\" or \"file\"");
        forbid_import_options(instance);
        return read_model(*model);
    }
    const std::filesystem::path file = find_model(instance["file"], folder, options);
    const std::string name = file.string();
    if (is_robot_file(file)) {
        ImportOptions chosen = options;
        chosen.search.push_back(folder);
        constexpr Base bases[] = {Base::fixed, Base::floating};
        if (const auto base = instance.find("base")) chosen.base = bases[base->choice({"fixed", "floating"})];
        if (const auto self = instance.find("self_collision")) chosen.self_collision = self->boolean();
        ImportedModel robot = import_model(file, chosen);
        const bool floor = take_surroundings(robot);
        warnings.insert(warnings.end(), robot.warnings.begin(), robot.warnings.end());
        warn_of_world(scene, robot, floor, name, warnings);
        return read_model(Node(robot.model, name, &robot.places));
    }
    forbid_import_options(instance);
    const Json document = read_json(file);
    return read_model(Node(document, name));
}

}  // namespace costate
