// A stroboscopic SVG drawing of rollouts: links, round shapes and boxes at a few times, and the paths of free
// bodies, seen from the side that shows most of the motion, or from above.
#pragma once

#include <string>
#include <vector>

#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/scene.hpp"

namespace costate {

class StrobeFigure {
public:
    explicit StrobeFigure(const Scene& scene) : scene_(scene) {}

    // Runs a rollout and stores its poses. Runs are drawn in the order in which they are added, the last one
    // in colour.
    void add(const std::string& label, Rollout<Simulation>& rollout, const RolloutInputs& inputs);
    std::string svg() const;

private:
    static constexpr int frames = 6, path_points = 200;
    struct Run {
        std::string label;
        // (path_points + 1 times, bodies) poses in the world
        std::vector<std::vector<Transform<double>>> poses;
    };
    const Scene& scene_;
    std::vector<Run> runs_;
};

}  // namespace costate
