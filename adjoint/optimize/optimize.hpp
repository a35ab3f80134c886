// Optimization of a rollout: which numbers may move, and the methods that move them, by gradients or, for
// comparison, without.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "adjoint/optimize/optimize_settings.hpp"
#include "adjoint/optimize/parameter_map.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"

namespace costate {

// Everything a rollout is a function of.
struct RolloutInputs {
    VecX<double> theta, x0, z;
};

// The numbers that may move, as one vector y: controls of the channels to optimize, variables of parameters,
// entries of the initial state's tangent (2 nv).
class Variables {
public:
    Variables(const World& w, const ControlPlan& plan, const ParameterMap& parameters,
              const std::vector<int>& initial_state, const RolloutInputs& start);
    int size() const { return static_cast<int>(start_.size()); }
    const VecX<double>& start() const { return start_; }
    const VecX<double>& lower() const { return lower_; }
    const VecX<double>& upper() const { return upper_; }
    RolloutInputs inputs(const VecX<double>& y) const;
    VecX<double> pull_back(const VecX<double>& y, const Gradient& g) const;  // gradient by y
    // the decision variables that y begins with
    const std::vector<int>& controls() const { return controls_; }

private:
    const World& world_;
    RolloutInputs base_;
    std::vector<int> controls_;  // indices of z
    ParameterMap parameters_;
    std::vector<int> initial_state_;
    VecX<double> start_, lower_, upper_;
};

struct OptimizeResult {
    double initial_loss = 0, final_loss = 0;
    int iterations = 0, loss_evaluations = 0, gradient_evaluations = 0;
    double seconds = 0;
    std::vector<double> losses;        // the best so far, at the start and after each iteration
    std::vector<double> loss_seconds;  // when each of those was known, from the start
    // Euclidean norms of the loss's gradient by the variables, wherever it was evaluated, and how many
    // iterations were done then
    std::vector<double> gradient_norms;
    std::vector<int> gradient_iterations;
    VecX<double> y;       // of the best loss
    std::string stopped;  // why
};

// progress(the result so far) is called at the start and after every iteration. A rollout that leaves the
// finite numbers counts as a loss of infinity; if the first one does, DivergenceError is thrown.
OptimizeResult optimize(Rollout<Simulation>& rollout, const Variables& variables,
                        const OptimizeSettings& settings,
                        const std::function<void(const OptimizeResult&)>& progress = {});

// Why ilqr, multiple_shooting and receding_horizon cannot move what is to be moved; empty if they can.
std::string why_no_shooting(const ControlPlan& plan, const ParameterMap& parameters,
                            const std::vector<int>& initial_state);

bool have_lbfgs();  // whether the library was built with NLopt
bool have_cmaes();  // whether it was with pagmo

}  // namespace costate
