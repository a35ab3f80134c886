// Derivatives of forward dynamics a = FD(q, v, tau), that is M a + c = tau, with respect to q, v and tau, from
// those of inverse dynamics with a held fixed (Carpentier & Mansard 2018):
//
//   da/dq = -M^-1 dID/dq,   da/dv = -M^-1 dID/dv,   da/dtau = M^-1
#pragma once

#include "core/dynamics/ltl.hpp"
#include "core/dynamics/rnea_derivatives.hpp"

namespace costate {

template <class T> struct ForwardDynamicsDerivatives {
    std::vector<T> by_q, by_v, by_tau;  // (nv x nv) row-major; by the tangent of q
    RneaDerivativesScratch<T> scratch;
    std::vector<T> columns;  // (nv x 3 nv) work
    explicit ForwardDynamicsDerivatives(const Model& m)
        : by_q(m.dofs.size() * m.dofs.size()),
          by_v(by_q),
          by_tau(by_q),
          scratch(m),
          columns(3 * by_q.size()) {}
};

// Requires kinematics; crba, for its composite inertias Ic, with the factor L of M; and rnea with v and a.
template <class T>
void forward_dynamics_derivatives(const Model& m, const T* theta, const Kinematics<T>& k,
                                  const std::vector<RigidInertia<T>>& Ic, const T* L, const RneaScratch<T>& r,
                                  const T* v, const T* a, ForwardDynamicsDerivatives<T>& out) {
    const size_t nv = m.dofs.size();
    rnea_derivatives(m, theta, k, Ic, r, v, a, out.scratch, out.by_q.data(), out.by_v.data());
    for (size_t i = 0; i < nv; ++i) {
        T* row = out.columns.data() + 3 * nv * i;
        for (size_t j = 0; j < nv; ++j) {
            row[j] = -out.by_q[i * nv + j];
            row[nv + j] = -out.by_v[i * nv + j];
            row[2 * nv + j] = T(i == j ? 1 : 0);
        }
    }
    ltl_solve_columns_inplace(m, L, static_cast<int>(3 * nv), out.columns.data());
    for (size_t i = 0; i < nv; ++i) {
        const T* row = out.columns.data() + 3 * nv * i;
        std::copy_n(row, nv, out.by_q.data() + i * nv);
        std::copy_n(row + nv, nv, out.by_v.data() + i * nv);
        std::copy_n(row + 2 * nv, nv, out.by_tau.data() + i * nv);
    }
}

}  // namespace costate
