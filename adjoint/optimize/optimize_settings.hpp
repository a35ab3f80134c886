// Method and settings of an optimization.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model.hpp"

namespace costate {

class Ranks;

enum class Method {
    gradient_descent,
    momentum,
    adam,
    lbfgs,
    gauss_newton,
    ilqr,
    multiple_shooting,
    receding_horizon,
    cmaes
};
const std::vector<std::string>& method_names();  // in the order of the enumerators

// An optimization that precedes another one (adjoint/optimize/stages.hpp).
struct OptimizeStage {
    Method method;
    int iterations;
    std::vector<std::pair<int, double>>
        parameters;  // the number of theta and the value that it has in this stage
};

struct OptimizeSettings {
    Method method = Method::lbfgs;
    int iterations = 100;
    int max_loss_evaluations = 1000;
    // gauss_newton uses one gradient per residual for each Jacobian
    int max_gradient_evaluations = std::numeric_limits<int>::max();
    double learning_rate = 0.1;  // initial step along the gradient; adam: step of every variable
    // minimize loss^2/2, for a loss >= 0 such as a distance, whose kink at 0 does not fit a quasi-Newton
    // model
    bool square = false;
    double momentum = 0.9;
    int segment = 20;    // multiple_shooting: steps per segment
    int horizon = 50;    // receding_horizon: number of steps planned before every step
    int population = 0;  // cmaes: losses per iteration; 0: 4 + floor(3 ln n), but at least 5
    // cmaes: initial standard deviation of a variable, in units of its range if it has one
    double sigma = 0.3;
    unsigned seed = 1;  // cmaes: random seed
    // cmaes: who computes the losses of an iteration together; the result has the same bits. Null: this process
    int threads = 1;
    Ranks* ranks = nullptr;
    double gradient_tolerance = 0;      // stop when no entry of the gradient has a larger magnitude
    double target_loss = -unlimited;    // stop when the loss is at most this value
    int rounds = 10;                    // with constraints: updates of their multipliers
    double penalty_growth = 10;         // with constraints: factor of a penalty that is too small
    std::vector<OptimizeStage> stages;  // before the optimization by `method`
};

}  // namespace costate
