#include "apps/figures/plot.hpp"

#include <algorithm>
#include <cmath>

namespace costate {

namespace {

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text)
        out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
}

struct Tick {
    double value;
    std::string label;
};

struct Axis {
    double lower, upper;  // plotted range: of the value, or of its decadic logarithm
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

Axis linear_axis(double lower, double upper, int max_ticks, double finest) {
    if (!(upper > lower)) {
        lower -= 0.5 * std::max(std::abs(lower), 1e-3);
        upper += 0.5 * std::max(std::abs(upper), 1e-3);
    }
    const double step = std::max(round_up((upper - lower) / max_ticks), finest);
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

// Ticks at the decades, and also at 2 and 5 if there are few decades.
Axis log_axis(double lower, double upper) {
    Axis axis{std::log10(lower), std::log10(upper), true, {}};
    const double margin = 0.04 * (axis.upper - axis.lower);
    axis.lower -= margin;
    axis.upper += margin;
    const int first = static_cast<int>(std::floor(axis.lower)),
              last = static_cast<int>(std::ceil(axis.upper));
    const int stride = (last - first) / 8 + 1;
    const bool plain = first >= -3 && last <= 4;
    for (int e = first; e <= last; ++e)
        for (const int m : {1, 2, 5}) {
            const double value = m * std::pow(10, e), place = std::log10(value);
            if (place < axis.lower || place > axis.upper || (m > 1 && last - first > 3) ||
                (m == 1 && e % stride != 0))
                continue;
            axis.ticks.push_back({value, m == 1 ? power_of_ten(e, plain) : print("%.6g", value)});
        }
    return axis;
}

}  // namespace

std::string svg_begin(double w, double h, const std::string& title) {
    return print(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" ",
               w, h, w, h) +
           "font-family=\"'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif\" font-size=\"14\" "
           "fill=\"#222\">\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
           "<text x=\"44\" y=\"30\" font-size=\"16\" font-weight=\"bold\">" +
           escaped(title) + "</text>\n";
}

std::string plot_svg(const Plot& plot) {
    const double left = 92, right = plot.width - 24, top = 56, bottom = plot.height - 60;  // pixels
    double low = INFINITY, high = -INFINITY, first = INFINITY, last = -INFINITY, positive = INFINITY;
    for (const Curve& curve : plot.curves)
        for (size_t i = 0; i < curve.y.size(); ++i) {
            first = std::min(first, curve.x[i]);
            last = std::max(last, curve.x[i]);
            if (curve.x[i] > 0) positive = std::min(positive, curve.x[i]);
            if (std::isfinite(curve.y[i])) {
                low = std::min(low, curve.y[i]);
                high = std::max(high, curve.y[i]);
            }
        }
    if (!(high >= low)) {
        low = 0;
        high = 1;
    }
    if (!(last > first)) {
        first = std::isfinite(first) ? first : 0;
        last = first + 1;
    }
    const bool log = low > 0 && high > 10 * low && !plot.linear_y;
    const bool from_zero = low > 0 && low < 0.5 * high;
    const int ticks = static_cast<int>(std::clamp((right - left) / 60, 3.0, 10.0));
    const Axis y = log ? log_axis(low, high) : linear_axis(from_zero ? 0.0 : low, high, 6, 0);
    const bool log_x = plot.log_x && last > positive;
    const double zero = 0.6 * positive;  // position of x = 0 on a logarithmic axis
    Axis x = log_x ? log_axis(first > 0 ? positive : zero, last)
                   : linear_axis(first, last, ticks, plot.whole_x ? 1 : 0);
    if (!log_x) {
        x.lower = first;
        x.upper = last;
    } else if (!(first > 0))
        x.ticks.push_back({zero, "0"});

    std::string svg = svg_begin(plot.width, plot.height, plot.title);
    for (const Tick& tick : y.ticks) {
        const double at = y.place(tick.value, bottom, top);
        svg += print("<path d=\"M%g %.2fH%g\" stroke=\"#ddd\"/>\n", left, at, right);
        svg += print("<text x=\"%g\" y=\"%.2f\" text-anchor=\"end\">", left - 8, at + 5) + tick.label +
               "</text>\n";
    }
    for (const Tick& tick : x.ticks) {
        if (!log_x && (tick.value > x.upper * (1 + 1e-12) || tick.value < x.lower)) continue;
        const double at = x.place(tick.value, left, right);
        svg += print("<path d=\"M%.2f %gv5\" stroke=\"#222\"/>\n", at, bottom);
        svg += print("<text x=\"%.2f\" y=\"%g\" text-anchor=\"middle\">", at, bottom + 22) + tick.label +
               "</text>\n";
    }
    svg += print("<path d=\"M%g %gV%gH%g\" fill=\"none\" stroke=\"#222\"/>\n", left, top, bottom, right);
    svg += print("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">", 0.5 * (left + right), bottom + 46) +
           escaped(plot.x_label) + "</text>\n";
    svg += print("<text transform=\"translate(24 %g) rotate(-90)\" text-anchor=\"middle\">",
                 0.5 * (top + bottom)) +
           escaped(plot.y_label) + "</text>\n";
    double legend = right;
    for (size_t c = plot.curves.size(); c-- > 0;) {
        const Curve& curve = plot.curves[c];
        std::string path, dots;
        bool broken = true;
        for (size_t i = 0; i < curve.y.size(); ++i) {
            if (!std::isfinite(curve.y[i])) {
                broken = true;
                continue;
            }
            const double px = x.place(log_x ? (curve.x[i] > 0 ? curve.x[i] : zero) : curve.x[i], left, right),
                         py = y.place(curve.y[i], bottom, top);
            path += print("%c%.2f %.2f", broken ? 'M' : 'L', px, py);
            broken = false;
            if (curve.y.size() <= 60) dots += print("<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\"/>", px, py);
        }
        svg += print("<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\" d=\"",
                     curve.colour) +
               path + "\"/>\n";
        if (!dots.empty()) svg += print("<g fill=\"%s\">", curve.colour) + dots + "</g>\n";
        if (plot.curves.size() == 1) continue;
        svg += print("<text x=\"%g\" y=\"%g\" text-anchor=\"end\" font-weight=\"bold\" fill=\"%s\">", legend,
                     top - 8, curve.colour) +
               escaped(curve.label) + "</text>\n";
        legend -= 8.5 * static_cast<double>(curve.label.size()) + 16;
    }
    return svg + "</svg>\n";
}

std::string sheet_svg(const std::string& title, const std::vector<Plot>& plots) {
    constexpr double width = 380, height = 260, header = 48;  // pixels
    const int count = static_cast<int>(plots.size()),
              columns = std::clamp(static_cast<int>(std::ceil(std::sqrt(count))), 1, 4),
              rows = (count + columns - 1) / columns;
    std::string svg = svg_begin(columns * width, header + rows * height, title);
    for (int n = 0; n < count; ++n) {
        Plot plot = plots[static_cast<size_t>(n)];
        plot.width = width;
        plot.height = height;
        std::string cell = plot_svg(plot);
        const std::string tag = "<svg ";
        cell.insert(tag.size(),
                    print("x=\"%g\" y=\"%g\" ", n % columns * width, header + n / columns * height));
        svg += cell;
    }
    return svg + "</svg>\n";
}

namespace {

std::string quoted(const std::string& text) {
    std::string out(1, '"');
    for (const char c : text)
        out.append(c == '"' ? 2 : 1, c);
    return out += '"';
}

}  // namespace

std::string sheet_csv(const std::vector<Plot>& plots) {
    if (plots.empty()) return "";
    std::string csv = quoted(plots[0].x_label) + ",\"value\",\"curve\",\"plot\"\n";
    for (const Plot& plot : plots)
        for (const Curve& curve : plot.curves)
            for (size_t i = 0; i < curve.y.size(); ++i) {
                csv += print("%.17g,%.17g,", curve.x[i], curve.y[i]);
                csv += quoted(curve.label) + "," + quoted(plot.title) + "\n";
            }
    return csv;
}

std::string plot_csv(const Plot& plot) {
    const bool several = plot.curves.size() > 1;
    std::string csv = quoted(plot.x_label);
    csv += ',';
    csv += quoted(plot.y_label);
    csv += several ? ",\"curve\"\n" : "\n";
    for (const Curve& curve : plot.curves)
        for (size_t i = 0; i < curve.y.size(); ++i)
            csv += print("%.17g,%.17g%s", curve.x[i], curve.y[i], several ? "," : "") +
                   (several ? quoted(curve.label) : "") + "\n";
    return csv;
}

const char* curve_colour(size_t index) {
    constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"};
    return colours[index % std::size(colours)];
}

Plot loss_curve(const std::string& title, const std::vector<double>& losses, const std::string& unit) {
    Curve curve{"loss", {}, losses};
    for (size_t i = 0; i < losses.size(); ++i)
        curve.x.push_back(static_cast<double>(i));
    return {title, "iteration", "best loss" + (unit.empty() ? "" : ", " + unit), {curve}, true};
}

}  // namespace costate
