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

// Runs a program for at most `max_seconds`, with its output to a file; true if it succeeds.
bool run(const std::vector<std::string>& arguments, const fs::path& output = "/dev/null",
         const std::function<void()>& waiting = {}) {
    std::vector<char*> argv;
    for (const std::string& a : arguments)
        argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (const int stream : {STDIN_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT, 0600);
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
        if (waiting) waiting();
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

namespace {

// A page in a temporary folder, and the browser that shows it.
class BrowserPage {
public:
    explicit BrowserPage(const std::string& page) : browser_(find_browser()) {
        if (browser_.empty())
            throw UsageError(
                "images need Chromium, which is not in the PATH: install it, or set COSTATE_CHROMIUM to its "
                "path");
        const fs::path file = folder_.path / "page.html";
        std::ofstream html(file, std::ios::binary);
        html << page;
        html.close();
        if (!html) throw UsageError("cannot write '" + file.string() + "', from which images are made");
    }
    // Starts the browser and returns a file of the folder that it writes, or its output if `file` is
    // "output".
    std::string open(const std::string& fragment, std::vector<std::string> more, const std::string& file,
                     const std::function<void()>& waiting = {}) const {
        std::vector<std::string> arguments{browser_,
                                           "--headless",
                                           "--hide-scrollbars",
                                           "--no-first-run",
                                           "--disable-extensions",
                                           "--use-angle=swiftshader",
                                           "--enable-unsafe-swiftshader",
                                           "--virtual-time-budget=20000",
                                           "--user-data-dir=" + (folder_.path / "profile").string()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        // Chromium refuses to run as root with its sandbox
        if (geteuid() == 0) arguments.push_back("--no-sandbox");
        arguments.push_back("file://" + (folder_.path / "page.html").string() + fragment);
        std::error_code none;
        const bool done = run(arguments, folder_.path / "output", waiting);
        const std::string written =
            done && fs::exists(folder_.path / file, none) ? read_file(folder_.path / file) : "";
        if (written.empty())
            throw UsageError(browser_ + " did not write an image: check whether it starts with --headless");
        return written;
    }
    fs::path path(const std::string& name) const { return folder_.path / name; }

private:
    Folder folder_;
    std::string browser_;
};

std::string from_base64(std::string_view text) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned bits = 0;
    int count = 0;
    for (const char c : text) {
        const size_t digit = digits.find(c);
        if (digit == std::string_view::npos) break;
        bits = bits << 6 | static_cast<unsigned>(digit);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xff);
    }
    return bytes;
}

// Replaces the drawings of the page by their PNG images in base 64, each between "png:" and ";".
constexpr const char* rasterizer = R"(<script>
(async () => {
  const drawings = [...document.body.querySelectorAll(":scope > svg")];
  const images = [];
  for (const svg of drawings) {
    const image = new Image();
    const loaded = new Promise((done) => (image.onload = done));
    const text = new XMLSerializer().serializeToString(svg);
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    await loaded;
    const canvas = document.createElement("canvas");
    canvas.width = density * svg.width.baseVal.value;
    canvas.height = density * svg.height.baseVal.value;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    images.push(canvas.toDataURL("image/png").replace(/.*,/, "png:") + ";");
  }
  document.body.textContent = images.join("");
})();
</script>)";

}  // namespace

std::string screenshot(const std::string& page, const ScreenshotSettings& settings, int density) {
    const BrowserPage browser(page);
    std::string fragment = "#ui=0";
    if (settings.time) fragment += "&t=" + std::to_string(*settings.time);
    if (settings.sheet_images > 0) fragment += "&sheet=" + std::to_string(settings.sheet_images);
    return browser.open(
        fragment,
        {"--screenshot=" + browser.path("page.png").string(),
         "--force-device-scale-factor=" + std::to_string(density),
         "--window-size=" + std::to_string(settings.width) + "," + std::to_string(settings.height)},
        "page.png");
}

std::vector<std::string> rasterize(const std::vector<std::string>& drawings, int density,
                                   const std::function<void()>& waiting) {
    std::string page = "<!doctype html><meta charset=\"utf-8\"><body>";
    for (const std::string& svg : drawings)
        page += svg;
    page += "<script>const density = " + std::to_string(density) + ";</script>" + rasterizer;
    const std::string text = BrowserPage(page).open("", {"--dump-dom"}, "output", waiting);
    std::vector<std::string> images;
    const std::string begin = "png:";
    for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1))
        images.push_back(from_base64(std::string_view(text).substr(at + begin.size())));
    if (images.size() != drawings.size())
        throw UsageError("Chromium drew " + std::to_string(images.size()) + " of " +
                         std::to_string(drawings.size()) +
                         " plots: close other programs, or use the SVG files");
    return images;
}

bool open_in_browser(const std::string& file) {
    std::string program = "xdg-open", path = fs::absolute(file).string();
    std::vector<char*> argv{program.data(), path.data(), nullptr};
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_RDWR, 0);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, argv[0], &quiet, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&quiet);
    return failed == 0;
}

}  // namespace costate
