#include "apps/cli/optimize/stationary.hpp"

#include <cstdio>

#include "solvers/step/observation.hpp"

namespace costate {

namespace {

// True if a contact pushes in some step.
bool touches(Rollout<Simulation>& rollout, const RolloutInputs& in) {
    bool found = false;
    rollout.forward(in.theta, in.x0, in.z, [&](int t, const double*, const double*) {
        found |= t < rollout.steps() && any_pushes(rollout.step().scratch());
    });
    return found;
}

}  // namespace

std::string why_stationary(const Scene& s, const Variables& variables, Rollout<Simulation>& rollout,
                           const OptimizeResult& r) {
    constexpr double negligible = 1e-9;  // of the loss, what rounding may change
    const VecX<double>& y = variables.start();
    const double loss = std::abs(r.initial_loss),
                 norm = r.gradient_norms.empty() ? 1 : r.gradient_norms.front();
    // a change of the variables by their size, or by 1, would not change the loss
    const bool zero = norm * std::max(1.0, y.norm()) <= negligible * loss;
    if (r.gradient_norms.empty() || !zero || r.final_loss < r.initial_loss - negligible * loss ||
        r.initial_loss == 0 || r.initial_loss <= s.optimize.target_loss)
        return "";
    const auto held =
        ((y.array() <= variables.lower().array()) || (y.array() >= variables.upper().array())).count();
    char how[64] = "zero";
    if (norm > 0) std::snprintf(how, sizeof how, "%.2g, which is nothing but rounding,", norm);
    std::string why = std::string("no progress: the gradient is ") + how + " for all " +
                      std::to_string(variables.size()) + " variables at the start; ";
    if (held > 0)
        return why + std::to_string(held) + " of them are at their limits: start inside, with \"initial\"";
    if (s.world.shapes.any_pair && !touches(rollout, variables.inputs(y)))
        return why +
               "nothing touches during the rollout: start with bodies that touch, run more \"steps\", " +
               "add a term for the distance between them, or give \"solver\" its \"distant_contacts\" and "
               "use adam";
    return why + "if it is not the optimum, change \"initial\" of the controls a little, since a symmetric " +
           "start has such a gradient, or use --method cmaes, which needs no gradient";
}

}  // namespace costate
