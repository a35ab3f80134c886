#include "adjoint/check/hessian.hpp"

#include "adjoint/rollout/state.hpp"
#include "solvers/step/tangent_step.hpp"

namespace costate {

namespace {

using D = Dual<double>;

VecX<D> lift(const VecX<double>& value, const VecX<double>& dot) {
    VecX<D> x(value.size());
    for (Eigen::Index i = 0; i < x.size(); ++i)
        x[i] = {value[i], dot[i]};
    return x;
}

void split(const VecX<D>& x, VecX<double>& dot, VecX<double>* value) {
    dot = x.unaryExpr([](const D& y) { return y.d; });
    if (value != nullptr) *value = x.unaryExpr([](const D& y) { return y.v; });
}

}  // namespace

Gradient hessian_vector_product(const World& w, const Objective& objective, const ControlPlan& plan,
                                int steps, const VecX<double>& theta, const VecX<double>& x0,
                                const VecX<double>& z, const Gradient& direction, Gradient* gradient) {
    refuse_pushes(w);
    const VecX<D> theta_d = lift(theta, direction.parameters), z_d = lift(z, direction.controls),
                  start = x0.cast<D>();
    const VecX<D> step_q = lift(VecX<double>::Zero(w.nv()), direction.initial_state.head(w.nv()));
    const auto nx = static_cast<size_t>(w.nx());
    TangentStep tangent_step(w);
    StepScratch<D>& s = tangent_step.scratch;
    // forward pass, storing all states
    std::vector<D> states((static_cast<size_t>(steps) + 1) * nx);
    VecX<D> u(w.nu()), next(w.nx());
    std::copy(start.begin(), start.end(), states.begin());
    retract(w.model, start.data(), step_q.data(), states.data());
    for (int i = 0; i < w.nv(); ++i)
        states[w.nq() + i] = {x0[w.nq() + i], direction.initial_state[w.nv() + i]};
    for (int t = 0; t < steps; ++t) {
        D* x = states.data() + t * nx;
        plan.evaluate(z_d.data(), t, u.data());
        tangent_step(theta_d.data(), x, u.data(), x + nx);
    }
    // backward pass, as in Rollout::backward and Simulation
    VecX<D> theta_bar = VecX<D>::Zero(w.np()), z_bar = VecX<D>::Zero(z.size()),
            x_bar = VecX<D>::Zero(w.ndx()), x_next_bar = x_bar, u_bar(w.nu());
    const D* last = states.data() + steps * nx;
    observe(w, theta_d.data(), last, s);
    s.clear_bars();
    objective_value_adj<D>(w, objective, false, steps, {theta_d.data(), last, nullptr}, D(1), s,
                           {theta_bar.data(), x_next_bar.data(), nullptr});
    observe_adj(w, theta_d.data(), last, s, theta_bar.data(), x_next_bar.data());
    for (int t = steps; t-- > 0;) {
        const D* x = states.data() + t * nx;
        plan.evaluate(z_d.data(), t, u.data());
        tangent_step(theta_d.data(), x, u.data(), next.data());
        s.clear_bars();
        x_bar.setZero();
        u_bar.setZero();
        objective_value_adj<D>(w, objective, true, t, {theta_d.data(), x, u.data()}, D(1), s,
                               {theta_bar.data(), x_bar.data(), u_bar.data()});
        step_adj(w, {theta_d.data(), x, u.data()}, s, x_next_bar.data(),
                 {theta_bar.data(), x_bar.data(), u_bar.data()});
        plan.evaluate_adj(t, u_bar.data(), z_bar.data());
        x_next_bar.swap(x_bar);
    }
    // with respect to the tangent at x0, whose retraction is the first state
    VecX<D> base_bar = VecX<D>::Zero(w.nv()), tangent_bar = x_next_bar;
    tangent_bar.head(w.nv()).setZero();
    retract_adj(w.model, start.data(), step_q.data(), x_next_bar.data(), base_bar.data(), tangent_bar.data());
    Gradient H;
    split(theta_bar, H.parameters, gradient ? &gradient->parameters : nullptr);
    split(z_bar, H.controls, gradient ? &gradient->controls : nullptr);
    split(tangent_bar, H.initial_state, gradient ? &gradient->initial_state : nullptr);
    return H;
}

}  // namespace costate
