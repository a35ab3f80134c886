// A step on dual numbers, with the values, contacts and active sets of the step on doubles. Friction may have several
// solutions, and round-off chooses among them: the derivative is that of the one that the step on doubles has.
#pragma once

#include "core/math/dual.hpp"
#include "solvers/step/step.hpp"

namespace costate {

class TangentStep {
public:
    using D = Dual<double>;
    StepScratch<D> scratch;  // for `step_adj` too

    explicit TangentStep(const World& w) : scratch(w), world_(w), step_(w) {}

    // As `step`.
    void operator()(const D* theta, const D* x, const D* u, D* x_next, const D* wrenches = nullptr) {
        const auto values = [](const D* from, size_t n, std::vector<double>& to) {
            to.resize(n);
            for (size_t i = 0; i < n; ++i)
                to[i] = from[i].v;
            return to.data();
        };
        next_.resize(world_.nx());
        step(world_,
             {values(theta, world_.np(), theta_), values(x, world_.nx(), x_), values(u, world_.nu(), u_),
              wrenches ? values(wrenches, 6 * world_.model.bodies.size(), wrenches_) : nullptr},
             step_, next_.data());
        scratch.found = &step_;
        scratch.impulses.found = &step_.impulses;
        step(world_, {theta, x, u, wrenches}, scratch, x_next);
        for (int i = 0; i < world_.nx(); ++i)
            x_next[i].v = next_[i];
    }

private:
    const World& world_;
    StepScratch<double> step_;
    std::vector<double> theta_, x_, u_, wrenches_, next_;
};

}  // namespace costate
