#include "adjoint/optimize/ilqr.hpp"

#include <algorithm>

#include "adjoint/optimize/box_qp.hpp"
#include "adjoint/rollout/state.hpp"
#include "core/math/products.hpp"

namespace costate {

namespace {

constexpr double least_regularisation = 1e-9, max_regularisation = 1e9;  // in units of unit_

// The transpose of a matrix that is stored by rows.
Eigen::Map<const Eigen::MatrixXd> transpose_of(const StepJacobian::Matrix& M) {
    return {M.data(), M.cols(), M.rows()};
}

}  // namespace

TrajectoryOptimizer::TrajectoryOptimizer(const World& w, const Objective& objective,
                                         const VecX<double>& theta, const TrajectorySettings& settings)
    : world_(w),
      objective_(objective),
      theta_(theta),
      settings_(settings),
      pushes_(w),
      scratch_(w),
      jacobian_(w),
      terms_(w, objective, Columns::state_and_control) {
    refuse_warm_start(w);
    range_ = 0.5 * (settings_.upper - settings_.lower);
    for (double& r : range_)
        if (!(r < unlimited)) r = 1;
}

// Computes x_t+1 and returns the step's share of the objective; infinity if the state is not finite
double TrajectoryOptimizer::take_step(int t, const double* x, const double* u, double* next) {
    step(world_, {theta_.data(), x, u, pushes_.at(first_step_ + t, theta_.data())}, scratch_, next);
    for (int i = 0; i < world_.nx(); ++i)
        if (!std::isfinite(next[i])) return unlimited;
    return objective_value(world_, objective_, true, first_step_ + t, {theta_.data(), x, u}, scratch_);
}

// The final state's share of the objective.
double TrajectoryOptimizer::finish(const double* x) {
    observe(world_, theta_.data(), x, scratch_);
    return objective_value<double>(world_, objective_, false, first_step_ + steps(),
                                   {theta_.data(), x, nullptr}, scratch_);
}

template <class Control>
void TrajectoryOptimizer::correct(const Eigen::MatrixXd& K, const VecX<double>* k, double length,
                                  const double* from, const double* x, Control&& u) {
    dx_.resize(world_.ndx());
    state_difference(world_, from, x, dx_.data());
    const VecX<double> feedback = K * dx_;
    for (Eigen::Index i = 0; i < feedback.size(); ++i) {
        double& control = u[settings_.free[i]];
        if (k) control += length * (*k)[i];
        control = std::clamp(control + feedback[i], settings_.lower[i], settings_.upper[i]);
    }
}

bool TrajectoryOptimizer::start(const VecX<double>& x0, const Eigen::MatrixXd& U, int first_step) {
    if (!roll(x0, U, first_step)) return false;
    linearise();
    return true;
}

bool TrajectoryOptimizer::roll(const VecX<double>& x0, const Eigen::MatrixXd& U, int first_step) {
    first_step_ = first_step;
    U_ = U;
    U_trial_ = U;
    X_.resize(world_.nx(), steps() + 1);
    X_trial_ = X_;
    X_.col(0) = x0;
    stages_.resize(steps() + 1);
    penalty_ = 0;
    linearised_ = false;
    merit_ = {roll_on(nullptr), 0};
    return merit_.cost < unlimited;
}

void TrajectoryOptimizer::roll_again(const Eigen::MatrixXd& U, const Tracked* tracked) {
    X_.swap(X_trial_);
    U_.swap(U_trial_);
    X_.col(0) = X_trial_.col(0);
    U_ = U;
    const double cost = roll_on(tracked);
    if (cost < merit_.cost)
        merit_.cost = cost;
    else {
        X_.swap(X_trial_);
        U_.swap(U_trial_);
    }
    linearised_ = false;
}

// The objective along the rollout from the first state with the controls, within their limits and under gains
double TrajectoryOptimizer::roll_on(const Tracked* tracked) {
    for (Eigen::Index i = 0; i < settings_.lower.size(); ++i) {
        auto row = U_.row(settings_.free[i]);
        row = row.cwiseMax(settings_.lower[i]).cwiseMin(settings_.upper[i]).eval();
    }
    double cost = 0;
    for (int t = 0; t < steps(); ++t) {
        if (tracked)
            correct(tracked->gains[t], nullptr, 0, tracked->states.col(t).data(), X_.col(t).data(),
                    U_.col(t));
        cost += take_step(t, X_.col(t).data(), U_.col(t).data(), X_.col(t + 1).data());
        if (!(cost < unlimited)) return unlimited;
    }
    return cost + finish(X_.col(steps()).data());
}

// Computes the trajectory for a step length, in X_trial_ and U_trial_. Its cost is unlimited if that of its first
// steps is not below the limit.
TrajectoryOptimizer::Merit TrajectoryOptimizer::run(double length, double limit) {
    Merit m;
    ++runs_;
    VecX<double> dx(world_.ndx()), next(world_.nx());
    X_trial_.col(0) = X_.col(0);
    for (int t = 0; t < steps(); ++t) {
        const Stage& stage = stages_[t];
        auto u = U_trial_.col(t);
        u = U_.col(t);
        correct(stage.K, &stage.k, length, X_.col(t).data(), X_trial_.col(t).data(), u);
        m.cost += take_step(t, X_trial_.col(t).data(), u.data(), next.data());
        if (!(m.cost < limit)) return {unlimited, 0};
        if (is_cut(t + 1)) {
            dx = length * stages_[t + 1].dx;
            retract_state(world_, X_.col(t + 1).data(), dx.data(), X_trial_.col(t + 1).data());
            state_difference(world_, X_trial_.col(t + 1).data(), next.data(), dx.data());
            m.defect += dx.lpNorm<1>();
        } else
            X_trial_.col(t + 1) = next;
    }
    m.cost += finish(X_trial_.col(steps()).data());
    return m;
}

// The quadratic model of the objective at a stage, from its residuals.
void TrajectoryOptimizer::quadratic(const Residuals& r, Stage& stage) const {
    const int ndx = world_.ndx();
    std::vector<int> free = settings_.free;
    for (int& i : free)
        i += ndx;
    const VecX<double> gradient = 2 * (r.J.transpose() * r.r) + r.linear;
    const Eigen::MatrixXd hessian = 2 * product(transpose_of(r.J), r.J);
    stage.l_x = gradient.head(ndx);
    stage.l_u = gradient(free);
    stage.l_xx = hessian.topLeftCorner(ndx, ndx);
    stage.l_ux = hessian(free, Eigen::seqN(0, ndx));
    stage.l_uu = hessian(free, free);
}

// Call after the step from x_t with u_t, which ends in `next`.
void TrajectoryOptimizer::linearise_step(int t, const double* next) {
    Stage& stage = stages_[t];
    const double *x = X_.col(t).data(), *u = U_.col(t).data();
    terms_.linearise(true, first_step_ + t, theta_.data(), x, u, scratch_, residuals_);
    quadratic(residuals_, stage);
    const double* wrenches = pushes_.at(first_step_ + t, theta_.data());
    if (settings_.jacobian)
        settings_.jacobian(x, u, wrenches, scratch_, jacobian_);
    else
        step_jacobian(world_, theta_.data(), x, u, scratch_, jacobian_, wrenches);
    stage.A = jacobian_.by_x;
    stage.B = jacobian_.by_u(Eigen::all, settings_.free);
    stage.d.setZero(world_.ndx());
    if (is_cut(t + 1)) state_difference(world_, X_.col(t + 1).data(), next, stage.d.data());
}

void TrajectoryOptimizer::linearise() {
    VecX<double> next(world_.nx());
    for (int t = 0; t < steps(); ++t) {
        step(world_,
             {theta_.data(), X_.col(t).data(), U_.col(t).data(), pushes_.at(first_step_ + t, theta_.data())},
             scratch_, next.data());
        linearise_step(t, next.data());
    }
    observe(world_, theta_.data(), X_.col(steps()).data(), scratch_);
    linearise_end();
}

// Call after `observe` of the final state.
void TrajectoryOptimizer::linearise_end() {
    Stage& end = stages_.back();
    terms_.linearise(false, first_step_ + steps(), theta_.data(), X_.col(steps()).data(), nullptr, scratch_,
                     residuals_);
    quadratic(residuals_, end);

    // The gradient with respect to the controls, without components at active limits.
    VecX<double> costate = end.l_x;
    double sum = 0;
    for (int t = steps() - 1; t >= 0; --t) {
        const Stage& stage = stages_[t];
        const VecX<double> g = stage.l_u + stage.B.transpose() * costate;
        for (Eigen::Index i = 0; i < g.size(); ++i) {
            const double u = U_(settings_.free[i], t);
            const bool held = (u <= settings_.lower[i] && g[i] > 0) || (u >= settings_.upper[i] && g[i] < 0);
            if (!held) sum += g[i] * g[i];
        }
        costate = (stage.l_x + stage.A.transpose() * costate).eval();
    }
    gradient_norm_ = std::sqrt(sum);
    linearised_ = true;
}

bool TrajectoryOptimizer::sweep_back() {
    VecX<double> V_x = stages_.back().V_x = stages_.back().l_x;
    Eigen::MatrixXd V_xx = stages_.back().V_xx = stages_.back().l_xx;
    const VecX<double> damping =
        regularisation_ * (unit_ > 0 ? unit_ : 1) * range_.cwiseAbs2().cwiseInverse();
    double curvature = 0;
    for (int t = steps() - 1; t >= 0; --t) {
        Stage& stage = stages_[t];
        const Eigen::MatrixXd A_V = product(transpose_of(stage.A), V_xx),
                              B_V = product(transpose_of(stage.B), V_xx);
        const VecX<double> V_next = V_x + V_xx * stage.d;
        const VecX<double> Q_x = stage.l_x + stage.A.transpose() * V_next,
                           Q_u = stage.l_u + stage.B.transpose() * V_next;
        const Eigen::MatrixXd Q_xx = stage.l_xx + product(A_V, stage.A),
                              Q_ux = stage.l_ux + product(B_V, stage.A),
                              Q_uu = stage.l_uu + product(B_V, stage.B);
        curvature += range_.cwiseAbs2().dot(Q_uu.diagonal());
        const VecX<double> u = U_.col(t)(settings_.free);
        if (stage.k.size() != u.size()) stage.k.setZero(u.size());
        Eigen::MatrixXd H = Q_uu;
        H.diagonal() += damping;
        const BoxQp qp = solve_box_qp(H, Q_u, settings_.lower - u, settings_.upper - u, stage.k);
        if (!qp.solved || !qp.x.allFinite()) return false;
        stage.k = qp.x;
        stage.K = -qp.response(Q_ux);
        const Eigen::MatrixXd Kt = stage.K.transpose(), Q_xu = Q_ux.transpose(),
                              R = Q_ux + product(Q_uu, stage.K);
        V_x = Q_x + Kt * Q_u + R.transpose() * stage.k;
        V_xx = Q_xx + product(Kt, R) + product(Q_xu, stage.K);
        V_xx = (0.5 * (V_xx + V_xx.transpose())).eval();
        stage.V_x = V_x;
        stage.V_xx = V_xx;
    }
    if (unit_ == 0) {
        unit_ = curvature / (static_cast<double>(range_.size()) * steps());
        if (unit_ > 0) return sweep_back();  // again, with the unit of the regularization
    }
    return true;
}

// The linear model's states and controls, the slope of the merit along them, and the penalty that makes it
// negative (Nocedal & Wright, Numerical Optimization, 2006, eq. 18.36).
void TrajectoryOptimizer::sweep_forward() {
    double slope = 0, curvature = 0;
    stages_.front().dx.setZero(world_.ndx());
    for (size_t t = 0; t < stages_.size(); ++t) {
        Stage& stage = stages_[t];
        slope += stage.l_x.dot(stage.dx);
        curvature += stage.dx.dot(stage.l_xx * stage.dx);
        if (t + 1 == stages_.size()) break;
        stage.du = stage.k + stage.K * stage.dx;
        slope += stage.l_u.dot(stage.du);
        curvature += stage.du.dot(stage.l_uu * stage.du) + 2 * stage.du.dot(stage.l_ux * stage.dx);
        stages_[t + 1].dx = stage.A * stage.dx + stage.B * stage.du + stage.d;
    }
    if (merit_.defect > 1e-12) penalty_ = std::max(penalty_, 2 * (slope + 0.5 * curvature) / merit_.defect);
    slope_ = slope - penalty_ * merit_.defect;
}

bool TrajectoryOptimizer::close_loop() {
    constexpr double factor = 100;
    if (!linearised_) linearise();
    const double of_iterations = regularisation_;
    bool solved = false;
    for (regularisation_ = least_regularisation; !solved && regularisation_ <= max_regularisation;
         regularisation_ *= factor)
        solved = sweep_back();
    regularisation_ = of_iterations;
    return solved;
}

bool TrajectoryOptimizer::iterate(const std::function<bool()>& stop) {
    constexpr double armijo = 1e-4, factor = 5;
    constexpr int halvings = 10;
    if (!linearised_) linearise();
    if (gradient_norm_ == 0 && merit_.defect == 0) return false;
    for (; regularisation_ <= max_regularisation; regularisation_ *= factor) {
        if (!sweep_back()) continue;
        sweep_forward();
        const double limit = terms_.is_sum_of_squares() ? merit(merit_) : unlimited;
        double length = 1;
        for (int n = 0; n <= halvings; ++n, length *= 0.5) {
            if (stop && stop()) return false;
            const Merit m = run(length, limit);
            if (!(m.cost < unlimited) || !(merit(m) <= merit(merit_) + armijo * length * slope_) ||
                !(merit(m) < merit(merit_)))
                continue;
            merit_ = m;
            X_.swap(X_trial_);
            U_.swap(U_trial_);
            linearised_ = false;
            if (n == 0) regularisation_ = std::max(regularisation_ / factor, least_regularisation);
            if (n > 3) regularisation_ = std::min(regularisation_ * factor, max_regularisation);
            return true;
        }
    }
    regularisation_ = 1;
    return false;
}

}  // namespace costate
