// The problem for the methods of adjoint/optimize/optimize.cpp: the loss of a rollout, half its square, or
// its sum of squared residuals, as a function of the variables y. Counts evaluations and keeps the best
// point.
#pragma once

#include <chrono>

#include "adjoint/checkpoints/archive.hpp"
#include "adjoint/optimize/optimize.hpp"

namespace costate {

// Ends the run of an interrupted method.
struct Interruption {};

class Problem {
public:
    // The loss of `rollout`, or any other one and null: then only value and gradient may be asked for.
    Problem(LossFunction& of, Rollout<Simulation>* rollout, const Variables& moving,
            const OptimizeSettings& how, const Pauses& pauses)
        : variables(moving),
          settings(how),
          of_(of),
          rollout_(rollout),
          pauses_(pauses) {}

    // The loss, or half its square if the settings say so.
    double value(const VecX<double>& y);
    // Those of several points, which threads and ranks share; no gradient or residuals of them.
    std::vector<double> values(const std::vector<VecX<double>>& ys);
    VecX<double> gradient(
        const VecX<double>& y);  // gradient of value; y must be that of the last call of `value`

    // Residuals at the y of the last call of `value`, and their Jacobian, which costs one reverse sweep per
    // residual.
    VecX<double> residuals(const Objective& components);
    Eigen::MatrixXd jacobian(const VecX<double>& y, const Objective& components);

    void note_gradient(double norm);  // records the norm of a gradient of the loss in the result

    const Objective& objective() const { return rollout_->step().objective(); }
    const World& world() const { return rollout_->step().world(); }
    const Rollout<Simulation>& rollout() const { return *rollout_; }
    // Counts an iteration. Throws Interruption if the run is interrupted.
    void end_iteration();
    // Does so for a method that goes on from the members that its `state` transfers.
    template <class State> void end_iteration(State& state) {
        count_iteration();
        if (save(state)) throw Interruption();
    }
    // Saves the run unless it has stopped. True if it is interrupted.
    template <class State> bool save(State& state) {
        if (!result.stopped.empty()) return false;
        const bool last = interrupted();
        if (pauses_.save) pauses_.save([&] { return bytes_of(state); }, last);
        return last;
    }
    // Restores result and state of a resumed run; false if the run begins.
    template <class State> bool resume(State& state) {
        if (pauses_.resume.empty()) return false;
        try {
            ArchiveReader reader(pauses_.resume);
            result.transfer(reader);
            state.transfer(reader);
            if (!reader.at_end()) throw std::runtime_error("it is longer than a run of this scene");
        } catch (const std::runtime_error& e) {
            throw ResumeError(e.what());
        }
        check_resumed();
        return true;
    }
    void revisit(const VecX<double>& y);  // repeats the rollout of an earlier `value`, without counting it
    const char* reason_to_stop(const VecX<double>& gradient) const;  // nullptr: do not stop
    const char* budget_spent() const;                                // criteria without gradient
    // since the start, with the time before a resumed run was saved
    double seconds() const { return before_ + std::chrono::duration<double>(Clock::now() - begin_).count(); }

    const Variables& variables;
    const OptimizeSettings& settings;
    OptimizeResult result;

private:
    using Clock = std::chrono::steady_clock;
    template <class State> std::vector<char> bytes_of(State& state) {
        ArchiveWriter writer;
        result.seconds = seconds();
        result.transfer(writer);
        state.transfer(writer);
        return std::move(writer.bytes);
    }
    bool interrupted() const { return pauses_.interrupted && pauses_.interrupted(); }
    void check_resumed();
    void count_iteration();
    double loss(const VecX<double>& y);
    void note(const VecX<double>& y, double loss);
    double value_of(double loss) const { return settings.square ? 0.5 * loss * loss : loss; }
    void note_loss();

    const Clock::time_point begin_ = Clock::now();
    double before_ = 0;
    LossFunction& of_;
    Rollout<Simulation>* rollout_;
    const Pauses& pauses_;
    double loss_ = 0;
    RolloutInputs inputs_;
    Gradient gradient_;
};

// The methods. Each sets result.stopped to the reason for stopping and appends to result.losses after every
// iteration.
void lbfgs(Problem& problem);
void gauss_newton(Problem& problem);
void shoot(Problem& problem);              // ilqr and multiple_shooting
void recede(Problem& problem);             // receding_horizon
void set_lbfgs(void (*method)(Problem&));  // another one for Method::lbfgs
void set_cmaes(void (*method)(Problem&));  // the method of Method::cmaes, which has a library of its own

}  // namespace costate
