// Commands of the program `costate` and their arguments. Each command has its own file, which defines one
// Command; main.cpp lists them.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "apps/io/usage_error.hpp"
#include "scenes/scene.hpp"

namespace costate {

// check_failed: a check that the user requested did not pass.
// interrupted: control-C ended an optimization early; its results are those so far.
enum ExitCode { done = 0, check_failed = 1, bad_input = 2, diverged = 3, interrupted = 4 };

struct Option {
    const char* name;
    const char* value;  // placeholder of its value in --help; nullptr: the option has no value
    const char* help;
    const char* letter = nullptr;  // -o for --out
};

// For commands that compute gradients
inline constexpr Option memory_option{
    "memory", "BYTES",
    "memory for checkpoints, for example 64M, instead of the scene's (auto: half of the machine's)"};

class Arguments;

// What stands before the options of a command.
enum class Operand { scene, robot, files };

struct Command {
    const char* name;
    const char* summary;           // one line
    const char* example;           // one command, for its help
    std::vector<ExitCode> faults;  // exit codes besides done and bad_input
    std::vector<Option> options;   // in addition to those of all commands with this operand
    int (*run)(const Arguments&);
    Operand operand = Operand::scene;
    const char* instead_of_scene = nullptr;  // an option whose file includes the scene and its steps
    bool shared = false;                     // by all processes that mpirun starts: apps/cli/shared_run.hpp
};

// Options under a heading of a command's help.
struct OptionGroup {
    const char* heading;
    std::vector<Option> options;
};

// SCENE, ROBOT or FILE...
const char* operands(const Command& c);
// Those of a command itself under an empty heading, and those that it shares with others.
std::vector<OptionGroup> option_groups(const Command& c);
std::vector<Option> all_options(const Command& c);
// The groups that commands share.
const std::vector<OptionGroup>& shared_options();
// What an exit code says, in a few words.
const char* meaning(ExitCode code);

extern const Command info_command, convert_command, simulate_command, gradcheck_command, gradient_command,
    merge_command, optimize_command, plan_command, bench_command, view_command, watch_command;

// The arguments of one command, checked. Invalid arguments throw UsageError.
class Arguments {
public:
    Arguments(const Command& command, int argc, const char* const* argv);  // argv[0] is the command's name

    bool help() const { return help_; }
    const std::string& help_text() const { return help_text_; }
    bool json() const { return json_; }
    bool quiet() const { return quiet_; }
    const std::string& line() const { return line_; }  // the whole command, quoted for a shell
    // The scene with the number of steps and the memory of the arguments. Warnings go to stderr, unless `quiet`.
    Scene load(bool quiet = false) const;
    const std::string& scene() const { return scene_; }
    const std::vector<std::string>& files() const { return files_; }  // of a command that takes files
    ImportOptions import_options() const;

    std::optional<std::string> text(const char* option) const;  // the last value, if given several times
    std::vector<std::string> texts(const char* option) const;   // all values
    int integer(const char* option, int otherwise, int lower,
                int upper = std::numeric_limits<int>::max()) const;
    std::optional<double> nonnegative(const char* option) const;
    std::optional<double> positive(const char* option) const;
    std::optional<double> number(const char* option) const;

private:
    std::vector<std::pair<std::string, std::string>> values_;  // option, value
    std::vector<std::string> files_;
    std::string scene_, help_text_, line_ = "costate";
    bool help_ = false, json_ = false, quiet_ = false, strict_ = false, self_collision_ = false;
};

// Throws UsageError unless the file name of an option ends like the format in which it is written.
void check_extension(const char* option, const std::string& file, const std::string& extension,
                     const char* format);

// Prints warnings to stderr, one per line, unless the program is quiet.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace costate
