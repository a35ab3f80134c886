#include "adjoint/optimize/term_losses.hpp"

#include <map>

namespace costate {

TermShares::TermShares(const Simulation& simulation, const double* theta, int every)
    : simulation_(simulation),
      theta_(theta),
      every_(every) {
    std::map<std::string, int> uses;
    for (const Term& term : simulation.objective()) {
        const int n = ++uses[term.name];
        courses_.push_back({n == 1 ? term.name : term.name + " " + std::to_string(n), 0, {}});
    }
}

void TermShares::note(int t) {
    noted_.push_back(t);
    for (TermCourse& course : courses_)
        course.sums.push_back(course.loss);
}

void TermShares::operator()(int t, const double* x, const double* u) {
    if (every_ > 0 && u != nullptr && t % every_ == 0) note(t);
    const Objective& objective = simulation_.objective();
    for (size_t i = 0; i < objective.size(); ++i)
        courses_[i].loss += term_share(simulation_.world(), objective[i], u != nullptr, t, {theta_, x, u},
                                       simulation_.scratch());
    if (every_ > 0 && u == nullptr) note(t);
}

TermShares term_shares(Rollout<Simulation>& rollout, const RolloutInputs& inputs, int every) {
    TermShares shares(rollout.step(), inputs.theta.data(), every);
    rollout.forward(inputs.theta, inputs.x0, inputs.z,
                    [&](int t, const double* x, const double* u) { shares(t, x, u); });
    if (rollout.divergence()) throw DivergenceError(rollout.step().world().model, rollout.divergence());
    return shares;
}

std::vector<std::pair<std::string, double>> term_losses(Rollout<Simulation>& rollout,
                                                        const RolloutInputs& inputs) {
    const TermShares shares = term_shares(rollout, inputs);
    std::vector<std::pair<std::string, double>> losses;
    for (const TermCourse& term : shares.courses())
        losses.emplace_back(term.name, term.loss);
    return losses;
}

}  // namespace costate
