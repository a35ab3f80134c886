// Self-contained SVG drawings: their opening, and plots of curves over axes, also as CSV.
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

// The opening of a drawing with its size in pixels and its title. The caller appends "</svg>\n".
std::string svg_begin(double width, double height, const std::string& title);

struct Curve {
    std::string label;
    std::vector<double> x, y;  // of equal length
    const char* colour = "#0072b2";
};

struct Plot {
    std::string title, x_label, y_label;  // labels with units
    std::vector<Curve> curves;
    bool whole_x = false;  // x is an integer
    bool log_x = false;    // logarithmic x axis; x = 0 is drawn left of the smallest positive x
    bool linear_y = false;
    double width = 720, height = 440;
};

// The y axis is logarithmic if all y are positive and span more than a decade, unless linear_y is set.
// Numbers that are not finite leave gaps.
std::string plot_svg(const Plot& plot);

// Columns x, y and, if there are several curves, the label of the curve.
std::string plot_csv(const Plot& plot);

// Plots on one sheet, in columns, with its title.
std::string sheet_svg(const std::string& title, const std::vector<Plot>& plots);
// As plot_csv, with the title of the plot in a last column.
std::string sheet_csv(const std::vector<Plot>& plots);

// The colours of what is compared: a run before and after its optimization.
inline constexpr const char *before_colour = "#8c8c8c", *after_colour = "#0072b2";

// The colours of curves in turn, distinguishable with common colour blindness (Okabe & Ito 2008).
const char* curve_colour(size_t index);

// The loss by iteration, from 0. The loss axis is logarithmic if the losses are positive and span more than a
// decade.
Plot loss_curve(const std::string& title, const std::vector<double>& losses, const std::string& unit);

}  // namespace costate
