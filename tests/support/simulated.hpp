// The motion of a scene.
#pragma once

#include "scenes/scene.hpp"
#include "solvers/step/step.hpp"

namespace costate::test {

// The state after n steps without controls.
inline VecX<double> simulated(const Scene& scene, int n) {
    const World& w = scene.world;
    StepScratch<double> s(w);
    VecX<double> x = scene.x0, next = x;
    const VecX<double> u = VecX<double>::Zero(w.nu());
    for (int k = 0; k < n; ++k) {
        step(w, {scene.theta.data(), x.data(), u.data()}, s, next.data());
        x = next;
    }
    return x;
}

}  // namespace costate::test
