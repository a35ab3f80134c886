// Optimisation of a rollout: which numbers may move, and the methods that move them, by gradients or, for comparison, without.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "adjoint/parameter_map.hpp"
#include "adjoint/rollout.hpp"
#include "adjoint/simulation.hpp"

namespace costate {

enum class Method { gradient_descent, momentum, adam, lbfgs, gauss_newton, ilqr, multiple_shooting, receding_horizon, cmaes };
const std::vector<std::string>& method_names();  // in that order

struct OptimizeSettings {
    Method method = Method::lbfgs;
    int iterations = 100;
    int max_loss_evaluations = 1000;
    int max_gradient_evaluations = std::numeric_limits<int>::max();  // of gauss_newton, one a residual and Jacobian
    double learning_rate = 0.1;       // first step along the gradient; of adam, every step of every variable
    bool square = false;              // minimise loss^2/2, for a loss >= 0 such as a distance, whose tip no quasi-Newton model fits
    double momentum = 0.9;
    int segment = 20;                 // of multiple_shooting: steps
    int horizon = 50;                 // of receding_horizon: steps planned ahead, replanned at every step
    int population = 0;               // of cmaes: losses an iteration; 0: 4 + floor(3 ln n), but at least 5
    double sigma = 0.3;               // of cmaes: first standard deviation of a variable, in units of its range if it has one
    unsigned seed = 1;                // of cmaes
    double gradient_tolerance = 0;    // stop when no entry of the gradient is larger
    double target_loss = -unlimited;  // stop when the loss is not above it
};

// Everything a rollout is a function of.
struct RolloutInputs {
    VecX<double> theta, x0, z;
};

// The numbers that may move, as one vector y: controls of the channels to optimise, variables of parameters, entries of the initial state's
// tangent (2 nv).
class Variables {
public:
    Variables(const World& w, const ControlPlan& plan, const ParameterMap& parameters, const std::vector<int>& initial_state,
              const RolloutInputs& start);
    int size() const { return static_cast<int>(start_.size()); }
    const VecX<double>& start() const { return start_; }
    const VecX<double>& lower() const { return lower_; }
    const VecX<double>& upper() const { return upper_; }
    RolloutInputs inputs(const VecX<double>& y) const;
    VecX<double> pull_back(const VecX<double>& y, const Gradient& g) const;  // gradient by y
    const std::vector<int>& controls() const { return controls_; }           // the decision variables that y begins with

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
    // Euclidean norms of the loss's gradient by the variables, wherever it was evaluated, and how many iterations were done then
    std::vector<double> gradient_norms;
    std::vector<int> gradient_iterations;
    VecX<double> y;              // of the best loss
    std::string stopped;         // why
};

// progress(the result so far) is called at the start and after every iteration. A rollout that leaves the finite numbers
// counts as a loss of infinity; if the first one does, DivergenceError is thrown.
OptimizeResult optimise(Rollout<Simulation>& rollout, const Variables& variables, const OptimizeSettings& settings,
                        const std::function<void(const OptimizeResult&)>& progress = {});

// Why ilqr, multiple_shooting and receding_horizon cannot move what is to be moved; empty if they can.
std::string why_no_shooting(const ControlPlan& plan, const ParameterMap& parameters, const std::vector<int>& initial_state);

bool have_lbfgs();  // whether the library was built with NLopt
bool have_cmaes();  // whether it was with pagmo

}  // namespace costate
