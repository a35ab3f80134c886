// What is fuzzed: functions of a string of bytes that must come back, whatever the bytes are. They throw
// std::logic_error if the library, or the program, answers bad bytes in another way than it promises; crashes and
// leaks are found by the sanitizers, and long runs by the fuzzer.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace costate::fuzz {

void read_urdf(const std::string& text);
void read_mjcf(const std::string& text);
void read_sdf(const std::string& text);
void read_scene(const std::string& text);
void parse_model(const std::string& text);  // by the C API, from memory

void read_obj(const std::string& text);
void read_msh(const std::string& bytes);

void read_controls(const std::string& csv);          // of simulate --controls
void read_result(const std::string& json);           // of the same, and of optimize --from
void read_recording_file(const std::string& csv);    // that a scene compares itself with
void read_trajectory_csv(const std::string& csv);    // of view --run
void read_trajectory_json(const std::string& json);  // of the same
void read_replay(const std::string& json);           // of simulate --from

// Files of the program, whose bytes belong to one build. They are written as the program writes them, then changed:
// the bytes say how. Checksums are made right again, as those of a file written with intent would be.
void resume_gradient(const std::string& changes);
void resume_optimization(const std::string& changes);
void reread_checkpoints(const std::string& changes);
void merge_shards(const std::string& changes);

void call_c_api(const std::string& calls);     // one after the other, with arguments that are right and wrong
void serve_request(const std::string& bytes);  // sent to the server of `costate watch`

struct Target {
    const char* name;
    void (*run)(const std::string&);
};

inline const std::vector<Target>& targets() {
    static const std::vector<Target> all{
        {"urdf", read_urdf},
        {"mjcf", read_mjcf},
        {"sdf", read_sdf},
        {"scene", read_scene},
        {"model", parse_model},
        {"obj", read_obj},
        {"msh", read_msh},
        {"controls", read_controls},
        {"result", read_result},
        {"recording", read_recording_file},
        {"trajectory", read_trajectory_csv},
        {"trajectory_json", read_trajectory_json},
        {"replay", read_replay},
        {"saved_gradient", resume_gradient},
        {"saved_optimization", resume_optimization},
        {"checkpoints", reread_checkpoints},
        {"shard", merge_shards},
        {"c_api", call_c_api},
        {"http", serve_request},
    };
    return all;
}

// The target of this name; throws std::invalid_argument, with all names, if there is none.
inline const Target& target(const std::string& name) {
    std::string names;
    for (const Target& t : targets()) {
        if (t.name == name) return t;
        names += std::string(" ") + t.name;
    }
    throw std::invalid_argument("no target of fuzzing is named '" + name + "'; one of" + names);
}

// Writes the bytes to a file in a folder of this process, beside copies of the shipped models and recordings.
std::filesystem::path in_file(const char* name, const std::string& bytes);
std::filesystem::path folder();

// Throws std::logic_error unless a message is one printable line.
void expect_one_line(const std::string& message);

}  // namespace costate::fuzz
