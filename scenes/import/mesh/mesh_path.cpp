#include "scenes/import/mesh/mesh_path.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace fs = std::filesystem;

namespace costate {
namespace {

fs::path real(const fs::path& path) {
    std::error_code error;
    const fs::path out = fs::weakly_canonical(path, error);
    return error ? fs::absolute(path, error).lexically_normal() : out;
}

bool within(const fs::path& file, const fs::path& folder) {
    const fs::path inside = file.lexically_relative(folder);
    return !inside.empty() && *inside.begin() != "..";
}

std::vector<fs::path> upwards(fs::path folder) {
    std::vector<fs::path> out{folder};
    for (; folder.has_relative_path(); out.push_back(folder))
        folder = folder.parent_path();
    return out;
}

// Whether a file is called as models, their parts and their assets are.
bool is_of_models(const fs::path& file) {
    constexpr std::string_view suffixes[] = {".xml", ".urdf", ".sdf", ".world", ".config", ".json", ".stl",
                                             ".obj", ".dae",  ".ply", ".msh",   ".glb",    ".png"};
    std::string suffix = file.extension().string();
    std::ranges::transform(suffix, suffix.begin(), [](unsigned char c) { return std::tolower(c); });
    return std::ranges::find(suffixes, suffix) != std::end(suffixes);
}

// The ROS package, Python package or repository of the robot, or its folder if it is in none.
fs::path own_package(const fs::path& robot) {
    std::error_code error;
    const auto is_python = [&](const fs::path& folder) {
        return fs::is_regular_file(folder / "__init__.py", error);
    };
    for (fs::path folder : upwards(robot)) {
        if (fs::is_regular_file(folder / "package.xml", error) || fs::exists(folder / ".git", error))
            return folder;
        if (!is_python(folder)) continue;
        while (is_python(folder.parent_path()))
            folder = folder.parent_path();
        return folder;
    }
    return robot.filename() == "urdf" ? robot.parent_path() : robot;
}

std::vector<fs::path> ros_packages() {
    std::vector<fs::path> out;
    const char* list = std::getenv("ROS_PACKAGE_PATH");
    for (std::string rest = list == nullptr ? "" : list; !rest.empty();) {
        const size_t end = std::min(rest.find(':'), rest.size());
        if (end > 0) out.push_back(real(rest.substr(0, end)));
        rest.erase(0, end + 1);
    }
    return out;
}

// Candidate folders of the package `name`.
std::vector<fs::path> packages(const std::string& name, const fs::path& robot,
                               const std::vector<fs::path>& search) {
    std::vector<fs::path> out;
    for (const fs::path& folder : upwards(robot)) {
        if (folder.filename() == name) out.push_back(folder);
        out.push_back(folder / name);
    }
    for (const fs::path& folder : search) {
        if (folder.filename() == name) out.push_back(folder);
        out.push_back(folder / name);
    }
    return out;
}

}  // namespace

MeshPath find_mesh(const std::string& name, const fs::path& robot_folder, const ImportOptions& options) {
    const fs::path robot = real(robot_folder.empty() ? "." : robot_folder);
    std::vector<fs::path> roots{robot, own_package(robot)}, candidates, sought;
    for (const fs::path& folder : options.search)
        sought.push_back(real(folder));
    for (const fs::path& folder : ros_packages())
        sought.push_back(folder);
    roots.insert(roots.end(), sought.begin(), sought.end());

    const size_t scheme_end = name.find("://");
    const std::string scheme = scheme_end == std::string::npos ? "" : name.substr(0, scheme_end);
    std::string rest = scheme.empty() ? name : name.substr(scheme_end + 3);
    std::ranges::replace(rest, '\\', '/');
    const bool is_relative = scheme.empty() && fs::path(rest).is_relative();
    if (scheme == "package" || scheme == "model") {
        const size_t slash = rest.find('/');
        const std::string package = rest.substr(0, slash);
        if (slash == std::string::npos || package.empty() || package == "." || package == "..") return {};
        for (const fs::path& folder : packages(package, robot, sought)) {
            candidates.push_back(folder / fs::path(rest.substr(slash + 1)).relative_path());
            roots.push_back(real(folder));
        }
        // the robot's own package may lie in a folder of another name, such as a renamed clone
        if (const fs::path own = own_package(robot); own != robot)
            candidates.push_back(own / fs::path(rest.substr(slash + 1)).relative_path());
    } else if (scheme.empty() || scheme == "file") {
        candidates.push_back(robot / rest);
        if (is_relative)
            for (const fs::path& folder : sought)
                candidates.push_back(folder / rest);
    } else {
        return {{}, true, false};
    }

    bool leads_out = false;
    std::error_code error;
    for (const fs::path& candidate : candidates) {
        const fs::path file = real(candidate);
        const bool allowed =
            (options.from_file && is_relative && is_of_models(file)) ||
            std::ranges::any_of(roots, [&](const fs::path& root) { return within(file, root); });
        const bool is_there = fs::is_regular_file(file, error);
        if (allowed && is_there) return {file, true, true};
        // a text in memory cannot find out which files exist elsewhere
        leads_out = leads_out || (!allowed && (is_there || (is_relative && !options.from_file)));
    }
    return {{}, !leads_out, true};
}

}  // namespace costate
