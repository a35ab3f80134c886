// Pushes: external wrenches on bodies as functions of time, linear between knots and zero outside of them.
// Force and torque at the knots are parameters.
#pragma once

#include <string>
#include <vector>

#include "core/model/parameters.hpp"

namespace costate {

// A push to be added to a world.
struct PushSpec {
    std::string name;
    int body = 0;
    std::vector<double> times;         // of the knots, s, increasing, two or more
    std::vector<Vec3<double>> force;   // at the centre of mass, N, world axes, one a knot
    std::vector<Vec3<double>> torque;  // N m, world axes, one a knot
};

struct Push {
    std::string name;
    int body = 0;
    std::vector<double> times;
    ParameterSlice force, torque;  // three numbers a knot
};

}  // namespace costate
