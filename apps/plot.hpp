// The loss curve of an optimisation as an SVG drawing that stands by itself.
#pragma once

#include <string>
#include <vector>

namespace costate {

// One point an iteration, from 0. The loss axis is logarithmic if the losses are positive and span more than a decade.
std::string loss_curve_svg(const std::string& title, const std::vector<double>& losses, const std::string& unit);

}  // namespace costate
