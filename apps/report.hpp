// What an optimisation did, as one page and as plots for papers.
#pragma once

#include "adjoint/optimise.hpp"
#include "apps/plot.hpp"
#include "scenes/scene.hpp"

namespace costate {

struct Optimisation {
    const Scene& scene;
    const RolloutInputs &start, &best;
    const OptimizeResult& result;
    std::string method, command;  // how to run it again
    std::string loss_unit;
};

struct NamedPlot {
    std::string name;  // of its files
    Plot plot;
};

// Loss and gradient by iteration, and each optimised control over time.
std::vector<NamedPlot> optimisation_plots(const Optimisation& o);

// Whether the program was built with what optimisation_report needs.
bool have_viewer();

// The page with the scene before and after in 3-D.
std::string optimisation_report(const Optimisation& o, Rollout<Simulation>& rollout);

}  // namespace costate
