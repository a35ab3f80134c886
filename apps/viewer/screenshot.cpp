#include "apps/viewer/screenshot.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "apps/io/usage_error.hpp"
#include "scenes/format/files.hpp"

extern char** environ;

namespace fs = std::filesystem;

namespace costate {

namespace {

constexpr int max_seconds = 60;

// The browser: $COSTATE_CHROMIUM, or the first one in the PATH; empty if there is none.
std::string find_browser() {
    if (const char* named = std::getenv("COSTATE_CHROMIUM")) return access(named, X_OK) == 0 ? named : "";
    std::istringstream folders(std::getenv("PATH") ? std::getenv("PATH") : "");
    std::vector<std::string> path;
    for (std::string folder; std::getline(folders, folder, ':');)
        path.push_back(folder);
    for (const char* name : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"})
        for (const std::string& folder : path)
            if (const std::string program = folder + "/" + name; access(program.c_str(), X_OK) == 0)
                return program;
    return "";
}

// A temporary folder, removed by the destructor.
struct Folder {
    fs::path path;
    Folder() {
        std::string name = (fs::temp_directory_path() / "costate-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw UsageError("cannot create a folder in " + fs::temp_directory_path().string());
        path = name;
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

// Runs a program without output for at most `max_seconds`; true if it succeeds.
bool run(const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    for (const std::string& a : arguments)
        argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_RDWR, 0);
    pid_t child = 0;
    const int failed = posix_spawn(&child, argv[0], &quiet, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&quiet);
    if (failed != 0) return false;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(max_seconds);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > deadline) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

void set_size(const std::string& text, ScreenshotSettings& settings) {
    int used = 0;
    const bool good = std::sscanf(text.c_str(), "%5dx%5d%n", &settings.width, &settings.height, &used) == 2 &&
                      used == static_cast<int>(text.size());
    if (!good || std::min(settings.width, settings.height) < 16 ||
        std::max(settings.width, settings.height) > 8192)
        throw UsageError("--size takes two numbers of pixels from 16 to 8192, for example 1280x800, not '" +
                         text + "'");
}

bool can_screenshot() { return !find_browser().empty(); }

std::string screenshot(const std::string& page, const ScreenshotSettings& settings, int density) {
    const std::string browser = find_browser();
    if (browser.empty())
        throw UsageError(
            "images need Chromium, which is not in the PATH: install it, or set COSTATE_CHROMIUM to its "
            "path");
    const Folder folder;
    std::ofstream html(folder.path / "page.html", std::ios::binary);
    html << page;
    html.close();
    if (!html)
        throw UsageError("cannot write '" + (folder.path / "page.html").string() +
                         "', from which images are made");
    std::string url = "file://" + (folder.path / "page.html").string() + "#ui=0";
    if (settings.time) url += "&t=" + std::to_string(*settings.time);
    if (settings.sheet_images > 0) url += "&sheet=" + std::to_string(settings.sheet_images);
    const fs::path png = folder.path / "page.png";
    std::vector<std::string> arguments{
        browser,
        "--headless",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-extensions",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--virtual-time-budget=20000",
        "--user-data-dir=" + (folder.path / "profile").string(),
        "--screenshot=" + png.string(),
        "--force-device-scale-factor=" + std::to_string(density),
        "--window-size=" + std::to_string(settings.width) + "," + std::to_string(settings.height)};
    // Chromium refuses to run as root with its sandbox
    if (geteuid() == 0) arguments.push_back("--no-sandbox");
    arguments.push_back(url);
    std::error_code none;
    const std::string image = run(arguments) && fs::exists(png, none) ? read_file(png) : "";
    if (image.empty())
        throw UsageError(browser + " did not write an image: check whether it starts with --headless");
    return image;
}

}  // namespace costate
