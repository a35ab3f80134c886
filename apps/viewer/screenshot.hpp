// Images of pages, made by a Chromium that happens to be installed: the product needs none.
#pragma once

#include <optional>
#include <string>

namespace costate {

struct PictureSettings {
    int width = 1280, height = 800;  // pixels
    std::optional<double> time;      // of the run, s
    int moments = 0;                 // of a contact sheet; 0: one picture
};

// "1280x800". Throws UsageError.
void set_size(const std::string& text, PictureSettings& settings);

// Whether a browser is found.
bool can_photograph();

// The page as PNG, at `density` pixels of the image a pixel of the page. Throws UsageError where no browser
// is found, or it makes no picture.
std::string photograph(const std::string& page, const PictureSettings& settings, int density = 1);

}  // namespace costate
