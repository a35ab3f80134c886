#include "apps/cli/command.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cxxopts.hpp>

#include "apps/io/terminal.hpp"
#include "scenes/format/names.hpp"
#include "scenes/memory.hpp"

namespace costate {

namespace {

// The whole text as a number; none if it is not a number.
template <class T> std::optional<T> parsed(const std::string& text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional<T>(value) : std::nullopt;
}

// A word quoted for a shell.
std::string shell_word(const std::string& word) {
    if (!word.empty() &&
        word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@%") ==
            std::string::npos)
        return word;
    std::string quoted = "'";
    for (const char c : word)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted += '\'';
}

}  // namespace

namespace {

const std::vector<Option> run_options{
    {"steps", "N", "number of time steps, instead of the scene's"},
    {"law", "LAW", "law of contact: rigid or mujoco (default: as the scene says, otherwise rigid)"}};

const OptionGroup robot_options{
    "Robot file (URDF, MJCF, SDFormat)",
    {{"base", "HOW", "fixed or floating base (default: as in the file; a URDF root floats if it has mass)"},
     {"search", "DIRS", "folders of models, meshes and packages, separated by :"},
     {"self-collision", nullptr,
      "let the links of a URDF or SDFormat model collide with each other, except a link and its parent"},
     {"strict", nullptr, "refuse files of which something that may change the motion is left out or guessed"},
     {"hull-vertices", "N", "largest number of vertices of a mesh's hull, 4 or more (default: all)"},
     {"decompose", "N", "largest number of convex hulls of a mesh that is not convex (default: 1)"}}};

const OptionGroup general_options{"All commands",
                                  {{"json", nullptr, "print one JSON object to stdout and nothing else"},
                                   {"quiet", nullptr, "print no warnings, notes and progress to stderr", "q"},
                                   {"help", nullptr, "print this"}}};

std::string exit_codes(const Command& c) {
    std::vector<ExitCode> codes{done, bad_input};
    codes.insert(codes.end(), c.faults.begin(), c.faults.end());
    std::ranges::sort(codes);
    std::string text;
    for (const ExitCode code : codes)
        text += (text.empty() ? "" : ", ") + std::to_string(code) + " " + meaning(code);
    return text;
}

}  // namespace

const std::vector<OptionGroup>& shared_options() {
    static const std::vector<OptionGroup> groups{{"Scene", run_options}, robot_options, general_options};
    return groups;
}

const char* operands(const Command& c) {
    return c.operand == Operand::files ? "FILE..." : c.operand == Operand::robot ? "ROBOT" : "SCENE";
}

std::vector<OptionGroup> option_groups(const Command& c) {
    std::vector<OptionGroup> groups{{"", c.options}};
    if (c.operand == Operand::scene)
        groups[0].options.insert(groups[0].options.end(), run_options.begin(), run_options.end());
    if (c.operand != Operand::files) groups.push_back(robot_options);
    groups.push_back(general_options);
    return groups;
}

std::vector<Option> all_options(const Command& c) {
    std::vector<Option> all;
    for (const OptionGroup& group : option_groups(c))
        all.insert(all.end(), group.options.begin(), group.options.end());
    return all;
}

const char* meaning(ExitCode code) {
    switch (code) {
        case done: return "done";
        case check_failed: return "a check failed";
        case bad_input: return "bad input";
        case diverged: return "the rollout diverged";
        case interrupted: return "interrupted";
    }
    return "";
}

Arguments::Arguments(const Command& command, int argc, const char* const* argv) {
    for (int i = 0; i < argc; ++i)
        line_ += " " + shell_word(argv[i]);
    const bool takes_files = command.operand == Operand::files;
    cxxopts::Options options(std::string("costate ") + command.name, std::string(command.summary) + "\n");
    options.custom_help(std::string(operands(command)) + " [OPTION...]").positional_help("");
    std::vector<std::string> names, headings;
    for (const OptionGroup& group : option_groups(command)) {
        headings.emplace_back(group.heading);
        for (const Option& o : group.options) {
            const std::string name = o.letter == nullptr ? o.name : std::string(o.letter) + "," + o.name;
            auto add = options.add_options(group.heading);
            if (o.value == nullptr)
                add(name, o.help);
            else
                add(name, o.help, cxxopts::value<std::string>(), o.value);
            names.push_back(std::string("--") + o.name);
        }
    }
    options.add_options("positional")(
        "scene", "a scene, the name of an included scene, or a model: JSON, URDF, MJCF or SDFormat",
        cxxopts::value<std::string>());
    options.parse_positional({"scene"});
    options.allow_unrecognised_options();
    help_text_ = options.help(headings) + "\nExample: " + command.example +
                 "\nExit codes: " + exit_codes(command) + "\n";

    cxxopts::ParseResult given;
    try {
        given = options.parse(argc, argv);
    } catch (const cxxopts::exceptions::missing_argument&) {  // only possible for the last argument
        throw UsageError(std::string(argv[argc - 1]) + " takes a value");
    } catch (const cxxopts::exceptions::incorrect_argument_type&) {  // all options with a value take text
        throw UsageError("a value was given to an option without a value, such as --json");
    } catch (const cxxopts::exceptions::exception& e) {
        throw UsageError(e.what());
    }
    help_ = given.count("help") > 0;
    json_ = given.count("json") > 0;
    quiet_ = given.count("quiet") > 0;
    strict_ = !takes_files && given.count("strict") > 0;
    self_collision_ = !takes_files && given.count("self-collision") > 0;
    if (help_) return;
    for (const std::string& unknown : given.unmatched()) {
        const std::string name = unknown.substr(0, unknown.find('='));
        if (name.starts_with("-"))
            throw UsageError("unknown option '" + name + "'" + suggestion(name, names));
        if (takes_files) {
            files_.push_back(unknown);
            continue;
        }
        throw UsageError("unexpected argument '" + unknown + "': " + command.name + " takes one " +
                         (command.operand == Operand::robot ? "robot" : "scene"));
    }
    const bool included = command.instead_of_scene != nullptr && given.count(command.instead_of_scene) > 0;
    if (takes_files) {
        if (given.count("scene") == 0)
            throw UsageError(std::string(command.name) + " takes one or more files");
        files_.insert(files_.begin(), given["scene"].as<std::string>());
    }
    if (given.count("scene") == 0 && !included)
        throw UsageError(std::string(command.name) +
                         (command.operand == Operand::robot
                              ? " takes a robot: a URDF, MJCF or SDFormat file"
                              : " takes a scene: a file, or the name of an included scene"));
    if (included && given.count("scene") + given.count("steps") > 0)
        throw UsageError("--from includes scene and steps: leave out SCENE and --steps");
    if (given.count("scene") > 0) scene_ = given["scene"].as<std::string>();
    for (const auto& argument : given.arguments())
        if (const std::string& key = argument.key(); key != "scene" && key != "json" && key != "quiet" &&
                                                     key != "strict" && key != "self-collision" &&
                                                     key != "help")
            values_.emplace_back(key, argument.value());
}

ImportOptions Arguments::import_options() const {
    ImportOptions options;
    options.strict = strict_;
    options.self_collision = self_collision_;
    if (const auto base = text("base")) {
        if (base != "fixed" && base != "floating")
            throw UsageError("--base takes fixed or floating, not '" + *base + "'");
        options.base = base == "fixed" ? Base::fixed : Base::floating;
    }
    if (const auto law = text("law")) {
        options.law = contact_law(*law);
        if (!options.law) throw UsageError("--law takes rigid or mujoco, not '" + *law + "'");
    }
    if (text("hull-vertices")) options.hull_vertices = static_cast<int>(integer("hull-vertices", 4, 4));
    if (text("decompose")) options.decompose = static_cast<int>(integer("decompose", 1, 1));
    for (std::string rest = text("search").value_or(""); !rest.empty();) {
        const size_t end = std::min(rest.find(':'), rest.size());
        const std::string folder = rest.substr(0, end);
        if (!std::filesystem::is_directory(folder))
            throw UsageError("--search: there is no folder '" + folder + "'");
        options.search.emplace_back(folder);
        rest.erase(0, end + 1);
    }
    return options;
}

void check_extension(const char* option, const std::string& file, const std::string& extension,
                     const char* format) {
    const std::filesystem::path path(file);
    if (path.extension() == extension) return;
    throw UsageError(std::string("--") + option + " writes " + format + ", not what '" + file +
                     "' ends in; name it '" + path.stem().string() + extension + "'");
}

void print_warnings(const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings)
        tell(Message::warning, one_line(warning));
}

Scene Arguments::load(bool quiet) const {
    Scene scene = load_scene(
        scene_, text("steps") ? std::optional<int>(integer("steps", 1, 1)) : std::nullopt, import_options());
    if (!quiet) print_warnings(scene.warnings);
    if (const auto given = text("memory")) {
        const std::optional<std::int64_t> bytes = parse_memory(*given);
        if (!bytes)
            throw UsageError("--memory takes auto, a number of bytes, or for example 64M, not '" + *given +
                             "'");
        if (*bytes > 0 && *bytes < bytes_per_checkpoint(scene.world))
            throw UsageError("--memory " + *given + " is too small for a state of " + scene.name +
                             ": give at least " + std::to_string(bytes_per_checkpoint(scene.world)));
        scene.memory_bytes = *bytes;
    }
    return scene;
}

std::vector<std::string> Arguments::texts(const char* option) const {
    std::vector<std::string> all;
    for (const auto& [name, value] : values_)
        if (name == option) all.push_back(value);
    return all;
}

std::optional<std::string> Arguments::text(const char* option) const {
    const std::vector<std::string> all = texts(option);
    return all.empty() ? std::nullopt : std::optional<std::string>(all.back());
}

int Arguments::integer(const char* option, int otherwise, int lower, int upper) const {
    const std::optional<std::string> given = text(option);
    if (!given) return otherwise;
    const std::optional<int> value = parsed<int>(*given);
    if (!value || *value < lower || *value > upper)
        throw UsageError(std::string("--") + option + " takes a whole number from " + std::to_string(lower) +
                         " to " + std::to_string(upper) + ", not '" + *given + "'");
    return *value;
}

std::optional<double> Arguments::number(const char* option) const {
    const std::optional<std::string> given = text(option);
    if (!given) return std::nullopt;
    const std::optional<double> value = parsed<double>(*given);
    if (!value || !std::isfinite(*value))
        throw UsageError(std::string("--") + option + " takes a number, not '" + *given + "'");
    return value;
}

std::optional<double> Arguments::nonnegative(const char* option) const {
    const std::optional<std::string> given = text(option);
    if (!given) return std::nullopt;
    const std::optional<double> value = parsed<double>(*given);
    if (!value || !std::isfinite(*value) || *value < 0)
        throw UsageError(std::string("--") + option + " takes a number that is not negative, not '" + *given +
                         "'");
    return value;
}

std::optional<double> Arguments::positive(const char* option) const {
    const std::optional<double> value = number(option);
    if (value && !(*value > 0))
        throw UsageError(std::string("--") + option + " takes a number above 0, not '" + *text(option) + "'");
    return value;
}

}  // namespace costate
