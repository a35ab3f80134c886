#include "adjoint/batch/outputs.hpp"

#include "core/dynamics/integrate.hpp"

namespace costate {
namespace {

using D = Dual<double>;

}  // namespace

VecX<D> dual_vector(const double* x, const double* x_dot, int n) {
    VecX<D> out(n);
    for (int i = 0; i < n; ++i)
        out[i] = {x[i], x_dot ? x_dot[i] : 0};
    return out;
}

VecX<D> dual_state(const World& w, const double* x, const double* x_dot) {
    VecX<D> out(w.nx()), d(w.nv());
    const VecX<D> q = dual_vector(x, nullptr, w.nq());
    for (int i = 0; i < w.nv(); ++i)
        d[i] = {0, x_dot[i]};
    for (int i = w.nq(); i < w.nx(); ++i)
        out[i] = {x[i], w.is_key(i) ? 0 : x_dot[i - w.nq() + w.nv()]};
    retract(w.model, q.data(), d.data(), out.data());
    for (int i = 0; i < w.nq(); ++i)
        out[i].v = x[i];  // its bits: the retraction by 0 rounds
    return out;
}

void tangent_of(const World& w, const VecX<D>& x, double* x_dot) {
    VecX<D> values(w.nq()), d(w.nv());
    for (int i = 0; i < w.nq(); ++i)
        values[i] = x[i].v;
    difference(w.model, values.data(), x.data(), d.data());
    for (int i = 0; i < w.nv(); ++i)
        x_dot[i] = d[i].d;
    for (int i = w.nq(); i < w.nx(); ++i)
        x_dot[i - w.nq() + w.nv()] = x[i].d;
}

bool run_outputs(const World& w, const StepInputs<double>& in, bool step, Workspace& s, double* y) {
    if (step || w.sensors_read_step()) {
        costate::step(w, in, s.step, s.x_next.data());
        if (!s.x_next.allFinite()) return false;
    } else {
        observe(w, in.theta, in.x, s.step);
    }
    if (y) sensor_values(w, in, s.step, s.sensors, y);
    return true;
}

void pull_back_outputs(const World& w, const StepInputs<double>& in, bool step, Workspace& s,
                       const double* x_next_bar, const double* y_bar, const StepInputBars<double>& out) {
    VecX<double> next_bar = VecX<double>::Zero(w.ndx()), unused = VecX<double>::Zero(w.nu());
    if (x_next_bar) next_bar = Eigen::Map<const VecX<double>>(x_next_bar, w.ndx());
    const StepInputBars<double> bar{out.theta, out.x, out.u ? out.u : unused.data(), out.wrenches};
    s.step.clear_bars();
    if (y_bar) sensor_values_adj(w, in, s.step, s.sensors, y_bar, bar);
    if (step || w.sensors_read_step())
        step_adj(w, in, s.step, next_bar.data(), bar);
    else
        observe_adj(w, in.theta, in.x, s.step, out.theta, out.x);
}

void push_outputs(const World& w, const StepInputs<double>& in, bool step, const StepDirection& along,
                  Workspace& s, double* x_next_dot, double* y_dot) {
    TangentStep& tangent = s.tangent_step(w);
    StepScratch<D>& dual = tangent.scratch;
    const VecX<D> theta = dual_vector(in.theta, along.theta.data(), w.np()),
                  x = dual_state(w, in.x, along.x.data()),
                  u = in.u ? dual_vector(in.u, along.u.data(), w.nu()) : VecX<D>();
    const int pushed = in.wrenches ? static_cast<int>(along.wrenches.size()) : 0;
    const VecX<D> wrenches = dual_vector(in.wrenches, along.wrenches.data(), pushed);
    VecX<D> next(w.nx());
    if (step || w.sensors_read_step()) {
        tangent(theta.data(), x.data(), u.data(), next.data(), in.wrenches ? wrenches.data() : nullptr);
        if (x_next_dot) tangent_of(w, next, x_next_dot);
    } else {
        observe(w, theta.data(), x.data(), dual);
    }
    if (!y_dot) return;
    SensorScratch<D> sensors(w);
    VecX<D> y(w.ny());
    sensor_values(w, {theta.data(), x.data(), u.data()}, dual, sensors, y.data());
    for (int i = 0; i < w.ny(); ++i)
        y_dot[i] = y[i].d;
}

}  // namespace costate
