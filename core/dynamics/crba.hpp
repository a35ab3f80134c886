// The mass matrix by the composite-rigid-body algorithm (RBDA table 6.2), in the common frame:
//   Ic_i = I_i + sum of Ic over the children,   F_j = Ic_b(j) S_j,
//   M_ij = S_i . F_j  for i = j and the ancestors i of j
//
// M is stored on its branch-induced pattern: row j has the entries of j's ancestors by depth and the diagonal
// last, at M[dofs[j].row + depth]. Its adjoint has the same layout; an off-diagonal entry is the derivative
// with respect to both symmetric entries together.
#pragma once

#include "core/dynamics/kinematics.hpp"

namespace costate {

template <class T> struct CrbaScratch {
    std::vector<RigidInertia<T>> Ic;      // (bodies) composite inertias
    std::vector<Force<T>> F;              // (nv)
    std::vector<RigidInertia<T>> Ic_bar;  // (bodies)
    explicit CrbaScratch(const Model& m) : Ic(m.bodies.size()), F(m.dofs.size()), Ic_bar(m.bodies.size()) {}
};

template <class T>
void crba(const Model& m, const T* theta, const Kinematics<T>& k, CrbaScratch<T>& s,
          T* M)  // out (mass_matrix_size)
{
    // 1.1 composite inertias
    for (size_t i = 0; i < m.bodies.size(); ++i)
        s.Ic[i] = k.I[i];
    for (size_t i = m.bodies.size(); i-- > 0;)
        if (m.bodies[i].parent >= 0) s.Ic[m.bodies[i].parent] += s.Ic[i];
    for (size_t j = 0; j < m.dofs.size(); ++j) {
        const Dof& dof = m.dofs[j];
        T* row = M + dof.row;
        // 1.2 momentum of unit motion
        s.F[j] = apply(s.Ic[dof.body], k.S[j]);
        // 1.3 projections
        row[dof.depth] = dot(k.S[j], s.F[j]) + theta[m.armature.at(static_cast<int>(j))];
        for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = m.dofs[i].parent, --d)
            row[d] = dot(k.S[i], s.F[j]);
    }
}

template <class T>
void crba_adj(const Model& m, const Kinematics<T>& k, CrbaScratch<T>& s, const T* M_bar,
              KinematicsBar<T>& bar, T* theta_bar) {
    std::fill(s.Ic_bar.begin(), s.Ic_bar.end(), RigidInertia<T>::zero());
    for (size_t j = 0; j < m.dofs.size(); ++j) {
        const Dof& dof = m.dofs[j];
        const T* row_bar = M_bar + dof.row;
        // 1.3 projections
        theta_bar[m.armature.at(static_cast<int>(j))] += row_bar[dof.depth];
        bar.S[j] += row_bar[dof.depth] * s.F[j];
        Motion<T> F_bar = row_bar[dof.depth] * k.S[j];
        for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = m.dofs[i].parent, --d) {
            bar.S[i] += row_bar[d] * s.F[j];
            F_bar += row_bar[d] * k.S[i];
        }
        // 1.2 momentum of unit motion
        apply_adj(s.Ic[dof.body], k.S[j], F_bar, s.Ic_bar[dof.body], bar.S[j]);
    }
    // 1.1 composite inertias
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        if (m.bodies[i].parent >= 0) s.Ic_bar[i] += s.Ic_bar[m.bodies[i].parent];
        bar.I[i] += s.Ic_bar[i];
    }
}

extern template void crba(const Model&, const double*, const Kinematics<double>&, CrbaScratch<double>&,
                          double*);

}  // namespace costate
