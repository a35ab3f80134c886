// Replaces screenshot.cpp on Windows, where it starts no browser.
#include "apps/io/usage_error.hpp"
#include "apps/viewer/screenshot.hpp"

namespace costate {

namespace {

[[noreturn]] void refuse() {
    throw UsageError("costate for Windows writes no images: open its pages in a browser");
}

}  // namespace

void set_size(const std::string&, ScreenshotSettings&) { refuse(); }
bool can_screenshot() { return false; }
std::string screenshot(const std::string&, const ScreenshotSettings&, int) { refuse(); }
std::vector<std::string> rasterize(const std::vector<std::string>&, int, const std::function<void()>&) {
    refuse();
}
bool open_in_browser(const std::string&) { return false; }

}  // namespace costate
