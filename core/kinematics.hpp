// Where bodies are and how they move, in the common frame of each tree: world axes, origin at the tree's root body.
//
// In one frame the recursions of rigid-body dynamics need no transforms between bodies: composite inertias, bias forces
// and articulated inertias are sums. The frame is fixed during a step (it sits where the root is now), and no force,
// inertia or velocity that leaves the dynamics depends on where it sits, so its motion has no adjoint.
//
// The adjoint is geometric. A covector X_bar of a body's pose is a Force in the common frame; the poses of all bodies
// beyond a joint turn about it together, so their covectors add up towards the root, and q_bar_j = S_j . X_bar.
#pragma once

#include "core/model.hpp"
#include "core/rotation.hpp"

namespace costate {

template <class T> struct Kinematics {
    std::vector<Vec3<T>> origin;       // (trees) of the common frame in the world, m
    std::vector<Transform<T>> X;       // (bodies) X_CB, body to common frame
    std::vector<Motion<T>> S;          // (nv) joint axes, common frame
    std::vector<Motion<T>> V;          // (bodies) velocities, common frame
    std::vector<RigidInertia<T>> I;    // (bodies) about the common origin
    explicit Kinematics(const Model& m)
        : origin(m.trees.size()), X(m.bodies.size()), S(m.dofs.size()), V(m.bodies.size()), I(m.bodies.size()) {}

    Vec3<T> world_position(const Model& m, int body) const {
        const size_t i = static_cast<size_t>(body);
        return origin[static_cast<size_t>(m.bodies[i].tree)] + X[i].p;
    }
};

// Covectors of all that Kinematics holds, in the common frame.
template <class T> struct KinematicsBar {
    std::vector<Force<T>> X;           // (bodies)
    std::vector<Force<T>> S;           // (nv)
    std::vector<Force<T>> V;           // (bodies)
    std::vector<RigidInertia<T>> I;    // (bodies)
    explicit KinematicsBar(const Model& m) : X(m.bodies.size()), S(m.dofs.size()), V(m.bodies.size()), I(m.bodies.size()) { set_zero(); }
    void set_zero() {
        std::fill(X.begin(), X.end(), Force<T>::zero());
        std::fill(S.begin(), S.end(), Force<T>::zero());
        std::fill(V.begin(), V.end(), Force<T>::zero());
        std::fill(I.begin(), I.end(), RigidInertia<T>::zero());
    }
};

template <class T> Vec3<T> load3(const T* x) { return {x[0], x[1], x[2]}; }
template <class T> void add3(T* x, const Vec3<T>& d) { x[0] += d.x(), x[1] += d.y(), x[2] += d.z(); }

// The ten inertial parameters of a body, out of theta.
template <class T> MassProperties<T> mass_properties(const Model& m, const T* theta, int body) {
    const T* I = theta + m.inertia.at(body);
    MassProperties<T> B{theta[m.mass.at(body)], load3(theta + m.com.at(body)), {}};
    B.I << I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2];
    return B;
}
// An off-diagonal parameter stands at two places of the matrix.
template <class T> void mass_properties_adj(const Model& m, int body, const MassProperties<T>& B_bar, T* theta_bar) {
    theta_bar[m.mass.at(body)] += B_bar.m;
    add3(theta_bar + m.com.at(body), B_bar.c);
    T* I = theta_bar + m.inertia.at(body);
    const Mat3<T>& b = B_bar.I;
    I[0] += b(0, 0), I[1] += b(1, 1), I[2] += b(2, 2);
    I[3] += b(0, 1) + b(1, 0), I[4] += b(0, 2) + b(2, 0), I[5] += b(1, 2) + b(2, 1);
}

// The first dofs of a joint whose axes stay with the parent; all others are carried by the body.
inline int dofs_carried_by_parent(const Body& b) { return b.joint == JointType::free ? 3 : 0; }

// X_CB of a body on the joint coordinates q, from the pose P of its parent.
template <class T> Transform<T> body_pose(const Body& b, const Vec3<T>& placement, const T* q, const Transform<T>& P) {
    using std::cos;
    using std::sin;
    const Vec3<T> p = P.p + P.R * placement;
    const auto turn = [&] { return Mat3<T>(cast<T>(b.turn[0]) + sin(q[0]) * cast<T>(b.turn[1]) + cos(q[0]) * cast<T>(b.turn[2])); };
    switch (b.joint) {
        case JointType::fixed: break;
        case JointType::revolute: return {P.R * turn(), p};
        case JointType::helical: {
            const Mat3<T> R = P.R * turn();
            return {R, p + (T(b.pitch) * q[0]) * (R * cast<T>(b.axis))};
        }
        case JointType::prismatic: {
            const Mat3<T> R = P.R * cast<T>(b.R_PB);
            return {R, p + q[0] * (R * cast<T>(b.axis))};
        }
        case JointType::spherical: return {P.R * cast<T>(b.R_PB) * rotation_matrix(Quaternion<T>{q[0], load3(q + 1)}), p};
        case JointType::free:
            return {P.R * cast<T>(b.R_PB) * rotation_matrix(Quaternion<T>{q[3], load3(q + 4)}), p + P.R * load3(q)};
    }
    return {P.R * cast<T>(b.R_PB), p};
}

// The columns of S: axes through the body's origin, but for those of a free joint's translation.
template <class T> void body_axes(const Body& b, const Transform<T>& X, const Mat3<T>& R_parent, Motion<T>* S) {
    const auto turn = [&](const Vec3<T>& axis) { return Motion<T>{axis, X.p.cross(axis)}; };
    switch (b.joint) {
        case JointType::fixed: break;
        case JointType::revolute: S[0] = turn(X.R * cast<T>(b.axis)); break;
        case JointType::prismatic: S[0] = {Vec3<T>::Zero(), X.R * cast<T>(b.axis)}; break;
        case JointType::helical:
            S[0] = turn(X.R * cast<T>(b.axis));
            S[0].lin += T(b.pitch) * S[0].ang;
            break;
        case JointType::spherical:
            for (int c = 0; c < 3; ++c) S[c] = turn(X.R.col(c));
            break;
        case JointType::free:
            for (int c = 0; c < 3; ++c) S[c] = {Vec3<T>::Zero(), R_parent.col(c)}, S[3 + c] = turn(X.R.col(c));
            break;
    }
}

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
        const Transform<T> P = root ? Transform<T>::identity() : k.X[static_cast<size_t>(b.parent)];
        // 1.1 pose and axes
        k.X[i] = body_pose(b, load3(theta + m.placement.at(static_cast<int>(i))), q + b.q0, P);
        if (root) k.origin[static_cast<size_t>(b.tree)] = k.X[i].p, k.X[i].p.setZero();
        body_axes(b, k.X[i], P.R, k.S.data() + b.v0);
        // 1.2 velocity
        Motion<T> V = root ? Motion<T>::zero() : k.V[static_cast<size_t>(b.parent)];
        for (int j = b.v0; j < b.v0 + b.nv; ++j) V += v[j] * k.S[static_cast<size_t>(j)];
        k.V[i] = V;
        // 1.3 inertia
        k.I[i] = place_inertia(k.X[i], mass_properties(m, theta, static_cast<int>(i)));
    }
}

// Consumes `bar`: on return bar.X, bar.S, bar.V hold what the sweep accumulated on the way.
template <class T>
void kinematics_adj(const Model& m, const T* theta, const T* v, const Kinematics<T>& k, KinematicsBar<T>& bar,
                    T* theta_bar,  // (parameters)
                    T* q_bar,      // (nv) covector of retract(q, d)
                    T* v_bar)      // (nv)
{
    for (size_t i = m.bodies.size(); i-- > 0;) {
        const Body& b = m.bodies[i];
        const int body = static_cast<int>(i), first = b.v0, carried = b.v0 + dofs_carried_by_parent(b), end = b.v0 + b.nv;
        const bool root = b.parent < 0;
        Force<T>& X_bar = bar.X[i];
        // 1.3 inertia
        MassProperties<T> B_bar = MassProperties<T>::zero();
        place_inertia_adj(k.X[i], mass_properties(m, theta, body), bar.I[i], X_bar, B_bar);
        mass_properties_adj(m, body, B_bar, theta_bar);
        // 1.2 velocity
        for (int j = first; j < end; ++j) {
            bar.S[static_cast<size_t>(j)] += v[j] * bar.V[i];
            v_bar[j] += dot(k.S[static_cast<size_t>(j)], bar.V[i]);
        }
        if (!root) bar.V[static_cast<size_t>(b.parent)] += bar.V[i];
        // 1.1 pose and axes: an axis moves with the frame that carries it, dS = d x S
        for (int j = carried; j < end; ++j) X_bar += cross_force(k.S[static_cast<size_t>(j)], bar.S[static_cast<size_t>(j)]);
        for (int j = first; j < end; ++j) q_bar[j] += dot(k.S[static_cast<size_t>(j)], X_bar);
        if (root) {
            add3(theta_bar + m.placement.at(body), X_bar.lin);
            continue;
        }
        Force<T>& P_bar = bar.X[static_cast<size_t>(b.parent)];
        add3<T>(theta_bar + m.placement.at(body), k.X[static_cast<size_t>(b.parent)].R.transpose() * X_bar.lin);
        P_bar += X_bar;
        for (int j = first; j < carried; ++j) P_bar += cross_force(k.S[static_cast<size_t>(j)], bar.S[static_cast<size_t>(j)]);
    }
}

}  // namespace costate
