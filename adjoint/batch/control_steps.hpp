// Control steps of several environments by one thread, forwards and in reverse. Environments that took the same
// branches in their last steps are stepped in lanes (solvers/step/lane_step.hpp), the others one by one. The bits do
// not depend on who shares a step with whom.
#pragma once

#include <vector>

#include "adjoint/rollout/rollout.hpp"
#include "solvers/step/lane_step.hpp"

namespace costate {

// A control step to be made from one state (nx) to another, which may have the same place.
struct ControlStep {
    size_t e;
    const double* u;         // (nu)
    const double* from;      // (nx)
    double* to;              // (nx), unchanged if the environment diverges
    const double* wrenches;  // (bodies x 6), or null
    bool goes_on = false;    // out: false if it diverges
};

// A control step to be pulled back.
struct ReverseStep {
    size_t e;
    const double *x, *u;                  // (nx) in which it began, quaternions of any length; (nu)
    const double* wrenches;               // (bodies x 6), or null
    const double* states_bar;             // (state_bar_width) of the state after it, or null
    const double* next_bar;               // (ndx) to be added, or null
    double *x_bar, *u_bar;                // out (ndx), which may be next_bar; out (nu), or null
    double* wrenches_bar;                 // out (bodies x 6), or null
    double* theta_bar;                    // out (np), or null
    bool adds;                            // adds to theta_bar
    const double* sensors_bar = nullptr;  // (ny) of the sensors at its beginning, or null
    bool finite = false;                  // out: false if something is not finite
};

// The time steps of a control step in `width` environments, as a Rollout runs them; arrays have the entry first and
// then the lane.
class LaneTimeSteps {
public:
    LaneTimeSteps(const World& w, LaneStep& step) : world_(w), step_(step) {}
    int nx() const { return world_.nx() * step_.width(); }
    int ndx() const { return world_.ndx() * step_.width(); }
    int nu() const { return world_.nu() * step_.width(); }
    int np() const { return world_.np() * step_.width(); }
    long runs() const { return runs_; }

    // Throws LanesPart.
    double run(int, const double*, const double* x, const double* u, double* x_next);
    void run_adj(int, const double*, const double* x, const double* u, const double* x_next_bar,
                 double* theta_bar, double* x_bar, double* u_bar);
    double finish(int, const double*, const double*) { return 0; }
    void finish_adj(int, const double*, const double*, double*, double* x_bar) {
        for (int i = 0; i < ndx(); ++i)
            x_bar[i] += end_bar[i];
    }

    const double* end_bar = nullptr;
    const double* wrenches = nullptr;  // or null
    double* wrenches_bar = nullptr;    // +=, or null

private:
    const World& world_;
    LaneStep& step_;
    long runs_ = 0;
};

// What a thread needs to step and to pull back in lanes.
struct LaneBlock {
    LaneStep& step;
    ControlPlan plan;  // the controls of all lanes, held
    LaneTimeSteps steps;
    Rollout<LaneTimeSteps> rollout;
    Gradient gradient;
    VecX<double> theta;         // unused by the steps, which have the parameters of each lane
    VecX<double> x, x_next, u;  // (nx), (nu), each by lanes
    VecX<double> wrenches, wrenches_bar;
    VecX<double> end_bar;       // (ndx)
    VecX<double> one, one_bar;  // (nx), (ndx) of one lane
    std::vector<SolverOutcome> outcome;
    std::vector<int> unconverged;
    std::vector<const double*> parameters;
    LaneBlock(const World& w, LaneStep& lanes, const Schedule& schedule);
    int width() const { return step.width(); }
    // What a block allocates, with checkpoints in so many slots, but for the step.
    static size_t bytes(const World& w, int width, int slots);
};

}  // namespace costate
