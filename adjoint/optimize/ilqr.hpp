// Optimization of the controls of a trajectory step by step: iLQR with limited controls (box-DDP), and with
// the trajectory cut into segments, multiple shooting by the same sweep.
//
// The trajectory is states x_t and controls u_t; inside a segment x_t+1 = f(x_t, u_t), and where one ends
// there may be a defect d = f(x_t, u_t) - x_t+1. An iteration linearises every step, f' = A dx + B du, takes
// the objective's quadratic model, and goes backwards in time (Tassa, Mansard, Todorov, Control-Limited
// Differential Dynamic Programming, ICRA 2014; with defects Giftthaler et al., A Family of Iterative
// Gauss-Newton Shooting Methods, IROS 2018):
//
//   V' := V_x + V_xx d                 the value's gradient where step t really ends
//   Q_x = l_x + A^T V',  Q_u = l_u + B^T V',  Q_xx = l_xx + A^T V_xx A,  Q_ux = l_ux + B^T V_xx A,  Q_uu =
//   l_uu + B^T V_xx B k = argmin 1/2 k^T (Q_uu + mu) k + Q_u^T k within the controls' limits,  K = -(Q_uu +
//   mu)^-1 Q_ux on the free ones V_x = Q_x + K^T Q_u + (Q_ux + Q_uu K)^T k,  V_xx = Q_xx + K^T Q_uu K + K^T
//   Q_ux + Q_ux^T K
//
// then forwards along dx' = A dx + B du + d, du = k + K dx, which gives the states at which segments begin;
// inside them the controls u + a k + K dx are run. The length a has to lower the objective plus a penalty on
// the defects.
#pragma once

#include "adjoint/objective/residuals.hpp"

namespace costate {

struct TrajectorySettings {
    std::vector<int> free;      // the controls that move, the same at every step
    VecX<double> lower, upper;  // their limits
    int segment = 0;            // steps between two states that may be off; 0: one shot
};

class TrajectoryOptimizer {
public:
    // World, objective and theta must outlive it.
    TrajectoryOptimizer(const World& w, const Objective& objective, const VecX<double>& theta,
                        const TrajectorySettings& settings);

    // Starts over with a rollout from x0 (nx) with controls U (nu x steps), whose free ones are brought
    // within their limits; its first step is the objective's `first_step`. False if it leaves the finite
    // numbers.
    bool start(const VecX<double>& x0, const Eigen::MatrixXd& U, int first_step = 0);
    // False: no step was found that improves anything.
    bool iterate();

    const std::vector<int>& free() const { return settings_.free; }
    int steps() const { return static_cast<int>(U_.cols()); }
    const Eigen::MatrixXd& controls() const { return U_; }             // (nu x steps)
    const Eigen::MatrixXd& states() const { return X_; }               // (nx x (steps + 1))
    const Eigen::MatrixXd& gain(int t) const { return stages_[t].K; }  // of the free controls: (free x ndx)
    double cost() const { return merit_.cost; }                        // of the objective, over all segments
    double defect() const { return merit_.defect; }  // the sum of the absolute values of all
    int runs() const { return runs_; }               // of the whole trajectory, so far
    // of the cost by the free controls, before the last iteration
    double gradient_norm() const { return gradient_norm_; }

private:
    struct Stage {
        Eigen::MatrixXd A, B;  // (ndx x ndx), (ndx x free)
        // of the objective; the defect where the step ends; the controls' change
        VecX<double> l_x, l_u, d, k;
        Eigen::MatrixXd l_xx, l_ux, l_uu, K;
        VecX<double> dx, du;  // of the linear model, dx where the step begins
    };
    struct Merit {
        double cost = 0, defect = 0;
    };

    bool is_cut(int t) const {
        return settings_.segment > 0 && t % settings_.segment == 0 && t > 0 && t < steps();
    }
    double merit(const Merit& m) const { return m.cost + penalty_ * m.defect; }
    Merit run(double length);
    double take_step(int t, const double* x, const double* u, double* next);
    double finish(const double* x);
    void linearise();
    bool sweep_back();
    void sweep_forward();
    void quadratic(const Residuals& r, Stage& stage) const;

    const World& world_;
    const Objective& objective_;
    const VecX<double>& theta_;
    const TrajectorySettings settings_;
    StepScratch<double> scratch_;
    StepJacobian jacobian_;
    TermResiduals terms_;
    Residuals residuals_;
    Eigen::MatrixXd X_, U_, X_trial_, U_trial_;
    std::vector<Stage> stages_;  // (steps + 1), the last for the end alone
    VecX<double> range_;         // half of what a free control may span; 1 without limits
    // of the regularisation: the mean curvature of the value along a control's range
    double unit_ = 0;
    Merit merit_;
    int first_step_ = 0;
    double regularisation_ = 1, penalty_ = 0;
    double gradient_norm_ = 0, slope_ = 0;
    bool linearised_ = false;
    int runs_ = 0;
};

}  // namespace costate
