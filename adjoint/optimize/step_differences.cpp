#include "adjoint/optimize/step_differences.hpp"

#include "adjoint/rollout/state.hpp"

namespace costate {

void step_jacobian_by_differences(const World& w, const double* theta, const double* x, const double* u,
                                  const double* wrenches, double e, StepScratch<double>& s, StepJacobian& J) {
    const int ndx = w.ndx();
    VecX<double> d = VecX<double>::Zero(ndx), x_moved(w.nx()),
                 u_moved = Eigen::Map<const VecX<double>>(u, w.nu()), less(w.nx()), more(w.nx()), change(ndx);
    const auto move = [&](int column, double by, VecX<double>& next) {
        double& entry = column < ndx ? d[column] : u_moved[column - ndx];
        const double before = entry;
        entry += by;
        retract_state(w, x, d.data(), x_moved.data());
        step(w, {theta, x_moved.data(), u_moved.data(), wrenches}, s, next.data());
        entry = before;
    };
    for (int c = 0; c < ndx + w.nu(); ++c) {
        move(c, -e, less);
        move(c, e, more);
        state_difference(w, less.data(), more.data(), change.data());
        (c < ndx ? J.by_x.col(c) : J.by_u.col(c - ndx)) = change / (2 * e);
    }
}

}  // namespace costate
