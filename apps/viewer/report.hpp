// What an optimization did, as one page and as plots for papers.
#pragma once

#include <filesystem>
#include <optional>

#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/figures/plot.hpp"
#include "scenes/scene.hpp"

namespace costate {

// An earlier run of a scene's optimization, to be drawn beside.
struct Comparison {
    std::string label;
    std::vector<double> losses, seconds;
};

// From its result.json. Throws UsageError.
Comparison read_comparison(const std::filesystem::path& file);

// The loss along the straight line from the start to the best: half its length before it, and its length
// beyond, within the bounds.
Plot landscape(Rollout<Simulation>& rollout, const Scene& scene, const Variables& variables,
               const VecX<double>& best, int points, const std::string& loss_unit);

struct Optimization {
    const Scene& scene;
    const RolloutInputs &start, &best;
    const OptimizeResult& result;
    std::string method, command;  // how to run it again
    std::string loss_unit;
    std::vector<Comparison> others;
    std::optional<Plot> landscape;
};

struct NamedPlot {
    std::string name;  // of its files
    Plot plot;
};

// Loss by iteration and by time, gradient, the landscape if there is one, and each optimized control over
// time.
std::vector<NamedPlot> optimization_plots(const Optimization& o);

// Whether the program was built with what optimization_report needs.
bool have_viewer();

// The page with the scene before and after in 3-D.
std::string optimization_report(const Optimization& o, Rollout<Simulation>& rollout);

}  // namespace costate
