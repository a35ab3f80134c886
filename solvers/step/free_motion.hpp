// The motion without contact impulses: (M + h B) a = tau - c - B v, with implicit damping through B. Two
// algorithms give the same a: the articulated-body algorithm, or the bias force by RNEA and the factor of the
// mass matrix, which contacts need anyway. This file has their adjoints operator by operator. The adjoint
// through the equations of motion is in solvers/step/implicit.hpp. All agree to round-off.
#pragma once

#include "core/dynamics/aba.hpp"
#include "core/dynamics/crba.hpp"
#include "core/dynamics/ltl.hpp"
#include "solvers/step/late_damping.hpp"

namespace costate {

template <class T> struct FreeMotionScratch {
    RneaScratch<T> rnea;
    CrbaScratch<T> crba;
    AbaScratch<T> aba;
    std::vector<T> M;                // (mass_matrix_size) factor of M + h B
    std::vector<T> bias, rhs, d, a;  // (nv) c; tau - B v; armature + h B; acceleration
    std::vector<T> zero;             // (nv) stays zero
    // bars
    std::vector<T> M_bar;                          // (mass_matrix_size)
    std::vector<T> a_bar, rhs_bar, d_bar, unused;  // (nv)
    explicit FreeMotionScratch(const Model& m)
        : rnea(m),
          crba(m),
          aba(m),
          M(m.mass_matrix_size, T(0)),
          M_bar(M) {
        for (auto* x : {&bias, &rhs, &d, &a, &zero, &a_bar, &rhs_bar, &d_bar, &unused})
            x->assign(m.nv, T(0));
    }
};

inline bool needs_mass_matrix(const World& w) {
    return w.settings.forward_dynamics != ForwardDynamics::aba || w.shapes.any_pair ||
           w.model.has_joint_rows() || w.damps_late();
}

// The factor of M + h B, and with late damping, where B is 0, that of M + h D.
template <class T>
void mass_matrix(const World& w, const T* theta, const Kinematics<T>& k, const T* B, FreeMotionScratch<T>& s,
                 LateDamping<T>& late) {
    if (!needs_mass_matrix(w)) return;
    const T& h = w.h(theta);
    crba(w.model, theta, k, s.crba, s.M.data());
    for (int j = 0; j < w.nv(); ++j) {
        const Dof& dof = w.model.dofs[j];
        s.M[dof.row + dof.depth] += h * B[j];
    }
    if (w.damps_late()) factor_late(w, theta, s.M, late);
    ltl_factor_inplace(w.model, s.M.data());
}
// Input: s.M_bar, the covector of M + h B.
template <class T>
void mass_matrix_adj(const World& w, const T* theta, const Kinematics<T>& k, const T* B,
                     FreeMotionScratch<T>& s, KinematicsBar<T>& bar, T* theta_bar, T* B_bar) {
    if (!needs_mass_matrix(w)) return;
    const T& h = w.h(theta);
    for (int j = 0; j < w.nv(); ++j) {
        const Dof& dof = w.model.dofs[j];
        const T& diagonal_bar = s.M_bar[dof.row + dof.depth];
        B_bar[j] += h * diagonal_bar;
        w.h(theta_bar) += B[j] * diagonal_bar;
    }
    crba_adj(w.model, k, s.crba, s.M_bar.data(), bar, theta_bar);
}

// Computes s.a from tau, v and B.
template <class T>
void free_acceleration(const World& w, const T* theta, const Kinematics<T>& k, const T* v, const T* tau,
                       const T* B, FreeMotionScratch<T>& s) {
    const Model& m = w.model;
    const T& h = w.h(theta);
    for (int j = 0; j < m.nv; ++j) {
        const size_t n = j;
        s.d[n] = theta[m.armature.at(j)] + h * B[j];
        s.rhs[n] = tau[j] - B[j] * v[j];
    }
    if (w.settings.forward_dynamics == ForwardDynamics::aba)
        return aba(m, theta, k, v, s.rhs.data(), s.d.data(), s.aba, s.a.data());
    rnea(m, theta, k, v, s.zero.data(), s.rnea, s.bias.data());
    for (size_t n = 0; n < s.a.size(); ++n)
        s.a[n] = s.rhs[n] - s.bias[n];
    ltl_solve_inplace(m, s.M.data(), 0, m.nv, s.a.data());
}
// Input: s.a_bar. Also adds the part through the factor to s.M_bar.
template <class T>
void free_acceleration_adj(const World& w, const T* theta, const Kinematics<T>& k, const T* v, const T* B,
                           FreeMotionScratch<T>& s, KinematicsBar<T>& bar, T* theta_bar, T* v_bar, T* tau_bar,
                           T* B_bar) {
    const Model& m = w.model;
    const T& h = w.h(theta);
    if (w.settings.forward_dynamics == ForwardDynamics::aba) {
        std::fill(s.rhs_bar.begin(), s.rhs_bar.end(), T(0));
        std::fill(s.d_bar.begin(), s.d_bar.end(), T(0));
        aba_adj(m, k, v, s.aba, s.a.data(), s.a_bar.data(), bar, theta_bar, v_bar, s.rhs_bar.data(),
                s.d_bar.data());
        for (int j = 0; j < m.nv; ++j) {
            const T& d_bar = s.d_bar[j];
            theta_bar[m.armature.at(j)] += d_bar;
            w.h(theta_bar) += B[j] * d_bar;
            B_bar[j] += h * d_bar;
        }
    } else {
        s.rhs_bar = s.a_bar;
        ltl_solve_inplace(m, s.M.data(), 0, m.nv, s.rhs_bar.data());
        ltl_solve_inplace_adj(m, 0, m.nv, s.a.data(), s.rhs_bar.data(), s.M_bar.data());
        for (size_t n = 0; n < s.d_bar.size(); ++n)
            s.d_bar[n] = -s.rhs_bar[n];  // of the bias
        rnea_adj(m, theta, k, v, s.zero.data(), s.rnea, s.d_bar.data(), bar, theta_bar, v_bar,
                 s.unused.data());
    }
    for (int j = 0; j < m.nv; ++j) {
        const T& rhs_bar = s.rhs_bar[j];
        tau_bar[j] += rhs_bar;
        B_bar[j] -= rhs_bar * v[j];
        v_bar[j] -= rhs_bar * B[j];
    }
}

}  // namespace costate
