// The classical Runge-Kutta method of fourth order, as MuJoCo's mj_RungeKutta (engine_forward.c). Stage i is a step
// with explicit damping from (q_i, v_i), which has contacts of its own. With k_i = v*_i - v_i of the stages:
//
//   q_i = retract(q, h c_i v_{i-1}),   v_i = v + c_i k_{i-1}   for i = 1, 2, 3;   q_0 = q, v_0 = v
//   q+ = retract(q, h sum b_i v_i),    v+ = v + sum b_i k_i
//
// The order is four for hinges and slides, and two where bodies turn on free or ball joints. Contacts, impulses and
// sensors of the step are those of stage 0. There are no activations and no warm start.
#pragma once

#include <algorithm>
#include <array>

#include "core/dynamics/integrate.hpp"
#include "solvers/step/step.hpp"

namespace costate {

inline constexpr int rk_stages = 4;
inline constexpr double rk_c[rk_stages] = {0, 0.5, 0.5, 1},
                        rk_b[rk_stages] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};

template <class T> struct RungeKutta {
    struct Stage {
        std::vector<T> x, k;          // (nx) q_i, v_i; (nv) k_i
        std::vector<T> v_bar, k_bar;  // (nv)
    };
    std::vector<StepScratch<T>> scratch;  // (3) of the stages 1, 2, 3
    std::array<Stage, rk_stages> stages;
    std::vector<T> d, d_bar;       // (nv) a displacement
    std::vector<T> x_bar, no_bar;  // (ndx) of a stage; zero

    explicit RungeKutta(const World& w) {
        for (int i = 1; i < rk_stages; ++i)
            scratch.emplace_back(w);
        for (Stage& stage : stages) {
            stage.x.assign(w.nx(), T(0));
            for (auto* x : {&stage.k, &stage.v_bar, &stage.k_bar})
                x->assign(w.nv(), T(0));
        }
        d.assign(w.nv(), T(0));
        d_bar = d;
        x_bar.assign(w.ndx(), T(0));
        no_bar = x_bar;
    }
    StepScratch<T>& of_stage(int i, StepScratch<T>& first) { return i == 0 ? first : scratch[i - 1]; }
};

// d = h c_i v_{i-1}
template <class T> void displace_stage(const World& w, const T* theta, int i, RungeKutta<T>& r) {
    for (int j = 0; j < w.nv(); ++j)
        r.d[j] = w.h(theta) * rk_c[i] * r.stages[i - 1].x[w.nq() + j];
}
// d = h sum b_i v_i
template <class T> void displace_step(const World& w, const T* theta, RungeKutta<T>& r) {
    for (int j = 0; j < w.nv(); ++j) {
        T v(0);
        for (int i = 0; i < rk_stages; ++i)
            v += rk_b[i] * r.stages[i].x[w.nq() + j];
        r.d[j] = w.h(theta) * v;
    }
}

// The adjoint of retract(q, d) with d = h u for a sum u of the v_i, from q_next_bar: adds to the covectors of q and of
// h, and calls add(j, h d_bar[j]) with the covector of u.
template <class T, class Add>
void pull_back_displacement(const World& w, const StepInputs<T>& in, RungeKutta<T>& r, const T* q_next_bar,
                            const StepInputBars<T>& bar, const Add& add) {
    std::ranges::fill(r.d_bar, T(0));
    retract_adj(w.model, in.x, r.d.data(), q_next_bar, bar.x, r.d_bar.data());
    for (int j = 0; j < w.nv(); ++j) {
        w.h(bar.theta) += r.d_bar[j] * r.d[j] / w.h(in.theta);
        add(j, w.h(in.theta) * r.d_bar[j]);
    }
}

// step_stage(inputs, scratch, x_next) is one step.
template <class T, class StepStage>
void runge_kutta(const World& w, const StepInputs<T>& in, StepScratch<T>& s, T* x_next,
                 const StepStage& step_stage) {
    RungeKutta<T>& r = *s.runge_kutta;
    const T* v = in.x + w.nq();
    std::copy_n(in.x, w.nx(), r.stages[0].x.begin());
    for (int i = 0; i < rk_stages; ++i) {
        std::vector<T>&x = r.stages[i].x, &k = r.stages[i].k;
        if (i > 0) {
            displace_stage(w, in.theta, i, r);
            retract(w.model, in.x, r.d.data(), x.data());
            for (int j = 0; j < w.nv(); ++j)
                x[w.nq() + j] = v[j] + rk_c[i] * r.stages[i - 1].k[j];
        }
        StepScratch<T>& scratch = r.of_stage(i, s);
        step_stage(StepInputs<T>{in.theta, x.data(), in.u, in.wrenches}, scratch, x_next);
        for (int j = 0; j < w.nv(); ++j)
            k[j] = scratch.v_next[j] - x[w.nq() + j];
    }
    displace_step(w, in.theta, r);
    retract(w.model, in.x, r.d.data(), x_next);
    for (int j = 0; j < w.nv(); ++j) {
        T dv(0);
        for (int i = 0; i < rk_stages; ++i)
            dv += rk_b[i] * r.stages[i].k[j];
        x_next[w.nq() + j] = v[j] + dv;
    }
}

// Call after runge_kutta. step_stage_adj(inputs, scratch, x_next_bar, bars) is the adjoint of step_stage, with the
// covector of v*_i in scratch.velocity_bar.
template <class T, class StepStageAdj>
void runge_kutta_adj(const World& w, const StepInputs<T>& in, StepScratch<T>& s, const T* x_next_bar,
                     const StepInputBars<T>& bar, const StepStageAdj& step_stage_adj) {
    RungeKutta<T>& r = *s.runge_kutta;
    T* v_bar = bar.x + w.nv();
    displace_step(w, in.theta, r);
    pull_back_displacement(w, in, r, x_next_bar, bar, [&](int j, const T& sum_bar) {
        for (int i = 0; i < rk_stages; ++i) {
            r.stages[i].v_bar[j] = rk_b[i] * sum_bar;
            r.stages[i].k_bar[j] = rk_b[i] * x_next_bar[w.nv() + j];
        }
        v_bar[j] += x_next_bar[w.nv() + j];
    });
    for (int i = rk_stages - 1; i >= 0; --i) {
        auto& stage = r.stages[i];
        StepScratch<T>& scratch = r.of_stage(i, s);
        for (int j = 0; j < w.nv(); ++j)
            scratch.velocity_bar[j] += stage.k_bar[j];
        std::ranges::fill(r.x_bar, T(0));
        step_stage_adj(StepInputs<T>{in.theta, stage.x.data(), in.u, in.wrenches}, scratch, r.no_bar.data(),
                       StepInputBars<T>{bar.theta, r.x_bar.data(), bar.u, bar.wrenches});
        for (int j = 0; j < w.nv(); ++j) {
            stage.v_bar[j] += r.x_bar[w.nv() + j] - stage.k_bar[j];
            v_bar[j] += stage.v_bar[j];
        }
        if (i == 0) break;
        auto& before = r.stages[i - 1];
        for (int j = 0; j < w.nv(); ++j)
            before.k_bar[j] += rk_c[i] * stage.v_bar[j];
        displace_stage(w, in.theta, i, r);
        pull_back_displacement(w, in, r, r.x_bar.data(), bar,
                               [&](int j, const T& sum_bar) { before.v_bar[j] += rk_c[i] * sum_bar; });
    }
    for (int j = 0; j < w.nv(); ++j)
        bar.x[j] += r.x_bar[j];
}

}  // namespace costate
