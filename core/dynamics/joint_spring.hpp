// Springs of joints. The parameter `rest` of a spherical joint is a rotation vector, in the axes that its body has
// at coordinate 0. MuJoCo's springs of ball joints are those with a rest of 0 and one stiffness.
#pragma once

#include "core/math/rotation.hpp"
#include "core/model/model.hpp"

namespace costate {

// The rotation from rest of the spherical joint of a body, body axes, rad: exp(rest) exp(d) = q
template <class T> Vec3<T> rotation_from_rest(const Model& m, const T* theta, const Body& b, const T* q) {
    return quaternion_difference(quaternion_exp(load3(theta + m.rest.at(b.v0))), load_quaternion(q + b.q0));
}
template <class T>
void rotation_from_rest_adj(const Model& m, const T* theta, const Body& b, const T* q, const Vec3<T>& d_bar,
                            T* theta_bar, T* q_bar) {
    const Vec3<T> rest = load3(theta + m.rest.at(b.v0));
    Vec3<T> at_rest_bar = Vec3<T>::Zero(), at_q_bar = Vec3<T>::Zero(), rest_bar = Vec3<T>::Zero();
    quaternion_difference_adj(quaternion_exp(rest), load_quaternion(q + b.q0), d_bar, at_rest_bar, at_q_bar);
    quaternion_exp_adj(rest, at_rest_bar, rest_bar);
    add3(theta_bar + m.rest.at(b.v0), rest_bar);
    add3(q_bar + b.v0, at_q_bar);
}

// True if a body has a spherical joint with a spring, or one whose stiffness of 0 may have a derivative. Kernels
// leave other springs out.
template <class T> bool has_ball_spring(const Model& m, const T* theta, const Body& b) {
    if (b.joint != JointType::spherical) return false;
    if constexpr (!std::is_floating_point_v<T> && !is_lanes<T>) return true;
    for (int j = b.v0; j < b.v0 + b.nv; ++j)
        if (any(theta[m.stiffness.at(j)] != T(0))) return true;
    return false;
}

// Adds the force of the spring of a body's joint, N m or N. One dof: k (rest - q). A spherical joint: -k_i d_i along
// the axes of the body, with d the rotation from rest; it has the energy k |d|^2/2 if its three stiffnesses are equal.
template <class T>
void spring_force(const Model& m, const T* theta, const Body& b,
                  const T* q,  // (nq)
                  T* tau)      // (nv)
{
    if (b.nv == 1) {
        tau[b.v0] += theta[m.stiffness.at(b.v0)] * (theta[m.rest.at(b.v0)] - q[b.q0]);
    } else if (has_ball_spring(m, theta, b)) {
        const Vec3<T> d = rotation_from_rest(m, theta, b, q);
        for (int i = 0; i < 3; ++i)
            tau[b.v0 + i] -= theta[m.stiffness.at(b.v0 + i)] * d[i];
    }
}
template <class T>
void spring_force_adj(const Model& m, const T* theta, const Body& b, const T* q, const T* tau_bar,
                      T* theta_bar, T* q_bar) {
    const int j = b.v0;
    if (b.nv == 1) {
        theta_bar[m.stiffness.at(j)] += tau_bar[j] * (theta[m.rest.at(j)] - q[b.q0]);
        theta_bar[m.rest.at(j)] += tau_bar[j] * theta[m.stiffness.at(j)];
        q_bar[j] -= tau_bar[j] * theta[m.stiffness.at(j)];
    } else if (b.joint == JointType::spherical) {
        const Vec3<T> d = rotation_from_rest(m, theta, b, q);
        Vec3<T> d_bar;
        for (int i = 0; i < 3; ++i) {
            theta_bar[m.stiffness.at(j + i)] -= tau_bar[j + i] * d[i];
            d_bar[i] = -tau_bar[j + i] * theta[m.stiffness.at(j + i)];
        }
        if (has_ball_spring(m, theta, b)) rotation_from_rest_adj(m, theta, b, q, d_bar, theta_bar, q_bar);
    }
}

}  // namespace costate
