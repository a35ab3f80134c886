// One joint: the pose of its body, its axes, and their adjoints with respect to the joint's parameters.
#pragma once

#include "core/math/rotation.hpp"
#include "core/model/model.hpp"

namespace costate {

// The number of leading dofs whose axes are fixed in the parent; the axes of all others are fixed in the
// body.
inline int dofs_carried_by_parent(const Body& b) { return joint_kind(b.joint).carried_by_parent; }

// The parameters of the joint that carries a body.
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
    const auto [sine, cosine] = sin_cos(q);
    if (is_identity(joint.axis_rotation))
        return cast<T>(b.turn[0]) + sine * cast<T>(b.turn[1]) + cosine * cast<T>(b.turn[2]);
    const Mat3<T> along = axis * axis.transpose();
    return cast<T>(b.R_PB) * (along + sine * skew(axis) + cosine * (Mat3<T>::Identity() - along));
}

// X_CB of a body at the joint coordinates q, from the pose P of its parent.
template <class T>
Transform<T> body_pose(const Body& b, const JointParameters<T>& joint, const Vec3<T>& axis, const T* q,
                       const Transform<T>& P) {
    const Vec3<T> p = P.p + P.R * joint.placement;
    // the parent's axes with the rotation of the joint
    const Mat3<T> R_P =
        is_identity(joint.rotation)
            ? P.R
            : Mat3<T>(P.R * retract_rotation(cast<T>(b.R_PB), joint.rotation) * cast<T>(b.R_PB).transpose());
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

// The columns of S: axes through the body's origin; the translations of a free joint have the axes R_parent.
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

// Adds the covectors of a joint's rotation, axis and pitch, given the covector of the body's pose with
// (X_bar) and without (pose_bar) the contribution of its axes. A rotation d of the joint's frame, in its axes
// R_C = R_parent R_PB exp(rotation), rotates everything that it carries about its origin p_0:
//   d_bar = R_C^T (X_bar.ang - p_0 x X_bar.lin)
// A rotation u of the axis equals a rotation of the joint's frame by u, followed by a rotation of the body,
// but not of the axis, by -u about the body's origin p:
//   u_bar = d_bar - R^T (pose_bar.ang - p x pose_bar.lin)
// R_parent: null for the world.
template <class T>
void add_joint_bars(const Model& m, const T* theta, int body, const T* q, const Mat3<T>* R_parent,
                    const Transform<T>& X, const Motion<T>* S, const Force<T>& X_bar,
                    const Force<T>& pose_bar, const Force<T>* S_bar, T* theta_bar) {
    const Body& b = m.bodies[body];
    const JointParameters<T> joint = joint_parameters(m, theta, body);
    Vec3<T> p_0 = X.p;
    if (b.joint == JointType::prismatic) p_0 -= q[0] * S[0].lin;
    if (b.joint == JointType::helical) {
        const Vec3<T>& a = S[0].ang;
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

}  // namespace costate
