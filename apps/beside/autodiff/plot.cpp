// costate-compare-plot < PLOT.json > PLOT.svg: curves over axes, as the program draws them.
// {"title", "x_label", "y_label", "log_x", "curves": [{"label", "x": [...], "y": [...]}]}
#include "apps/figures/plot.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

int main() try {
    using namespace costate;
    const nlohmann::json in = nlohmann::json::parse(std::cin);
    Plot plot;
    plot.title = in.at("title");
    plot.x_label = in.at("x_label");
    plot.y_label = in.at("y_label");
    plot.log_x = in.at("log_x");
    plot.width = 780;
    for (const nlohmann::json& c : in.at("curves"))
        plot.curves.push_back({c.at("label"), c.at("x"), c.at("y"), curve_colour(plot.curves.size())});
    std::cout << plot_svg(plot);
    return 0;
} catch (const std::exception& e) {
    std::cerr << "costate-compare-plot: " << e.what() << '\n';
    return 2;
}
