// Optimization of a rollout: the variables, and the methods (with gradients and, for comparison, without).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "adjoint/optimize/optimize_settings.hpp"
#include "adjoint/optimize/parameter_map.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"

namespace costate {

// The inputs of a rollout.
struct RolloutInputs {
    VecX<double> theta, x0, z;
};

// The optimized variables as one vector y: controls of optimized channels, variables of parameters, entries
// of the initial state's tangent (2 nv).
class Variables {
public:
    Variables(const World& w, const ControlPlan& plan, const ParameterMap& parameters,
              const std::vector<int>& initial_state, const RolloutInputs& start);
    int size() const { return static_cast<int>(start_.size()); }
    const VecX<double>& start() const { return start_; }
    const VecX<double>& lower() const { return lower_; }
    const VecX<double>& upper() const { return upper_; }
    RolloutInputs inputs(const VecX<double>& y) const;
    VecX<double> pull_back(const VecX<double>& y, const Gradient& g) const;  // gradient with respect to y
    // the decision variables of controls, with which y begins
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
    std::vector<double> losses;        // best loss so far, at the start and after each iteration
    std::vector<double> loss_seconds;  // time of each of these losses since the start
    // Euclidean norms of all evaluated gradients with respect to the variables, and the number of iterations
    // completed before each
    std::vector<double> gradient_norms;
    std::vector<int> gradient_iterations;
    VecX<double> y;       // variables with the best loss
    std::string stopped;  // reason for stopping
};

// Calls progress(result so far) at the start and after every iteration. A rollout that diverges counts as an
// infinite loss; if the first rollout diverges, DivergenceError is thrown.
OptimizeResult optimize(Rollout<Simulation>& rollout, const Variables& variables,
                        const OptimizeSettings& settings,
                        const std::function<void(const OptimizeResult&)>& progress = {});

// Why ilqr, multiple_shooting and receding_horizon cannot optimize these variables; empty if they can.
std::string why_no_shooting(const ControlPlan& plan, const ParameterMap& parameters,
                            const std::vector<int>& initial_state);

bool have_cmaes();  // true after use_cmaes() of adjoint/optimize/cmaes.hpp, in a build with pagmo

}  // namespace costate
