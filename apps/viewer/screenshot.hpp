// Images of pages, rendered by an installed Chromium. Chromium is optional.
#pragma once

#include <optional>
#include <string>

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

}  // namespace costate
