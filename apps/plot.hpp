// SVG drawings that stand by themselves: what they share, and the loss curve of an optimisation.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace costate {

template <class... Values> std::string print(const char* format, Values... values) {
    char text[512];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

// The opening of a drawing of that many pixels, with its title. It ends with "</svg>\n".
std::string svg_begin(double width, double height, const std::string& title);

// One point an iteration, from 0. The loss axis is logarithmic if the losses are positive and span more than a decade.
std::string loss_curve_svg(const std::string& title, const std::vector<double>& losses, const std::string& unit);

}  // namespace costate
