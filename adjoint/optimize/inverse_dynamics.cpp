#include "adjoint/optimize/inverse_dynamics.hpp"

#include "adjoint/optimize/box_qp.hpp"
#include "solvers/step/jacobian.hpp"

namespace costate {

InverseDynamics inverse_dynamics(const World& w, const VecX<double>& theta, const VecX<double>& x,
                                 const VecX<double>& v_target, const VecX<double>& start, double tolerance,
                                 int max_iterations) {
    constexpr int max_rejections = 12;  // in a row
    constexpr double least_scale = 1e-12;
    const int nv = w.nv(), nu = w.nu();
    VecX<double> lower = VecX<double>::Constant(nu, -unlimited),
                 upper = VecX<double>::Constant(nu, unlimited);
    for (int i = 0; i < nu; ++i)
        if (const ParameterInterval& limits = w.model.actuators[i].control; limits.lower >= 0) {
            lower[i] = theta[limits.lower];
            upper[i] = theta[limits.upper];
        }

    StepScratch<double> scratch(w);
    StepJacobian jacobian(w);
    VecX<double> next(w.nx()), r(nv);
    const auto run = [&](const VecX<double>& u) {
        step(w, {theta.data(), x.data(), u.data()}, scratch, next.data());
        r = next.segment(w.nq(), nv) - v_target;
        return r.allFinite() ? r.norm() : unlimited;
    };
    InverseDynamics result{start.cwiseMax(lower).cwiseMin(upper), 0};
    result.residual = run(result.u);
    for (double damping = 1e-3;
         result.residual > tolerance && result.residual < unlimited && result.iterations < max_iterations;
         damping *= 0.01) {
        ++result.iterations;
        run(result.u);  // recomputes the intermediates
        step_jacobian(w, theta.data(), x.data(), result.u.data(), scratch, jacobian);
        const Eigen::MatrixXd J = jacobian.by_u.middleRows(nv, nv), JJ = J.transpose() * J;
        const VecX<double> g = J.transpose() * r,
                           D = JJ.diagonal().cwiseMax(least_scale * JJ.diagonal().maxCoeff());
        bool better = false;
        for (int rejections = 0; !better && rejections < max_rejections; ++rejections) {
            Eigen::MatrixXd H = JJ;
            H.diagonal() += damping * D;
            const BoxQp qp = solve_box_qp(H, g, lower - result.u, upper - result.u, VecX<double>::Zero(nu));
            const VecX<double> trial = (result.u + qp.x).cwiseMax(lower).cwiseMin(upper);
            const double residual = qp.solved ? run(trial) : unlimited;
            better = residual < result.residual;
            if (better) {
                result.u = trial;
                result.residual = residual;
            } else
                damping *= 4;
        }
        if (!better) break;
    }
    return result;
}

}  // namespace costate
