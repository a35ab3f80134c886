// Forward dynamics by the articulated-body algorithm (RBDA table 7.1), in the common frame and dof by dof: a
// joint of several dofs is treated as a chain of one-dof joints with massless bodies between, which avoids
// matrix inverses.
//   inward,  per dof:   U = A S,   D = S.U + d,   u = tau - S.p,   A <- A - U U^T/D,   p <- p + U u/D
//            per body:  p <- p + A c,   then A and p are added to the parent's
//   outward, per dof:   a_j = (u - U.a)/D,   a <- a + S a_j,   starting from the parent's a + c
// d is the armature plus other diagonal terms (the step adds h B for implicit damping).
//
// The adjoint is operator by operator, with the passes in reverse. `free_acceleration` by CRBA (solvers/) has
// the implicit adjoint; tests check that both agree to round-off.
#pragma once

#include "core/dynamics/rnea.hpp"

namespace costate {

template <class T> struct AbaScratch {
    // (bodies) accumulated from the children, then deflated by the dofs of the body
    std::vector<ArticulatedInertia<T>> A;
    std::vector<Force<T>> p;      // (bodies)
    std::vector<Motion<T>> c, a;  // (bodies) velocity product; spatial acceleration minus gravity
    std::vector<ArticulatedInertia<T>> A_dof;  // (nv) before deflation by the dof
    std::vector<Force<T>> p_dof, U;            // (nv)
    std::vector<Motion<T>> a_dof;              // (nv) acceleration without that of the dof
    std::vector<T> D, u;                       // (nv)
    // bars of the above
    std::vector<ArticulatedInertia<T>> A_bar;
    std::vector<Motion<T>> p_bar, U_bar;
    std::vector<Force<T>> c_bar, a_bar;
    std::vector<T> D_bar, u_bar;
    explicit AbaScratch(const Model& m)
        : A(m.bodies.size()),
          p(m.bodies.size()),
          c(m.bodies.size()),
          a(m.bodies.size()),
          A_dof(m.dofs.size()),
          p_dof(m.dofs.size()),
          U(m.dofs.size()),
          a_dof(m.dofs.size()),
          D(m.dofs.size()),
          u(m.dofs.size()),
          A_bar(m.bodies.size()),
          p_bar(m.bodies.size()),
          U_bar(m.dofs.size()),
          c_bar(m.bodies.size()),
          a_bar(m.bodies.size()),
          D_bar(m.dofs.size()),
          u_bar(m.dofs.size()) {}
};

// p' = p + U u/D
template <class T> Force<T> yield_force(const Force<T>& p, const Force<T>& U, const T& u, const T& D) {
    return p + (u / D) * U;
}
template <class T>
void yield_force_adj(const Force<T>&, const Force<T>& U, const T& u, const T& D, const Motion<T>& out_bar,
                     Motion<T>& p_bar, Motion<T>& U_bar, T& u_bar, T& D_bar) {
    const T s = dot(out_bar, U) / D;
    p_bar += out_bar;
    U_bar += (u / D) * out_bar;
    u_bar += s;
    D_bar -= s * u / D;
}

// a_j = (u - U.a)/D
template <class T> T dof_acceleration(const Force<T>& U, const Motion<T>& a, const T& u, const T& D) {
    return (u - dot(a, U)) / D;
}
// g = a_j_bar/D:  U_bar -= g a,   a_bar -= g U,   u_bar += g,   D_bar -= g a_j
template <class T>
void dof_acceleration_adj(const Force<T>& U, const Motion<T>& a, const T& u, const T& D, const T& out_bar,
                          Motion<T>& U_bar, Force<T>& a_bar, T& u_bar, T& D_bar) {
    const T g = out_bar / D;
    U_bar -= g * a;
    a_bar -= g * U;
    u_bar += g;
    D_bar -= g * dof_acceleration(U, a, u, D);
}

// Passes A and p inward through one dof.
template <class T>
void aba_inward_dof(size_t j, const Motion<T>& S, const T& tau, const T& d, AbaScratch<T>& s,
                    ArticulatedInertia<T>& A, Force<T>& p) {
    s.A_dof[j] = A;
    s.p_dof[j] = p;
    s.U[j] = apply_articulated(A, S);            // 1
    s.D[j] = dot(S, s.U[j]) + d;                 // 2
    s.u[j] = tau - dot(S, p);                    // 3
    A = deflate(A, s.U[j], s.D[j]);              // 4
    p = yield_force(p, s.U[j], s.u[j], s.D[j]);  // 5
}
template <class T>
void aba_inward_dof_adj(size_t j, const Motion<T>& S, AbaScratch<T>& s, ArticulatedInertia<T>& A_bar,
                        Motion<T>& p_bar, Force<T>& S_bar, T& tau_bar, T& d_bar) {
    ArticulatedInertia<T> A_before = ArticulatedInertia<T>::zero();
    Motion<T> p_before = Motion<T>::zero();
    // 5
    yield_force_adj(s.p_dof[j], s.U[j], s.u[j], s.D[j], p_bar, p_before, s.U_bar[j], s.u_bar[j], s.D_bar[j]);
    // 4
    deflate_adj(s.A_dof[j], s.U[j], s.D[j], A_bar, A_before, s.U_bar[j], s.D_bar[j]);
    // 3
    tau_bar += s.u_bar[j];
    dot_adj<T>(S, s.p_dof[j], -s.u_bar[j], S_bar, p_before);
    d_bar += s.D_bar[j];  // 2
    dot_adj(S, s.U[j], s.D_bar[j], S_bar, s.U_bar[j]);
    apply_articulated_adj(s.A_dof[j], S, s.U_bar[j], A_before, S_bar);  // 1
    A_bar = A_before;
    p_bar = p_before;
}

template <class T>
void aba(const Model& m, const T* theta, const Kinematics<T>& k,
         const T* v,        // (nv)
         const T* tau,      // (nv) joint forces
         const T* d,        // (nv) armature and other terms on the diagonal of M
         AbaScratch<T>& s,  // out
         T* acc)            // out (nv)
{
    // 1 articulated inertias and bias forces of single bodies
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        s.A[i] = articulated(k.I[i]);
        s.p[i] = gyroscopic_force(k.I[i], k.V[i]);
        s.c[i] = velocity_product(m, static_cast<int>(i), k, v);
    }
    // 2 inward
    for (size_t i = m.bodies.size(); i-- > 0;) {
        const Body& b = m.bodies[i];
        for (int j = b.v0 + b.nv; j-- > b.v0;)
            aba_inward_dof(j, k.S[j], tau[j], d[j], s, s.A[i], s.p[i]);
        if (b.parent < 0) continue;
        s.A[b.parent] += s.A[i];
        s.p[b.parent] += s.p[i] + apply_articulated(s.A[i], s.c[i]);
    }
    // 3 outward
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const Body& b = m.bodies[i];
        s.a[i] = (b.parent < 0 ? gravity_acceleration(m, theta) : s.a[b.parent]) + s.c[i];
        for (int j = b.v0; j < b.v0 + b.nv; ++j) {
            const size_t n = j;
            s.a_dof[n] = s.a[i];
            acc[j] = dof_acceleration(s.U[n], s.a[i], s.u[n], s.D[n]);
            s.a[i] += acc[j] * k.S[n];
        }
    }
}

template <class T>
void aba_adj(const Model& m, const Kinematics<T>& k, const T* v, AbaScratch<T>& s, const T* acc,
             const T* acc_bar, KinematicsBar<T>& bar, T* theta_bar, T* v_bar, T* tau_bar, T* d_bar) {
    std::fill(s.a_bar.begin(), s.a_bar.end(), Force<T>::zero());
    // 3 outward
    for (size_t i = m.bodies.size(); i-- > 0;) {
        const Body& b = m.bodies[i];
        Force<T>& a_bar = s.a_bar[i];
        for (int j = b.v0 + b.nv; j-- > b.v0;) {
            const size_t n = j;
            bar.S[n] += acc[j] * a_bar;
            s.U_bar[n] = Motion<T>::zero();
            s.u_bar[n] = T(0);
            s.D_bar[n] = T(0);
            dof_acceleration_adj<T>(s.U[n], s.a_dof[n], s.u[n], s.D[n], acc_bar[j] + dot(k.S[n], a_bar),
                                    s.U_bar[n], a_bar, s.u_bar[n], s.D_bar[n]);
        }
        s.c_bar[i] = a_bar;
        if (b.parent >= 0)
            s.a_bar[b.parent] += a_bar;
        else
            add3<T>(theta_bar + m.gravity.at(0), -a_bar.lin);
    }
    // 2 inward
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const Body& b = m.bodies[i];
        s.A_bar[i] = ArticulatedInertia<T>::zero();
        s.p_bar[i] = Motion<T>::zero();
        if (b.parent >= 0) {
            const size_t P = b.parent;
            apply_articulated_adj(s.A[i], s.c[i], s.p_bar[P], s.A_bar[i], s.c_bar[i]);
            s.p_bar[i] += s.p_bar[P];
            s.A_bar[i] += s.A_bar[P];
        }
        for (int j = b.v0; j < b.v0 + b.nv; ++j) {
            const size_t n = j;
            aba_inward_dof_adj(n, k.S[n], s, s.A_bar[i], s.p_bar[i], bar.S[n], tau_bar[j], d_bar[j]);
        }
    }
    // 1 articulated inertias and bias forces
    for (size_t i = m.bodies.size(); i-- > 0;) {
        velocity_product_adj(m, static_cast<int>(i), k, v, s.c_bar[i], bar, v_bar);
        gyroscopic_force_adj(k.I[i], k.V[i], s.p_bar[i], bar.I[i], bar.V[i]);
        articulated_adj(k.I[i], s.A_bar[i], bar.I[i]);
    }
}

}  // namespace costate
