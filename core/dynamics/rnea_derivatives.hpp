// Derivatives of inverse dynamics tau = ID(q, v, a) with respect to q and v, in closed form (Carpentier &
// Mansard 2018; Singh, Russo & Wensing 2022), in the common frame. Dof k moves everything beyond it rigidly
// about S_k. Apart from this motion, the velocity and acceleration of a body change by
//
//   dV = psi_k,  psi_k = V_k x S_k,     da = psi'_k + psi_k x V,  psi'_k = a_k x S_k + V_k x psi_k     by q_k
//   dV = S_k,                           da = phi_k + S_k x V,     phi_k = psi_k + d/dt S_k             by v_k
//
// where V_k and a_k are the motion of the frame before dof k. With composites over the bodies beyond k
// (inertia Ic, force F, and C, the sum of v -> I (v x V) + v x* I V + V x* I v), the rows of dofs beyond k
// and of dofs that carry k are
//
//   beyond    S_j . (Ic_j psi'_k + C_j psi_k)                    S_j . (Ic_j phi_k + C_j S_k)
//   carrying  S_j . (Ic_k psi'_k + C_k psi_k + S_k x* F_k)       S_j . (Ic_k phi_k + C_k S_k)
//
// In this frame C depends only on the angular part: for V = (w, u) and I V = (n, l),
//   C v = (N v.ang, 2 v.ang x l),   N = [w] I - I [w] - [n] - [h][u] - [u][h]
// which is twelve numbers per body.
#pragma once

#include "core/dynamics/crba.hpp"
#include "core/dynamics/rnea.hpp"

namespace costate {

template <class T> struct CoriolisOperator {
    Mat3<T> N;
    Vec3<T> l;  // linear momentum, N s
    Force<T> apply(const Vec3<T>& w) const { return {N * w, T(2) * w.cross(l)}; }
    // angular part
    Vec3<T> apply_transposed(const Motion<T>& S) const {
        return N.transpose() * S.ang + T(2) * l.cross(S.lin);
    }
    CoriolisOperator& operator+=(const CoriolisOperator& b) {
        N += b.N;
        l += b.l;
        return *this;
    }
};

template <class T> CoriolisOperator<T> coriolis_operator(const RigidInertia<T>& I, const Motion<T>& V) {
    const Force<T> p = apply(I, V);
    const Mat3<T> W = skew(V.ang), h = skew(I.h), u = skew(V.lin);
    return {W * I.I - I.I * W - skew(p.ang) - h * u - u * h, p.lin};
}

template <class T> struct RneaDerivativesScratch {
    std::vector<CoriolisOperator<T>> C;      // (bodies) composite
    std::vector<Motion<T>> psi, psi_2, phi;  // (nv)
    std::vector<Force<T>> U;                 // (nv) Ic S
    std::vector<Vec3<T>> W;                  // (nv) C^T S
    explicit RneaDerivativesScratch(const Model& m)
        : C(m.bodies.size()),
          psi(m.dofs.size()),
          psi_2(psi),
          phi(psi),
          U(psi.size()),
          W(psi.size()) {}
};

// The motion of the frame before dof k of body b.
template <class T>
void frame_behind(const Model& m, const T* theta, const Kinematics<T>& k, const RneaScratch<T>& r, const T* v,
                  const T* a, const Body& b, bool carried_by_parent, Motion<T>& V, Motion<T>& A) {
    const bool root = b.parent < 0;
    const Motion<T> V_P = root ? Motion<T>::zero() : k.V[b.parent];
    V = V_P;
    A = root ? gravity_acceleration(m, theta) : r.a[b.parent];
    if (carried_by_parent) return;
    for (int j = b.v0; j < b.v0 + dofs_carried_by_parent(b); ++j) {
        const Motion<T>& S = k.S[j];
        V += v[j] * S;
        A += a[j] * S + v[j] * cross_motion(V_P, S);
    }
}

// Requires kinematics, crba (for Ic) and rnea with the same v and a (for F and the accelerations).
template <class T>
void rnea_derivatives(const Model& m, const T* theta, const Kinematics<T>& k,
                      const std::vector<RigidInertia<T>>& Ic, const RneaScratch<T>& r, const T* v, const T* a,
                      RneaDerivativesScratch<T>& s,
                      T* by_q,  // out (nv x nv) with respect to the tangent of q, row-major; 0 between dofs
                                // of which neither carries the other
                      T* by_v)  // out (nv x nv)
{
    const size_t nv = m.dofs.size();
    std::fill(by_q, by_q + nv * nv, T(0));
    std::fill(by_v, by_v + nv * nv, T(0));
    for (size_t i = 0; i < m.bodies.size(); ++i)
        s.C[i] = coriolis_operator(k.I[i], k.V[i]);
    for (size_t i = m.bodies.size(); i-- > 0;)
        if (m.bodies[i].parent >= 0) s.C[m.bodies[i].parent] += s.C[i];
    for (size_t d = 0; d < nv; ++d) {
        const Dof& dof = m.dofs[d];
        const size_t body = dof.body;
        const Body& b = m.bodies[body];
        const int split = b.v0 + dofs_carried_by_parent(b);
        const bool by_parent = static_cast<int>(d) < split;
        const Motion<T>& S = k.S[d];
        // 1.1 effect of dof d on the bodies beyond it
        Motion<T> V, A;
        frame_behind(m, theta, k, r, v, a, b, by_parent, V, A);
        s.psi[d] = cross_motion(V, S);
        s.psi_2[d] = cross_motion(A, S) + cross_motion(V, s.psi[d]);
        s.phi[d] = s.psi[d] + (by_parent ? s.psi[d] : cross_motion(k.V[body], S));
        s.U[d] = apply(Ic[body], S);
        s.W[d] = s.C[body].apply_transposed(S);
        // 1.2 column: rows of the dofs that carry d
        const Force<T> Q = apply(Ic[body], s.phi[d]) + s.C[body].apply(S.ang);
        const Force<T> P =
            apply(Ic[body], s.psi_2[d]) + s.C[body].apply(s.psi[d].ang) + cross_force(S, r.F[body]);
        by_q[d * nv + d] = dot(S, P);
        by_v[d * nv + d] = dot(S, Q);
        for (int j = dof.parent; j >= 0; j = m.dofs[j].parent) {
            const size_t n = j;
            by_q[n * nv + d] = dot(k.S[n], P);
            by_v[n * nv + d] = dot(k.S[n], Q);
            // 1.3 row: columns of the dofs that carry d
            by_q[d * nv + n] = dot(s.psi_2[n], s.U[d]) + s.W[d].dot(s.psi[n].ang);
            by_v[d * nv + n] = dot(s.phi[n], s.U[d]) + s.W[d].dot(k.S[n].ang);
            // axes fixed in the same body rotate with each other
            if (j >= split) by_q[n * nv + d] = dot(s.psi_2[d], s.U[n]) + s.W[n].dot(s.psi[d].ang);
        }
    }
}

}  // namespace costate
