// Different environments of a batch, their results by single calls, and their results by a batch.
#pragma once

#include <doctest/doctest.h>

#include "adjoint/batch/batch.hpp"
#include "tests/support/toy_worlds.hpp"

namespace costate::test {

constexpr size_t batch_size = 5;  // n_env
constexpr int batch_steps = 3;    // n_steps

inline VecX<double> rows_of(const VecX<double>& all, size_t at, size_t width) {
    return all.segment(static_cast<Eigen::Index>(at * width), static_cast<Eigen::Index>(width));
}

// A world in contact, environments with different states and parameters, their controls, and a covector of
// every state after a step.
struct BatchCase {
    ToyState t;
    VecX<double> theta;       // (n_env x np)
    VecX<double> x, u;        // (n_env x nx), (n_steps x n_env x nu)
    VecX<double> states_bar;  // (n_steps x n_env x ndx)
    const World& w = t.world;
    size_t nx = w.nx(), ndx = w.ndx(), nu = w.nu(), np = w.np();

    explicit BatchCase(const Settings& settings, unsigned seed = 3) : t(toy_contact_state(seed, settings)) {
        Rng g(seed);
        t.x.conservativeResizeLike(VecX<double>::Zero(w.nx()));
        theta = t.theta.replicate(batch_size, 1);
        x = t.x.replicate(batch_size, 1);
        VecX<double> noise = VecX<double>::Constant(w.ndx(), 1e-2);
        noise.tail(w.warm_numbers()).setZero();
        for (size_t e = 0; e < batch_size; ++e) {
            perturb_state(w, noise.data(), e, x.data() + e * nx);
            double* const own = theta.data() + e * np;
            own[w.time_step.at(0)] *= 1 + 0.1 * static_cast<double>(e);
            own[w.model.mass.at(0)] *= 1 + 0.2 * static_cast<double>(e);
        }
        u = random_vector(batch_steps * static_cast<int>(batch_size * nu), g, Regime::random);
        states_bar = random_vector(batch_steps * static_cast<int>(batch_size * ndx), g, Regime::random);
    }
};

// Results of a batch or of single calls.
struct BatchResults {
    VecX<double> states;        // (n_steps x n_env x nx)
    VecX<double> x_bar, u_bar;  // (n_env x ndx), (n_steps x n_env x nu)
    VecX<double> theta_bar;     // (n_env x np)
    std::vector<double> residual = std::vector<double>(batch_size);
    std::vector<int> unconverged = std::vector<int>(batch_size),
                     completed = std::vector<int>(batch_size, batch_steps);
    explicit BatchResults(const BatchCase& c)
        : states(batch_steps * batch_size * c.nx),
          x_bar(batch_size * c.ndx),
          u_bar(batch_steps * batch_size * c.nu),
          theta_bar(batch_size * c.np) {}
};

// Environment e by `step` and `step_adj`. Gradients are summed over time steps from the last to the first,
// then over control steps.
inline void call_singly(const BatchCase& c, size_t e, const double* theta, int substeps, BatchResults& out) {
    StepScratch<double> s(c.w);
    std::vector<VecX<double>> x{rows_of(c.x, e, c.nx)};
    const auto row = [&](int t) { return static_cast<size_t>(t) * batch_size + e; };
    for (int k = 0; k < batch_steps * substeps; ++k) {
        x.emplace_back(c.w.nx());
        step(c.w, {theta, x[x.size() - 2].data(), c.u.data() + row(k / substeps) * c.nu}, s, x.back().data());
        const SolverOutcome solved = solver_outcome(c.w, s);
        out.residual[e] = std::max(out.residual[e], solved.residual);
        out.unconverged[e] += solved.converged ? 0 : 1;
        if ((k + 1) % substeps == 0)
            std::ranges::copy(x.back(), out.states.data() + row(k / substeps) * c.nx);
    }

    VecX<double> bar = VecX<double>::Zero(c.w.ndx()), theta_bar = VecX<double>::Zero(c.w.np()),
                 next(c.w.nx());
    for (int t = batch_steps; t-- > 0;) {
        bar += rows_of(c.states_bar, row(t), c.ndx);
        VecX<double> u_bar = VecX<double>::Zero(c.w.nu()), of_control_step = VecX<double>::Zero(c.w.np());
        for (int k = substeps; k-- > 0;) {
            VecX<double> x_bar = VecX<double>::Zero(c.w.ndx()), of_step = VecX<double>::Zero(c.w.np());
            const double *from = x[t * substeps + k].data(), *u = c.u.data() + row(t) * c.nu;
            step(c.w, {theta, from, u}, s, next.data());
            s.clear_bars();
            step_adj(c.w, {theta, from, u}, s, bar.data(), {of_step.data(), x_bar.data(), u_bar.data()});
            bar = x_bar;
            of_control_step += of_step;
        }
        theta_bar += of_control_step;
        std::ranges::copy(u_bar, out.u_bar.data() + row(t) * c.nu);
    }
    std::ranges::copy(bar, out.x_bar.data() + e * c.ndx);
    std::ranges::copy(theta_bar, out.theta_bar.data() + e * c.np);
}

inline BatchResults call_singly(const BatchCase& c, bool own_parameters, int substeps) {
    BatchResults out(c);
    for (size_t e = 0; e < batch_size; ++e)
        call_singly(c, e, own_parameters ? c.theta.data() + e * c.np : c.t.theta.data(), substeps, out);
    return out;
}

// A batch with the same state in all environments.
struct CaseBatch : Batch {
    CaseBatch(const BatchCase& c, const BatchOptions& o) : Batch(c.w, c.t.theta, c.t.x, o) {
        if (o.own_parameters) set_own_parameters(c.theta.data());
    }
};

inline void pull_back(const BatchCase& c, Batch& batch, BatchResults& out,
                      Batch::ThetaBar of = Batch::ThetaBar::each) {
    VecX<double> begins(c.x.size() * batch_steps);  // the states at the beginning of control steps
    begins << c.x, out.states.head(c.x.size() * (batch_steps - 1));
    batch.backward(batch_steps, begins.data(), c.u.data(), out.completed.data(), c.states_bar.data(),
                   out.x_bar.data(), out.u_bar.data(), out.theta_bar.data(), of);
}

inline BatchResults run_batch(const BatchCase& c, const BatchOptions& o) {
    CaseBatch batch(c, o);
    BatchResults out(c);
    batch.rollout(batch_steps, c.x.data(), c.u.data(), out.states.data(), out.completed.data());
    out.residual = batch.residual();
    out.unconverged = batch.unconverged();
    pull_back(c, batch, out);
    return out;
}

inline void check_same(const BatchResults& a, const BatchResults& b) {
    CHECK(a.states == b.states);
    CHECK(a.residual == b.residual);
    CHECK(a.unconverged == b.unconverged);
    CHECK(a.completed == b.completed);
    CHECK(a.x_bar == b.x_bar);
    CHECK(a.u_bar == b.u_bar);
    CHECK(a.theta_bar == b.theta_bar);
}

inline Settings batch_settings(SolverType solver, bool warm_start) {
    Settings s;
    s.solver = solver;
    s.warm_start = warm_start;
    s.warm_contacts = 12;
    if (solver == SolverType::pgs) s.sweeps = 4;
    return s;
}

}  // namespace costate::test
