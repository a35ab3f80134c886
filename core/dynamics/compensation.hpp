// Gravity compensation: a force at the centre of mass of a body carries a share c of its weight,
//
//   f = -c m g
//
// with gravity g (MuJoCo documentation, "gravcomp"). Body and gravity count as they are in a step: the force follows
// their parameters.
#pragma once

#include "core/dynamics/wrenches.hpp"

namespace costate {

// The wrench on the n-th compensated body, in the common frame.
template <class T>
Force<T> compensation_wrench(const Model& m, const T* theta, const Kinematics<T>& k, int n) {
    const int body = m.compensated[n];
    const T weight = theta[m.compensation.at(n)] * theta[m.mass.at(body)];
    const Vec3<T> centre = transform_point(k.X[body], load3(theta + m.com.at(body)));
    return point_force<T>(centre, -weight * load3(theta + m.gravity.at(0)));
}
template <class T>
void compensation_wrench_adj(const Model& m, const T* theta, const Kinematics<T>& k, int n,
                             const Motion<T>& W_bar, KinematicsBar<T>& bar, T* theta_bar) {
    const int body = m.compensated[n], com = m.com.at(body), gravity = m.gravity.at(0);
    const T &share = theta[m.compensation.at(n)], &mass = theta[m.mass.at(body)];
    const Vec3<T> g = load3(theta + gravity), in_body = load3(theta + com);
    Vec3<T> centre_bar = Vec3<T>::Zero(), f_bar = Vec3<T>::Zero(), com_bar = Vec3<T>::Zero();
    point_force_adj<T>(transform_point(k.X[body], in_body), -(share * mass) * g, W_bar, centre_bar, f_bar);
    transform_point_adj(k.X[body], in_body, centre_bar, bar.X[body], com_bar);
    add3(theta_bar + com, com_bar);
    theta_bar[m.compensation.at(n)] -= mass * g.dot(f_bar);
    theta_bar[m.mass.at(body)] -= share * g.dot(f_bar);
    add3<T>(theta_bar + gravity, -(share * mass) * f_bar);
}

// tau_j += S_j . W  on the path from each compensated body to the world
template <class T>
void compensate_gravity(const Model& m, const T* theta, const Kinematics<T>& k,
                        T* tau)  // (nv) N m or N
{
    for (size_t n = 0; n < m.compensated.size(); ++n) {
        const Force<T> W = compensation_wrench(m, theta, k, static_cast<int>(n));
        for (int j = m.bodies[m.compensated[n]].last_dof; j >= 0; j = m.dofs[j].parent)
            tau[j] += dot(k.S[j], W);
    }
}
// W_bar = sum_j tau_bar_j S_j,   S_bar_j += tau_bar_j W
template <class T>
void compensate_gravity_adj(const Model& m, const T* theta, const Kinematics<T>& k, const T* tau_bar,
                            KinematicsBar<T>& bar, T* theta_bar) {
    for (size_t n = 0; n < m.compensated.size(); ++n) {
        const Force<T> W = compensation_wrench(m, theta, k, static_cast<int>(n));
        Motion<T> W_bar = Motion<T>::zero();
        for (int j = m.bodies[m.compensated[n]].last_dof; j >= 0; j = m.dofs[j].parent) {
            W_bar += tau_bar[j] * k.S[j];
            bar.S[j] += tau_bar[j] * W;
        }
        compensation_wrench_adj(m, theta, k, static_cast<int>(n), W_bar, bar, theta_bar);
    }
}

}  // namespace costate
