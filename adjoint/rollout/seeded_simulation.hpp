// A simulation whose reverse also starts from gradients of states and controls: those of a cost beside its objective.
#pragma once

#include "adjoint/rollout/simulation.hpp"

namespace costate {

class SeededSimulation : public Simulation {
public:
    using Simulation::Simulation;

    // What the next reverse adds: states_bar (steps + 1 x ndx) of the states, controls_bar (steps x nu) of the controls.
    void set_seeds(const double* states_bar, const double* controls_bar) {
        states_bar_ = states_bar;
        controls_bar_ = controls_bar;
    }
    double run(int t, const double* theta, const double* x, const double* u, double* x_next) {
        return Simulation::run(t, theta, x, u, x_next);
    }
    void run_adj(int t, const double* theta, const double* x, const double* u, const double* x_next_bar,
                 double* theta_bar, double* x_bar, double* u_bar) {
        Simulation::run_adj(t, theta, x, u, x_next_bar, theta_bar, x_bar, u_bar);
        add_row(states_bar_, t, ndx(), x_bar);
        add_row(controls_bar_, t, nu(), u_bar);
    }
    double finish(int t, const double* theta, const double* x) { return Simulation::finish(t, theta, x); }
    void finish_adj(int t, const double* theta, const double* x, double* theta_bar, double* x_bar) {
        Simulation::finish_adj(t, theta, x, theta_bar, x_bar);
        add_row(states_bar_, t, ndx(), x_bar);
    }

private:
    static void add_row(const double* rows, int t, int width, double* to) {
        for (int i = 0; i < width; ++i)
            to[i] += rows[static_cast<size_t>(t) * static_cast<size_t>(width) + static_cast<size_t>(i)];
    }
    const double* states_bar_ = nullptr;
    const double* controls_bar_ = nullptr;
};

}  // namespace costate
