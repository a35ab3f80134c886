// Rollouts of several environments by one thread, step by step: those that take the same branches share a step in
// lanes (adjoint/rollout/lane_simulation.hpp), the others are stepped one by one. Losses and gradients have the
// bits of a Rollout<NoisySimulation> of each environment, whoever is in the group.
#pragma once

#include "adjoint/batch/sum_plan.hpp"
#include "adjoint/checkpoints/schedule.hpp"
#include "adjoint/expectation/environment.hpp"
#include "adjoint/rollout/lane_simulation.hpp"

namespace costate {

// The lowest environment whose state or adjoint is not finite.
struct EnvironmentFailure {
    std::int64_t environment = -1;  // -1: none
    std::string what;
    explicit operator bool() const { return environment >= 0; }
    void add(const EnvironmentFailure& other) {
        if (other && (!*this || other.environment < environment)) *this = other;
    }
    template <class Archive> void transfer(Archive& a) { a(environment, what); }
};

// Time steps of environments, forwards and in reverse: those that shared a step in lanes, and all.
struct LaneUse {
    std::int64_t shared = 0, all = 0;
    void add(const LaneUse& other) {
        shared += other.shared;
        all += other.all;
    }
};

inline constexpr int squares_in_row = 4;  // numbers at the end of a row with gradients

class EnvironmentGroup {
public:
    // Of at most `size` environments. All must outlive it. The schedule is that of their states together, in
    // memory.
    EnvironmentGroup(const World& w, const Objective& objective, const ControlPlan& plan,
                     const Randomization& r, const Schedule& schedule, int size);

    // The loss of each of these environments, and if `gradients` its gradient by the shared inputs: rows
    // (environments x width) of loss, controls, tangent of x0 and theta, and the squares of the loss and of the lengths of
    // these three; or of the loss alone. Rows are not specified where the result is a failure.
    EnvironmentFailure run(Range environments, const RolloutInputs& shared, bool gradients, double* rows);

    const LaneUse& lane_use() const { return lane_use_; }  // of all calls
    // Of the checkpoints; the rest does not depend on the number of steps.
    size_t bytes() const { return slots_.size() * x_.size() * sizeof(double); }

private:
    struct Job {  // a step of one environment, by its place in the group
        size_t e;
        bool failed = false;
    };
    void begin(Range environments, const RolloutInputs& shared);
    void set_controls(int t);
    void step(int t);
    void finish(double* rows, size_t width);
    void reverse_end();
    void reverse(int t);
    void pull_back(double* rows);
    template <class Together, class Alone> void each(const Together& together, const Alone& alone);
    void load(const Job* jobs);
    void gather(const Job* jobs, const std::vector<double>& all, size_t n, std::vector<double>& lanes) const;
    void scatter(const Job* jobs, const std::vector<double>& lanes, size_t n, std::vector<double>& all) const;
    void fail(size_t e, const std::string& what);
    void check_adjoint(size_t e, int t);

    std::int64_t number(size_t e) const { return first_ + static_cast<std::int64_t>(e); }
    double* x(size_t e) { return x_.data() + e * nx_; }
    double* x_next(size_t e) { return x_next_.data() + e * nx_; }
    double* x_bar(size_t e) { return x_bar_.data() + e * ndx_; }
    double* u(size_t e) { return u_.data() + e * nu_; }
    double* theta_bar(size_t e) { return theta_bar_.data() + e * np_; }
    const double* theta(size_t e) const { return inputs_[e].theta.data(); }

    const World& world_;
    const ControlPlan& plan_;
    const Randomization& randomization_;
    const size_t nx_, ndx_, nu_, np_;
    Simulation alone_;
    std::unique_ptr<LaneSimulation> lanes_;  // or null
    Schedule schedule_;
    std::vector<std::vector<double>> slots_;  // checkpoints, each as x_

    const RolloutInputs* shared_ = nullptr;
    std::int64_t first_ = 0;             // the environment of place 0
    std::vector<RolloutInputs> inputs_;  // (size) of each environment
    std::vector<Job> jobs_;              // environments that have not failed
    EnvironmentFailure failure_;
    std::vector<std::uint64_t> branches_;  // (size) of their last steps
    std::vector<double> loss_;
    VecX<double> shared_u_;  // (nu)
    // each (size x nx), (size x ndx), (size x nu), (size x np)
    std::vector<double> x_, x_next_, before_last_, x_bar_, u_, theta_bar_;
    std::vector<VecX<double>> controls_bar_;  // (size) of the plan's variables
    VecX<double> one_bar_, one_u_bar_;        // (ndx), (nu)
    Gradient gradient_;

    // by lanes: entries x width
    std::vector<double> lane_x_, lane_x_next_, lane_u_, lane_next_bar_, lane_x_bar_, lane_u_bar_;
    std::vector<double> lane_theta_bar_, lane_share_;
    std::vector<const double*> lane_parameters_;
    LaneUse lane_use_;
    bool has_lane_parameters_ = false;  // those of all environments, set in this call
};

}  // namespace costate
