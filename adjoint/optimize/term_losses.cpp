#include "adjoint/optimize/term_losses.hpp"

#include <map>

namespace costate {

std::vector<std::pair<std::string, double>> term_losses(Rollout<Simulation>& rollout,
                                                        const RolloutInputs& inputs) {
    const Simulation& simulation = rollout.step();
    const Objective& objective = simulation.objective();
    std::vector<std::pair<std::string, double>> losses;
    std::map<std::string, int> uses;
    for (const Term& term : objective) {
        const int n = ++uses[term.name];
        losses.emplace_back(n == 1 ? term.name : term.name + " " + std::to_string(n), 0);
    }
    rollout.forward(inputs.theta, inputs.x0, inputs.z, [&](int t, const double* x, const double* u) {
        const Simulation& at = rollout.step();
        for (size_t i = 0; i < objective.size(); ++i)
            losses[i].second += term_share(at.world(), objective[i], u != nullptr, t, inputs.theta.data(), x,
                                           u, at.scratch());
    });
    if (rollout.divergence()) throw DivergenceError(simulation.world().model, rollout.divergence());
    return losses;
}

}  // namespace costate
