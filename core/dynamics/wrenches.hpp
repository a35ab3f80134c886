// External wrenches on bodies, for example pushes. They are inputs of a step besides its controls.
#pragma once

#include "core/dynamics/kinematics.hpp"

namespace costate {

// W = (c x f + n, f): the wrench of a force f at a body's centre of mass and a torque n, both in world axes;
// c = R com + p in the common frame. com: m in the body.
template <class T>
Force<T> external_wrench(const Transform<T>& X, const Vec3<T>& com, const Vec3<T>& f, const Vec3<T>& n) {
    const Force<T> W = point_force(transform_point(X, com), f);
    return {W.ang + n, W.lin};
}
// n_bar += W_bar.ang; the others as in point_force_adj and transform_point_adj
template <class T>
void external_wrench_adj(const Transform<T>& X, const Vec3<T>& com, const Vec3<T>& f, const Vec3<T>&,
                         const Motion<T>& W_bar, Force<T>& X_bar, Vec3<T>& com_bar, Vec3<T>& f_bar,
                         Vec3<T>& n_bar) {
    Vec3<T> c_bar = Vec3<T>::Zero();
    point_force_adj(transform_point(X, com), f, W_bar, c_bar, f_bar);
    transform_point_adj(X, com, c_bar, X_bar, com_bar);
    n_bar += W_bar.ang;
}

// tau_j += S_j . (sum of W over the bodies that dof j moves)
template <class T>
void apply_wrenches(const Model& m, const Kinematics<T>& k,
                    const std::vector<Force<T>>& W,  // (bodies) common frame
                    T* tau)                          // (nv) N m or N
{
    for (size_t i = 0; i < m.bodies.size(); ++i)
        for (int j = m.bodies[i].last_dof; j >= 0; j = m.dofs[j].parent)
            tau[j] += dot(k.S[j], W[i]);
}
// W_bar_i += sum of tau_bar_j S_j over the dofs that move body i,   S_bar_j += tau_bar_j W_i
template <class T>
void apply_wrenches_adj(const Model& m, const Kinematics<T>& k, const std::vector<Force<T>>& W,
                        const T* tau_bar, KinematicsBar<T>& bar, std::vector<Motion<T>>& W_bar) {
    for (size_t i = 0; i < m.bodies.size(); ++i)
        for (int j = m.bodies[i].last_dof; j >= 0; j = m.dofs[j].parent) {
            W_bar[i] += tau_bar[j] * k.S[j];
            bar.S[j] += tau_bar[j] * W[i];
        }
}

}  // namespace costate
