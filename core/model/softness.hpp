// Softness of a constraint by the laws of MuJoCo: its parameters solref and solimp (MuJoCo documentation,
// "Solver parameters"). solvers/rows/soft_rows.hpp has the law.
#pragma once

#include <array>

#include "core/model/parameters.hpp"

namespace costate {

struct Softness {
    // time constant, s, and damping ratio; or, if both are negative, -stiffness and -damping of an
    // acceleration per error and per velocity, 1/s^2 and 1/s
    std::array<double, 2> solref{0.02, 1};
    // impedance at an error of 0 and at the width; the width, m or rad; midpoint and power of the curve
    // between, relative to the width
    std::array<double, 5> solimp{0.9, 0.95, 0.001, 0.5, 2};
};

// The parameters of a list of elements: 2 and 5 numbers for each.
struct SoftnessSlices {
    ParameterSlice solref, solimp;
};

inline SoftnessSlices add_softness(ParameterLayout& layout, const char* group,
                                   const std::vector<std::string>& names, const std::string& prefix,
                                   const std::vector<Softness>& values) {
    std::vector<double> solref, solimp;
    for (const Softness& s : values) {
        solref.insert(solref.end(), s.solref.begin(), s.solref.end());
        solimp.insert(solimp.end(), s.solimp.begin(), s.solimp.end());
    }
    return {layout.add(group, names, prefix + "solref", 2, ParameterRange::any, solref),
            layout.add(group, names, prefix + "solimp", 5, ParameterRange::nonnegative, solimp)};
}

}  // namespace costate
