// Results of an optimization: a page, and plots for papers.
#pragma once

#include <filesystem>
#include <optional>

#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/figures/plot.hpp"
#include "scenes/scene.hpp"

namespace costate {

// An earlier run of a scene's optimization, drawn for comparison.
struct Comparison {
    std::string label;
    std::vector<double> losses, seconds;
};

// Reads it from its result.json. Throws UsageError.
Comparison read_comparison(const std::filesystem::path& file);

// The loss along the straight line through the start (0) and the best point (1), from -0.5 to 2, within the
// bounds.
Plot landscape(Rollout<Simulation>& rollout, const Scene& scene, const Variables& variables,
               const VecX<double>& best, int points, const std::string& loss_unit);

struct Optimization {
    const Scene& scene;
    const RolloutInputs &start, &best;
    const OptimizeResult& result;
    std::string method, command;  // command: the command line that ran it
    std::string loss_unit;
    std::vector<Comparison> others;
    std::optional<Plot> landscape;
};

struct NamedPlot {
    std::string name;  // of the plot's files
    Plot plot;
};

// Loss by iteration and by time, gradient, landscape if given.
std::vector<NamedPlot> optimization_plots(const Optimization& o);
// Each optimized control over time.
std::vector<Plot> control_plots(const Optimization& o);
// The loss of each term summed up over time, before and after.
std::vector<Plot> term_plots(const Optimization& o, Rollout<Simulation>& rollout);

// True if the program was built with the viewer, which optimization_report needs.
bool have_viewer();

// The page with the scene before and after in 3-D.
std::string optimization_report(const Optimization& o, Rollout<Simulation>& rollout);

}  // namespace costate
