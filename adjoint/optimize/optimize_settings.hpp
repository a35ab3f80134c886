// Which method optimizes a rollout, and how far.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/model/model.hpp"

namespace costate {

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
const std::vector<std::string>& method_names();  // in that order

struct OptimizeSettings {
    Method method = Method::lbfgs;
    int iterations = 100;
    int max_loss_evaluations = 1000;
    // of gauss_newton, one a residual and Jacobian
    int max_gradient_evaluations = std::numeric_limits<int>::max();
    double learning_rate = 0.1;  // first step along the gradient; of adam, every step of every variable
    // minimise loss^2/2, for a loss >= 0 such as a distance, whose tip no quasi-Newton model fits
    bool square = false;
    double momentum = 0.9;
    int segment = 20;    // of multiple_shooting: steps
    int horizon = 50;    // of receding_horizon: steps planned ahead, replanned at every step
    int population = 0;  // of cmaes: losses an iteration; 0: 4 + floor(3 ln n), but at least 5
    // of cmaes: first standard deviation of a variable, in units of its range if it has one
    double sigma = 0.3;
    unsigned seed = 1;                // of cmaes
    double gradient_tolerance = 0;    // stop when no entry of the gradient is larger
    double target_loss = -unlimited;  // stop when the loss is not above it
};

}  // namespace costate
