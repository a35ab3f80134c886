// Where bodies are and how they move, in the common frame of each tree: world axes, origin at the tree's root
// body.
//
// In one frame the recursions of rigid-body dynamics need no transforms between bodies: composite inertias,
// bias forces and articulated inertias are sums. The frame is fixed during a step (it sits where the root is
// now), and no force, inertia or velocity that leaves the dynamics depends on where it sits, so its motion
// has no adjoint.
//
// The adjoint is geometric. A covector X_bar of a body's pose is a Force in the common frame; the poses of
// all bodies beyond a joint turn about it together, so their covectors add up towards the root, and q_bar_j =
// S_j . X_bar.
#pragma once

#include "core/math/rotation.hpp"
#include "core/model/model.hpp"

namespace costate {

template <class T> struct Kinematics {
    std::vector<Vec3<T>> origin;     // (trees) of the common frame in the world, m
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

// Covectors of all that Kinematics holds, in the common frame.
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

// The ten inertial parameters of a body, out of theta.
template <class T> MassProperties<T> mass_properties(const Model& m, const T* theta, int body) {
    const T* I = theta + m.inertia.at(body);
    MassProperties<T> B{theta[m.mass.at(body)], load3(theta + m.com.at(body)), {}};
    B.I << I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2];
    return B;
}
// An off-diagonal parameter stands at two places of the matrix.
template <class T>
void mass_properties_adj(const Model& m, int body, const MassProperties<T>& B_bar, T* theta_bar) {
    theta_bar[m.mass.at(body)] += B_bar.m;
    add3(theta_bar + m.com.at(body), B_bar.c);
    T* I = theta_bar + m.inertia.at(body);
    const Mat3<T>& b = B_bar.I;
    I[0] += b(0, 0);
    I[1] += b(1, 1);
    I[2] += b(2, 2);
    I[3] += b(0, 1) + b(1, 0);
    I[4] += b(0, 2) + b(2, 0);
    I[5] += b(1, 2) + b(2, 1);
}

// The inverse: ten parameters into theta.
template <class T>
void store_mass_properties(const Model& m, int body, const MassProperties<T>& B, T* theta) {
    theta[m.mass.at(body)] = B.m;
    T* I = theta + m.inertia.at(body);
    for (int k = 0; k < 3; ++k) {
        theta[m.com.at(body) + k] = B.c[k];
        I[k] = B.I(k, k);
    }
    I[3] = B.I(0, 1);
    I[4] = B.I(0, 2);
    I[5] = B.I(1, 2);
}
// The bar of an off-diagonal parameter is shared by its two places.
template <class T>
void store_mass_properties_adj(const Model& m, int body, const T* theta_bar, MassProperties<T>& B_bar) {
    const T *I = theta_bar + m.inertia.at(body), half(0.5);
    B_bar.m += theta_bar[m.mass.at(body)];
    B_bar.c += load3(theta_bar + m.com.at(body));
    const T xy = half * I[3], xz = half * I[4], yz = half * I[5];
    Mat3<T> I_bar;
    I_bar << I[0], xy, xz, xy, I[1], yz, xz, yz, I[2];
    B_bar.I += I_bar;
}

// The first dofs of a joint whose axes stay with the parent; all others are carried by the body.
inline int dofs_carried_by_parent(const Body& b) { return b.joint == JointType::free ? 3 : 0; }

// What theta says of the joint that carries a body.
template <class T> struct JointParameters {
    Vec3<T> placement, rotation, axis_rotation;
    T pitch;
};
template <class T> JointParameters<T> joint_parameters(const Model& m, const T* theta, int body) {
    return {load3(theta + m.placement.at(body)), load3(theta + m.rotation.at(body)),
            load3(theta + m.axis_rotation.at(body)), theta[m.pitch.at(body)]};
}

// The axis of a one-dof joint, body axes.
template <class T> Vec3<T> joint_axis(const Body& b, const JointParameters<T>& joint) {
    return is_identity(joint.axis_rotation)
               ? cast<T>(b.axis)
               : Vec3<T>(rotation_matrix(quaternion_exp(joint.axis_rotation)) * cast<T>(b.axis));
}

// R_PB times the rotation by q about the axis.
template <class T>
Mat3<T> joint_turn(const Body& b, const JointParameters<T>& joint, const Vec3<T>& axis, const T& q) {
    using std::cos;
    using std::sin;
    if (is_identity(joint.axis_rotation))
        return cast<T>(b.turn[0]) + sin(q) * cast<T>(b.turn[1]) + cos(q) * cast<T>(b.turn[2]);
    const Mat3<T> along = axis * axis.transpose();
    return cast<T>(b.R_PB) * (along + sin(q) * skew(axis) + cos(q) * (Mat3<T>::Identity() - along));
}

// X_CB of a body on the joint coordinates q, from the pose P of its parent.
template <class T>
Transform<T> body_pose(const Body& b, const JointParameters<T>& joint, const Vec3<T>& axis, const T* q,
                       const Transform<T>& P) {
    const Vec3<T> p = P.p + P.R * joint.placement;
    // the parent's axes, turned as the joint is
    const Mat3<T> R_P =
        is_identity(joint.rotation)
            ? P.R
            : Mat3<T>(P.R * turned(cast<T>(b.R_PB), joint.rotation) * cast<T>(b.R_PB).transpose());
    switch (b.joint) {
        case JointType::fixed: break;
        case JointType::revolute: return {R_P * joint_turn(b, joint, axis, q[0]), p};
        case JointType::helical: {
            const Mat3<T> R = R_P * joint_turn(b, joint, axis, q[0]);
            return {R, p + (joint.pitch * q[0]) * (R * axis)};
        }
        case JointType::prismatic: {
            const Mat3<T> R = R_P * cast<T>(b.R_PB);
            return {R, p + q[0] * (R * axis)};
        }
        case JointType::spherical:
            return {R_P * cast<T>(b.R_PB) * rotation_matrix(Quaternion<T>{q[0], load3(q + 1)}), p};
        case JointType::free:
            return {R_P * cast<T>(b.R_PB) * rotation_matrix(Quaternion<T>{q[3], load3(q + 4)}),
                    p + P.R * load3(q)};
    }
    return {R_P * cast<T>(b.R_PB), p};
}

// The columns of S: axes through the body's origin, but for those of a free joint's translation.
template <class T>
void body_axes(const Body& b, const Vec3<T>& axis, const T& pitch, const Transform<T>& X,
               const Mat3<T>& R_parent, Motion<T>* S) {
    const auto turn = [&](const Vec3<T>& a) { return Motion<T>{a, X.p.cross(a)}; };
    switch (b.joint) {
        case JointType::fixed: break;
        case JointType::revolute: S[0] = turn(X.R * axis); break;
        case JointType::prismatic: S[0] = {Vec3<T>::Zero(), X.R * axis}; break;
        case JointType::helical:
            S[0] = turn(X.R * axis);
            S[0].lin += pitch * S[0].ang;
            break;
        case JointType::spherical:
            for (int c = 0; c < 3; ++c)
                S[c] = turn(X.R.col(c));
            break;
        case JointType::free:
            for (int c = 0; c < 3; ++c) {
                S[c] = {Vec3<T>::Zero(), R_parent.col(c)};
                S[3 + c] = turn(X.R.col(c));
            }
            break;
    }
}

// Covectors of a joint's rotation, axis and pitch, given those of the body's pose with (X_bar) and without
// (pose_bar) what its axes add. A turn d of the joint's frame, in its axes R_C = R_parent R_PB exp(rotation),
// turns all it carries about its origin p_0; so
//   d_bar = R_C^T (X_bar.ang - p_0 x X_bar.lin)
// A turn u of the axis alone turns the joint's frame by u, and then the body, but not the axis, back by u
// about its own origin p:
//   u_bar = d_bar - R^T (pose_bar.ang - p x pose_bar.lin)
// R_parent: null for the world.
template <class T>
void add_joint_bars(const Model& m, const T* theta, int body, const T* q, const Mat3<T>* R_parent,
                    const Kinematics<T>& k, const Force<T>& X_bar, const Force<T>& pose_bar,
                    const Force<T>* S_bar, T* theta_bar) {
    const Body& b = m.bodies[body];
    const Transform<T>& X = k.X[body];
    const JointParameters<T> joint = joint_parameters(m, theta, body);
    Vec3<T> p_0 = X.p;
    if (b.joint == JointType::prismatic) p_0 -= q[0] * k.S[b.v0].lin;
    if (b.joint == JointType::helical) {
        const Vec3<T>& a = k.S[b.v0].ang;
        p_0 -= joint.pitch * q[0] * a;
        theta_bar[m.pitch.at(body)] += q[0] * a.dot(X_bar.lin) + a.dot(S_bar[0].lin);
    }
    Vec3<T> d_bar = X_bar.ang - p_0.cross(X_bar.lin);
    if (R_parent != nullptr) d_bar = R_parent->transpose() * d_bar;
    d_bar = cast<T>(b.R_PB).transpose() * d_bar;
    if (!is_identity(joint.rotation))
        d_bar = rotation_matrix(quaternion_exp(joint.rotation)).transpose() * d_bar;
    Vec3<T> rotation_bar = Vec3<T>::Zero(), axis_bar = Vec3<T>::Zero();
    quaternion_exp_adj(joint.rotation, d_bar, rotation_bar);
    add3(theta_bar + m.rotation.at(body), rotation_bar);
    if (b.nv != 1) return;
    // exp(r + e) = exp(J_r(-r) e) exp(r)
    quaternion_exp_adj<T>(-joint.axis_rotation,
                          d_bar - X.R.transpose() * (pose_bar.ang - X.p.cross(pose_bar.lin)), axis_bar);
    add3(theta_bar + m.axis_rotation.at(body), axis_bar);
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

// Consumes `bar`: on return bar.X, bar.S, bar.V hold what the sweep accumulated on the way.
template <class T>
void kinematics_adj(const Model& m, const T* theta, const T* q, const T* v, const Kinematics<T>& k,
                    KinematicsBar<T>& bar,
                    T* theta_bar,  // (parameters)
                    T* q_bar,      // (nv) covector of retract(q, d)
                    T* v_bar)      // (nv)
{
    for (size_t i = m.bodies.size(); i-- > 0;) {
        const Body& b = m.bodies[i];
        const int body = static_cast<int>(i), first = b.v0, carried = b.v0 + dofs_carried_by_parent(b),
                  end = b.v0 + b.nv;
        const bool root = b.parent < 0;
        Force<T>& X_bar = bar.X[i];
        // 1.3 inertia
        MassProperties<T> B_bar = MassProperties<T>::zero();
        place_inertia_adj(k.X[i], mass_properties(m, theta, body), bar.I[i], X_bar, B_bar);
        mass_properties_adj(m, body, B_bar, theta_bar);
        // 1.2 velocity
        for (int j = first; j < end; ++j) {
            bar.S[j] += v[j] * bar.V[i];
            v_bar[j] += dot(k.S[j], bar.V[i]);
        }
        if (!root) bar.V[b.parent] += bar.V[i];
        // 1.1 pose and axes: an axis moves with the frame that carries it, dS = d x S
        const Force<T> pose_bar = X_bar;
        for (int j = carried; j < end; ++j)
            X_bar += cross_force(k.S[j], bar.S[j]);
        for (int j = first; j < end; ++j)
            q_bar[j] += dot(k.S[j], X_bar);
        add_joint_bars(m, theta, body, q + b.q0, root ? nullptr : &k.X[b.parent].R, k, X_bar, pose_bar,
                       bar.S.data() + first, theta_bar);
        if (root) {
            add3(theta_bar + m.placement.at(body), X_bar.lin);
            continue;
        }
        Force<T>& P_bar = bar.X[b.parent];
        add3<T>(theta_bar + m.placement.at(body), k.X[b.parent].R.transpose() * X_bar.lin);
        P_bar += X_bar;
        for (int j = first; j < carried; ++j)
            P_bar += cross_force(k.S[j], bar.S[j]);
    }
}

}  // namespace costate
