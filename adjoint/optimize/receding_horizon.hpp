// Receding-horizon control: iterations of iLQR improve the previous plan from a measured state; between plans, the
// feedback gains of the last one act (Tassa, Erez, Todorov, Synthesis and Stabilization of Complex Behaviors through
// Online Trajectory Optimization, IROS 2012).
#pragma once

#include "adjoint/optimize/ilqr.hpp"

namespace costate {

// What a plan may cost. The first rollout and the gains along it are always computed.
struct PlanBudget {
    int iterations = 1;
    double seconds = unlimited;  // by a steady clock; no trial of an iteration starts later
};

struct Plan {
    double time = 0;                   // of its first state, s
    Eigen::MatrixXd states, controls;  // (nx x (steps + 1)), (nu x steps), each control held for a time step
    std::vector<Eigen::MatrixXd> gains;  // (steps) of the free controls: (free x ndx)
    double cost = 0;                     // of the objective over these steps
    int iterations = 0;                  // that reduced the cost
    double seconds = 0;                  // taken

    int steps() const { return static_cast<int>(controls.cols()); }
    template <class Archive> void transfer(Archive& a) {
        a(time, states, controls, cost, iterations, seconds);
        gains.resize(steps());
        for (Eigen::MatrixXd& K : gains)
            a(K);
    }
};

class RecedingHorizon {
public:
    // World, objective and theta must outlive this object. `guess` (nu x 1 or more): controls from time 0 on, whose
    // last column holds after its end. The first plan starts with them, and controls that are not optimized keep them.
    RecedingHorizon(const World& w, const Objective& objective, const VecX<double>& theta,
                    const TrajectorySettings& settings, Eigen::MatrixXd guess);

    // Plans `steps` steps from state x (nx) at a time, s. The objective counts from the step that begins nearest to
    // it, its final terms at the end of the plan. Starts with the previous plan, under its gains, as far as it reaches,
    // and with `guess` beyond; if the state is not as planned, with `guess` alone where that costs less. Throws
    // DivergenceError if the rollout from x diverges in all cases; the previous plan then stays.
    const Plan& plan(const VecX<double>& x, double time, int steps, const PlanBudget& budget = {});

    // The control (nu) in state x (nx) at a time, by the last plan: u_t + K_t (x - x_t), within the limits, with x_t
    // interpolated between the plan's states. After its end, the last control and gain act around its last state.
    VecX<double> control(const VecX<double>& x, double time) const;

    const Plan& last() const { return plan_; }  // without steps before the first plan
    const std::vector<int>& free() const { return optimizer_.free(); }
    template <class Archive> void transfer(Archive& a) {
        optimizer_.transfer(a);
        plan_.transfer(a);
    }

private:
    // A time as a step of the last plan and the part of this step that is over.
    struct Place {
        int step = 0;
        double part = 0;
    };
    Place place(double time) const;
    VecX<double> nominal(Place at) const;
    Eigen::MatrixXd guess_from(int t, int steps) const;
    bool start_from_last(const VecX<double>& x, double time, int t, const Eigen::MatrixXd& guess);

    const World& world_;
    TrajectoryOptimizer optimizer_;
    const TrajectorySettings settings_;
    const Eigen::MatrixXd guess_;
    Plan plan_;
};

}  // namespace costate
