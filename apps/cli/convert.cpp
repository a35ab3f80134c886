#include "apps/cli/command.hpp"
#include "apps/io/output.hpp"
#include "scenes/read/world/robot_file.hpp"

namespace fs = std::filesystem;

namespace costate {

namespace {

// Makes the file names in a model relative to another folder.
void move_to(const fs::path& folder, Report& model) {
    for (Report& body : model["bodies"]) {
        if (!body.contains("visuals")) continue;
        for (Report& visual : body["visuals"])
            if (visual.contains("file"))
                visual["file"] =
                    fs::relative(visual["file"].get<std::string>(), folder.empty() ? "." : folder).string();
    }
}

int convert(const Arguments& a) {
    const std::optional<std::string> out = a.text("out");
    if (out) check_extension("out", *out, ".json", "JSON");
    const fs::path file = find_scene(a.scene());
    if (!is_robot_file(file))
        throw UsageError("convert takes a URDF, MJCF or SDFormat file; '" + file.string() + "' is none");
    ImportedModel robot = import_model(file, a.import_options());
    print_warnings(robot.warnings);
    const fs::path folder = out ? fs::path(*out).parent_path() : fs::path();
    move_to(folder, robot.model);
    if (!robot.scene.empty()) robot.model["world"] = robot.scene;
    if (!out) {
        std::fputs(to_text(robot.model).c_str(), stdout);
        return done;
    }
    OutputFiles files;
    files.write(*out, to_text(robot.model));
    files.commit();
    const Report report{{"file", file.string()},
                        {"out", *out},
                        {"bodies", robot.model["bodies"].size()},
                        {"warnings", robot.warnings}};
    if (a.json())
        std::fputs(to_text(report).c_str(), stdout);
    else
        std::printf("%s: %zu bodies in %s\n", file.c_str(), robot.model["bodies"].size(), out->c_str());
    return done;
}

}  // namespace

const Command convert_command{"convert",
                              "write a URDF, MJCF or SDFormat file as a JSON model",
                              "costate convert robot.urdf --out robot.json",
                              {},
                              {{"out", "FILE", "write the model to FILE; without it, to stdout", "o"}},
                              convert,
                              Operand::robot};

}  // namespace costate
