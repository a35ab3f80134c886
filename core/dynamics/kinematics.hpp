// Poses and velocities of bodies in the common frame of each tree: world axes, origin at the tree's root
// body.
//
// In one common frame, the recursions of rigid-body dynamics need no transforms between bodies: composite
// inertias, bias forces and articulated inertias are plain sums. The frame is fixed during a step, at the
// current position of the root. The results of the dynamics do not depend on its position, so its motion has
// no adjoint.
//
// The adjoint is geometric. A covector X_bar of a body's pose is a Force in the common frame. A joint moves
// all bodies beyond it rigidly, so their covectors add up towards the root, and q_bar_j = S_j . X_bar.
#pragma once

#include "core/dynamics/joint.hpp"
#include "core/math/dual.hpp"
#include "core/model/mass_properties.hpp"

namespace costate {

template <class T> struct Kinematics {
    std::vector<Vec3<T>> origin;     // (trees) origin of the common frame in the world, m
    std::vector<Transform<T>> X;     // (bodies) X_CB, body to common frame
    std::vector<Motion<T>> S;        // (nv) joint axes, common frame
    std::vector<Motion<T>> V;        // (bodies) velocities, common frame
    std::vector<RigidInertia<T>> I;  // (bodies) about the common origin
    explicit Kinematics(const Model& m)
        : origin(m.trees.size()),
          X(m.bodies.size()),
          S(m.dofs.size()),
          V(m.bodies.size()),
          I(m.bodies.size()) {}

    Vec3<T> world_position(const Model& m, int body) const {
        const size_t i = body;
        return origin[m.bodies[i].tree] + X[i].p;
    }
};

// Covectors of the members of Kinematics, in the common frame.
template <class T> struct KinematicsBar {
    std::vector<Force<T>> X;         // (bodies)
    std::vector<Force<T>> S;         // (nv)
    std::vector<Force<T>> V;         // (bodies)
    std::vector<RigidInertia<T>> I;  // (bodies)
    explicit KinematicsBar(const Model& m)
        : X(m.bodies.size()),
          S(m.dofs.size()),
          V(m.bodies.size()),
          I(m.bodies.size()) {
        set_zero();
    }
    void set_zero() {
        std::fill(X.begin(), X.end(), Force<T>::zero());
        std::fill(S.begin(), S.end(), Force<T>::zero());
        std::fill(V.begin(), V.end(), Force<T>::zero());
        std::fill(I.begin(), I.end(), RigidInertia<T>::zero());
    }
};

template <class T>
void kinematics(const Model& m,    // topology
                const T* theta,    // (parameters)
                const T* q,        // (nq)
                const T* v,        // (nv)
                Kinematics<T>& k)  // out
{
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const Body& b = m.bodies[i];
        const bool root = b.parent < 0;
        const Transform<T> P = root ? Transform<T>::identity() : k.X[b.parent];
        // 1.1 pose and axes
        const JointParameters<T> joint = joint_parameters(m, theta, static_cast<int>(i));
        const Vec3<T> axis = joint_axis(b, joint);
        k.X[i] = body_pose(b, joint, axis, q + b.q0, P);
        if (root) {
            k.origin[b.tree] = k.X[i].p;
            k.X[i].p.setZero();
        }
        body_axes(b, axis, joint.pitch, k.X[i], P.R, k.S.data() + b.v0);
        // 1.2 velocity
        Motion<T> V = root ? Motion<T>::zero() : k.V[b.parent];
        for (int j = b.v0; j < b.v0 + b.nv; ++j)
            V += v[j] * k.S[j];
        k.V[i] = V;
        // 1.3 inertia
        k.I[i] = place_inertia(k.X[i], mass_properties(m, theta, static_cast<int>(i)));
    }
}

// Modifies `bar`: on return, bar.X, bar.S and bar.V hold intermediate sums.
template <class T>
void kinematics_adj(const Model& m, const T* theta, const T* q, const T* v, const Kinematics<T>& k,
                    KinematicsBar<T>& bar,
                    T* theta_bar,  // (parameters), or null
                    T* q_bar,      // (nv) covector of retract(q, d)
                    T* v_bar)      // (nv)
{
    for (size_t i = m.bodies.size(); i-- > 0;) {
        const Body& b = m.bodies[i];
        const int body = static_cast<int>(i), first = b.v0, carried = b.v0 + dofs_carried_by_parent(b),
                  end = b.v0 + b.nv;
        const bool root = b.parent < 0;
        Force<T>& X_bar = bar.X[i];
        // 1.3 inertia, which most functions of poses and velocities do not read
        if (!bar.I[i].is_untouched()) {
            MassProperties<T> B_bar = MassProperties<T>::zero();
            place_inertia_adj(k.X[i], mass_properties(m, theta, body), bar.I[i], X_bar, B_bar);
            if (theta_bar) mass_properties_adj(m, body, B_bar, theta_bar);
        }
        // 1.2 velocity
        for (int j = first; j < end; ++j) {
            bar.S[j] += v[j] * bar.V[i];
            v_bar[j] += dot(k.S[j], bar.V[i]);
        }
        if (!root) bar.V[b.parent] += bar.V[i];
        // 1.1 pose and axes: an axis moves with its frame, dS = d x S
        const Force<T> pose_bar = X_bar;
        for (int j = carried; j < end; ++j)
            X_bar += cross_force(k.S[j], bar.S[j]);
        for (int j = first; j < end; ++j)
            q_bar[j] += dot(k.S[j], X_bar);
        const Mat3<T>* parent = root ? nullptr : &k.X[b.parent].R;
        if (theta_bar) {
            add_joint_bars(m, theta, body, q + b.q0, parent, k.X[body], k.S.data() + first, X_bar, pose_bar,
                           bar.S.data() + first, theta_bar);
            const Vec3<T> placement_bar = root ? X_bar.lin : Vec3<T>(parent->transpose() * X_bar.lin);
            add3(theta_bar + m.placement.at(body), placement_bar);
        }
        if (root) continue;
        Force<T>& P_bar = bar.X[b.parent];
        P_bar += X_bar;
        for (int j = first; j < carried; ++j)
            P_bar += cross_force(k.S[j], bar.S[j]);
    }
}

// Compiled in kinematics.cpp.
extern template void kinematics(const Model&, const double*, const double*, const double*,
                                Kinematics<double>&);
extern template void kinematics_adj(const Model&, const double*, const double*, const double*,
                                    const Kinematics<double>&, KinematicsBar<double>&, double*, double*,
                                    double*);
extern template void kinematics(const Model&, const Dual<double>*, const Dual<double>*, const Dual<double>*,
                                Kinematics<Dual<double>>&);
extern template void kinematics_adj(const Model&, const Dual<double>*, const Dual<double>*,
                                    const Dual<double>*, const Kinematics<Dual<double>>&,
                                    KinematicsBar<Dual<double>>&, Dual<double>*, Dual<double>*,
                                    Dual<double>*);

}  // namespace costate
