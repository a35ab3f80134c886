#include "apps/cli/command.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cxxopts.hpp>

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

const std::vector<Option> common_options{
    {"steps", "N", "number of time steps, instead of the scene's"},
    {"base", "HOW",
     "base of a URDF or MJCF robot: fixed or floating (default: as in the file; a URDF root floats if it has "
     "mass)"},
    {"search", "DIRS", "folders of meshes and packages for URDF and MJCF files, separated by :"},
    {"self-collision", nullptr,
     "let the links of a URDF collide with each other, except a link and its parent"},
    {"strict", nullptr,
     "refuse URDF and MJCF files of which something that may change the motion is left out or guessed"},
    {"hull-vertices", "N",
     "largest number of vertices of a mesh's hull in URDF and MJCF files, 4 or more (default: all)"},
    {"law", "LAW", "law of contact: rigid or mujoco (default: as the scene says, otherwise rigid)"},
    {"json", nullptr, "print one JSON object to stdout and nothing else"},
    {"help", nullptr, "print this"}};

namespace {

bool is_for_all(const Option& o) { return std::string(o.name) == "json" || std::string(o.name) == "help"; }

}  // namespace

const std::vector<Option>& further_options(const Command& c) {
    static const std::vector<Option> for_all = [] {
        std::vector<Option> options;
        std::ranges::copy_if(common_options, std::back_inserter(options), is_for_all);
        return options;
    }();
    return c.takes_files ? for_all : common_options;
}

Arguments::Arguments(const Command& command, int argc, const char* const* argv) {
    for (int i = 0; i < argc; ++i)
        line_ += " " + shell_word(argv[i]);
    cxxopts::Options options(std::string("costate ") + command.name, std::string(command.summary) + "\n");
    std::vector<std::string> names;
    auto add = options.custom_help(operands(command) + " [OPTION...]").positional_help("").add_options();
    for (const std::vector<Option>* table : {&command.options, &further_options(command)})
        for (const Option& o : *table) {
            const std::string name = o.letter == nullptr ? o.name : std::string(o.letter) + "," + o.name;
            if (o.value == nullptr)
                add(name, o.help);
            else
                add(name, o.help, cxxopts::value<std::string>(), o.value);
            names.push_back(std::string("--") + o.name);
        }
    options.add_options("positional")(
        "scene", "a scene, the name of an included scene, or a model: JSON, URDF or MJCF",
        cxxopts::value<std::string>());
    options.parse_positional({"scene"});
    options.allow_unrecognised_options();
    help_text_ = options.help({""});

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
    strict_ = !command.takes_files && given.count("strict") > 0;
    self_collision_ = !command.takes_files && given.count("self-collision") > 0;
    if (help_) return;
    for (const std::string& unknown : given.unmatched()) {
        const std::string name = unknown.substr(0, unknown.find('='));
        if (name.starts_with("-"))
            throw UsageError("unknown option '" + name + "'" + suggestion(name, names));
        if (command.takes_files) {
            files_.push_back(unknown);
            continue;
        }
        throw UsageError("unexpected argument '" + unknown + "': " + command.name + " takes one scene");
    }
    const bool included = command.instead_of_scene != nullptr && given.count(command.instead_of_scene) > 0;
    if (command.takes_files) {
        if (given.count("scene") == 0)
            throw UsageError(std::string(command.name) + " takes one or more files");
        files_.insert(files_.begin(), given["scene"].as<std::string>());
    }
    if (given.count("scene") == 0 && !included)
        throw UsageError(std::string(command.name) +
                         " takes a scene: a file, or the name of an included scene");
    if (included && given.count("scene") + given.count("steps") > 0)
        throw UsageError("--from includes scene and steps: leave out SCENE and --steps");
    if (given.count("scene") > 0) scene_ = given["scene"].as<std::string>();
    for (const auto& argument : given.arguments())
        if (const std::string& key = argument.key();
            key != "scene" && key != "json" && key != "strict" && key != "self-collision" && key != "help")
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

void print_warnings(const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings)
        std::fprintf(stderr, "costate: warning: %s\n", one_line(warning).c_str());
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
