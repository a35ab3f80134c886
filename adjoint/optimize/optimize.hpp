// Optimization of a rollout: the variables, and the methods (with gradients and, for comparison, without).
#pragma once

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "adjoint/checkpoints/archive.hpp"
#include "adjoint/optimize/loss_function.hpp"
#include "adjoint/optimize/optimize_settings.hpp"
#include "adjoint/optimize/parameter_map.hpp"

namespace costate {

// The optimized variables as one vector y: controls of optimized channels, variables of parameters, entries
// of the initial state's tangent (2 nv).
class Variables {
public:
    Variables(const World& w, const ControlPlan& plan, const ParameterMap& parameters,
              const std::vector<int>& initial_state, const RolloutInputs& start);
    int size() const { return static_cast<int>(start_.size()); }
    const VecX<double>& start() const { return start_; }
    void start_at(const VecX<double>& y) { start_ = y; }
    // The same variables where numbers of theta, which are no variables, have other values.
    Variables with_parameters(const std::vector<std::pair<int, double>>& values) const;
    const VecX<double>& lower() const { return lower_; }
    const VecX<double>& upper() const { return upper_; }
    RolloutInputs inputs(const VecX<double>& y) const;
    VecX<double> pull_back(const VecX<double>& y, const Gradient& g) const;  // gradient with respect to y
    // the decision variables of controls, with which y begins
    const std::vector<int>& controls() const { return controls_; }

private:
    void bound_controls();
    const World& world_;
    RolloutInputs base_;
    std::vector<int> controls_;   // indices of z
    std::vector<int> actuators_;  // that these control
    ParameterMap parameters_;
    std::vector<int> initial_state_;
    VecX<double> start_, lower_, upper_;
};

// How far a rollout is beyond the bounds of a constraint.
struct Violation {
    double largest = 0, tolerance = 0;
    int step = 0;  // of the largest
    bool met() const { return largest <= tolerance; }
    void note(double excess, int t) {
        if (std::abs(excess) > largest) {
            largest = std::abs(excess);
            step = t;
        }
    }
};
// The largest violation in units of its tolerance: at most 1 if all constraints are kept.
double infeasibility(const std::vector<Violation>& violations);

// The end of a round of a constrained optimization (adjoint/optimize/augmented_lagrangian.hpp).
struct Round {
    int iterations;                 // so far
    double loss;                    // without constraints
    double infeasibility, penalty;  // penalty: the largest
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
    VecX<double> y;                     // variables with the best loss
    std::string stopped;                // reason for stopping
    std::vector<Violation> violations;  // of each constraint
    std::vector<Round> rounds;          // of a constrained optimization

    template <class Archive> void transfer(Archive& a) {
        a(initial_loss, final_loss, iterations, loss_evaluations, gradient_evaluations);
        a(seconds, losses, loss_seconds, gradient_norms, gradient_iterations, y);
        a(violations, rounds);
    }
};

// True if a keeps the constraints better, or both keep them, or equally well, and a has the lower loss.
bool is_better(const OptimizeResult& a, const OptimizeResult& b);

using OptimizeProgress = std::function<void(const OptimizeResult&)>;  // with the result so far

// What happens between the iterations of a run. Every member may be empty.
struct Pauses {
    OptimizeProgress progress;          // at the start and after every iteration
    std::function<bool()> interrupted;  // true ends the run with `stopped` = "interrupted"
    // Given after every iteration a function that returns the run as bytes; `last`: before an interrupted run
    // ends. A method whose state is inside a library of others is not saved (why_not_saved).
    std::function<void(const std::function<std::vector<char>()>& bytes, bool last)> save;
    // The bytes of a run with the same variables and settings, which goes on with the same bits; empty: none
    std::vector<char> resume;
};

struct ResumeError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The results of a run and of the one that went on from its end, as one. A run's first loss is not counted again.
OptimizeResult joined(const OptimizeResult& before, const OptimizeResult& next);
// The pauses of a run that goes on from the end of others, whose result is `before`. What is saved are the bytes that
// `transfer` writes and those of the run; `resume`: the latter, of a resumed run.
Pauses pauses_of_next(const OptimizeResult& before, const Pauses& all, const std::vector<char>& resume,
                      const std::function<void(ArchiveWriter&)>& transfer);
// Reads what such a run has saved: `transfer` its own part. Returns the bytes of the run. Throws ResumeError.
std::vector<char> resumed_run(const std::vector<char>& bytes,
                              const std::function<void(ArchiveReader&)>& transfer);

// Runs the stages of the settings, and then their method.
// A rollout that diverges counts as an infinite loss; if the first rollout diverges, DivergenceError is thrown.
// A run that is saved or resumed uses the L-BFGS of lbfgs.cpp. Throws ResumeError if the bytes of `resume` do not
// belong to this run.
OptimizeResult optimize(Rollout<Simulation>& rollout, const Variables& variables,
                        const OptimizeSettings& settings, const Pauses& pauses);
OptimizeResult optimize(Rollout<Simulation>& rollout, const Variables& variables,
                        const OptimizeSettings& settings, const OptimizeProgress& progress = {});
// Optimization of any loss, by a method for which needs_one_rollout is false.
OptimizeResult optimize(LossFunction& loss, const Variables& variables, const OptimizeSettings& settings,
                        const Pauses& pauses);
// The methods of all stages, and that of the end; and the most iterations of all together.
std::vector<Method> methods_of(const OptimizeSettings& settings);
int iterations_of(const OptimizeSettings& settings);
bool has_gradients(const OptimizeSettings& settings);  // false: cmaes alone
// True for methods that use the steps or the residuals of a rollout, and not only its loss and gradient.
bool needs_one_rollout(Method method);

// Why runs of a method cannot be saved; empty if they can.
std::string why_not_saved(Method method);

// Why ilqr, multiple_shooting and receding_horizon cannot optimize these variables; empty if they can.
std::string why_no_shooting(const ControlPlan& plan, const ParameterMap& parameters,
                            const std::vector<int>& initial_state);

bool have_cmaes();  // true after use_cmaes() of adjoint/external/cmaes.hpp, in a build with pagmo

}  // namespace costate
