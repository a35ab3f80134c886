// SVG drawings that stand by themselves: what they share, and curves over axes, with the numbers they show as
// CSV.
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

struct Curve {
    std::string label;
    std::vector<double> x, y;  // as many of each
    const char* colour = "#0072b2";
};

struct Plot {
    std::string title, x_label, y_label;  // labels with units
    std::vector<Curve> curves;
    bool whole_x = false;  // x counts something
    bool log_x = false;    // its axis is logarithmic; an x of 0 stands left of the smallest positive one
    bool linear_y = false;
    double width = 720, height = 440;
};

// The y axis is logarithmic if all of y are positive and span more than a decade, unless that is ruled out;
// numbers that are not finite leave gaps.
std::string plot_svg(const Plot& plot);

// Columns x, y and the label of the curve, which is left out if there is one curve.
std::string plot_csv(const Plot& plot);

// Colours of curves side by side that no common colour blindness confuses (Okabe & Ito 2008), in turn.
const char* curve_colour(size_t index);

// One point an iteration, from 0. The loss axis is logarithmic if the losses are positive and span more than
// a decade.
Plot loss_curve(const std::string& title, const std::vector<double>& losses, const std::string& unit);

}  // namespace costate
