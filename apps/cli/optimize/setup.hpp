// What `costate optimize` settles before it begins.
#pragma once

#include "apps/cli/command.hpp"
#include "apps/viewer/report.hpp"

namespace costate {

struct OptimizeSetup {
    Scene scene;  // with the changes of the command line
    std::vector<Comparison> others;
    int landscape_points;
    int restarts = 1;
};

// Reads the arguments and the scene, and checks all that may be refused. Throws UsageError and SceneError.
OptimizeSetup set_up_optimization(const Arguments& a);

}  // namespace costate
