// Targets that read one file, as the loaders and the program do.
#include <cstdio>

#include "apps/cli/command.hpp"
#include "apps/cli/replay.hpp"
#include "apps/io/scene_inputs.hpp"
#include "apps/io/trajectory_reader.hpp"
#include "scenes/format/json.hpp"
#include "scenes/import/mesh/mesh_hull.hpp"
#include "scenes/import/mesh/mesh_mass.hpp"
#include "scenes/import/mesh/obj_file.hpp"
#include "tests/fuzz/load_and_step.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/scratch_folder.hpp"

namespace fs = std::filesystem;

namespace costate::fuzz {
namespace {

constexpr const char* shipped = SHIPPED_SCENES;

const test::ScratchFolder& scratch() {
    static const struct Folder : test::ScratchFolder {
        Folder() : ScratchFolder("fuzz") {
            for (const char* name : {"models", "recordings"})
                fs::copy(fs::path(shipped) / name, path(name),
                         fs::copy_options::recursive | fs::copy_options::overwrite_existing);
            unsetenv("ROS_PACKAGE_PATH");
            setenv("COSTATE_SCENES", shipped, 1);
        }
    } folder;
    return folder;
}

void print(const fs::path& file, const char* how) {
    const char* words[] = {"info", file.c_str(), how};
    info_command.run(Arguments(info_command, 3, words));
}

void load(const fs::path& file, size_t size) {
    if (!test::load_and_step(file).empty()) return;
    // it loads again, which takes time
    if (size % 8 < 2) print(file, size % 8 == 0 ? "--steps=1" : "--json");
}

// Runs what reads a file, and may refuse it.
template <class Read> void may_refuse(const Read& read) {
    try {
        read();
    } catch (const SceneError& e) {
        expect_one_line(e.what());
    } catch (const UsageError& e) {
        expect_one_line(e.what());
    } catch (const MeshFileError& e) {
        expect_one_line(e.what() + ("; " + e.remedy));
    }
}

// A shipped scene that lasts a few steps.
Scene short_scene(const char* name) { return load_scene((fs::path(shipped) / name).string(), 12); }

void weigh(const TriangleMesh& mesh) {
    if (mesh.triangles.empty()) return;
    is_closed(mesh);
    for (const MeshInertia kind : {MeshInertia::legacy, MeshInertia::exact, MeshInertia::shell})
        mesh_mass(mesh, kind);
}

}  // namespace

fs::path in_file(const char* name, const std::string& bytes) { return scratch().write(name, bytes); }
fs::path folder() { return scratch().path(); }

void expect_one_line(const std::string& message) {
    const auto control = [](unsigned char c) { return std::iscntrl(c) != 0; };
    if (message.empty() || std::any_of(message.begin(), message.end(), control))
        throw std::logic_error("not one printable line: " + message);
}

void read_urdf(const std::string& text) { load(in_file("robot.urdf", text), text.size()); }
void read_mjcf(const std::string& text) { load(in_file("robot.xml", text), text.size()); }
void read_sdf(const std::string& text) { load(in_file("robot.sdf", text), text.size()); }
void read_scene(const std::string& text) { load(in_file("scene.json", text), text.size()); }

void read_obj(const std::string& text) {
    const fs::path file = in_file("mesh.obj", text);
    may_refuse([&] {
        for (const TriangleMesh& mesh : parse_obj(text, file.string()))
            weigh(mesh);
        read_solid_hulls(file, {.vertices = 40, .hulls = 3, .surfaces = true});
    });
}

void read_msh(const std::string& bytes) {
    const fs::path file = in_file("mesh.msh", bytes);
    may_refuse([&] {
        weigh(read_mesh_file(file));
        read_solid_hulls(file, {.vertices = 40, .hulls = 3, .surfaces = true});
    });
}

void read_controls(const std::string& csv) {
    static const Scene scene = short_scene("cartpole.json");
    const fs::path file = in_file("controls.csv", csv);
    may_refuse([&] {
        const ControlFile controls(file);
        for (const Resampling how : {Resampling::hold, Resampling::linear}) {
            Scene driven = scene;
            drive(driven, controls, how);
            test::step_twice(driven);
        }
    });
}

void read_result(const std::string& json) {
    static const Scene scene = short_scene("cartpole_swingup.json");
    const fs::path file = in_file("result.json", json);
    may_refuse([&] {
        Scene driven = scene;
        drive(driven, ControlFile(file), Resampling::hold);
        test::step_twice(driven);
    });
    may_refuse([&] {
        Scene started = scene;
        start_from(started, file);
        test::step_twice(started);
    });
}

void read_recording_file(const std::string& csv) {
    static const Json scene = [] {
        Json json = read_json(fs::path(shipped) / "double_pendulum_identification.json");
        json["steps"] = 12;
        json["objective"][0]["file"] = "recording.csv";
        return json;
    }();
    in_file("recording.csv", csv);
    may_refuse([&] { test::step_twice(scene_from_json(scene, folder() / "identification.json")); });
}

void read_trajectory_csv(const std::string& csv) {
    static const Scene scene = short_scene("box_slide.json");
    may_refuse([&] { read_trajectory(in_file("run.csv", csv), scene); });
}

void read_trajectory_json(const std::string& json) {
    static const Scene scene = short_scene("box_slide.json");
    may_refuse([&] { read_trajectory(in_file("run.json", json), scene); });
}

void read_replay(const std::string& json) {
    may_refuse([&] { test::step_twice(load_replay(in_file("pendulum_1-diverged.json", json), {})); });
}

}  // namespace costate::fuzz
