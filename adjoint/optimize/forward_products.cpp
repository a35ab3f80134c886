#include "adjoint/optimize/forward_products.hpp"

#include "adjoint/rollout/state.hpp"

namespace costate {

namespace {

// d x0/dy (ndx x n) and d theta/dy (np x n), computed by pulling back one row after the other.
struct StartTangents {
    Eigen::MatrixXd X, Theta;
    StartTangents(const World& w, const ControlPlan& plan, const Variables& variables, const VecX<double>& y)
        : X(w.ndx(), y.size()),
          Theta(w.np(), y.size()) {
        Gradient unit{VecX<double>::Zero(plan.size()), VecX<double>::Zero(w.ndx()),
                      VecX<double>::Zero(w.np())};
        for (int i = 0; i < w.ndx(); ++i) {
            unit.initial_state[i] = 1;
            X.row(i) = variables.pull_back(y, unit).transpose();
            unit.initial_state[i] = 0;
        }
        for (int i = 0; i < w.np(); ++i) {
            unit.parameters[i] = 1;
            Theta.row(i) = variables.pull_back(y, unit).transpose();
            unit.parameters[i] = 0;
        }
    }
};

// d u_t/dy (nu x n)
void control_tangents(const ControlPlan& plan, const std::vector<int>& controls, int t, Eigen::MatrixXd& U) {
    VecX<double> u_bar = VecX<double>::Zero(plan.nu()), z_bar(plan.size());
    for (int i = 0; i < plan.nu(); ++i) {
        z_bar.setZero();
        u_bar[i] = 1;
        plan.evaluate_adj(t, u_bar.data(), z_bar.data());
        u_bar[i] = 0;
        for (size_t k = 0; k < controls.size(); ++k)
            U(i, static_cast<Eigen::Index>(k)) = z_bar[controls[k]];
    }
}

}  // namespace

ForwardProducts::ForwardProducts(const World& w, const Objective& objective, const ControlPlan& plan,
                                 const Variables& variables, int steps)
    : world_(w),
      plan_(plan),
      variables_(variables),
      steps_(steps),
      scratch_(w),
      jacobian_(w),
      terms_(w, objective, Columns::and_parameters) {
    refuse_warm_start(w);
    refuse_pushes(w);
}

void ForwardProducts::add(const Eigen::MatrixXd& X, const Eigen::MatrixXd& U, const Eigen::MatrixXd& Theta,
                          NormalEquations& sum) const {
    if (residuals_.r.size() == 0) return;
    const Residuals::Matrix& J = residuals_.J;
    Eigen::MatrixXd by_y = J.leftCols(world_.ndx()) * X + J.middleCols(world_.ndx(), world_.nu()) * U;
    if (Theta.size() > 0) by_y += J.rightCols(world_.np()) * Theta;
    sum.H.noalias() += by_y.transpose() * by_y;
    sum.g.noalias() += by_y.transpose() * residuals_.r;
}

NormalEquations ForwardProducts::at(const VecX<double>& y) {
    const RolloutInputs in = variables_.inputs(y);
    StartTangents tangents(world_, plan_, variables_, y);
    Eigen::MatrixXd &X = tangents.X, &Theta = tangents.Theta,
                    U = Eigen::MatrixXd::Zero(world_.nu(), y.size());
    if (Theta.isZero(0)) Theta.resize(0, 0);  // no parameters are optimized
    NormalEquations sum{Eigen::MatrixXd::Zero(y.size(), y.size()), VecX<double>::Zero(y.size())};
    VecX<double> x = in.x0, next(world_.nx()), u(world_.nu());
    for (int t = 0; t < steps_; ++t, x.swap(next)) {
        plan_.evaluate(in.z.data(), t, u.data());
        control_tangents(plan_, variables_.controls(), t, U);
        step(world_, {in.theta.data(), x.data(), u.data()}, scratch_, next.data());
        terms_.linearise(true, t, in.theta.data(), x.data(), u.data(), scratch_, residuals_);
        add(X, U, Theta, sum);
        if (Theta.size() > 0)
            step_jacobian_by_adjoints(world_, in.theta.data(), x.data(), u.data(), scratch_, jacobian_,
                                      &by_theta_);
        else
            step_jacobian(world_, in.theta.data(), x.data(), u.data(), scratch_, jacobian_);
        X = (jacobian_.by_x * X + jacobian_.by_u * U).eval();
        if (Theta.size() > 0) X += by_theta_ * Theta;
    }
    observe(world_, in.theta.data(), x.data(), scratch_);
    terms_.linearise(false, steps_, in.theta.data(), x.data(), nullptr, scratch_, residuals_);
    U.setZero();
    add(X, U, Theta, sum);
    return sum;
}

}  // namespace costate
