// The rollout of a scene in the scalar of a tool, by the same templated step: instantiated in the file that
// includes this.
#pragma once

#include "adjoint/objective/objective.hpp"
#include "adjoint/objective/objective.inl"
#include "adjoint/rollout/rollout.hpp"
#include "apps/beside/autodiff/active.hpp"
#include "apps/beside/autodiff/compare.hpp"
#include "solvers/complementarity/pgs.inl"
#include "solvers/sensors/sensors.inl"
#include "solvers/step/step.hpp"
#include "solvers/step/step.inl"

namespace costate {

// The variables of a gradient in one row: tangent of the initial state, controls, parameters.
struct Inputs {
    int state, controls, parameters;
    explicit Inputs(const Scene& s)
        : state(s.world.ndx()),
          controls(s.plan.size()),
          parameters(s.world.np()) {}
    int size() const { return state + controls + parameters; }
    VecX<double> at(const Scene& s) const {
        VecX<double> all(size());
        all << VecX<double>::Zero(state), s.z0, s.theta;
        return all;
    }
    Gradient gradient(const VecX<double>& all) const {
        return {all.segment(state, controls), all.head(state), all.tail(parameters)};
    }
};

// The loss of the first `steps` steps, by variables in that order. The state starts from (q, v) =
// (retract(q0, d_q), v0 + d_v), d = 0.
template <class T> T rollout_loss(const Scene& s, int steps, const T* variables) {
    const World& w = s.world;
    const T *d = variables, *z = d + w.ndx(), *theta = z + s.plan.size();
    StepScratch<T> scratch(w);
    VecX<T> x = cast<T>(s.x0), x_next(w.nx()), u(w.nu());
    retract(w.model, x.data(), d, x_next.data());
    for (int j = 0; j < w.nv(); ++j)
        x_next[w.nq() + j] = x[w.nq() + j] + d[w.nv() + j];
    x.swap(x_next);
    T loss(0);
    for (int t = 0; t < steps; ++t, x.swap(x_next)) {
        s.plan.evaluate(z, t, u.data());
        step(w, {theta, x.data(), u.data()}, scratch, x_next.data());
        loss += objective_value(w, s.objective, true, t, {theta, x.data(), u.data()}, scratch);
    }
    observe(w, theta, x.data(), scratch);
    return loss + objective_value<T>(w, s.objective, false, steps, {theta, x.data(), nullptr}, scratch);
}

}  // namespace costate

// Exact solvers iterate in plain numbers, and main.cpp refuses their scenes: what is compared is the
// projected Gauss-Seidel method.
#define COSTATE_WITHOUT_EXACT_SOLVERS(T)                                                                     \
    namespace costate {                                                                                      \
    template <> SolverStatus lcp(const MlcpView<T>&, LcpScratch&, ActiveSet<T>&, T*) { std::abort(); }       \
    template <>                                                                                              \
    SolverStatus solve_exactly(const MlcpView<T>&, const Settings&, FrictionLaw, SolverScratch&,             \
                               ActiveSet<T>&, T*) {                                                          \
        std::abort();                                                                                        \
    }                                                                                                        \
    template <> void linearise_at(const MlcpView<T>&, FrictionLaw, ActiveSet<T>&, const T*) {                \
        std::abort();                                                                                        \
    }                                                                                                        \
    }
