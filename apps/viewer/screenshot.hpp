// Images of pages, rendered by an installed Chromium. Chromium is optional.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace costate {

struct ScreenshotSettings {
    int width = 1280, height = 800;  // pixels
    std::optional<double> time;      // of the run, s
    int sheet_images = 0;            // number of images in a contact sheet; 0: a single image
};

// Parses a size like "1280x800". Throws UsageError.
void set_size(const std::string& text, ScreenshotSettings& settings);

// True if a browser is found.
bool can_screenshot();

// The page as PNG with `density` image pixels per page pixel. Throws UsageError if there is no browser, or if
// it does not write an image.
std::string screenshot(const std::string& page, const ScreenshotSettings& settings, int density = 1);

// PNG images of SVG drawings, all by one start of the browser. `waiting` is called meanwhile. Throws
// UsageError.
std::vector<std::string> rasterize(const std::vector<std::string>& drawings, int density,
                                   const std::function<void()>& waiting);

// Starts xdg-open on a page and does not wait for it. False if it cannot be started.
bool open_in_browser(const std::string& file);

}  // namespace costate
