// Damping that acts after the contacts, as in MuJoCo (Settings::integrator). Its impulses are those of a body
// whose damping is explicit. Then the change of velocity that they make is damped implicitly:
//
//   v* = v + M^-1 (h (tau - c - B v) + J^T lambda)
//   v+ = v + (M + h D)^-1 M (v* - v) = v* - z,   (M + h D) z = h D (v* - v)
//
// M has no damping here. D is the damping of joints (mujoco_euler), or B, which has the velocity gains of
// their actuators, too (mujoco_implicitfast), or zero (the others). (MuJoCo's
// documentation, "Numerical integration", and mj_Euler in its engine_forward.c.)
#pragma once

#include "core/dynamics/ltl.hpp"
#include "solvers/world.hpp"

namespace costate {

template <class T> struct LateDamping {
    std::vector<T> B, D;    // (nv) as above
    std::vector<T> factor;  // (mass_matrix_size) of M + h D
    std::vector<T> z, v;    // (nv) as above; v+
    // bars
    std::vector<T> rhs_bar, D_bar;  // (nv) of (M + h D) z; of D
    explicit LateDamping(const World& w) {
        if (!w.damps_late()) return;
        for (auto* x : {&B, &D, &z, &v, &rhs_bar, &D_bar})
            x->assign(w.nv(), T(0));
        factor.resize(w.model.mass_matrix_size);
    }
};

// Makes the damping explicit: tau' = tau - B v, B' = 0. Notes B and D.
template <class T>
void postpone_damping(const World& w, const T* theta, const T* v, T* tau, T* B, LateDamping<T>& s) {
    for (int j = 0; j < w.nv(); ++j) {
        s.B[j] = B[j];
        if (w.settings.integrator == Integrator::mujoco_euler) s.D[j] = theta[w.model.damping.at(j)];
        if (w.settings.integrator == Integrator::mujoco_implicitfast) s.D[j] = B[j];
        tau[j] -= B[j] * v[j];
        B[j] = T(0);
    }
}
// Input: s.D_bar. B_bar: in, of B' and unused; out, of B. The covector of tau is that of tau'.
template <class T>
void postpone_damping_adj(const World& w, const T* v, const LateDamping<T>& s, const T* tau_bar, T* theta_bar,
                          T* v_bar, T* B_bar) {
    for (int j = 0; j < w.nv(); ++j) {
        B_bar[j] = -v[j] * tau_bar[j];
        v_bar[j] -= s.B[j] * tau_bar[j];
        if (w.settings.integrator == Integrator::mujoco_euler) theta_bar[w.model.damping.at(j)] += s.D_bar[j];
        if (w.settings.integrator == Integrator::mujoco_implicitfast) B_bar[j] += s.D_bar[j];
    }
}

// Factors M + h D. M (mass_matrix_size) is not factored.
template <class T>
void factor_late(const World& w, const T* theta, const std::vector<T>& M, LateDamping<T>& s) {
    s.factor = M;
    for (int j = 0; j < w.nv(); ++j) {
        const Dof& dof = w.model.dofs[j];
        s.factor[dof.row + dof.depth] += w.h(theta) * s.D[j];
    }
    ltl_factor_inplace(w.model, s.factor.data());
}

// s.v from v*.
template <class T>
void damp_late(const World& w, const T* theta, const T* v, const T* v_star, LateDamping<T>& s) {
    for (int j = 0; j < w.nv(); ++j)
        s.z[j] = w.h(theta) * s.D[j] * (v_star[j] - v[j]);
    ltl_solve_inplace(w.model, s.factor.data(), 0, w.nv(), s.z.data());
    for (int j = 0; j < w.nv(); ++j)
        s.v[j] = v_star[j] - s.z[j];
}
// The adjoint of damp_late and of factor_late. bar: in, the covector of v+; out, of v*. Adds to s.D_bar.
template <class T>
void damp_late_adj(const World& w, const T* theta, const T* v, LateDamping<T>& s, T* bar, T* theta_bar,
                   T* v_bar, T* M_bar) {
    const T& h = w.h(theta);
    for (int j = 0; j < w.nv(); ++j)
        s.rhs_bar[j] = -bar[j];
    ltl_solve_inplace(w.model, s.factor.data(), 0, w.nv(), s.rhs_bar.data());
    ltl_solve_inplace_adj(w.model, 0, w.nv(), s.z.data(), s.rhs_bar.data(), M_bar);
    for (int j = 0; j < w.nv(); ++j) {
        const T by_hD = s.rhs_bar[j] * (s.v[j] - v[j]);  // v* - v of the right-hand side, -z of M + h D
        w.h(theta_bar) += s.D[j] * by_hD;
        s.D_bar[j] += h * by_hD;
        bar[j] += h * s.D[j] * s.rhs_bar[j];
        v_bar[j] -= h * s.D[j] * s.rhs_bar[j];
    }
}

}  // namespace costate
