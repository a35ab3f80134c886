// Optimization of the controls of a trajectory: iLQR with limited controls (box-DDP), and, with the
// trajectory divided into segments, multiple shooting by the same sweep.
//
// The trajectory has states x_t and controls u_t. Inside a segment x_t+1 = f(x_t, u_t); at the end of a
// segment there may be a defect d = f(x_t, u_t) - x_t+1. An iteration linearizes every step, f' = A dx + B
// du, computes the quadratic model of the objective, and sweeps backward in time (Tassa, Mansard, Todorov,
// Control-Limited Differential Dynamic Programming, ICRA 2014; with defects: Giftthaler et al., A Family of
// Iterative Gauss-Newton Shooting Methods, IROS 2018):
//
//   V' = V_x + V_xx d                 gradient of the value at the actual end of step t
//   Q_x = l_x + A^T V',   Q_u = l_u + B^T V'
//   Q_xx = l_xx + A^T V_xx A,   Q_ux = l_ux + B^T V_xx A,   Q_uu = l_uu + B^T V_xx B
//   k = argmin 1/2 k^T (Q_uu + mu) k + Q_u^T k  within the controls' limits
//   K = -(Q_uu + mu)^-1 Q_ux  on the free controls
//   V_x = Q_x + K^T Q_u + (Q_ux + Q_uu K)^T k
//   V_xx = Q_xx + K^T Q_uu K + K^T Q_ux + Q_ux^T K
//
// Then it sweeps forward with dx' = A dx + B du + d, du = k + K dx, which gives the first states of the
// segments; within segments the controls u + a k + K dx are run. The step length a must reduce the objective
// plus a penalty on the defects.
#pragma once

#include <functional>

#include "adjoint/checkpoints/archive.hpp"
#include "adjoint/objective/residuals.hpp"

namespace costate {

// Writes J.by_x and J.by_u of the step from x (nx) with u (nu) and wrenches on the bodies (null: none) in another
// way than step_jacobian, to compare controllers. May overwrite the scratch, which holds this step.
using OtherJacobian = std::function<void(const double* x, const double* u, const double* wrenches,
                                         StepScratch<double>& s, StepJacobian& J)>;

struct TrajectorySettings {
    std::vector<int> free;      // the optimized controls, the same at every step
    VecX<double> lower, upper;  // their limits
    int segment = 0;            // steps per segment; 0: a single segment without defects
    OtherJacobian jacobian;     // null: exact
};

// A trajectory and its feedback gains, which controls follow: u = u_t + K_t (x - x_t).
struct Tracked {
    const Eigen::MatrixXd& states;              // (nx x steps or more)
    const std::vector<Eigen::MatrixXd>& gains;  // (steps or more) of the free controls: (free x ndx)
};

class TrajectoryOptimizer {
public:
    // World, objective and theta must outlive this object.
    TrajectoryOptimizer(const World& w, const Objective& objective, const VecX<double>& theta,
                        const TrajectorySettings& settings);

    // Starts with a rollout from x0 (nx) with controls U (nu x steps), whose free controls are clamped to
    // their limits. Its first step is step `first_step` of the objective. False if the rollout diverges.
    bool start(const VecX<double>& x0, const Eigen::MatrixXd& U, int first_step = 0);
    // The same without the gradient, which the next iteration computes.
    bool roll(const VecX<double>& x0, const Eigen::MatrixXd& U, int first_step);
    // Rolls again from the same state, with controls U that gains, if given, correct along the way, and keeps the
    // better rollout.
    void roll_again(const Eigen::MatrixXd& U, const Tracked* tracked = nullptr);
    // False if no step reduces the merit, or if `stop`, which is asked before every trial, ends the search.
    bool iterate(const std::function<bool()>& stop = {});
    // Computes the gains and the cost to go along the present trajectory, with as little regularization as
    // possible. False if no regularization makes the sweep succeed.
    bool close_loop();

    // What the next iteration depends on
    template <class Archive> void transfer(Archive& a) {
        a(X_, U_, unit_, merit_, first_step_, regularisation_, penalty_);
        a(gradient_norm_, runs_);
        size_t count = stages_.size();
        a(count);
        if constexpr (std::is_same_v<Archive, ArchiveReader>) {
            if (count != 0 && count != static_cast<size_t>(steps()) + 1)
                throw std::runtime_error("its trajectory has another number of steps");
            stages_.resize(count);
            X_trial_ = X_;
            U_trial_ = U_;
            linearised_ = false;
        }
        for (Stage& stage : stages_)
            a(stage.k);
    }

    const std::vector<int>& free() const { return settings_.free; }
    int steps() const { return static_cast<int>(U_.cols()); }
    const Eigen::MatrixXd& controls() const { return U_; }             // (nu x steps)
    const Eigen::MatrixXd& states() const { return X_; }               // (nx x (steps + 1))
    const Eigen::MatrixXd& gain(int t) const { return stages_[t].K; }  // of the free controls: (free x ndx)
    // gradient (ndx) and Hessian (ndx x ndx) of the cost from step t on, after close_loop
    const VecX<double>& cost_gradient(int t) const { return stages_[t].V_x; }
    const Eigen::MatrixXd& cost_hessian(int t) const { return stages_[t].V_xx; }
    double cost() const { return merit_.cost; }      // objective over all segments
    double defect() const { return merit_.defect; }  // sum of the absolute values of all defects
    int runs() const { return runs_; }               // number of runs of the whole trajectory
    // norm of the gradient of the cost with respect to the free controls, before the last iteration
    double gradient_norm() const { return gradient_norm_; }

private:
    struct Stage {
        StepJacobian::Matrix A, B;  // (ndx x ndx), (ndx x free)
        // gradients of the objective; the defect at the end of the step; the change of the controls
        VecX<double> l_x, l_u, d, k;
        Eigen::MatrixXd l_xx, l_ux, l_uu, K, V_xx;
        VecX<double> V_x;
        VecX<double> dx, du;  // linear model: dx at the beginning of the step
    };
    struct Merit {
        double cost = 0, defect = 0;
    };

    bool is_cut(int t) const {
        return settings_.segment > 0 && t % settings_.segment == 0 && t > 0 && t < steps();
    }
    double roll_on(const Tracked* tracked);
    double merit(const Merit& m) const { return m.cost + penalty_ * m.defect; }
    Merit run(double length, double limit);
    // u (nu) + length k + K (x - X_t) on the free controls, within their limits
    template <class Control>
    void correct(const Eigen::MatrixXd& K, const VecX<double>* k, double length, const double* from,
                 const double* x, Control&& u);
    double take_step(int t, const double* x, const double* u, double* next);
    double finish(const double* x);
    void linearise();
    void linearise_step(int t, const double* next);
    void linearise_end();
    bool sweep_back();
    void sweep_forward();
    void quadratic(const Residuals& r, Stage& stage) const;

    const World& world_;
    const Objective& objective_;
    const VecX<double>& theta_;
    const TrajectorySettings settings_;
    PushesOfSteps pushes_;
    StepScratch<double> scratch_;
    StepJacobian jacobian_;
    TermResiduals terms_;
    Residuals residuals_;
    Eigen::MatrixXd X_, U_, X_trial_, U_trial_;
    std::vector<Stage> stages_;  // (steps + 1), the last for the final state
    VecX<double> range_;         // half of the range of each free control; 1 without limits
    // unit of the regularization: the mean curvature of the value along a control's range
    double unit_ = 0;
    Merit merit_;
    VecX<double> dx_;  // (ndx) work
    int first_step_ = 0;
    double regularisation_ = 1, penalty_ = 0;
    double gradient_norm_ = 0, slope_ = 0;
    bool linearised_ = false;
    int runs_ = 0;
};

}  // namespace costate
