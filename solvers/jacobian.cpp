#include "solvers/jacobian.hpp"

namespace costate {

void step_jacobian(const World& w, const double* theta, const double* x, const double* u, StepScratch<double>& s, StepJacobian& J) {
    const int nv = w.nv(), time_step = w.time_step.at(0);
    const double h = theta[time_step];
    J.by_x.setZero(), J.by_u.setZero(), J.by_theta.setZero();
    VecX<double> next_bar = VecX<double>::Zero(w.ndx()), q_bar(nv), d_bar(nv);
    for (int i = 0; i < nv; ++i) {
        next_bar[nv + i] = 1;
        s.clear_bars();
        step_adj(w, theta, x, u, s, next_bar.data(), J.by_theta.row(nv + i).data(), J.by_x.row(nv + i).data(), J.by_u.row(nv + i).data());
        next_bar[nv + i] = 0;
    }
    const Eigen::Map<const VecX<double>> v_next(s.v_next.data(), nv);
    for (int i = 0; i < nv; ++i) {
        q_bar.setZero(), d_bar.setZero(), next_bar[i] = 1;
        retract_adj(w.model, x, s.displacement.data(), next_bar.data(), q_bar.data(), d_bar.data());
        next_bar[i] = 0;
        for (int j = 0; j < nv; ++j) {
            if (d_bar[j] == 0) continue;
            J.by_x.row(i) += h * d_bar[j] * J.by_x.row(nv + j);
            J.by_u.row(i) += h * d_bar[j] * J.by_u.row(nv + j);
            J.by_theta.row(i) += h * d_bar[j] * J.by_theta.row(nv + j);
        }
        J.by_x.row(i).head(nv) += q_bar.transpose();
        J.by_theta(i, time_step) += d_bar.dot(v_next);
    }
}

void step_jvp(const World& w, const double* theta, const double* x, const double* u, const double* theta_dot, const double* x_dot,
              const double* u_dot, StepScratch<Dual<double>>& s, double* x_next_dot) {
    using D = Dual<double>;
    const auto lift = [](const double* value, const double* dot, int n) {
        VecX<D> y(n);
        for (int i = 0; i < n; ++i) y[i] = {value[i], dot[i]};
        return y;
    };
    const Model& m = w.model;
    const VecX<D> theta_d = lift(theta, theta_dot, w.np()), u_d = lift(u, u_dot, w.nu());
    VecX<D> x_d = Eigen::Map<const VecX<double>>(x, w.nx()).cast<D>(), next(w.nx()), d(w.nv());
    const VecX<D> q = x_d.head(w.nq());
    for (int i = 0; i < w.nv(); ++i) d[i] = {0, x_dot[i]}, x_d[w.nq() + i] = {x[w.nq() + i], x_dot[w.nv() + i]};
    retract(m, q.data(), d.data(), x_d.data());
    step(w, theta_d.data(), x_d.data(), u_d.data(), s, next.data());
    VecX<D> values(w.nq());
    for (int i = 0; i < w.nq(); ++i) values[i] = next[i].v;
    difference(m, values.data(), next.data(), d.data());
    for (int i = 0; i < w.nv(); ++i) x_next_dot[i] = d[i].d, x_next_dot[w.nv() + i] = next[w.nq() + i].d;
}

}  // namespace costate
