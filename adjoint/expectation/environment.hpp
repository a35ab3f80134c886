// An environment: its inputs, which are a function of the shared ones with its adjoint, and its simulation.
#pragma once

#include "adjoint/batch/environment_numbers.hpp"
#include "adjoint/expectation/randomization.hpp"
#include "adjoint/optimize/loss_function.hpp"

namespace costate {

// The inputs of environment e.
RolloutInputs environment_inputs(const World& w, const Randomization& r, std::int64_t e,
                                 const RolloutInputs& shared);
// Turns the gradient by the inputs of environment e, in place, into that by the shared inputs.
void pull_back_environment(const World& w, const Randomization& r, std::int64_t e,
                           const RolloutInputs& shared, Gradient& g);

// The control of step t of an environment: u (nu) and its noise.
void noisy_control(const Randomization& r, const EnvironmentNumbers& numbers, int t,
                   Eigen::Ref<const VecX<double>> u, double* noisy);

// A simulation of an environment: the control of every step has its noise. The interface is that of Simulation.
class NoisySimulation {
public:
    // All must outlive it.
    NoisySimulation(const World& w, const Objective& objective, const Randomization& r)
        : simulation_(w, objective),
          randomization_(r),
          numbers_(r.seed, 0),
          u_(w.nu()) {}
    void set_environment(std::int64_t e) { numbers_ = EnvironmentNumbers(randomization_.seed, e); }

    int nx() const { return simulation_.nx(); }
    int ndx() const { return simulation_.ndx(); }
    int nu() const { return simulation_.nu(); }
    int np() const { return simulation_.np(); }
    long runs() const { return simulation_.runs(); }
    double run(int t, const double* theta, const double* x, const double* u, double* x_next) {
        return simulation_.run(t, theta, x, noisy(t, u), x_next);
    }
    void run_adj(int t, const double* theta, const double* x, const double* u, const double* x_next_bar,
                 double* theta_bar, double* x_bar, double* u_bar) {
        simulation_.run_adj(t, theta, x, noisy(t, u), x_next_bar, theta_bar, x_bar, u_bar);
    }
    double finish(int t, const double* theta, const double* x) { return simulation_.finish(t, theta, x); }
    void finish_adj(int t, const double* theta, const double* x, double* theta_bar, double* x_bar) {
        simulation_.finish_adj(t, theta, x, theta_bar, x_bar);
    }
    std::string first_bad_row() const { return simulation_.first_bad_row(); }

private:
    const double* noisy(int t, const double* u) {
        if (randomization_.controls.size() == 0) return u;
        noisy_control(randomization_, numbers_, t, Eigen::Map<const VecX<double>>(u, u_.size()), u_.data());
        return u_.data();
    }

    Simulation simulation_;
    const Randomization& randomization_;
    EnvironmentNumbers numbers_;
    VecX<double> u_;
};

}  // namespace costate
