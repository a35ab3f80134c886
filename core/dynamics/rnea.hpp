// Inverse dynamics by the recursive Newton-Euler algorithm (RBDA table 5.1), in the common frame:
//   a_i = a_P + S_i a + V x (S_i v),   a_world = -g
//   f_i = I_i a_i + V_i x* I_i V_i,   F_i = f_i + sum of F over the children
//   tau = S . F + armature a
// With a = 0 it returns the bias force c(q, v): Coriolis, centrifugal and gravity forces.
#pragma once

#include "core/dynamics/kinematics.hpp"

namespace costate {

template <class T> struct RneaScratch {
    std::vector<Motion<T>> a;      // (bodies) spatial acceleration minus gravity
    std::vector<Force<T>> F;       // (bodies) force across the joint of the body
    std::vector<Motion<T>> F_bar;  // (bodies)
    std::vector<Force<T>> a_bar;   // (bodies)
    explicit RneaScratch(const Model& m)
        : a(m.bodies.size()),
          F(m.bodies.size()),
          F_bar(m.bodies.size()),
          a_bar(m.bodies.size()) {}
};

template <class T> Motion<T> gravity_acceleration(const Model& m, const T* theta) {
    return {Vec3<T>::Zero(), -load3(theta + m.gravity.at(0))};
}

// Velocity across the joint of body b: the part whose axes are fixed in the parent, or the part whose axes
// are fixed in the body.
template <class T>
Motion<T> joint_velocity(const Body& b, const Kinematics<T>& k, const T* v, bool carried_by_parent) {
    const int split = b.v0 + dofs_carried_by_parent(b);
    Motion<T> J = Motion<T>::zero();
    for (int j = carried_by_parent ? b.v0 : split; j < (carried_by_parent ? split : b.v0 + b.nv); ++j)
        J += v[j] * k.S[j];
    return J;
}

// c_i = V_i x (S v) + V_P x (S v): acceleration because the joint's axes move with their frames
template <class T> Motion<T> velocity_product(const Model& m, int i, const Kinematics<T>& k, const T* v) {
    const Body& b = m.bodies[i];
    Motion<T> c = cross_motion(k.V[i], joint_velocity(b, k, v, false));
    if (b.parent >= 0 && dofs_carried_by_parent(b) > 0)
        c += cross_motion(k.V[b.parent], joint_velocity(b, k, v, true));
    return c;
}
template <class T>
void velocity_product_adj(const Model& m, int i, const Kinematics<T>& k, const T* v, const Force<T>& c_bar,
                          KinematicsBar<T>& bar, T* v_bar) {
    const Body& b = m.bodies[i];
    const int split = b.v0 + dofs_carried_by_parent(b);
    const auto part = [&](int frame, int begin, int end, bool by_parent) {
        Force<T> J_bar = Force<T>::zero();
        cross_motion_adj(k.V[frame], joint_velocity(b, k, v, by_parent), c_bar, bar.V[frame], J_bar);
        for (int j = begin; j < end; ++j) {
            bar.S[j] += v[j] * J_bar;
            v_bar[j] += dot(k.S[j], J_bar);
        }
    };
    if (b.parent >= 0 && split > b.v0) part(b.parent, b.v0, split, true);
    part(i, split, b.v0 + b.nv, false);
}

// Spatial acceleration of a body at zero joint accelerations, without gravity: the sum of c from its root to it
template <class T> Motion<T> bias_acceleration(const Model& m, int body, const Kinematics<T>& k, const T* v) {
    Motion<T> A = Motion<T>::zero();
    for (int i = body; i >= 0; i = m.bodies[i].parent)
        A += velocity_product(m, i, k, v);
    return A;
}
template <class T>
void bias_acceleration_adj(const Model& m, int body, const Kinematics<T>& k, const T* v,
                           const Force<T>& A_bar, KinematicsBar<T>& bar, T* v_bar) {
    for (int i = body; i >= 0; i = m.bodies[i].parent)
        velocity_product_adj(m, i, k, v, A_bar, bar, v_bar);
}

// p = V x* I V, the force on a body with zero spatial acceleration
template <class T> Force<T> gyroscopic_force(const RigidInertia<T>& I, const Motion<T>& V) {
    return cross_force(V, apply(I, V));
}
template <class T>
void gyroscopic_force_adj(const RigidInertia<T>& I, const Motion<T>& V, const Motion<T>& p_bar,
                          RigidInertia<T>& I_bar, Force<T>& V_bar) {
    Motion<T> momentum_bar = Motion<T>::zero();
    cross_force_adj(V, apply(I, V), p_bar, V_bar, momentum_bar);
    apply_adj(I, V, momentum_bar, I_bar, V_bar);
}

template <class T>
void rnea(const Model& m, const T* theta, const Kinematics<T>& k,
          const T* v,         // (nv)
          const T* a,         // (nv) joint accelerations
          RneaScratch<T>& s,  // out
          T* tau)             // out (nv)
{
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const Body& b = m.bodies[i];
        // 1.1 acceleration
        s.a[i] = (b.parent < 0 ? gravity_acceleration(m, theta) : s.a[b.parent]) +
                 velocity_product(m, static_cast<int>(i), k, v);
        for (int j = b.v0; j < b.v0 + b.nv; ++j)
            s.a[i] += a[j] * k.S[j];
        // 1.2 force
        s.F[i] = apply(k.I[i], s.a[i]) + gyroscopic_force(k.I[i], k.V[i]);
    }
    for (size_t i = m.bodies.size(); i-- > 0;) {
        const Body& b = m.bodies[i];
        // 2.1 projection on the joint
        for (int j = b.v0; j < b.v0 + b.nv; ++j)
            tau[j] = dot(k.S[j], s.F[i]) + theta[m.armature.at(j)] * a[j];
        // 2.2 on to the parent
        if (b.parent >= 0) s.F[b.parent] += s.F[i];
    }
}

template <class T>
void rnea_adj(const Model& m, const T* theta, const Kinematics<T>& k, const T* v, const T* a,
              RneaScratch<T>& s, const T* tau_bar, KinematicsBar<T>& bar, T* theta_bar, T* v_bar, T* a_bar) {
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const Body& b = m.bodies[i];
        // 2.2 on to the parent
        s.F_bar[i] = b.parent < 0 ? Motion<T>::zero() : s.F_bar[b.parent];
        // 2.1 projection on the joint
        for (int j = b.v0; j < b.v0 + b.nv; ++j) {
            s.F_bar[i] += tau_bar[j] * k.S[j];
            bar.S[j] += tau_bar[j] * s.F[i];
            theta_bar[m.armature.at(j)] += tau_bar[j] * a[j];
            a_bar[j] += tau_bar[j] * theta[m.armature.at(j)];
        }
        s.a_bar[i] = Force<T>::zero();
    }
    for (size_t i = m.bodies.size(); i-- > 0;) {
        const Body& b = m.bodies[i];
        // 1.2 force
        gyroscopic_force_adj(k.I[i], k.V[i], s.F_bar[i], bar.I[i], bar.V[i]);
        apply_adj(k.I[i], s.a[i], s.F_bar[i], bar.I[i], s.a_bar[i]);
        // 1.1 acceleration
        for (int j = b.v0; j < b.v0 + b.nv; ++j) {
            bar.S[j] += a[j] * s.a_bar[i];
            a_bar[j] += dot(k.S[j], s.a_bar[i]);
        }
        velocity_product_adj(m, static_cast<int>(i), k, v, s.a_bar[i], bar, v_bar);
        if (b.parent >= 0)
            s.a_bar[b.parent] += s.a_bar[i];
        else
            add3<T>(theta_bar + m.gravity.at(0), -s.a_bar[i].lin);
    }
}

}  // namespace costate
