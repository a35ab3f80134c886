// One time step with its sensors in a workspace: (x, u, wrenches, theta) -> (x_next, y), backwards, and along
// a direction. Batches and the C API use it.
#pragma once

#include "adjoint/batch/workspace.hpp"

namespace costate {

struct StepDirection {
    VecX<double> theta, x, u, wrenches;  // (np), (ndx), (nu), (bodies x 6)
    explicit StepDirection(const World& w)
        : theta(VecX<double>::Zero(w.np())),
          x(VecX<double>::Zero(w.ndx())),
          u(VecX<double>::Zero(w.nu())),
          wrenches(VecX<double>::Zero(6 * static_cast<Eigen::Index>(w.model.bodies.size()))) {}
};

// A state and its derivative, as dual numbers: x moved along the tangent x_dot (ndx). And back: the tangent of
// a dual state (ndx).
VecX<Dual<double>> dual_state(const World& w, const double* x, const double* x_dot);
void tangent_of(const World& w, const VecX<Dual<double>>& x, double* x_dot);
VecX<Dual<double>> dual_vector(const double* x, const double* x_dot, int n);  // x_dot null: 0

// Runs the step if `step` or a sensor asks for it, which leaves x_next in the workspace; y (ny) may be null, as
// may in.u if no control is needed.
// False if the step was run and x_next is not finite.
bool run_outputs(const World& w, const StepInputs<double>& in, bool step, Workspace& s, double* y);
// Reverse; call after run_outputs with the same arguments. x_next_bar (ndx), null: zeros; y_bar (ny), null:
// zeros; out.u may be null.
void pull_back_outputs(const World& w, const StepInputs<double>& in, bool step, Workspace& s,
                       const double* x_next_bar, const double* y_bar, const StepInputBars<double>& out);
// The derivatives of x_next (ndx) and of y (ny) along a direction, by dual numbers; each may be null.
void push_outputs(const World& w, const StepInputs<double>& in, bool step, const StepDirection& along,
                  Workspace& s, double* x_next_dot, double* y_dot);

}  // namespace costate
