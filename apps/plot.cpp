#include "apps/plot.hpp"

#include <algorithm>
#include <cmath>

namespace costate {

namespace {

// Layout in pixels
constexpr double width = 720, height = 440, left = 92, right = 696, top = 56, bottom = 380;

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
}

struct Tick {
    double value;
    std::string label;
};

struct Axis {
    double lower, upper;  // in plotted units: the value, or its decadic logarithm
    bool log;
    std::vector<Tick> ticks;
    double place(double value, double from, double to) const {
        return from + (to - from) * ((log ? std::log10(value) : value) - lower) / (upper - lower);
    }
};

// The smallest of 1, 2, 5 times a power of ten that is not below x.
double round_up(double x) {
    const double power = std::pow(10, std::floor(std::log10(x)));
    for (const double m : {1.0, 2.0, 5.0})
        if (m * power >= x * (1 - 1e-9)) return m * power;
    return 10 * power;
}

Axis linear_axis(double lower, double upper, int most_ticks, double finest) {
    if (!(upper > lower)) lower -= 0.5 * std::max(std::abs(lower), 1e-3), upper += 0.5 * std::max(std::abs(upper), 1e-3);
    const double step = std::max(round_up((upper - lower) / most_ticks), finest);
    Axis axis{step * std::floor(lower / step + 1e-9), step * std::ceil(upper / step - 1e-9), false, {}};
    const auto count = static_cast<int>(std::lround((axis.upper - axis.lower) / step));
    for (int k = 0; k <= count; ++k) {
        const double value = axis.lower + k * step;
        axis.ticks.push_back({value, print("%.6g", std::abs(value) < 1e-9 * step ? 0.0 : value)});
    }
    return axis;
}

std::string power_of_ten(int exponent, bool plain) {
    if (plain || exponent == 0) return print("%.4g", std::pow(10, exponent));
    return "10<tspan dy=\"-5\" font-size=\"10\">" + std::string(exponent < 0 ? "\u2212" : "") +
           std::to_string(std::abs(exponent)) + "</tspan>";
}

// Ticks at the decades; between them at 2 and 5 too while there are few.
Axis log_axis(double lower, double upper) {
    Axis axis{std::log10(lower), std::log10(upper), true, {}};
    const double margin = 0.04 * (axis.upper - axis.lower);
    axis.lower -= margin, axis.upper += margin;
    const int first = static_cast<int>(std::floor(axis.lower)), last = static_cast<int>(std::ceil(axis.upper));
    const int stride = (last - first) / 8 + 1;
    const bool plain = first >= -3 && last <= 4;
    for (int e = first; e <= last; ++e)
        for (const int m : {1, 2, 5}) {
            const double value = m * std::pow(10, e), place = std::log10(value);
            if (place < axis.lower || place > axis.upper || (m > 1 && last - first > 3) || (m == 1 && e % stride != 0)) continue;
            axis.ticks.push_back({value, m == 1 ? power_of_ten(e, plain) : print("%.6g", value)});
        }
    return axis;
}

}  // namespace

std::string svg_begin(double w, double h, const std::string& title) {
    return print("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" ", w, h, w, h) +
           "font-family=\"'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif\" font-size=\"14\" fill=\"#222\">\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
           "<text x=\"44\" y=\"30\" font-size=\"16\" font-weight=\"bold\">" + escaped(title) + "</text>\n";
}

std::string loss_curve_svg(const std::string& title, const std::vector<double>& losses, const std::string& unit) {
    const auto [least, most] = std::minmax_element(losses.begin(), losses.end());
    const bool log = *least > 0 && *most > 10 * *least;
    const Axis y = log ? log_axis(*least, *most) : linear_axis(std::min(0.0, *least), *most, 6, 0);
    const double last = std::max<double>(1, static_cast<double>(losses.size()) - 1);
    Axis x = linear_axis(0, last, 10, 1);
    x.upper = last;

    std::string svg = svg_begin(width, height, title);
    for (const Tick& tick : y.ticks) {
        const double at = y.place(tick.value, bottom, top);
        svg += print("<path d=\"M%g %.2fH%g\" stroke=\"#ddd\"/>\n", left, at, right);
        svg += print("<text x=\"%g\" y=\"%.2f\" text-anchor=\"end\">", left - 8, at + 5) + tick.label + "</text>\n";
    }
    for (const Tick& tick : x.ticks) {
        if (tick.value > x.upper) continue;
        const double at = x.place(tick.value, left, right);
        svg += print("<path d=\"M%.2f %gv5\" stroke=\"#222\"/>\n", at, bottom);
        svg += print("<text x=\"%.2f\" y=\"%g\" text-anchor=\"middle\">", at, bottom + 22) + tick.label + "</text>\n";
    }
    svg += print("<path d=\"M%g %gV%gH%g\" fill=\"none\" stroke=\"#222\"/>\n", left, top, bottom, right);
    svg += print("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">iteration</text>\n", 0.5 * (left + right), bottom + 46);
    svg += print("<text transform=\"translate(24 %g) rotate(-90)\" text-anchor=\"middle\">", 0.5 * (top + bottom)) + "best loss" +
           (unit.empty() ? "" : ", " + escaped(unit)) + "</text>\n";

    std::string points, dots;
    for (size_t i = 0; i < losses.size(); ++i) {
        const double px = x.place(static_cast<double>(i), left, right), py = y.place(losses[i], bottom, top);
        points += print("%.2f,%.2f ", px, py);
        if (losses.size() <= 60) dots += print("<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\"/>", px, py);
    }
    svg +=
        "<polyline fill=\"none\" stroke=\"#0072b2\" stroke-width=\"2\" stroke-linejoin=\"round\" points=\"" + points + "\"/>\n";
    if (!dots.empty()) svg += "<g fill=\"#0072b2\">" + dots + "</g>\n";
    return svg + "</svg>\n";
}

}  // namespace costate
