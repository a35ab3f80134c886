// A forward run of a scene by single steps, for tests that read states and contacts.
#pragma once

#include "scenes/scene.hpp"
#include "solvers/step/step.hpp"

namespace costate::test {

// The state (nx) after some steps. each(x, scratch) is called with the initial state of every step and its
// scratch after the step.
template <class Each> VecX<double> walk(const Scene& s, int steps, Each&& each) {
    StepScratch<double> scratch(s.world);
    VecX<double> x = s.x0, next(x.size()), u(s.world.nu());
    for (int t = 0; t < steps; ++t, x.swap(next)) {
        s.plan.evaluate(s.z0.data(), t, u.data());
        step(s.world, {s.theta.data(), x.data(), u.data()}, scratch, next.data());
        each(x, scratch);
    }
    return x;
}
inline VecX<double> walk(const Scene& s, int steps) {
    return walk(s, steps, [](const VecX<double>&, const StepScratch<double>&) {});
}

}  // namespace costate::test
